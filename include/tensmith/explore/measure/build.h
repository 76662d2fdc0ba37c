#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tensmith/schedule/task.h"
#include "tensmith/schedule/tensor.h"

namespace tensmith {

/// A parameter of a built function: an input or output of the program, or an operand packed ahead of time.
struct ModuleArgument {
  enum class Kind : uint8_t { kInput, kOutput, kPacked };
  Kind kind = Kind::kInput;
  uint32_t index = 0;
};

/// Object code of one config and how it is called.
struct BuiltModule {
  std::string object;                     ///< relocatable object file
  std::string function;                   ///< main function; its packed entry is `function_packed`
  std::vector<ModuleArgument> arguments;  ///< of the main function, in order
  struct Pack {
    std::string function;
    std::vector<ModuleArgument> arguments;  ///< inputs, then the one packed operand that it fills
  };
  std::vector<Pack> packs;             ///< to be called once, before the main function
  std::vector<uint64_t> packed_bytes;  ///< size of each packed operand
};

/// A module, or why there is none.
struct BuildOutcome {
  bool ok = false;
  bool invalid = false;  ///< the config cannot be scheduled, as opposed to code generation failing
  std::string error;
  BuiltModule module;
  double seconds = 0;
};

/// Schedules, lowers and compiles one config. Never throws for what a config can cause.
BuildOutcome build_module(const Task& task, const Config& config, const Program& program);

/// Task and definition of a workload, made again in a worker process from Task::workload.
struct TaskAndProgram {
  Task task;
  Program program;
};
using TaskFactory = std::function<TaskAndProgram(const std::string& workload, const std::string& target, int threads)>;

}  // namespace tensmith
