#pragma once

#include <cstddef>
#include <span>

/// Where to look in a space of which nothing is known yet. Points are rows of coordinates; the first `columns` of
/// `width` numbers count, the others are left out of account.

namespace tensmith {

/// Sorts the candidates (rows of `rows`) by their distance from the middle, 0.5 in every coordinate. Stable.
void sort_from_middle(std::span<size_t> candidates, std::span<const float> rows, size_t width, size_t columns);

/// The candidate that is farthest from the nearest of `others` (maximin); the first of several, and the first of all
/// where there are no others. At least one candidate.
size_t farthest(std::span<const size_t> candidates, std::span<const float> rows, std::span<const float> others,
                size_t width, size_t columns);

}  // namespace tensmith
