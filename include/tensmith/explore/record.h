#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tensmith/explore/trial.h"
#include "tensmith/schedule/config_space.h"

namespace tensmith {

/// The version of records that this Tensmith writes, and the newest that it reads.
inline constexpr int kRecordVersion = 1;

/// What a measured time depends on besides the config. Two records may be compared when their keys are equal.
struct RecordKey {
  std::string workload;               ///< canonical text with layouts and types; for a free expression, the expression
  std::string target_kind;            ///< "llvm"
  std::string cpu;                    ///< the compiler's name of the CPU, "znver3"
  std::vector<std::string> features;  ///< sorted
  int threads = 1;
  bool flushed = false;  ///< caches emptied before each repetition

  bool operator==(const RecordKey&) const = default;
};

/// Indexes keys; the same on every machine.
uint64_t hash_value(const RecordKey& key);
/// "conv2d:... on llvm:znver3, 1 thread, hot caches", for messages.
std::string to_string(const RecordKey& key);

enum class RecordKind : uint8_t {
  kTrial,
  kConfirmation,  ///< one config's share of an interleaved comparison of the best with the default; not a trial
};

/// A persisted trial: everything needed to use it without the process that measured it.
struct Record {
  RecordKind kind = RecordKind::kTrial;
  RecordKey key;

  std::string space;  ///< the template or generator and its version: "conv2d_cpu/1"
  uint64_t space_fingerprint = 0;
  std::vector<std::pair<std::string, KnobValue>> knobs;  ///< names and values, never an index alone
  std::string trace;                                     ///< may be empty

  TrialStatus status = TrialStatus::kOk;
  std::vector<double> seconds;  ///< of one call, one entry a repetition; empty unless status is kOk
  std::string error;
  double build_seconds = 0.0;
  double run_seconds = 0.0;

  std::string date;
  std::string cpu_model;
  std::string tensmith_version;
  std::string llvm_version;
  uint64_t seed = 0;
  int trial = 0;            ///< number within the key, from 0
  std::string comparison;   ///< of confirmations: what those of one comparison have in common
  int comparison_size = 0;  ///< of confirmations: how many one comparison has; 0: not known (an older record)
  /// Of confirmations: seconds of a call as comparison_seconds tells them; 0: not known (an older record).
  double compared_seconds = 0.0;
  std::string strategy;

  /// Whether it holds a time that can be used.
  bool ok() const { return status == TrialStatus::kOk && !seconds.empty(); }
  /// Seconds of a call, to be compared with others: compared_seconds, or the least of `seconds`. Requires ok().
  double best_seconds() const;
  double median_seconds() const;  ///< of `seconds`; requires ok()
};

/// Knob names and values of a config, as records keep them; the inverse is ConfigSpace::from_values.
std::vector<std::pair<std::string, KnobValue>> knob_values(const ConfigSpace& space, const Config& config);
/// "tile_ow=6 unroll=4".
std::string knobs_to_string(const Record& record);

/// Where the tuner puts what it measured before it goes on.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  /// Stores the records together: a trial, or all of a comparison. Throws WorkError when they could not be stored; they
  /// have been kept elsewhere then, as the error tells.
  virtual void add(std::span<const Record> records) = 0;
  void add(const Record& record) { add({&record, 1}); }
  /// Records of the key that others have stored since the last call; none where there are no others.
  virtual std::vector<Record> news(const RecordKey&) { return {}; }
};

}  // namespace tensmith
