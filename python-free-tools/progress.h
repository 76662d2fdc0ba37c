#pragma once

#include <optional>
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
  /// The expected output is being computed, which nobody has to be told of when it is done within a second.
  void show_preparing(double done, double seconds);

 private:
  void show_line(const std::string& line);
  void clear_line();
  /// Of the terminal, if it is one.
  std::optional<size_t> columns() const;

  std::string name_;
  double flops_;
  bool terminal_;
  double last_shown_ = -1e9;
  double last_prepared_ = -1e9;
  std::string line_;
};

}  // namespace tensmith::cli
