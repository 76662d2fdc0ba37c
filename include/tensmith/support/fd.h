#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

namespace tensmith {

/// Owns a file descriptor and closes it. -1 means none.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) reset(std::exchange(other.fd_, -1));
    return *this;
  }
  ~UniqueFd() { reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void reset(int fd = -1);

 private:
  int fd_ = -1;
};

/// Two ends of a channel. Both are closed on exec; a child gets an end through `SpawnOptions::fds`.
struct FdPair {
  UniqueFd first;   ///< a pipe's reading end, or one end of a socket pair
  UniqueFd second;  ///< a pipe's writing end, or the other end
};

/// One-way pipe: read from `first`, write to `second`; never a standard descriptor's number, even where that is closed.
/// Throws WorkError when the process has too many open files.
FdPair make_pipe();
/// Two-way stream between `first` and `second`; as make_pipe otherwise.
FdPair make_socket_pair();

/// Writes all bytes. Returns 0 or an errno value (EPIPE when the reader is gone: no SIGPIPE is raised).
int write_all(int fd, std::string_view bytes);

enum class ReadResult { kDone, kEnd, kTimeout, kError };
/// Reads exactly `size` bytes. kEnd when the writer closed before that, kTimeout when `timeout_seconds` (negative: for
/// ever) passed, kError with errno set otherwise.
ReadResult read_exact(int fd, void* buffer, size_t size, double timeout_seconds = -1.0);

}  // namespace tensmith
