#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tensmith/explore/recorded/recorded_space.h"
#include "tensmith/explore/recorded/search_run.h"
#include "tensmith/explore/strategy.h"

/// Search algorithms against each other on recorded spaces, as section IV of "Benchmarking optimization algorithms for
/// auto-tuning GPU kernels" (Schoonhoven et al., 2022) does it: every algorithm searches every space many times for
/// each budget, and is judged by the mean fraction of the optimum that it reached.

namespace tensmith {

struct TaskHistory;

/// What an algorithm is given for one run.
struct RaceTask {
  const ConfigSpace& space;
  int64_t budget = 0;  ///< what the run is told; it may be let go on for longer (RaceOptions::limit)
  uint64_t seed = 0;
  const std::vector<TaskHistory>& history;  ///< the other spaces of the same kernel; empty without history
};

/// An algorithm that takes part.
struct Contender {
  std::string name;  ///< "first-mls": unique in a race, part of the seed
  /// Whether its course depends on the budget. Otherwise one run to the largest budget tells the result of all.
  bool by_budget = true;
  bool uses_history = false;
  /// Of single runs, not of means (it measures configs again).
  bool needs_draws = false;
  /// The largest budget that it is run for; 0: any. It has no cells for larger ones.
  int64_t largest_budget = 0;
  /// Makes the search of one run; called from several threads.
  std::function<std::unique_ptr<SearchStrategy>(const RaceTask&)> make;
  /// Its hyper-parameters for a budget, for the results; null: none.
  std::function<std::string(int64_t budget)> settings;
};

struct RaceOptions {
  std::vector<int64_t> budgets;  ///< ascending
  int runs = 50;
  Convention convention = Convention::kCartesian;
  Objective objective = Objective::kMean;
  bool history =
      false;  ///< whether contenders that can use it get the recorded points of the other spaces of the kernel
  uint64_t seed = 1;
  int threads = 1;
  /// Evaluations after which a run for a budget ends, where that is not the budget itself. Results belong to it.
  std::function<int64_t(const RecordedSpace& space, const Contender& contender, int64_t budget)> limit;
};

/// What one run came to by a budget.
struct RaceRun {
  double fraction = 0.0;  ///< optimum / best value found; 0 when nothing valid was
  int64_t evaluations = 0;
  bool found = false;  ///< the optimum
};

/// The runs of one algorithm on one space for one budget.
struct RaceCell {
  std::string id;  ///< of all that the runs depend on: equal ids have equal runs
  std::string space;
  std::string kernel;
  std::string device;
  std::string algorithm;
  std::string settings;
  Convention convention = Convention::kCartesian;
  Objective objective = Objective::kMean;
  bool history = false;
  int64_t budget = 0;
  uint64_t seed = 0;
  std::vector<RaceRun> runs;
};

struct RaceSummary {
  double mean_fraction = 0.0;
  double std_fraction = 0.0;  ///< n - 1
  double success_rate = 0.0;  ///< share of the runs that found the optimum
  double mean_evaluations = 0.0;
  double std_evaluations = 0.0;
};
RaceSummary summarize(const RaceCell& cell);

struct RaceProgress {
  size_t cells = 0;
  size_t cells_done = 0;  ///< recalled ones included
  double share = 0.0;     ///< of the work that this run of the race has to do, by evaluations, 0 to 1
  double seconds = 0.0;
};

/// What the runs of a cell can be.
struct RaceBounds {
  int runs = 0;
  int64_t evaluations = 0;      ///< of a run, at most
  double least_fraction = 0.0;  ///< of a run that has found a valid config: the worst one's
};
/// Whether the runs of the cell can be those of such a race.
bool possible(const RaceCell& cell, const RaceBounds& bounds);

/// What a race asks and tells meanwhile; any may be null. Called from any of its threads, one call at a time but for
/// should_stop.
struct RaceHooks {
  /// Fills in the runs of a cell that is known already, by its id; what is not possible is not known. Called before
  /// the first call of `progress`.
  std::function<bool(RaceCell& cell, const RaceBounds& bounds)> recall;
  /// Called with each finished cell, in no particular order.
  std::function<void(const RaceCell& cell)> store;
  std::function<void(const RaceProgress& progress)> progress;
  /// Asked before each evaluation, by several threads at once; must be quick.
  std::function<bool()> should_stop;
};

struct RaceResult {
  /// By space, contender and budget in their given order; when it was stopped, those that are finished.
  std::vector<RaceCell> cells;
  bool stopped = false;
  double seconds = 0.0;
};

/// Runs a race. The result depends on the spaces, contenders and options, but not on the number of threads: the seed of
/// a run is derived from the seed and the names of space and contender, its number, and for a contender `by_budget` the
/// budget.
///
/// Throws UserError for a race without spaces, contenders, budgets or runs, for budgets that are not positive and
/// ascending or above the number of points of every space (of one space, it may be: a search that has seen every point
/// ends), names that occur twice, a space without a valid point, and what has no single runs although they are drawn.
RaceResult run_race(std::span<const RecordedSpace> spaces, std::span<const Contender> contenders,
                    const RaceOptions& options, const RaceHooks& hooks = {});

std::string_view to_string(Convention convention);
std::string_view to_string(Objective objective);

}  // namespace tensmith
