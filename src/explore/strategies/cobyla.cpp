#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "explore/strategies/minimizers.h"

namespace tensmith {
namespace {

constexpr double kLastRadius = 1e-4;
constexpr int kLooks = 1000;
// Powell (1994), equations 14 and 17: how near the opposite face a vertex may be, how far from the best one, and how
// long a step that mends a bad simplex is; in radii.
constexpr double kNearest = 0.25;
constexpr double kFarthest = 2.1;
constexpr double kMend = 0.5;

double length(const Vector& a) { return std::sqrt(dot(a, a)); }

/// The best point and n edges from it to other points.
struct Simplex {
  Minimum best;
  std::vector<Vector> edges;
  Vector values;             ///< at the ends of the edges
  std::vector<Vector> dual;  ///< dual[i] . edges[j] is 1 for i = j and 0 otherwise

  size_t size() const { return edges.size(); }

  /// Makes the best of all points the one that edges start at.
  void reroot() {
    const size_t i = std::min_element(values.begin(), values.end()) - values.begin();
    if (values[i] >= best.value) return;
    const Vector edge = edges[i];
    for (size_t k = 0; k < edge.size(); ++k) best.point[k] += edge[k];
    std::swap(best.value, values[i]);
    for (size_t j = 0; j < size(); ++j) {
      for (size_t k = 0; k < edge.size(); ++k) edges[j][k] = j == i ? -edge[k] : edges[j][k] - edge[k];
    }
  }

  /// Computes `dual` by Gauss-Jordan elimination; false when the simplex is flat.
  bool invert() {
    const size_t n = size();
    std::vector<Vector> rows = edges;
    dual.assign(n, Vector(n, 0.0));
    for (size_t i = 0; i < n; ++i) dual[i][i] = 1.0;
    for (size_t c = 0; c < n; ++c) {
      size_t pivot = c;
      for (size_t r = c + 1; r < n; ++r) {
        if (std::abs(rows[r][c]) > std::abs(rows[pivot][c])) pivot = r;
      }
      if (!(std::abs(rows[pivot][c]) > 1e-14)) return false;
      std::swap(rows[c], rows[pivot]);
      std::swap(dual[c], dual[pivot]);
      for (size_t r = 0; r < n; ++r) {
        const double factor = r == c ? 0.0 : rows[r][c] / rows[c][c];
        for (size_t k = 0; k < n; ++k) {
          rows[r][k] -= factor * rows[c][k];
          dual[r][k] -= factor * dual[c][k];
        }
      }
    }
    // Now rows are diagonal and dual is (edges^-1) up to it; transposed, its rows belong to the edges.
    std::vector<Vector> inverse(n, Vector(n, 0.0));
    for (size_t r = 0; r < n; ++r) {
      for (size_t k = 0; k < n; ++k) inverse[k][r] = dual[r][k] / rows[r][r];
    }
    dual = std::move(inverse);
    return true;
  }

  /// Of the linear function that agrees with all points.
  Vector gradient() const {
    Vector out(size(), 0.0);
    for (size_t j = 0; j < size(); ++j) {
      for (size_t k = 0; k < size(); ++k) out[k] += (values[j] - best.value) * dual[j][k];
    }
    return out;
  }

  double height(size_t i) const { return 1.0 / length(dual[i]); }

  /// The edge to replace so that the simplex has the shape that linear models need; nothing when it has.
  std::optional<size_t> worst_edge(double radius) const {
    std::optional<size_t> worst;
    double longest = kFarthest * radius;
    for (size_t i = 0; i < size(); ++i) {
      if (length(edges[i]) > longest) {
        longest = length(edges[i]);
        worst = i;
      }
    }
    if (worst) return worst;
    double lowest = kNearest * radius;
    for (size_t i = 0; i < size(); ++i) {
      if (height(i) < lowest) {
        lowest = height(i);
        worst = i;
      }
    }
    return worst;
  }

  /// The edge that a point at `step` from the best one takes the place of; nothing when it would spoil the shape.
  std::optional<size_t> replaced_by(const Vector& step, bool better, double radius) const {
    std::optional<size_t> chosen;
    double most = better ? 0.0 : 1.0;
    Vector heights(size());
    for (size_t i = 0; i < size(); ++i) {
      const double volume = std::abs(dot(dual[i], step));
      heights[i] = volume * height(i);
      if (volume > most) {
        most = volume;
        chosen = i;
      }
    }
    double longest = 1.1 * radius;
    for (size_t i = 0; i < size(); ++i) {
      if (heights[i] < kNearest * radius && heights[i] < height(i)) continue;
      Vector edge = edges[i];
      if (better) {
        for (size_t k = 0; k < edge.size(); ++k) edge[k] -= step[k];
      }
      if (length(edge) > longest) {
        longest = length(edge);
        chosen = i;
      }
    }
    return chosen;
  }
};

}  // namespace

Piece<Minimum> minimize_cobyla(Box& box, Vector start, double radius) {
  const size_t n = box.dimensions();
  Simplex simplex;
  simplex.best.point = std::move(start);
  simplex.best.value = co_await box.at(simplex.best.point);
  simplex.edges.assign(n, Vector(n, 0.0));
  simplex.values.assign(n, simplex.best.value);
  // Each axis in turn from the best point so far.
  for (size_t i = 0; i < n; ++i) {
    Vector point = simplex.best.point;
    point[i] += radius;
    const double value = co_await box.at(point);
    const bool better = value < simplex.best.value;
    simplex.edges[i][i] = radius;
    simplex.values[i] = value;
    if (!better) continue;
    std::swap(simplex.best.value, simplex.values[i]);
    simplex.best.point = std::move(point);
    for (size_t j = 0; j <= i; ++j) simplex.edges[j][i] = -radius;
  }
  bool mend = false;
  for (int looks = 0; looks < kLooks; ++looks) {
    simplex.reroot();
    if (!simplex.invert()) break;
    const Vector gradient = simplex.gradient();
    const std::optional<size_t> worst = simplex.worst_edge(radius);
    Vector step(n, 0.0);
    Vector point = simplex.best.point;
    if (std::exchange(mend, false) && worst) {
      double factor = kMend * radius * simplex.height(*worst);
      if (dot(gradient, simplex.dual[*worst]) > 0.0) factor = -factor;
      for (size_t k = 0; k < n; ++k) {
        step[k] = factor * simplex.dual[*worst][k];
        point[k] += step[k];
      }
      simplex.values[*worst] = co_await box.at(point);
      simplex.edges[*worst] = std::move(step);
      continue;
    }
    const double slope = length(gradient);
    if (slope > 0.0 && std::isfinite(slope)) {
      for (size_t k = 0; k < n; ++k) {
        step[k] = -radius * gradient[k] / slope;
        point[k] += step[k];
      }
      const double value = co_await box.at(point);
      const double gain = simplex.best.value - value;
      const std::optional<size_t> place = simplex.replaced_by(step, gain > 0.0, radius);
      if (place) {
        simplex.edges[*place] = std::move(step);
        simplex.values[*place] = value;
        if (gain > 0.0 && gain >= 0.1 * radius * slope) continue;
      }
    }
    if (worst) {
      mend = true;
      continue;
    }
    if (radius <= kLastRadius) break;
    radius *= 0.5;
    if (radius <= 1.5 * kLastRadius) radius = kLastRadius;
  }
  simplex.reroot();
  co_return simplex.best;
}

}  // namespace tensmith
