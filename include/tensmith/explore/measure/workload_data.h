#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "tensmith/schedule/tensor.h"
#include "tensmith/support/fd.h"

namespace tensmith {

/// Random inputs of a workload and the outputs that its definition gives for them, in a shared memory file that runner
/// processes map. Made once a workload.
///
/// Inputs are uniform in [-1, 1) for floating-point types and small integers otherwise, never zero pages.
class WorkloadData {
 public:
  struct Region {
    DataType type;
    uint64_t elements = 0;
    uint64_t bytes = 0;
    double tolerance = 0;  ///< outputs: largest allowed |error|
  };

  /// Told of the part that is done and the seconds so far; the rest is not done when it says false.
  using GoOn = std::function<bool(double done, double seconds)>;

  /// Uses every core that this process may use. `terms` is the reduction length K. Nothing when it was told to stop.
  /// Tolerance of an output of a floating-point type with unit round-off step eps:
  /// 4 eps sqrt(K) max|reference| + 1e-6 (for float16 and bfloat16 the step of their own type); integers must be equal.
  /// Throws WorkError when the memory cannot be had.
  static std::optional<WorkloadData> make(const Program& program, int64_t terms, uint64_t seed, const GoOn& go_on = {});

  const std::vector<Region>& inputs() const { return inputs_; }
  const std::vector<Region>& outputs() const { return outputs_; }
  int fd() const { return fd_.get(); }

  /// Bytes a region takes in the file; regions start at multiples of 64.
  static uint64_t padded(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

 private:
  WorkloadData() = default;

  std::vector<Region> inputs_;
  std::vector<Region> outputs_;
  UniqueFd fd_;
};

}  // namespace tensmith
