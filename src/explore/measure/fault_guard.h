#pragma once

#include <span>
#include <string>
#include <vector>

#include "explore/measure/guarded_buffer.h"

namespace tensmith {

/// Answers for a runner process whose operator has died in a fault: writes a reply that was made beforehand to the
/// socket and ends the process.
class FaultGuard {
 public:
  /// Installs handlers for SIGSEGV, SIGBUS, SIGFPE and SIGILL for the life of the process. Once a process.
  explicit FaultGuard(int reply_fd);

  /// Faults in these buffers are wild stores; all others are crashes.
  void watch(std::span<const GuardedBuffer* const> buffers);
};

}  // namespace tensmith
