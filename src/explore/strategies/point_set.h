#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tensmith/support/rng.h"

namespace tensmith {

/// Points of a space with what the models of a search see of them.
struct PointSet {
  size_t width = 0;  ///< numbers a row
  std::vector<uint64_t> indices;
  std::vector<float> rows;        ///< of the Gaussian process, row by row
  std::vector<float> prior_mean;  ///< of the target, by the history; empty without one
  std::vector<float> prior_valid;
  std::vector<uint8_t> taken;  ///< proposed or known

  size_t size() const { return indices.size(); }
  std::span<const float> row(size_t point) const { return std::span(rows).subspan(point * width, width); }
  /// The rows of some points, one after the other.
  std::vector<float> gather(std::span<const uint32_t> points) const;
  bool all_taken() const;
  /// Up to so many points that are not taken, possibly one more than once; none only when all are.
  std::vector<size_t> random_untaken(size_t count, Rng& rng) const;
};

}  // namespace tensmith
