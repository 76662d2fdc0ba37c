#pragma once

#include <string_view>

#include "tensmith/explore/measure/build.h"

namespace tensmith {

/// Roles of a worker process. The program that measures starts itself again as `PROGRAM worker builder|runner`, with
/// the descriptors below open; see LocalMeasurer.
enum class WorkerRole { kBuilder, kRunner };

inline constexpr int kWorkerSocketFd = 3;  ///< requests and replies
inline constexpr int kWorkerDataFd = 4;    ///< runner: inputs and expected outputs, shared memory

/// How a builder turns a config into a module; build_module unless a test wants a program with a fault.
using BuildFunction = std::function<BuildOutcome(const Task&, const Config&, const Program&)>;

/// Serves requests until the other end closes; returns the process's exit code.
int run_builder(const TaskFactory& factory, const BuildFunction& build = build_module);
int run_runner();

}  // namespace tensmith
