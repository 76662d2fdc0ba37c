#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tensmith/support/error.h"

namespace tensmith {

/// A program that is not there, or that cannot be executed.
class ProgramError : public WorkError {
 public:
  using WorkError::WorkError;
};

/// How a child ended.
struct ExitStatus {
  bool exited = false;  ///< by itself, with `code`; otherwise killed by `signal`
  int code = 0;
  int signal = 0;

  bool success() const { return exited && code == 0; }
  /// Whether it died of a signal that only others send (SIGKILL, SIGTERM, SIGHUP, SIGINT): a program that goes wrong
  /// dies of another.
  bool ended_from_outside() const;
  /// "exited with 3", "killed by signal 11 (SIGSEGV)".
  std::string describe() const;
};

/// A descriptor of ours and the number it gets in the child.
struct FdMapping {
  int parent_fd;
  int child_fd;
};

struct SpawnOptions {
  /// Program and arguments; a program without '/' is looked up in $PATH.
  std::vector<std::string> argv;
  /// What the child keeps open. Standard input is /dev/null and standard output and error are ours unless mapped here;
  /// every other descriptor is closed.
  std::vector<FdMapping> fds;
  /// "KEY=VALUE" entries that are added to our environment or replace entries of it.
  std::vector<std::string> environment;
  /// Kills the child when the *thread* that spawned it ends (so also when this process dies in any way).
  bool die_with_parent = false;
  /// Limits of the child, nothing for ours.
  std::optional<uint64_t> address_space_bytes;
  /// No core dumps: a crash is an ordinary result here.
  bool core_dumps = false;
};

/// A child process in a process group of its own (a terminal's Ctrl-C does not reach it). Safe to start in a process
/// with running threads: between fork and exec only async-signal-safe calls are made. Use one object from one thread.
class Subprocess {
 public:
  /// Throws ProgramError where the program is at fault, and WorkError where the machine lacks something (descriptors,
  /// processes, memory); both with the system's reason.
  static Subprocess spawn(const SpawnOptions& options);

  Subprocess(Subprocess&& other) noexcept;
  Subprocess& operator=(Subprocess&& other) noexcept;
  /// Kills the group and waits when the child still runs.
  ~Subprocess();

  pid_t pid() const { return pid_; }
  /// The status when the child ends within the time (0 polls), nothing otherwise. When the child has ended, whatever
  /// is left of its process group is killed. Repeated calls give the same status.
  std::optional<ExitStatus> wait_for(double timeout_seconds);
  ExitStatus wait();
  /// Sends the signal to the whole process group; nothing happens once the child has been waited for.
  void kill(int signal = SIGKILL);

 private:
  explicit Subprocess(pid_t pid) : pid_(pid) {}
  void finish();

  pid_t pid_ = -1;
  std::optional<ExitStatus> status_;
};

/// What a captured run left.
struct CapturedRun {
  ExitStatus status;
  bool timed_out = false;  ///< killed because its time was over; `status` then tells of the kill
  std::string out;
  std::string err;
};

/// Runs a program to its end and keeps what it writes on standard output and error (`input` is its standard input).
/// Kills it after `timeout_seconds` (negative: never). Mappings of descriptors 0, 1 and 2 in `options` are not allowed.
CapturedRun run_captured(SpawnOptions options, double timeout_seconds = -1.0, const std::string& input = {});

}  // namespace tensmith
