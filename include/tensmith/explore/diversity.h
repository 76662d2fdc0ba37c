#pragma once

#include <span>
#include <vector>

#include "tensmith/schedule/config_space.h"

namespace tensmith {

/// Equation 3 of "Learning to Optimize Tensor Programs", written for scores (bigger is better) instead of costs: the
/// sum of the scores of the chosen configs plus `alpha` times the number of distinct (knob, choice) pairs they cover.
double batch_objective(std::span<const Config> configs, std::span<const double> scores, double alpha);

/// Positions of `count` candidates (all of them when there are fewer) chosen greedily to maximise batch_objective, in
/// the order they were chosen. The objective is submodular for alpha >= 0, so greedy choice is within 1 - 1/e of the
/// best. Ties go to the earlier candidate. All configs must have the same number of knobs; scores are finite.
/// Lazy evaluation: near-linear in the number of candidates in practice.
std::vector<int> choose_diverse(std::span<const Config> candidates, std::span<const double> scores, int count,
                                double alpha);

}  // namespace tensmith
