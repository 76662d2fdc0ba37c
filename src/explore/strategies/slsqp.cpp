#include <algorithm>
#include <cmath>

#include "explore/strategies/minimizers.h"

namespace tensmith {
namespace {

constexpr double kAccuracy = 1e-6;
constexpr int kIterations = 100;

Vector times(const std::vector<Vector>& matrix, const Vector& v) {
  Vector out(v.size());
  for (size_t i = 0; i < v.size(); ++i) out[i] = dot(matrix[i], v);
  return out;
}

/// Differences with the next cell, or with the one before where there is none.
Piece<Vector> gradient_at(Box& box, const Vector& point, double value) {
  Vector out(point.size());
  for (size_t i = 0; i < point.size(); ++i) {
    const double step = point[i] + box.cell() <= box.upper()[i] ? box.cell() : -box.cell();
    Vector moved = point;
    moved[i] += step;
    const double there = co_await box.at(moved);
    out[i] = (there - value) / step;
  }
  co_return out;
}

/// The minimum of g . d + d . B d / 2 with point + d in the box, by coordinate descent.
Vector quadratic_step(const Box& box, const Vector& point, const Vector& g, const std::vector<Vector>& b) {
  constexpr int kSweeps = 200;
  const size_t n = point.size();
  Vector d(n, 0.0);
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    double change = 0.0;
    for (size_t i = 0; i < n; ++i) {
      const double slope = g[i] + dot(b[i], d);
      const double to = std::clamp(d[i] - slope / std::max(b[i][i], 1e-300), -point[i], box.upper()[i] - point[i]);
      change = std::max(change, std::abs(to - d[i]));
      d[i] = to;
    }
    if (change < 1e-9 * box.cell()) break;
  }
  return d;
}

/// The BFGS update with Powell's damping, which keeps the matrix positive definite.
void update(std::vector<Vector>& b, const Vector& step, Vector change) {
  const Vector bs = times(b, step);
  const double sbs = dot(step, bs);
  double sy = dot(step, change);
  if (!(sbs > 0.0)) return;
  if (sy < 0.2 * sbs) {
    const double theta = 0.8 * sbs / (sbs - sy);
    for (size_t i = 0; i < step.size(); ++i) change[i] = theta * change[i] + (1.0 - theta) * bs[i];
    sy = dot(step, change);
  }
  if (!(sy > 0.0)) return;
  for (size_t i = 0; i < step.size(); ++i) {
    for (size_t j = 0; j < step.size(); ++j) b[i][j] += change[i] * change[j] / sy - bs[i] * bs[j] / sbs;
  }
}

}  // namespace

Piece<Minimum> minimize_slsqp(Box& box, Vector start) {
  const size_t n = box.dimensions();
  Minimum here{std::move(start), 0.0};
  for (size_t i = 0; i < n; ++i) here.point[i] = std::clamp(here.point[i], 0.0, box.upper()[i]);
  here.value = co_await box.at(here.point);
  Vector gradient = co_await gradient_at(box, here.point, here.value);
  std::vector<Vector> hessian(n, Vector(n, 0.0));
  for (size_t i = 0; i < n; ++i) hessian[i][i] = 1.0;
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    const Vector direction = quadratic_step(box, here.point, gradient, hessian);
    const double slope = dot(gradient, direction);
    if (!(std::abs(slope) >= kAccuracy) || !std::isfinite(slope)) break;
    Minimum next;
    Vector step;
    double share = 1.0;
    // Armijo's condition, with a parabola through the two values for the next try.
    for (int i = 0; i < 10; ++i) {
      step = direction;
      next.point = here.point;
      for (size_t k = 0; k < n; ++k) {
        step[k] *= share;
        next.point[k] = std::clamp(here.point[k] + step[k], 0.0, box.upper()[k]);
      }
      next.value = co_await box.at(next.point);
      const double expected = share * slope;
      const double got = next.value - here.value;
      if (got <= 0.1 * expected) break;
      share *= std::clamp(expected / (2.0 * (expected - got)), 0.1, 0.5);
    }
    const double gain = here.value - next.value;
    if (next.value > here.value) break;
    Vector next_gradient = co_await gradient_at(box, next.point, next.value);
    Vector change = next_gradient;
    for (size_t k = 0; k < n; ++k) change[k] -= gradient[k];
    update(hessian, step, std::move(change));
    gradient = std::move(next_gradient);
    here = std::move(next);
    if (gain < kAccuracy) break;
  }
  co_return here;
}

Piece<Minimum> minimize(Box& box, LocalMinimizer minimizer, Vector start, double radius) {
  switch (minimizer) {
    case LocalMinimizer::kPowell: return minimize_powell(box, std::move(start));
    case LocalMinimizer::kCobyla: return minimize_cobyla(box, std::move(start), radius);
    case LocalMinimizer::kSlsqp: break;
  }
  return minimize_slsqp(box, std::move(start));
}

}  // namespace tensmith
