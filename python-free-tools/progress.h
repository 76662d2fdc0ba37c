#pragma once

#include <string>

#include "status_line.h"
#include "tensmith/explore/tuner.h"

namespace tensmith::cli {

/// Shows a tuning run on standard error.
class ProgressDisplay {
 public:
  ProgressDisplay(std::string name, double flops);

  void show(const TuneProgress& progress);
  /// The expected output is being computed, which nobody has to be told of when it is done within a second.
  void show_preparing(double done, double seconds);

 private:
  std::string name_;
  double flops_;
  StatusLine line_;
  double last_shown_ = -1e9;
  double last_prepared_ = -1e9;
};

}  // namespace tensmith::cli
