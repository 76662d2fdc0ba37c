#pragma once

#include <map>
#include <string>
#include <vector>

#include "tensmith/ir/type.h"
#include "tensmith/schedule/target.h"

namespace tensmith::cli {

/// Multiply-adds a second that this machine really does: a loop of independent vector multiply-adds made by our own
/// back end, a thread on each of the cores that the operator gets. Each type is measured when it is first asked for,
/// and again where a result lies above.
class Peaks {
 public:
  Peaks(const Target& target, int threads);
  /// A workload does this many useful (useful_flop_count) GFLOP/s in this element type. To be told of all before the
  /// first percentage, which a later result would change.
  void reached(double useful_gflops, DataType type);
  /// "57" for such a workload; "-" where the type is no float32 or float64.
  std::string percent(double useful_gflops, DataType type) const;
  /// A line for each type that was asked for, and what the percentage means.
  std::string text() const;

 private:
  Target target_;
  std::vector<int> cpus_;
  std::map<int, double> gflops_;  ///< by the bits of the type
};

}  // namespace tensmith::cli
