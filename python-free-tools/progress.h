#pragma once

#include <string>

#include "tensmith/explore/tuner.h"

namespace tensmith::cli {

/// Shows a tuning run on standard error: one line that is rewritten on a terminal, a plain line now and then otherwise.
/// While it lives, log messages go around the line.
class ProgressDisplay {
 public:
  ProgressDisplay(std::string name, double flops);
  ~ProgressDisplay();
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;

  void show(const TuneProgress& progress);

 private:
  void clear_line();

  std::string name_;
  double flops_;
  bool terminal_;
  double last_shown_ = -1e9;
  std::string line_;
};

}  // namespace tensmith::cli
