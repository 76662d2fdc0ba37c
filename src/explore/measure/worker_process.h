#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "explore/measure/channel.h"
#include "tensmith/explore/measure/worker.h"
#include "tensmith/explore/measurer.h"
#include "tensmith/support/subprocess.h"

namespace tensmith {

/// What a program that measures must do, for hints.
inline constexpr std::string_view kMainHint =
    "a program that measures starts itself again as its workers; begin its main with: "
    "if (const std::optional<int> code = tensmith::run_worker_if_asked(argc, argv)) return *code;";

/// How an exchange with a worker went.
enum class Exchange : uint8_t {
  kDone,
  kTimeout,
  kStopped,  ///< `stop` said true
  kEnded,    ///< the worker is gone, or what it sends is no message
};

/// How a worker process ended.
struct WorkerEnd {
  ExitStatus status;
  bool killed = false;  ///< by us, because it stayed although its connection was closed

  /// Whether somebody else took it away: that says nothing about what it was doing.
  bool lost() const;
  /// "exited with 3", "killed by signal 11 (SIGSEGV)", "broke the connection and had to be killed".
  std::string describe() const;
};

/// Our end of a worker process: a child and the socket to it. Destroying it kills the child at once.
///
/// An exchange ends at `deadline` (on the clock of steady_seconds) and as soon as `stop` says true, which is asked
/// several times a second. After anything but kDone the worker is of no use any more.
class WorkerProcess {
 public:
  using StopQuery = Measurer::StopQuery;

  /// Starts `program worker ROLE`. `data_fd` (or -1) becomes kWorkerDataFd, `cpus` are where it may run (empty:
  /// anywhere). `threads` is how many OpenMP may use there: a library's pool must not add threads of its own.
  /// `environment` is as that of SpawnOptions. Throws DeviceError when it cannot be started.
  WorkerProcess(const std::string& program, WorkerRole role, int data_fd, const std::vector<int>& cpus, int threads = 1,
                const std::vector<std::string>& environment = {});

  int fd() const { return socket_.get(); }
  Exchange send(const google::protobuf::MessageLite& message, double deadline, const StopQuery& stop);
  Exchange receive(google::protobuf::MessageLite& message, double deadline, const StopQuery& stop);
  /// Whether it said something that nobody asked for, or that came too late to be an answer.
  bool has_unread() const;
  Exchange call(const google::protobuf::MessageLite& request, google::protobuf::MessageLite& reply, double deadline,
                const StopQuery& stop);

  /// After kEnded: how it ended. Closes the connection, and kills a worker that stays all the same.
  WorkerEnd end();
  /// CPU seconds that it has used so far; nothing when the system does not tell.
  std::optional<double> cpu_seconds() const;
  /// Resident memory in bytes; 0 when the system does not tell.
  int64_t resident_bytes() const;

 private:
  Exchange wait_for(short events, double deadline, const StopQuery& stop) const;

  UniqueFd socket_;
  Subprocess child_;
};

}  // namespace tensmith
