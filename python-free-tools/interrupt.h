#pragma once

#include <atomic>

/// Commands that measure end in an orderly way when they are interrupted.
namespace tensmith::cli {

/// From now on the first SIGINT or SIGTERM asks for an orderly end, and the second kills, whichever they are.
void catch_interrupts();
/// Set by the first of them.
const std::atomic<bool>& interrupt_requested();
/// The signal that asked for it; 0 before.
int interrupting_signal();

}  // namespace tensmith::cli
