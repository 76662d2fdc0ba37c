#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace tensmith {

inline constexpr double kLineBytes = 64;

/// floor for values that are not negative, without a library call.
inline double whole(double x) { return x < 1e15 ? static_cast<double>(static_cast<int64_t>(x)) : x; }

/// ceil of values that are positive.
inline double whole_up(double x) {
  const double down = whole(x);
  return down < x ? down + 1 : down;
}

/// The values that one dimension of an access takes within the loops seen so far.
struct Extent {
  double steps = 1;  ///< distinct values if no two iterations agree
  double range = 0;  ///< largest minus smallest
};

/// Elements and cache lines that an access covers within the loops seen so far.
struct Footprint {
  double lines_per_element;
  bool gather;
  double used_length = 1;  ///< product of the lengths of the loops that the access uses
  double count = 1;
  double lines = 1;

  void update(const Extent* extents, const double* strides, int dims) {
    double outer = 1;  // elements over all dimensions but the last
    double span = 1;
    for (int d = 0; d + 1 < dims; ++d) {
      outer *= std::min(extents[d].steps, whole(extents[d].range) + 1);
      span += extents[d].range * std::abs(strides[d]);
    }
    const Extent& last = extents[dims - 1];
    const double last_count = std::min(last.steps, whole(last.range) + 1);
    const double last_span = last.range * std::abs(strides[dims - 1]);
    count = std::min(outer * last_count, used_length);
    if (gather) {
      lines = count;
      return;
    }
    const double last_lines = std::min(last_count, whole_up((last_span + 1) * lines_per_element));
    lines = std::min(std::min(outer, used_length) * last_lines, whole_up((span + last_span) * lines_per_element));
  }
};

}  // namespace tensmith
