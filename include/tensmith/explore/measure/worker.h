#pragma once

#include <string_view>

#include "tensmith/explore/measure/build.h"

namespace tensmith {

/// Roles of a worker process. The program that measures starts itself again as `PROGRAM worker ROLE CPUS`,
/// with the variable and the descriptors below; its main hands over to run_builder, run_runner or run_kernel_runner
/// then, for which operator/worker_main.h has one call.
enum class WorkerRole { kBuilder, kRunner, kKernelRunner };

/// Set in the environment of a worker process.
inline constexpr const char* kWorkerVariable = "TENSMITH_WORKER";
inline constexpr int kWorkerSocketFd = 3;  ///< requests and replies
inline constexpr int kWorkerDataFd = 4;    ///< runner: inputs and expected outputs, shared memory

/// Whether this process was started as a worker.
bool is_worker_process();

/// How a builder turns a config into a module; build_module unless a test wants a program with a fault.
using BuildFunction = std::function<BuildOutcome(const Task&, const Config&, const Program&)>;

/// Serves requests until the other end closes; returns the process's exit code.
int run_builder(const TaskFactory& factory, const BuildFunction& build = build_module);
int run_runner();
/// The runner of users' own kernels (kernel_measurer.h).
int run_kernel_runner();

}  // namespace tensmith
