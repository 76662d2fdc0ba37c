#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace tensmith {

/// A mistake of the caller: what is wrong, where, why, and what to do about it.
/// The command line prints `what()` and exits with 2.
class UserError : public std::runtime_error {
 public:
  /// `message` says what, where and why; `hint` (may be empty) says what to do: what() is one line of both. `excerpt`
  /// (may be empty) is the place itself, whose lines stay as they are and follow that line.
  explicit UserError(std::string message, std::string hint = {}, std::string excerpt = {});
  const std::string& message() const { return message_; }
  const std::string& hint() const { return hint_; }
  const std::string& excerpt() const { return excerpt_; }

 private:
  std::string message_;
  std::string hint_;
  std::string excerpt_;
};

/// Work that could not be done although the request was sound (a full disk, a database that cannot be read,
/// every trial failed). The command line prints it and exits with 1.
class WorkError : public std::runtime_error {
 public:
  explicit WorkError(std::string message, std::string hint = {});
  const std::string& message() const { return message_; }
  const std::string& hint() const { return hint_; }

 private:
  std::string message_;
  std::string hint_;
};

/// A device or the process that drives it failed.
class DeviceError : public WorkError {
 public:
  using WorkError::WorkError;
};

/// A broken invariant of ours: always carries file:line, and an IR excerpt where there is one.
class InternalError : public std::logic_error {
 public:
  InternalError(const char* file, int line, std::string message, std::string excerpt = {});
};

namespace detail {
[[noreturn]] void fail_internal(const char* file, int line, const char* condition, const std::string& message);
}  // namespace detail

}  // namespace tensmith

/// Checks an invariant of ours in every build type; throws InternalError. `message` is a std::string expression,
/// evaluated only on failure.
#define TENSMITH_ICHECK(condition, message)                                         \
  do {                                                                              \
    if (!(condition)) [[unlikely]] {                                                \
      ::tensmith::detail::fail_internal(__FILE__, __LINE__, #condition, (message)); \
    }                                                                               \
  } while (false)

/// Marks a place that cannot be reached; throws InternalError when it is.
#define TENSMITH_UNREACHABLE(message) ::tensmith::detail::fail_internal(__FILE__, __LINE__, "unreachable", (message))
