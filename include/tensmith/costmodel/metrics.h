#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// How well scores order programs. Scores and labels are bigger-is-better and of one length; ties of scores are broken
/// by position, so the results are reproducible.

namespace tensmith {

/// Positions by falling score.
std::vector<uint32_t> order_by_score(std::span<const float> scores);

/// Of the pairs with different labels, the fraction that the scores order the same way (equal scores count one half);
/// 1 when there is no such pair.
double pair_accuracy(std::span<const float> scores, std::span<const double> labels);

/// Best label among the k highest scores, relative to the best label of all: 1 means that measuring k programs
/// finds the best. 1 when no label is positive; k is clamped to 1..n. InternalError when empty.
double peak_at_k(std::span<const float> scores, std::span<const double> labels, size_t k);

/// Share of the k rows with the largest labels that are among the k highest scores. k is clamped to 1..n.
/// InternalError when empty.
double recall_at_k(std::span<const float> scores, std::span<const double> labels, size_t k);

}  // namespace tensmith
