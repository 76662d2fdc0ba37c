#include "tensmith/explore/replay.h"

#include <algorithm>

#include "tensmith/support/clock.h"

namespace tensmith {

void ReplayMeasurer::put(const Config& config, TrialStatus status, std::vector<double> seconds, std::string error) {
  TrialResult& result = table_[space_.index_of(config)];
  result.config = config;
  result.status = status;
  result.seconds = std::move(seconds);
  result.error = std::move(error);
}

TrialResult ReplayMeasurer::look_up(const Config& config) const {
  const auto found = table_.find(space_.index_of(config));
  if (found != table_.end()) return found->second;
  TrialResult missing;
  missing.config = config;
  missing.status = TrialStatus::kInvalidConfig;
  missing.error = "the recorded table has no such config";
  return missing;
}

void ReplayMeasurer::measure(std::span<const Config> configs, const Done& done, const StopQuery& stop) {
  for (size_t i = 0; i < configs.size() && !stop(); ++i) {
    ++trials_;
    TrialResult result = look_up(configs[i]);
    result.date = utc_timestamp();
    done(i, std::move(result));
  }
}

std::vector<Measurer::Compared> ReplayMeasurer::compare(std::span<const Config> configs, const Rounds& rounds,
                                                        const StopQuery& stop) {
  std::vector<Compared> all;
  for (const Config& config : configs) {
    const TrialResult result = look_up(config);
    Compared compared{result.status, {}, result.error};
    if (result.status == TrialStatus::kOk && !result.seconds.empty() && !stop()) {
      compared.seconds.assign(static_cast<size_t>(rounds.least),
                              *std::min_element(result.seconds.begin(), result.seconds.end()));
    }
    all.push_back(std::move(compared));
  }
  return all;
}

}  // namespace tensmith
