#include <algorithm>
#include <cmath>
#include <utility>

#include "explore/strategies/minimizers.h"

namespace tensmith {
namespace {

constexpr double kTolerance = 1e-4;
constexpr double kLineTolerance = 100 * kTolerance;
constexpr int kRoundsPerDimension = 1000;
constexpr double kGolden = 1.618034;

/// The function along a line.
struct Line {
  Box& box;
  Vector from;
  Vector direction;

  Vector point(double t) const {
    Vector out = from;
    for (size_t i = 0; i < out.size(); ++i) out[i] += t * direction[i];
    return out;
  }
  Piece<double> at(double t) const {
    const Vector where = point(t);
    const double value = co_await box.at(where);
    co_return value;
  }
};

/// Three places of which the middle is the best, if there are such.
struct Bracket {
  double a = 0.0, b = 1.0, c = 0.0;
  double fa = 0.0, fb = 0.0, fc = 0.0;
};

/// Downhill by golden and parabolic steps until it rises (Press et al., "Numerical Recipes", section 10.1).
Piece<Bracket> bracket(const Line& line) {
  constexpr double kGrowLimit = 110.0;
  constexpr double kTiny = 1e-21;
  constexpr int kSteps = 1000;
  Bracket t;
  t.fa = co_await line.at(t.a);
  t.fb = co_await line.at(t.b);
  if (t.fa < t.fb) {
    std::swap(t.a, t.b);
    std::swap(t.fa, t.fb);
  }
  t.c = t.b + kGolden * (t.b - t.a);
  t.fc = co_await line.at(t.c);
  for (int step = 0; step < kSteps && t.fc < t.fb; ++step) {
    const double p = (t.b - t.a) * (t.fb - t.fc);
    const double q = (t.b - t.c) * (t.fb - t.fa);
    const double denominator = std::abs(q - p) < kTiny ? 2.0 * kTiny : 2.0 * (q - p);
    double w = t.b - ((t.b - t.c) * q - (t.b - t.a) * p) / denominator;
    const double limit = t.b + kGrowLimit * (t.c - t.b);
    double fw = 0.0;
    if ((w - t.c) * (t.b - w) > 0.0) {  // between b and c
      fw = co_await line.at(w);
      if (fw < t.fc) {
        t.a = std::exchange(t.b, w);
        t.fa = std::exchange(t.fb, fw);
        break;
      }
      if (fw > t.fb) {
        t.c = w;
        t.fc = fw;
        break;
      }
      w = t.c + kGolden * (t.c - t.b);
      fw = co_await line.at(w);
    } else if ((w - limit) * (limit - t.c) >= 0.0) {
      w = limit;
      fw = co_await line.at(w);
    } else if ((w - limit) * (t.c - w) > 0.0) {  // between c and the limit
      fw = co_await line.at(w);
      if (fw < t.fc) {
        t.b = std::exchange(t.c, w);
        t.fb = std::exchange(t.fc, fw);
        w = t.c + kGolden * (t.c - t.b);
        fw = co_await line.at(w);
      }
    } else {
      w = t.c + kGolden * (t.c - t.b);
      fw = co_await line.at(w);
    }
    t.a = std::exchange(t.b, std::exchange(t.c, w));
    t.fa = std::exchange(t.fb, std::exchange(t.fc, fw));
  }
  co_return t;
}

struct LinePlace {
  double t = 0.0;
  double value = 0.0;
};

/// Brent's minimization within a bracket: parabolas, and golden sections where they do not serve.
Piece<LinePlace> minimize_line(const Line& line) {
  constexpr double kSection = 0.3819660;
  constexpr double kLeast = 1e-11;
  constexpr int kSteps = 500;
  const Bracket start = co_await bracket(line);
  LinePlace x{start.b, start.fb}, w = x, v = x;  // the best, the second best, and that before
  double a = std::min(start.a, start.c), b = std::max(start.a, start.c);
  double step = 0.0, step_before = 0.0;
  for (int i = 0; i < kSteps; ++i) {
    const double tolerance = kLineTolerance * std::abs(x.t) + kLeast;
    const double middle = 0.5 * (a + b);
    if (std::abs(x.t - middle) < 2.0 * tolerance - 0.5 * (b - a)) break;
    bool golden = std::abs(step_before) <= tolerance;
    if (!golden) {
      const double r = (x.t - w.t) * (x.value - v.value);
      double q = (x.t - v.t) * (x.value - w.value);
      double p = (x.t - v.t) * q - (x.t - w.t) * r;
      q = 2.0 * (q - r);
      if (q > 0.0) p = -p;
      q = std::abs(q);
      const double before = std::exchange(step_before, step);
      golden = !(p > q * (a - x.t) && p < q * (b - x.t) && std::abs(p) < std::abs(0.5 * q * before));
      if (!golden) {
        step = p / q;
        const double u = x.t + step;
        if (u - a < 2.0 * tolerance || b - u < 2.0 * tolerance) step = middle >= x.t ? tolerance : -tolerance;
      }
    }
    if (golden) {
      step_before = x.t >= middle ? a - x.t : b - x.t;
      step = kSection * step_before;
    }
    LinePlace u;
    u.t = x.t + (std::abs(step) >= tolerance ? step : step >= 0.0 ? tolerance : -tolerance);
    u.value = co_await line.at(u.t);
    if (u.value > x.value) {
      (u.t < x.t ? a : b) = u.t;
      if (u.value <= w.value || w.t == x.t) {
        v = std::exchange(w, u);
      } else if (u.value <= v.value || v.t == x.t || v.t == w.t) {
        v = u;
      }
    } else {
      (u.t >= x.t ? a : b) = x.t;
      v = std::exchange(w, std::exchange(x, u));
    }
  }
  co_return x;
}

/// Moves `here` to the minimum along `direction`, which becomes the step that was made.
Piece<int> move_along(Box& box, Minimum& here, Vector& direction) {
  if (std::all_of(direction.begin(), direction.end(), [](double d) { return d == 0.0; })) co_return 0;
  const Line line{box, here.point, direction};
  const LinePlace best = co_await minimize_line(line);
  here.point = line.point(best.t);
  here.value = best.value;
  for (double& d : direction) d *= best.t;
  co_return 0;
}

}  // namespace

Piece<Minimum> minimize_powell(Box& box, Vector start) {
  const size_t n = box.dimensions();
  std::vector<Vector> directions(n, Vector(n, 0.0));
  for (size_t i = 0; i < n; ++i) directions[i][i] = 1.0;
  Minimum here{start, 0.0};
  here.value = co_await box.at(here.point);
  for (size_t round = 0; round < n * kRoundsPerDimension; ++round) {
    const Minimum before = here;
    double largest = 0.0;
    size_t which = 0;
    for (size_t i = 0; i < n; ++i) {
      const double value = here.value;
      Vector direction = directions[i];
      co_await move_along(box, here, direction);
      if (value - here.value > largest) {
        largest = value - here.value;
        which = i;
      }
    }
    if (2.0 * (before.value - here.value) <= kTolerance * (std::abs(before.value) + std::abs(here.value)) + 1e-20)
      break;
    Vector direction(n), beyond(n);
    for (size_t i = 0; i < n; ++i) {
      direction[i] = here.point[i] - before.point[i];
      beyond[i] = here.point[i] + direction[i];
    }
    const double value = co_await box.at(beyond);
    if (before.value <= value) continue;
    const double gained = before.value - here.value - largest;
    const double total = before.value - value;
    const double test = 2.0 * (before.value + value - 2.0 * here.value) * gained * gained - largest * total * total;
    if (test >= 0.0) continue;
    co_await move_along(box, here, direction);
    if (std::all_of(direction.begin(), direction.end(), [](double d) { return d == 0.0; })) continue;
    directions[which] = directions[n - 1];
    directions[n - 1] = direction;
  }
  co_return here;
}

}  // namespace tensmith
