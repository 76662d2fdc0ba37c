#include "explore/strategies/portfolio.h"

#include <algorithm>

namespace tensmith {

Portfolio::Portfolio(const TaskPrior& prior, double compression)
    : unit_(prior.unit()),
      slowest_(compression > 0.0 ? 1.0 / compression : 3.0),
      least_(prior.columns() - 1, slowest_) {}

double Portfolio::cost(const TaskPrior::Opinion& opinion, float deviation) const {
  return opinion.valid * (opinion.mean + unit_ * deviation) + (1.0 - opinion.valid) * slowest_;
}

void Portfolio::add(const TaskPrior::Opinion& opinion, const float* deviations) {
  for (size_t t = 0; t < least_.size(); ++t) least_[t] = std::min(least_[t], cost(opinion, deviations[t]));
}

Portfolio::Gain Portfolio::gain(const TaskPrior::Opinion& opinion, const float* deviations) const {
  Gain gain;
  const auto tasks = static_cast<double>(least_.size());
  for (size_t t = 0; t < least_.size(); ++t) {
    const double here = cost(opinion, deviations[t]);
    gain.saved += std::max(0.0, least_[t] - here) / tasks;
    gain.cost += here / tasks;
  }
  return gain;
}

}  // namespace tensmith
