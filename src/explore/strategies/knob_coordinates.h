#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tensmith/schedule/config_space.h"

namespace tensmith {

/// A config as a point for a Gaussian process: distances say how alike two configs are. Columns span about [0, 1].
///
/// A number (an integer knob whose order means something) is half its place in the list and half its logarithm; the
/// factors of a split are logarithms; alternatives have a column each that is 1 for the one chosen. Whole numbers that
/// count from 0, three to eight of them, are names of alternatives more often than sizes, and treated so. Few numbers
/// are joined by the logarithms of their products in pairs.
class KnobCoordinates {
 public:
  explicit KnobCoordinates(const ConfigSpace& space);

  size_t columns() const { return columns_; }
  /// Writes `columns()` numbers.
  void write(const Config& config, float* row) const;

 private:
  struct Block {
    size_t knob;
    size_t first;
    size_t width;
    std::vector<float> values;  ///< choice-major
  };
  struct Pair {
    size_t a;  ///< knobs
    size_t b;
    double low;
    double scale;
  };
  std::vector<Block> blocks_;
  std::vector<std::vector<double>> logs_;  ///< of each choice of a number; empty for other knobs
  std::vector<Pair> pairs_;
  size_t columns_ = 0;
};

/// Whether a knob's choices are positive whole numbers with an order: what products and divisions are made of.
bool is_size(const Knob& knob);

/// Whether a knob's choices are alternatives rather than amounts.
bool is_alternative(const Knob& knob);

/// sign(x) log2(1 + |x|), or log2(x) for a knob of sizes.
double knob_log(const Knob& knob, int64_t value);

}  // namespace tensmith
