#pragma once

#include <unordered_map>

#include "tensmith/explore/measurer.h"

namespace tensmith {

/// Measures by looking up a table of recorded results, so that searches can be compared without a device. Configs are
/// found by their index in `space`, which must outlive this.
class ReplayMeasurer final : public Measurer {
 public:
  explicit ReplayMeasurer(const ConfigSpace& space) : space_(space) {}

  /// What measuring the config gave. A later call for the same config replaces the earlier.
  void put(const Config& config, TrialStatus status, std::vector<double> seconds, std::string error = {});
  /// Trials answered so far.
  size_t trials() const { return trials_; }

  /// A config that the table lacks is invalid: its status is kInvalidConfig.
  void measure(std::span<const Config> configs, const Done& done, const StopQuery& stop) override;
  /// Every round sees the config's smallest recorded time.
  std::vector<Compared> compare(std::span<const Config> configs, const Rounds& rounds, const StopQuery& stop) override;

 private:
  TrialResult look_up(const Config& config) const;

  const ConfigSpace& space_;
  std::unordered_map<uint64_t, TrialResult> table_;
  size_t trials_ = 0;
};

}  // namespace tensmith
