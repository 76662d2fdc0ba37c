#pragma once

#include <array>
#include <atomic>
#include <climits>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tensmith/explore/measurer.h"
#include "tensmith/explore/record.h"
#include "tensmith/explore/strategy.h"
#include "tensmith/schedule/config_space.h"

namespace tensmith {

/// What is tuned.
struct TuneTask {
  const ConfigSpace* space = nullptr;
  /// The best guess without measuring. Measured first, and the bar that a result has to beat.
  Config default_config;
  /// What all records of this run have in common: key, space, versions, CPU model, seed, strategy. The space's
  /// fingerprint is filled in by the tuner.
  Record base;
  /// The replayable trace of a config; may be empty.
  std::function<std::string(const Config&)> trace;
  /// Earlier records of the key, oldest first (Database::records). Those of another fingerprint are passed over.
  std::vector<Record> history;
};

struct TuneProgress {
  int trials = 0;  ///< of the key so far, earlier runs included
  int total = 0;   ///< that there will be at most: no more than valid configs, unless they are measured again (of a
                   ///< space that is too large to be counted, those that are not known to be invalid)
  int valid = 0;
  double best_seconds = 0.0;     ///< 0 before the first success
  double default_seconds = 0.0;  ///< 0 when unknown
  double trials_per_second = 0.0;
  double elapsed_seconds = 0.0;
  double seconds_left = 0.0;  ///< estimate; 0 when unknown
  /// The trial that just ended.
  const TrialResult* last = nullptr;
};

/// Rounds are of `size` trials until the key has `until` of them. The last entry holds from there on.
struct BatchSize {
  int until = 0;
  int size = 0;
};

struct TuneOptions {
  /// Trials of the key in total: those of earlier runs and those that failed count. To a strategy that proposes each
  /// config once, several trials of a config are one.
  int trials = 512;
  /// Sizes of the rounds. Small ones early, when every refit teaches the model most.
  std::vector<BatchSize> batches = {{24, 24}, {128, 8}, {512, 16}, {INT_MAX, 32}};
  /// No trial starts, and the one that runs is given up, when what is left of this time is what the comparison takes
  /// (of a short budget at most a half); 0 or less: no limit.
  double time_budget_seconds = 0.0;
  /// Set (by a signal handler, say) to end soon; nothing measured is lost.
  const std::atomic<bool>* stop = nullptr;
  std::function<void(const TuneProgress&)> progress;
  /// The best trials that are compared with the default.
  int finalists = 6;
  /// How long they are compared; not at all when `most` is 0.
  Measurer::Rounds comparison;
};

enum class TuneEnd : uint8_t {
  kTrialsDone,
  kSpaceExhausted,
  kTimeBudget,
  kInterrupted,
  kStoreFailed,  ///< records could not be stored; see TuneResult::store_error
};

/// One config and its time.
struct TunedConfig {
  Config config;
  double seconds = 0.0;  ///< of a call (Record::best_seconds)
  /// The times come from an interleaved comparison (of this run or an earlier one) rather than from one trial.
  bool confirmed = false;
};

struct TuneResult {
  TuneEnd end = TuneEnd::kTrialsDone;
  int trials = 0;                                  ///< of the key
  int new_trials = 0;                              ///< of this run
  std::array<int, kTrialStatusCount> by_status{};  ///< of all trials
  /// The result: never slower than the default where they were compared. Nothing when no trial succeeded.
  std::optional<TunedConfig> best;
  /// Nothing when the default config did not run.
  std::optional<TunedConfig> default_config;
  /// How the default config's last trial ended, where it has no time: "wrong output: ..."; empty when there was none.
  std::string default_failure;
  /// The fastest trial, as it was measured then; 0 when none succeeded. The comparison may have given another winner,
  /// and other times.
  double best_trial_seconds = 0.0;
  double seconds = 0.0;     ///< wall-clock time of this run
  int ignored_history = 0;  ///< records of another version of the space
  std::string store_error;  ///< what the store said (on writing, or on reading what others wrote) and its hint, when
                            ///< end is kStoreFailed
  /// "all of 64 trials failed, 60 of them with: run timeout: ..."; the commonest status and its commonest text. Empty
  /// when none failed.
  std::string commonest_failure;

  int valid() const { return by_status[static_cast<size_t>(TrialStatus::kOk)]; }
};

/// The loop of Algorithm 1: rounds of propose, measure, learn, until the trials are used up, the space is seen, the
/// time is over or `stop` is set; then the best trials are measured again, interleaved with the default config, and the
/// fastest of those is the result. Every finished trial goes to `sink` (may be null) before anything else happens.
///
/// Repeating a finished run measures nothing and gives the same result. An interrupted run goes on where it stopped.
/// A strategy that repeats configs is told what earlier runs measured when it asks for that config.
/// Trials that fail are values; the first wrong outputs and wild stores are logged as errors, the others counted. A
/// config whose worker was lost in an earlier run may be measured again. Throws what `measurer` and
/// `strategy` throw (DeviceError: no trial can be measured), and UserError for options that make no sense.
TuneResult tune(const TuneTask& task, SearchStrategy& strategy, Measurer& measurer, RecordSink* sink,
                const TuneOptions& options);

}  // namespace tensmith
