#pragma once

#include <optional>
#include <string>
#include <vector>

#include "explore/measure/channel.h"
#include "tensmith/explore/measure/worker.h"
#include "tensmith/support/subprocess.h"

namespace tensmith {

/// Our end of a worker process: a child and the socket to it.
class WorkerProcess {
 public:
  /// Starts `program worker ROLE`. `data_fd` (or -1) becomes kWorkerDataFd, `cpus` are where it may run (empty:
  /// anywhere). Throws DeviceError when it cannot be started.
  WorkerProcess(const std::string& program, WorkerRole role, int data_fd, const std::vector<int>& cpus);

  int fd() const { return socket_.get(); }
  pid_t pid() const { return child_.pid(); }
  bool send(const google::protobuf::MessageLite& message) { return send_message(fd(), message); }
  ReadResult receive(google::protobuf::MessageLite& message, double timeout) {
    return receive_message(fd(), message, timeout);
  }

  /// Kills it when it still runs, and tells how it ended.
  std::string end();
  /// CPU seconds that it has used so far; nothing when the system does not tell.
  std::optional<double> cpu_seconds() const;
  /// Resident memory in bytes; 0 when the system does not tell.
  int64_t resident_bytes() const;

 private:
  UniqueFd socket_;
  Subprocess child_;
};

/// The program of this process.
std::string own_program();

}  // namespace tensmith
