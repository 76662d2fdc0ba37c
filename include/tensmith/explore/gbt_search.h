#pragma once

#include "tensmith/explore/strategy.h"

namespace tensmith {

struct GbtSearchOptions : StrategyOptions {
  int batch = 8;   ///< configs between two fits of the model
  int first = 16;  ///< random configs before the first fit
};

/// Boosted trees on knob features, with annealing over what they predict: the loop of "Learning to Optimize Tensor
/// Programs" without the features of programs, for spaces of which nothing is known but their knobs. Failures are
/// learned as throughput 0. Throws WorkError in a build without XGBoost.
std::unique_ptr<SearchStrategy> make_gbt_search(const ConfigSpace& space, GbtSearchOptions options);

}  // namespace tensmith
