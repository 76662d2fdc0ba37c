#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "tensmith/costmodel/gbt.h"
#include "tensmith/explore/algorithms.h"
#include "tensmith/explore/database.h"
#include "tensmith/explore/measure/local_measurer.h"
#include "tensmith/explore/tuner.h"
#include "tensmith/ops/workload.h"

namespace tensmith {

/// What chooses the programs that are measured.
enum class TuneStrategy : uint8_t {
  kAnnealing,  ///< simulated annealing over a learned cost model: Algorithm 1 of the AutoTVM paper
  kGrid,
  kGenetic,    ///< in batches of a population
  kAlgorithm,  ///< TuneSettings::algorithm
};

/// The model under annealing.
enum class TuneModel : uint8_t {
  kGbt,  ///< boosted trees
  kGp,   ///< a Gaussian process
};

struct TuneSettings {
  int trials = 512;   ///< of the key in total: those of earlier runs that the database holds, and those that failed
  int threads = 0;    ///< of the operator; 0: physical cores
  uint64_t seed = 1;  ///< of the search and of the random inputs
  double time_budget_seconds = 0.0;  ///< of all, the comparison of the best in the end included; 0: no limit
  TuneStrategy strategy = TuneStrategy::kAnnealing;
  Algorithm algorithm = Algorithm::kRandom;           ///< of kAlgorithm; with the hyper-parameters that suit the trials
  TuneModel model = TuneModel::kGbt;                  ///< of kAnnealing
  GbtObjective objective = GbtObjective::kRank;       ///< what the boosted trees of kAnnealing learn
  LocalMeasurerOptions measuring;                     ///< its `threads` and `seed` are those above
  const std::atomic<bool>* stop = nullptr;            ///< set it to end soon; what was measured is kept
  std::function<void(const TuneProgress&)> progress;  ///< told after each trial
};

/// Searches for the fastest program of a workload by measuring on this machine: task, search, model, measurer and tuner
/// in one call. Every trial goes to `database` (may be null: then the result is all that is left), which Operator
/// reads.
///
/// The programs are measured in worker processes, which are this program started again: its main must begin with
/// run_worker_if_asked (worker_main.h).
///
/// Throws UserError when the settings make no sense, no template handles the workload, the target does not run here, or
/// main lacks that call; WorkError when the operands do not fit into memory; DeviceError when workers cannot be
/// started. Trials that fail are values, and a database that cannot be written ends the run: TuneResult::end.
TuneResult tune_workload(const Workload& workload, const Target& target, Database* database,
                         const TuneSettings& settings = {});

/// The same for a task and definition made already (TaskAndProgram); the thread count is the task's.
TuneResult tune_task(const Task& task, const Program& program, Database* database, const TuneSettings& settings = {});

TaskAndProgram make_task_and_program(const Workload& workload, const Target& target, int threads);

}  // namespace tensmith
