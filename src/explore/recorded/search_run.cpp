#include "tensmith/explore/recorded/search_run.h"

#include <limits>

#include <fmt/format.h>

#include "explore/units.h"
#include "tensmith/support/error.h"

namespace tensmith {
ConfigSpace space_of(const RecordedSpace& space, Convention convention) {
  return convention == Convention::kCartesian ? space.space() : space.restricted_space();
}

double SearchRun::fraction(const RecordedSpace& space, double optimum, int64_t budget) const {
  double value = 0.0;
  for (const Improvement& improvement : improvements) {
    if (improvement.evaluation <= budget) value = space.value(improvement.index);
  }
  return value > 0.0 ? optimum / value : 0.0;
}

SearchRun run_search(SearchStrategy& strategy, const RecordedSpace& space, const RunOptions& options) {
  const std::optional<double> optimum = space.best();
  if (!optimum) throw UserError(fmt::format("{}: no config of the space is valid", space.info().place()));
  if (options.objective == Objective::kDraw && !space.has_runs()) {
    throw UserError(
        fmt::format("{}: only mean values are recorded, so there is nothing to draw from", space.info().place()),
        "use the mean, or a file with the single runs");
  }
  Rng rng(options.seed);
  SearchRun run;
  double best = std::numeric_limits<double>::infinity();
  while (run.evaluations < options.budget && !run.found_optimum) {
    const std::vector<Config> proposed = strategy.propose(1);
    if (proposed.empty()) break;
    ++run.evaluations;
    Observation observation{proposed.front(), TrialStatus::kInvalidConfig, 0.0};
    const uint64_t index = space.space().index_of(observation.config);
    if (space.kind(index) == PointKind::kFailed) {
      observation.status = TrialStatus::kRunError;
    } else if (space.kind(index) == PointKind::kValid) {
      const std::span<const double> runs = space.runs(index);
      const double value =
          options.objective == Objective::kMean ? space.value(index) : runs[rng.uniform_int(uint64_t{runs.size()})];
      observation.status = TrialStatus::kOk;
      observation.seconds = value * kSecondsPerMillisecond;
      if (value < best) {
        best = value;
        run.improvements.push_back({run.evaluations, index});
      }
      run.found_optimum = space.value(index) <= *optimum;
    }
    strategy.update({&observation, 1});
  }
  return run;
}

}  // namespace tensmith
