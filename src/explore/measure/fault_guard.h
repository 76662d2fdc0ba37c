#pragma once

#include <span>
#include <string>

#include "explore/measure/guarded_buffer.h"

namespace tensmith {

struct WatchedBuffer {
  const GuardedBuffer* buffer = nullptr;
  std::string name;  ///< as messages tell it
};

/// Answers for a runner process whose operator has died in a fault: writes a reply that was made beforehand to the
/// socket and ends the process.
class FaultGuard {
 public:
  /// Installs handlers for SIGSEGV, SIGBUS, SIGFPE and SIGILL for the life of the process. Once a process.
  explicit FaultGuard(int reply_fd);

  /// Faults in these buffers are told with what was done to which of them. A read is a crash, as every other fault is;
  /// a store, and what the processor does not tell, is a wild store.
  void watch(std::span<const WatchedBuffer> buffers);
};

}  // namespace tensmith
