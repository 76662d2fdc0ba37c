#pragma once

#include <vector>

#include "explore/strategies/descent.h"
#include "tensmith/explore/evolution.h"

/// What the two genetic searches share.

namespace tensmith {

using Population = std::vector<Place>;

/// So many random configs, rounded up to an even number; none when the space has no valid config.
Piece<Population> random_population(Look& look, int size);

/// Two children of each of random pairs; parents are shuffled. A child that the space forbids is a copy of a parent.
std::vector<Config> offspring(Look& look, Population& parents, Crossover crossover);

/// Whether all are the same config, so that crossover makes nothing new.
bool all_alike(const Population& population);

}  // namespace tensmith
