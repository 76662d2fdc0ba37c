#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tensmith/schedule/config_space.h"

namespace tensmith {

/// How a trial ended. A config that fails is an ordinary value of the search.
enum class TrialStatus : uint8_t {
  kOk,
  kInvalidConfig,  ///< a constraint of the space or a limit of the schedule forbids it; nothing was built
  kBuildError,     ///< lowering or the back end refused it
  kBuildTimeout,
  kRunTimeout,
  kCrash,        ///< the program died while it ran
  kHang,         ///< the program stopped making progress and had to be killed
  kWildStore,    ///< it wrote outside its buffers
  kWrongOutput,  ///< it ran, but its output is not the operator's
  kWorkerLost,   ///< the process that builds or runs was lost from outside; says nothing about the config
  kRunError,     ///< it could not be loaded, or returned an error (no memory for scratch)
};
inline constexpr int kTrialStatusCount = 11;

/// "ok", "invalid config", "build error", ... as messages and tables print it.
std::string_view to_string(TrialStatus status);
/// Inverse of to_string.
std::optional<TrialStatus> parse_trial_status(std::string_view text);

/// What measuring one config gave.
struct TrialResult {
  Config config;
  TrialStatus status = TrialStatus::kWorkerLost;
  std::vector<double> seconds;  ///< of one call of the operator, one entry a repetition; empty unless status is kOk
  std::string error;            ///< what went wrong, one line; empty when kOk
  double build_seconds = 0.0;
  double run_seconds = 0.0;  ///< of the whole trial in the runner: warm-up, repetitions, checking the output
  std::string date;          ///< utc_timestamp() at the end of the trial
};

/// What a search strategy and a cost model are told of a trial.
struct Observation {
  Config config;
  TrialStatus status = TrialStatus::kOk;
  double seconds = 0.0;  ///< the smallest of the repetitions; meaningful only when status is kOk

  bool ok() const { return status == TrialStatus::kOk; }
};

/// Makes a trial's times usable: those that are not finite are dropped, and none is below 0.1 ns, so that a clock too
/// coarse for the operator does not make it infinitely fast. A trial that claims success without any time becomes
/// kWorkerLost.
void normalize_times(TrialResult& result);

/// Takes the minimum of the repetitions: timing noise only ever adds. Times must have been normalized.
Observation observe(const TrialResult& result);

}  // namespace tensmith
