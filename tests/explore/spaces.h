#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "tensmith/explore/strategy.h"
#include "tensmith/schedule/config_space.h"

namespace tensmith::testing {

/// `knobs` ordinal knobs of `choices` choices 0, 1, 2, ...
inline ConfigSpace make_space(int knobs, int choices) {
  ConfigSpace space;
  std::vector<int64_t> values(choices);
  std::iota(values.begin(), values.end(), 0);
  for (int i = 0; i < knobs; ++i) space.add(int_knob("k" + std::to_string(i), values));
  return space;
}

inline int sum_of(const Config& config) { return std::accumulate(config.choices.begin(), config.choices.end(), 0); }

/// A time with one minimum at choices (c, c, ...), smooth in every knob.
inline double bowl(const Config& config, double centre) {
  double distance = 0.0;
  for (uint16_t choice : config.choices) distance += (choice - centre) * (choice - centre);
  return 1e-3 * (1.0 + distance);
}

/// Runs a strategy against a function of times: rounds of `batch` until `trials` or the strategy ends.
template <typename Time>
std::vector<Config> run_search(SearchStrategy& strategy, int trials, int batch, Time&& seconds) {
  std::vector<Config> all;
  while (static_cast<int>(all.size()) < trials) {
    const std::vector<Config> configs = strategy.propose(std::min(batch, trials - static_cast<int>(all.size())));
    if (configs.empty()) break;
    std::vector<Observation> results;
    for (const Config& config : configs) {
      const double time = seconds(config);
      results.push_back({config, time > 0.0 ? TrialStatus::kOk : TrialStatus::kBuildError, std::max(time, 0.0)});
    }
    strategy.update(results);
    all.insert(all.end(), configs.begin(), configs.end());
  }
  return all;
}

inline size_t distinct(const ConfigSpace& space, const std::vector<Config>& configs) {
  std::vector<uint64_t> indices;
  for (const Config& config : configs) indices.push_back(space.index_of(config));
  std::sort(indices.begin(), indices.end());
  return std::unique(indices.begin(), indices.end()) - indices.begin();
}

}  // namespace tensmith::testing
