#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tensmith/explore/database.h"
#include "tensmith/explore/kernel/kernel.h"
#include "tensmith/explore/measure/kernel_measurer.h"
#include "tensmith/explore/recorded/recorded_space.h"
#include "tensmith/explore/strategy.h"
#include "tensmith/explore/tuner.h"

namespace tensmith {

struct TuneKernelSettings {
  int trials = 512;                  ///< of the key in total: those of earlier runs and those that failed count
  uint64_t seed = 1;                 ///< of the search and of the random arguments
  double time_budget_seconds = 0.0;  ///< the comparison of the best in the end included; 0: no limit
  std::string strategy = "random";   ///< its name, for records
  /// Makes the search; random when empty.
  std::function<std::unique_ptr<SearchStrategy>(const ConfigSpace& space, const StrategyOptions& options)> search;
  KernelMeasurerOptions measuring;  ///< its `seed` is that above
  const std::atomic<bool>* stop = nullptr;
  std::function<void(const TuneProgress&)> progress;
};

struct TunedKernel {
  RecordKey key;
  std::string device;  ///< that it ran on, as people call it
  TuneResult result;
  std::vector<Record> records;  ///< all trials and comparisons of the key and space, earlier runs included
};

/// Searches for the fastest config of a user's own kernel by measuring on this machine. Every trial goes to `database`
/// (may be null). What was measured for the same code, size, arguments, device, compiler, reference
/// and tolerance counts.
///
/// The kernel runs in worker processes, which are this program started again: its main must begin with
/// run_worker_if_asked (worker_main.h).
///
/// Throws UserError when the settings make no sense; UserError or WorkError when the reference cannot be made, as
/// KernelMeasurer; and DeviceError when the machine lacks what the language needs. Trials that fail are values; a
/// database that cannot be written ends the run: TuneResult::end.
TunedKernel tune_kernel(const KernelSpec& spec, const ConfigSpace& space, const Config& default_config,
                        const KernelReference& reference, Database* database, const TuneKernelSettings& settings);

/// What was measured as a recorded space, which other commands and tools read: that of space_of_records for the values
/// of `space`, of which the records must be.
RecordedSpace recorded_kernel(const ConfigSpace& space, const TunedKernel& tuned);

}  // namespace tensmith
