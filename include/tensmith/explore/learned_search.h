#pragma once

#include <memory>
#include <vector>

#include "tensmith/explore/history.h"
#include "tensmith/explore/strategy.h"

/// Searches that model the times of a space by a Gaussian process on its knobs. They suit budgets of a few hundred
/// measurements. All take any space: one of up to 2^18 points is modelled point by point; of a larger one, random valid
/// configs and variations of the best measured ones are drawn anew for each proposal. A batch is chosen one by one,
/// each as if those before had turned out as expected; one at a time finds more. Up to 1500 results are modelled; of
/// more than that the best 1000 and the newest 500 of the others are, as the time of a proposal grows with the cube of
/// their number. Which configs fail is learned from all.

namespace tensmith {

/// The history changes what is expected, not what may be proposed.
struct LearnedSearchOptions : StrategyOptions {
  std::vector<TaskHistory> history;
};

/// Our best search for small budgets. Expected improvement (Jones et al., 1998) over a Gaussian process on compressed
/// times, multiplied by a power of the probability that a config runs. That probability comes from randomised
/// trees over products, ratios and divisibilities of the knobs, so that a space whose restrictions are not known is
/// learned on the way. While nothing better is found, every second proposal is a random config that differs from one of
/// the fastest in one or two knobs, as models overlook what stands alone. It does not know the
/// budget: a run for a larger one begins with the run for a smaller one.
///
/// With a history the expected times are the mean over the other tasks, each relative to its best, plus a weighted sum
/// of the tasks' deviations from it (the weights are learned, so that tasks alike count more), plus the process. It
/// begins with up to four configs of which one or another was good on each task; from five results on, the history is
/// asked in that share of the proposals which is the probability, by the results, that it is right. When that first
/// falls below a half, two configs follow that are far from all before. Where no task has the knobs of the space, by
/// name, the search begins as without a history, and the probability that it is right is small at first.
std::unique_ptr<SearchStrategy> make_learned_search(const ConfigSpace& space, LearnedSearchOptions options);

/// The same kernel, trees and acquisition with the textbook's choices: logarithms of times, weak priors, a start spread
/// over the space, probabilities as they are.
std::unique_ptr<SearchStrategy> make_gp_search(const ConfigSpace& space, StrategyOptions options);

struct SmacOptions : StrategyOptions {
  double confidence = 2.0;  ///< standard deviations below the mean
};

/// SMAC's role (SMAC4BB of Lindauer et al., 2022, as "Benchmarking optimization algorithms for auto-tuning GPU kernels"
/// ran it): a Gaussian process and a lower confidence bound. Knows nothing of validity: a config that fails counts as
/// slow as the slowest so far. Meant for up to 400 evaluations.
std::unique_ptr<SearchStrategy> make_smac_search(const ConfigSpace& space, SmacOptions options);

}  // namespace tensmith
