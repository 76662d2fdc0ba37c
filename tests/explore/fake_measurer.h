#pragma once

#include <functional>
#include <vector>

#include "tensmith/explore/measurer.h"

namespace tensmith::testing {

/// Measures by calling a function, and remembers what it was asked. Trials end in reverse order, as a pipelined
/// measurer's may.
class FakeMeasurer final : public Measurer {
 public:
  /// Positive: seconds. Otherwise the trial fails with `failure`.
  using Time = std::function<double(const Config&)>;
  explicit FakeMeasurer(Time trial, Time compared = {}) : trial_(std::move(trial)), compared_(std::move(compared)) {}

  void measure(std::span<const Config> configs, const Done& done, const StopQuery& stop) override {
    batches.push_back(static_cast<int>(configs.size()));
    for (size_t i = configs.size(); i-- > 0;) {
      if (stop()) return;
      TrialResult result;
      result.config = configs[i];
      const double seconds = trial_(configs[i]);
      result.status = seconds > 0.0 ? TrialStatus::kOk : failure;
      if (seconds > 0.0) {
        result.seconds = {seconds * 1.25, seconds, seconds * 1.125};
      } else {
        result.error = error;
      }
      measured.push_back(configs[i]);
      done(i, std::move(result));
      if (after_trial) after_trial();
    }
  }

  std::vector<Compared> compare(std::span<const Config> configs, const Rounds& rounds, const StopQuery&) override {
    ++comparisons;
    compared.assign(configs.begin(), configs.end());
    std::vector<Compared> all;
    for (const Config& config : configs) {
      const double seconds = compared_ ? compared_(config) : trial_(config);
      Compared one;
      if (seconds > 0.0) {
        one.seconds.assign(static_cast<size_t>(rounds.least), seconds);
      } else {
        one.status = failure;
        one.error = error;
      }
      all.push_back(std::move(one));
    }
    return all;
  }

  TrialStatus failure = TrialStatus::kBuildError;
  std::string error = "no way";
  std::function<void()> after_trial;
  std::vector<int> batches;
  std::vector<Config> measured;
  std::vector<Config> compared;
  int comparisons = 0;

 private:
  Time trial_;
  Time compared_;
};

}  // namespace tensmith::testing
