#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tensmith/support/rng.h"

/// Training objectives (paper, section 3.2).

namespace tensmith {

/// A pair of rows whose labels differ; `better` has the larger label.
struct RankPair {
  uint32_t better;
  uint32_t worse;
};

/// Pairs to compare: all pairs of one group with different labels when there are at most twice `pairs_per_row` other
/// rows for each row (in so many pairs sampling puts a row, too), else `pairs_per_row` random partners for each row (a
/// pair may come twice). `groups` as in
/// CostModel::fit. `pairs` is overwritten. The same generator state gives the same pairs.
void sample_rank_pairs(std::span<const double> labels, std::span<const uint32_t> groups, uint32_t pairs_per_row,
                       Rng& rng, std::vector<RankPair>& pairs);

/// Equation 2: the sum over `pairs` of log(1 + exp(-(score of better - score of worse))). The paper's costs are
/// smaller-is-better and so is its prediction; with labels and scores both bigger-is-better the expression is the same.
double rank_loss(std::span<const float> scores, std::span<const RankPair> pairs);

/// First and second derivatives of rank_loss by each score, each pair weighing `weight`. Finite for all finite scores.
/// Both outputs have one element a score and are overwritten.
void rank_loss_gradient(std::span<const float> scores, std::span<const RankPair> pairs, float weight,
                        std::span<float> gradient, std::span<float> hessian);

/// Half the sum of squared differences, its derivative by the scores, and the second derivative (1).
double squared_loss(std::span<const float> scores, std::span<const double> labels);
void squared_loss_gradient(std::span<const float> scores, std::span<const double> labels, std::span<float> gradient,
                           std::span<float> hessian);

}  // namespace tensmith
