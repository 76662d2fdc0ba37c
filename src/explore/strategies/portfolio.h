#pragma once

#include <span>
#include <vector>

#include "explore/strategies/task_prior.h"

namespace tensmith {

/// Configs of which one or another was good on each task of a history. They are to be chosen greedily: next is the one
/// whose gain is the greatest.
class Portfolio {
 public:
  /// Costs are compressed times (TaskPrior), with `compression`; a config that fails costs as much as one that takes
  /// for ever, or 20 times as long where times are not compressed.
  Portfolio(const TaskPrior& prior, double compression);

  void add(const TaskPrior::Opinion& opinion, const float* deviations);

  struct Gain {
    double saved = 0.0;  ///< mean over the tasks of what the best cost falls by
    double cost = 0.0;   ///< mean over the tasks; tells apart what saves as much
    bool operator>(const Gain& other) const { return saved != other.saved ? saved > other.saved : cost < other.cost; }
  };
  Gain gain(const TaskPrior::Opinion& opinion, const float* deviations) const;

 private:
  double cost(const TaskPrior::Opinion& opinion, float deviation) const;

  double unit_;
  double slowest_;
  std::vector<double> least_;  ///< of each task, over the configs that were added
};

}  // namespace tensmith
