#pragma once

namespace tensmith {

/// What a user's kernel does to its runner process by `fork`: a copy that comes back from the kernel would serve the
/// tuner beside the process itself.

/// Before the first kernel. Once a process.
void watch_forks();

/// Whether this process is a copy of the one that watches. As cheap as a load; signal handlers may call it.
bool is_fork_copy();

/// Ends this process if it is a copy, and tells the one that watches. After each call of a kernel.
void end_fork_copy();

/// Whether a copy came back, or this process has a child that nobody waited for.
bool has_forked();

}  // namespace tensmith
