#pragma once

#include <span>
#include <string>
#include <vector>

#include "tensmith/schedule/config_space.h"

namespace tensmith {

/// Configs as numbers (paper, section 6: "GBT on configuration S"): good within one space, meaningless across spaces.
///
/// The columns depend on the space alone: one for each integer of a knob's choices (a split has one a factor; shorter
/// choices are filled with 0). Numbers of ordinal knobs are sign(x) log2(1 + |x|), as is fit for sizes; those of other
/// knobs are the position in the list.
class KnobFeatures {
 public:
  explicit KnobFeatures(const ConfigSpace& space);

  size_t size() const { return names_.size(); }
  /// "tile_ow", or "tile_ow.0", "tile_ow.1" for the factors of a split.
  std::span<const std::string> names() const { return names_; }

  /// Writes the row of `config`, a config of the space given before, to `out`, which has `size()` elements.
  void extract(const Config& config, std::span<float> out) const;
  std::vector<float> extract(const Config& config) const;

 private:
  struct Block {
    size_t first;               ///< column
    size_t width;               ///< columns
    std::vector<float> values;  ///< row-major: choice, column
  };
  std::vector<std::string> names_;
  std::vector<Block> blocks_;
};

}  // namespace tensmith
