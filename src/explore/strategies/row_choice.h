#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tensmith/support/rng.h"

/// Which rows a model is given when there are more than it can take.

namespace tensmith {

/// Of `rows` (positions in `values`, in order) the `best` with the least value and the `newest` of the others, in
/// order; all when there are no more. Of equal values the older one is better.
std::vector<size_t> best_and_newest(std::vector<size_t> rows, std::span<const double> values, size_t best,
                                    size_t newest);

/// `count` of the values' positions: half of them the least, the others drawn at random. All of them, in order, when
/// there are no more.
std::vector<size_t> best_and_random(std::span<const double> values, size_t count, Rng& rng);

}  // namespace tensmith
