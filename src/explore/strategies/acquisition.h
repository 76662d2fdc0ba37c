#pragma once

#include <cmath>

namespace tensmith {

/// The mean of max(0, X) where X is normal with this mean and deviation. `gain` is how much better than the best so far
/// a config is expected to be.
inline double expected_improvement(double gain, double deviation) {
  constexpr double kInverseSqrt2 = 0.70710678118654752;
  constexpr double kInverseSqrt2Pi = 0.39894228040143268;
  if (!(deviation > 0.0)) return gain > 0.0 ? gain : 0.0;
  const double z = gain / deviation;
  if (z < -38.0) return 0.0;
  const double value = deviation * (z * 0.5 * std::erfc(-z * kInverseSqrt2) + kInverseSqrt2Pi * std::exp(-0.5 * z * z));
  return value > 0.0 ? value : 0.0;
}

/// (1 - ratio^-compression) / compression, which is the logarithm for 0: grows with the ratio, more slowly the larger
/// the compression; from minus infinity to 1 / compression.
inline double compressed(double ratio, double compression) {
  return compression > 0.0 ? (1.0 - std::pow(ratio, -compression)) / compression : std::log(ratio);
}

}  // namespace tensmith
