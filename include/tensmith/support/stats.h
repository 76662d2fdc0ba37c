#pragma once

#include <span>
#include <vector>

/// Small statistics over samples. Functions of one sample throw InternalError when it is empty; nothing changes its
/// input. Inputs hold no NaN.
namespace tensmith::stats {

double min(std::span<const double> values);
double max(std::span<const double> values);
double mean(std::span<const double> values);
/// Middle value, or the mean of the two middle values.
double median(std::span<const double> values);
/// Standard deviation with the n - 1 denominator; 0 for one value.
double stddev(std::span<const double> values);
/// Quantile by linear interpolation between order statistics, `q` in [0, 1] (0 is the minimum, 1 the maximum).
double quantile(std::span<const double> values, double q);
/// Geometric mean; every value must be positive.
double geomean(std::span<const double> values);

/// numerator[i] / denominator[i]: the per-round ratios of an interleaved comparison. Lengths must agree.
std::vector<double> ratios(std::span<const double> numerator, std::span<const double> denominator);
/// Ranks from 1, ties share the mean of their ranks.
std::vector<double> ranks(std::span<const double> values);
/// Pearson's correlation of two samples of one length (at least 2); 0 when either is constant.
double pearson(std::span<const double> a, std::span<const double> b);
/// Spearman's rank correlation: Pearson's over `ranks`.
double spearman(std::span<const double> a, std::span<const double> b);
/// Of the pairs whose truths differ, the fraction that the scores put in the same order; a pair of equal scores counts
/// one half. 1 when no two truths differ.
double pairwise_accuracy(std::span<const double> scores, std::span<const double> truths);

}  // namespace tensmith::stats
