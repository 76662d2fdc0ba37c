#pragma once

#include <string>
#include <vector>

#include "tensmith/explore/trial.h"
#include "tensmith/schedule/config_space.h"

namespace tensmith {

/// What was measured of another task: the same kernel on another device, another workload of the same operator. Its
/// space may be another one: knobs are matched by name and choices by value, and what the other space lacks is ignored.
struct TaskHistory {
  std::string name;                    ///< of the task, for messages
  const ConfigSpace* space = nullptr;  ///< of the results' configs; outlives what it is given to
  std::vector<Observation> results;    ///< failures included; in any order
};

}  // namespace tensmith
