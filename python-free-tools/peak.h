#pragma once

#include <map>
#include <string>

#include "tensmith/ir/type.h"
#include "tensmith/schedule/target.h"

namespace tensmith::cli {

/// Multiply-adds a second that this machine really does: a loop of independent vector multiply-adds made by our own
/// back end, on the cores that the operator gets. Each type is measured when it is first asked for and takes a tenth of
/// a second.
class Peaks {
 public:
  Peaks(const Target& target, int threads) : target_(target), threads_(threads) {}
  /// "57" for a workload of this element type; "-" where the type is no float32 or float64.
  std::string percent(double gflops, DataType type);
  /// A line for each type that was asked for.
  std::string text() const;

 private:
  Target target_;
  int threads_;
  std::map<int, double> gflops_;  ///< by the bits of the type
};

}  // namespace tensmith::cli
