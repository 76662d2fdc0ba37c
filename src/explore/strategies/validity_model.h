#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "explore/strategies/extra_trees.h"
#include "tensmith/schedule/config_space.h"

namespace tensmith {

/// Which configs can run, learned from those that did and those that failed. What forbids a config is most often a
/// product of sizes above a limit, or one that does not divide another: the trees see logarithms of sizes, of their
/// products and ratios (of two, and of three where there are few), and whether one divides another.
class ValidityModel {
 public:
  ValidityModel(const ConfigSpace& space, const ExtraTreesOptions& options);

  /// The numbers that the model sees of a config.
  size_t columns() const { return columns_; }
  /// Writes them to out[0], out[stride], ...
  void write(const Config& config, float* out, size_t stride = 1) const;

  /// Learns of one config. `anew`: from all again, which a model that has grown by single configs is the better for.
  void add(const Config& config, bool runs, bool anew, Rng& rng);

  /// The points to follow, one column after the other, and the probability that each runs.
  void track(std::vector<float> columns, size_t points) { trees_.track(std::move(columns), points); }
  std::span<const float> probabilities() const { return trees_.probabilities(); }

 private:
  struct Block {
    size_t knob;
    size_t first;
    size_t width;
    std::vector<float> values;  ///< choice-major
  };
  struct Division {
    size_t a;  ///< columns
    size_t b;
  };
  std::vector<Block> blocks_;
  std::vector<Division> divisions_;
  size_t columns_ = 0;
  ExtraTrees trees_;
  bool failed_ = false;  ///< a config was seen that does not run
};

}  // namespace tensmith
