#include "tensmith/explore/trial.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace tensmith {
namespace {

constexpr std::array<std::string_view, kTrialStatusCount> kNames = {
    "ok",    "invalid config", "build error", "build timeout", "run timeout",
    "crash", "hang",           "wild store",  "wrong output",  "worker lost",
};

}  // namespace

std::string_view to_string(TrialStatus status) { return kNames[static_cast<size_t>(status)]; }

std::optional<TrialStatus> parse_trial_status(std::string_view text) {
  const auto found = std::find(kNames.begin(), kNames.end(), text);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<TrialStatus>(found - kNames.begin());
}

Observation observe(const TrialResult& result) {
  Observation observation{result.config, result.status, 0.0};
  if (!observation.ok()) return observation;
  double best = std::numeric_limits<double>::infinity();
  for (double seconds : result.seconds) {
    if (std::isfinite(seconds)) best = std::min(best, seconds);
  }
  if (!std::isfinite(best)) {
    observation.status = TrialStatus::kWorkerLost;
  } else {
    // Below a tenth of a nanosecond no call of a function is believable.
    observation.seconds = std::max(best, 1e-10);
  }
  return observation;
}

}  // namespace tensmith
