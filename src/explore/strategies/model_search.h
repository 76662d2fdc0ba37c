#pragma once

#include <memory>
#include <vector>

#include "tensmith/explore/history.h"
#include "tensmith/explore/strategy.h"

namespace tensmith {

enum class Acquisition : uint8_t {
  kExpectedImprovement,
  kLowerConfidenceBound,
};

/// What the searches with a Gaussian process differ in. The defaults are those of the learned search; they were chosen
/// on the recorded spaces of P100, GTX 1080Ti and RTX 2070 SUPER, but for those of near configs and the odds of a
/// history: bench/RESULTS.md.
struct ModelSearchOptions : StrategyOptions {
  std::vector<TaskHistory> history;
  Acquisition acquisition = Acquisition::kExpectedImprovement;
  double confidence = 2.0;  ///< standard deviations of the lower confidence bound

  // The start, when there is no history.
  int start_points = 8;       ///< before the model is asked, all told
  int start_failures = 3;     ///< after so many failures it is asked earlier: random configs cost too much
  double start_middle = 0.5;  ///< share of the start points that come from the middle of the space
  int start_central = 4;      ///< the middle is the nearest of so many

  // The start, when there is one: configs that were good on some of its tasks, as long as each adds to those before.
  size_t proven = 4;           ///< before the model is asked, at most, all told
  double proven_gain = 0.005;  ///< of compressed time, mean over the tasks; see Portfolio

  // Which configs run.
  bool learn_validity = true;   ///< otherwise failures count as the slowest time so far
  double validity_power = 3.0;  ///< of the probability that a config runs, in its product with the improvement
  int trees = 32;
  double tree_share = 0.1;  ///< of the features, at each node
  double smoothing = 0.5;   ///< rows of the overall rate in each leaf

  // The Gaussian process.
  double compression = 0.3;  ///< of slow times: targets are (1 - (best / t)^c) / c; 0 for the logarithm
  double length = 3.0;       ///< medians of the priors of its parameters, and their deviations
  double length_deviation = 0.6;
  double signal = 1.0;
  double noise = 0.05;
  double history_signal = 1.5;  ///< with a history
  double history_weight = 0.8;
  double history_constant = 10.0;  ///< how far the level may be from that of the history, in units of TaskPrior
  /// How much more probable the history is than none, before there is a result; and where each of its tasks has other
  /// knobs than the space, so that it is another kernel: then the search begins as without a history.
  double history_odds = 3.0;
  double odds_of_other_kernels = 0.05;
  size_t doubt_starts = 2;  ///< start points, as without a history, when it is improbable for the first time
  double growth = 0.2;      ///< share of new rows after which the parameters are fitted again
  int first_steps = 40;     ///< of L-BFGS a fit, while there are few rows
  int later_steps = 10;
  int fit_rows = 200;  ///< that they are fitted to
  /// It is given the best rows there are and the newest of the others: all until there are more than that. A third of
  /// their number may be added before they are chosen anew.
  size_t best_rows = 1000;
  size_t newest_rows = 500;

  // While nothing better is found every second proposal is a random config near one of the fastest.
  size_t patience = 80;   ///< results without an improvement before that
  size_t near_best = 5;   ///< fastest configs that count; 0: none, all proposals are the model's
  size_t near_knobs = 2;  ///< in which a config may differ from one of them
};

std::unique_ptr<SearchStrategy> make_model_search(const ConfigSpace& space, ModelSearchOptions options);

}  // namespace tensmith
