#pragma once

#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "explore/sampling.h"
#include "tensmith/explore/strategy.h"

namespace tensmith {

/// What every strategy keeps: the configs that were proposed or told of, and those to propose first.
class SeenConfigs {
 public:
  SeenConfigs(const ConfigSpace& space, std::vector<Config> initial) : space_(space) {
    for (Config& config : initial) initial_.push_back(std::move(config));
  }

  const IndexSet& indices() const { return seen_; }
  /// False when it was there already.
  bool insert(const Config& config) { return seen_.insert(space_.index_of(config)).second; }
  bool contains(const Config& config) const { return seen_.contains(space_.index_of(config)); }

  void insert(std::span<const Observation> results) {
    for (const Observation& result : results) insert(result.config);
  }

  /// Moves initial configs that are valid and new to `batch` until it holds `count`.
  void take_initial(size_t count, std::vector<Config>& batch) {
    while (batch.size() < count && !initial_.empty()) {
      Config config = std::move(initial_.front());
      initial_.pop_front();
      if (belongs(config) && space_.valid(config) && insert(config)) batch.push_back(std::move(config));
    }
  }

  /// Adds unseen valid configs drawn by `sampler` to `batch` until it holds `count` or none is left.
  void fill(ValidSampler& sampler, size_t count, std::vector<Config>& batch) {
    while (batch.size() < count) {
      std::optional<Config> config = sampler.next_unseen(seen_);
      if (!config) return;
      insert(*config);
      batch.push_back(std::move(*config));
    }
  }

 private:
  bool belongs(const Config& config) const {
    const auto knobs = space_.knobs();
    if (config.choices.size() != knobs.size()) return false;
    for (size_t i = 0; i < knobs.size(); ++i) {
      if (config.choices[i] >= knobs[i].choices.size()) return false;
    }
    return true;
  }

  const ConfigSpace& space_;
  IndexSet seen_;
  std::deque<Config> initial_;
};

}  // namespace tensmith
