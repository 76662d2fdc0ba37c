#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tensmith/ir/type.h"
#include "tensmith/schedule/reference.h"

namespace tensmith {

/// A read whose flat index is linear in the axes.
struct LinearRead {
  const double* values = nullptr;
  int64_t offset = 0;
  std::vector<int64_t> spatial;  ///< step per axis
  std::vector<int64_t> reduce;
};

/// out[spatial] = sum(reduce: a * b) for operands that lie in memory as doubles, each sum from the first term to the
/// last. Elements are done in units, in any order and by any number of threads, so that operands are read from the
/// cache: a unit is a block of two axes of which each moves one operand only, or where there are no such axes a part of
/// the last axis.
class SumOfProducts {
 public:
  SumOfProducts(std::span<const int64_t> spatial, std::span<const int64_t> reduce, LinearRead a, LinearRead b,
                DataType type);

  int64_t units() const { return units_; }
  void run(int64_t unit, DoubleTensor& out) const;

 private:
  /// A step of memory for each operand and for the output.
  struct Steps {
    int64_t a = 0, b = 0, out = 0;
  };
  static constexpr size_t kNone = static_cast<size_t>(-1);

  void choose_axes();
  Steps steps(size_t axis) const;
  /// Calls f with the offsets in both operands of some terms at a time, from the first to the last.
  template <typename F>
  void for_blocks_of_terms(F&& f) const;
  void block(Steps at, int64_t rows, int64_t columns, double* out) const;
  void line(Steps at, int64_t columns, double* out) const;

  std::vector<int64_t> extents_;
  std::vector<int64_t> reduce_;
  LinearRead a_;  ///< moves along the rows of a block
  LinearRead b_;  ///< moves along its columns
  DataType type_;
  std::vector<int64_t> out_steps_;
  size_t row_axis_ = kNone;
  size_t column_axis_ = kNone;
  int64_t terms_ = 1;
  int64_t units_ = 1;
};

}  // namespace tensmith
