#pragma once

#include <memory>

#include "tensmith/explore/history.h"
#include "tensmith/explore/strategy.h"

namespace tensmith {

enum class Acquisition : uint8_t {
  kExpectedImprovement,
  kLowerConfidenceBound,
};

/// What the searches with a Gaussian process differ in.
struct ModelSearchOptions : StrategyOptions {
  std::vector<TaskHistory> history;
  Acquisition acquisition = Acquisition::kExpectedImprovement;
  double confidence = 2.0;      ///< standard deviations of the lower confidence bound
  bool learn_validity = true;   ///< otherwise failures count as the slowest time so far
  double validity_power = 1.5;  ///< of the probability that a config runs, in its product with the improvement
  int start_points = 8;         ///< before the model is asked, all told
  int start_failures = 3;       ///< after so many failures it is asked earlier
  double start_middle = 0.5;    ///< share of the start points that are near the middle of the space
  double compression = 0.3;     ///< of slow times: targets are (1 - (best / t)^c) / c; 0 for the logarithm
  double growth = 0.2;          ///< share of new rows after which hyper-parameters are fitted again
  int first_steps = 40;         ///< of L-BFGS while there are few rows
  int later_steps = 10;
  int fit_rows = 200;   ///< that hyper-parameters are fitted to
  double length = 3.0;  ///< prior of hyper-parameters: medians, and their deviations
  double length_deviation = 0.6;
  double signal = 1.0;
  double noise = 0.05;
  double tree_share = 0.25;
  int trees = 32;
  double smoothing = 0.5;
  double offset = 0.0;
  int central = 16;
  double weight = 0.35;
  int random_thresholds = 1;
  double prior_signal = 0.7;
};

std::unique_ptr<SearchStrategy> make_model_search(const ConfigSpace& space, ModelSearchOptions options);

}  // namespace tensmith
