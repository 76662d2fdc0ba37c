#pragma once

#include <functional>
#include <string>

#include "tensmith/schedule/config_space.h"
#include "tensmith/schedule/schedule.h"
#include "tensmith/schedule/target.h"

namespace tensmith {

/// A workload on a target with a space of schedules: what is tuned. Immutable and shared between threads once made.
struct Task {
  std::string workload;  ///< canonical text
  Target target;
  int threads = 1;  ///< of the operator
  ConfigSpace space;
  Config default_config;  ///< the best guess without measuring; valid
  double flops = 0;

  /// The schedule of a config, made in the current arena (arena.h): open an ArenaScope around it. Throws ScheduleError
  /// or UserError when the config cannot be scheduled, which callers treat as an invalid config.
  std::function<Schedule(const Config&)> instantiate;
};

}  // namespace tensmith
