#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tensmith/explore/algorithms.h"
#include "tensmith/explore/recorded/race.h"

/// The choice of an algorithm's hyper-parameters: section V of "Benchmarking optimization algorithms for auto-tuning
/// GPU kernels" (Schoonhoven et al., 2022).

namespace tensmith {

/// What one setting came to on one space, over several runs.
struct SettingScore {
  double mean = 0.0;    ///< fraction of the optimum
  double stddev = 0.0;  ///< of single runs
};

struct RankedSetting {
  size_t setting = 0;  ///< position among those compared
  /// The least k for which the setting is good enough on every space.
  double k = 0.0;
  double mean = 0.0;  ///< over the spaces
};

/// On each space the settings count as good whose mean is within k standard deviations of the best mean (its own
/// deviation). As k shrinks, fewer are good on every space; the last one is chosen. Returns all settings by the k at
/// which they drop out, the chosen one first; equal k by the mean. `scores[space][setting]`. Throws UserError when
/// there is nothing to choose from.
std::vector<RankedSetting> rank_settings(std::span<const std::vector<SettingScore>> scores);

/// The settings of an algorithm for one budget, compared on some spaces.
struct SettingsSelection {
  std::vector<AlgorithmSettings> settings;  ///< those compared
  std::vector<RankedSetting> ranking;       ///< of them; empty when it was stopped
};

/// Races all settings of settings_grid on the spaces, with the budget of `options` (the first) and its other fields,
/// and ranks them. A search that has converged ends, as in the published study.
SettingsSelection select_settings(Algorithm algorithm, std::span<const RecordedSpace> spaces,
                                  const RaceOptions& options, const RaceHooks& hooks = {});

/// How much of several selections on the same spaces is done, of all together: one for each algorithm and budget, which
/// weighs what its evaluations are.
class SelectionsShare {
 public:
  SelectionsShare(std::span<const Algorithm> algorithms, std::span<const int64_t> budgets);

  /// One is finished.
  void finish(Algorithm algorithm, int64_t budget);
  /// From 0 to 1: of all, when `share` of this one is done besides those finished.
  double with(Algorithm algorithm, int64_t budget, double share) const;

 private:
  double work_ = 0.0;
  double done_ = 0.0;
};

}  // namespace tensmith
