#pragma once

#include "tensmith/explore/strategy.h"

namespace tensmith {

struct RacingOptions : StrategyOptions {
  int64_t budget = 400;  ///< measurements in all: how many configs race, and how often, follows from it
  int first_test = 5;    ///< measurements of each config before the first elimination
};

/// Iterated racing (Lopez-Ibanez et al., "The irace package", 2016): configs are measured again and again, those that
/// are significantly worse (Friedman's test and comparisons with the best, at 5 %) or fail drop out, and the next race
/// has the survivors and new configs near them. For times that vary from one measurement to the next: alone among the
/// strategies, it proposes configs again. What earlier runs measured, it measures anew.
std::unique_ptr<SearchStrategy> make_racing_search(const ConfigSpace& space, RacingOptions options);

}  // namespace tensmith
