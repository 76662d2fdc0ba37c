#pragma once

#include <cstdint>
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

  /// `terms` is the reduction length K. Tolerance of an output of a floating-point type with unit round-off step eps:
  /// 4 eps sqrt(K) max|reference| + 1e-6 (for float16 and bfloat16 the step of their own type); integers must be equal.
  /// Throws WorkError when the memory cannot be had.
  WorkloadData(const Program& program, int64_t terms, uint64_t seed);

  const std::vector<Region>& inputs() const { return inputs_; }
  const std::vector<Region>& outputs() const { return outputs_; }
  int fd() const { return fd_.get(); }

  /// Bytes a region takes in the file; regions start at multiples of 64.
  static uint64_t padded(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

 private:
  std::vector<Region> inputs_;
  std::vector<Region> outputs_;
  UniqueFd fd_;
};

}  // namespace tensmith
