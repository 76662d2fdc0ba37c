#pragma once

#include <vector>

#include "peer.h"

/// What must be settled before a library's own start-up code runs, and how its threads are placed.

namespace tensmith::peers {

/// Libraries read their environment when they are loaded, before main. So this sets it, gives the process its CPUs and
/// executes the program anew; in that second life it returns. Sets, when unset:
/// OPENBLAS_CORETYPE (the best kernel that this CPU can run), OPENBLAS_THREAD_TIMEOUT; always: the thread counts,
/// OMP_WAIT_POLICY=passive (threads sleep, never spin).
/// Throws WorkError when the program cannot be executed again.
void settle_environment(const Settings& settings, const std::vector<int>& cpus, char** argv);

/// Gives each thread of this process, the main one first, one of the CPUs, again from the first when there are more
/// threads. False when the system refuses, or when `cpus` is empty.
bool pin_every_thread(const std::vector<int>& cpus);

/// Threads of this process, asleep ones included.
int count_threads();

}  // namespace tensmith::peers
