#pragma once

#include <vector>

#include "explore/strategies/sequential_search.h"

/// A config space as a box of real numbers, for searches made for those.

namespace tensmith {

using Vector = std::vector<double>;

inline double dot(const Vector& a, const Vector& b) {
  double sum = 0.0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// The i-th free knob with n choices is the interval [0, n / N] in n equal cells, N being the longest list of all.
/// Outside the box the nearest cell counts. Needs a free knob.
class Box {
 public:
  /// `scale` makes the box larger.
  explicit Box(Look& look, double scale = 1.0);

  Look& look() const { return look_; }
  Rng& rng() const { return look_.rng(); }
  size_t dimensions() const { return upper_.size(); }
  double cell() const { return cell_; }
  const Vector& upper() const { return upper_; }

  /// Uniform in the box.
  Vector random_point() const;
  bool contains(const Vector& point) const;

  /// Milliseconds, or what is worse than any time. Finite, so that differences are numbers.
  Piece<double> at(const Vector& point) const;

 private:
  Look& look_;
  double cell_;
  Vector upper_;
};

}  // namespace tensmith
