#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tensmith/schedule/config_space.h"

/// A search space whose points were measured once and for all: searching it needs no device.

namespace tensmith {

/// What is known of a point of the full Cartesian product.
enum class PointKind : uint8_t {
  kMissing,  ///< not recorded: it breaks the space's restrictions
  kFailed,   ///< tried, but did not compile, run or give the right answer
  kValid,    ///< measured
};

/// Where a space comes from; texts are kept as they were found and may be empty.
struct RecordedInfo {
  std::string name;          ///< of the space: the file's base name
  std::string kernel;        ///< "convolution", "GEMM"
  std::string device;        ///< what was measured on
  std::string objective;     ///< name of the quantity that is minimized, "time"
  std::string problem_size;  ///< JSON text
  std::string file;          ///< that it was read from; empty where it was made in memory

  /// How errors name the space.
  const std::string& place() const { return file.empty() ? name : file; }
};

/// The space and what was measured. Objective values are positive and smaller is better; times are in milliseconds.
/// Points have the index of ConfigSpace (last parameter fastest).
class RecordedSpace {
 public:
  /// All points are missing at first. The space has no constraints. Throws UserError for more than 2^27 points.
  RecordedSpace(RecordedInfo info, ConfigSpace space);

  const RecordedInfo& info() const { return info_; }
  void rename(std::string name) { info_.name = std::move(name); }
  /// The full product of the parameters, without restrictions: what a search sees by the Cartesian convention.
  const ConfigSpace& space() const { return space_; }
  /// The same where a config is valid when it is recorded, failed ones included: the restricted convention.
  ConfigSpace restricted_space() const;

  uint64_t size() const { return values_.size(); }
  PointKind kind(uint64_t index) const { return (*kinds_)[index]; }
  /// The mean over the runs; requires kValid.
  double value(uint64_t index) const { return values_[index]; }
  /// The single runs, in their order; empty when only the mean is known.
  std::span<const double> runs(uint64_t index) const;
  /// Why a point failed, in the words of who recorded it.
  std::string_view failure(uint64_t index) const;

  /// Records a point. Throws UserError when it is recorded already, or for a value that is not positive and finite.
  void put_valid(uint64_t index, double value, std::span<const double> runs = {});
  void put_failed(uint64_t index, std::string_view reason);

  uint64_t valid_count() const { return valid_count_; }
  uint64_t recorded_count() const { return recorded_count_; }
  /// The least value of all; nothing when no point is valid.
  std::optional<double> best() const { return best_; }
  /// Whether every valid point has single runs.
  bool has_runs() const { return valid_count_ > 0 && with_runs_ == valid_count_; }

 private:
  struct RunRange {
    uint32_t begin = 0;
    uint32_t count = 0;
  };
  void claim(uint64_t index, PointKind kind);

  RecordedInfo info_;
  ConfigSpace space_;
  std::vector<double> values_;
  std::shared_ptr<std::vector<PointKind>> kinds_;      ///< restricted spaces look into it too
  std::unordered_map<uint64_t, std::string> reasons_;  ///< of failed points
  std::vector<RunRange> run_ranges_;                   ///< into runs_, one a point; empty while there are no runs
  std::vector<double> runs_;
  std::optional<double> best_;
  uint64_t valid_count_ = 0;
  uint64_t recorded_count_ = 0;
  uint64_t with_runs_ = 0;
};

}  // namespace tensmith
