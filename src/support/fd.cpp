#include "tensmith/support/fd.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <ctime>
#include <utility>

#include <fmt/format.h>

#include "tensmith/support/clock.h"
#include "tensmith/support/error.h"

namespace tensmith {
namespace {

// Keeps SIGPIPE from this thread while it writes, and takes back the one that a failed write left pending: a library
// must not change the process's own signal handling.
class SigpipeBlocker {
 public:
  SigpipeBlocker() {
    sigset_t pending;
    sigemptyset(&pending);
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    sigset_t block;
    sigemptyset(&block);
    sigaddset(&block, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &block, &old_mask_);
  }
  ~SigpipeBlocker() { pthread_sigmask(SIG_SETMASK, &old_mask_, nullptr); }
  SigpipeBlocker(const SigpipeBlocker&) = delete;
  SigpipeBlocker& operator=(const SigpipeBlocker&) = delete;

  void consume() {
    if (was_pending_) return;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    const timespec now{0, 0};
    while (sigtimedwait(&set, nullptr, &now) < 0 && errno == EINTR) {
    }
  }

 private:
  sigset_t old_mask_;
  bool was_pending_ = false;
};

[[noreturn]] void fail_channel(const char* what, int error) {
  throw WorkError(fmt::format("cannot make {}: {}", what, std::strerror(error)),
                  error == EMFILE || error == ENFILE ? "raise the limit of open files (ulimit -n)" : "");
}

// Where a standard descriptor is closed, a new one gets its number: what prints would then write into the channel.
UniqueFd above_standard(UniqueFd fd, const char* what) {
  if (fd.get() > STDERR_FILENO) return fd;
  const int moved = ::fcntl(fd.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (moved < 0) fail_channel(what, errno);
  return UniqueFd(moved);
}

FdPair own_both(const int fds[2], const char* what) {
  UniqueFd first(fds[0]), second(fds[1]);
  return {above_standard(std::move(first), what), above_standard(std::move(second), what)};
}

}  // namespace

void UniqueFd::reset(int fd) {
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

FdPair make_pipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) fail_channel("a pipe", errno);
  return own_both(fds, "a pipe");
}

FdPair make_socket_pair() {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) fail_channel("a socket pair", errno);
  return own_both(fds, "a socket pair");
}

int write_all(int fd, std::string_view bytes) {
  SigpipeBlocker blocker;
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0) {
      const int error = errno;
      if (error == EINTR) continue;
      if (error == EPIPE) blocker.consume();
      return error;
    }
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

ReadResult read_exact(int fd, void* buffer, size_t size, double timeout_seconds) {
  const double deadline = steady_seconds() + timeout_seconds;
  auto* bytes = static_cast<char*>(buffer);
  while (size > 0) {
    if (timeout_seconds >= 0.0) {
      const double left = std::max(0.0, deadline - steady_seconds());
      pollfd entry{fd, POLLIN, 0};
      const int ready = ::poll(&entry, 1, static_cast<int>(std::min(std::ceil(left * 1e3), 1e9)));
      if (ready < 0 && errno == EINTR) continue;
      if (ready < 0) return ReadResult::kError;
      if (ready == 0) {
        if (steady_seconds() >= deadline) return ReadResult::kTimeout;
        continue;
      }
    }
    const ssize_t got = ::read(fd, bytes, size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ReadResult::kError;
    if (got == 0) return ReadResult::kEnd;
    bytes += got;
    size -= static_cast<size_t>(got);
  }
  return ReadResult::kDone;
}

}  // namespace tensmith
