#include "tensmith/explore/trial.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tensmith {
namespace {

constexpr std::array<std::string_view, kTrialStatusCount> kNames = {
    "ok",   "invalid config", "build error",  "build timeout", "run timeout", "crash",
    "hang", "wild store",     "wrong output", "worker lost",   "run error",
};

/// No call of a function takes less.
constexpr double kLeastSeconds = 1e-10;

}  // namespace

std::string_view to_string(TrialStatus status) { return kNames[static_cast<size_t>(status)]; }

std::optional<TrialStatus> parse_trial_status(std::string_view text) {
  const auto found = std::find(kNames.begin(), kNames.end(), text);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<TrialStatus>(found - kNames.begin());
}

void normalize_times(TrialResult& result) {
  std::erase_if(result.seconds, [](double seconds) { return !std::isfinite(seconds); });
  for (double& seconds : result.seconds) seconds = std::max(seconds, kLeastSeconds);
  if (result.status != TrialStatus::kOk) {
    result.seconds.clear();
  } else if (result.seconds.empty()) {
    result.status = TrialStatus::kWorkerLost;
    result.error = "the measurement gave no time";
  }
}

Observation observe(const TrialResult& result) {
  Observation observation{result.config, result.status, 0.0};
  if (observation.ok()) observation.seconds = *std::min_element(result.seconds.begin(), result.seconds.end());
  return observation;
}

}  // namespace tensmith
