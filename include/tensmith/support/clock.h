#pragma once

#include <cstdint>
#include <string>

namespace tensmith {

/// Nanoseconds of a clock that never goes back; only differences mean something.
int64_t steady_nanoseconds();
/// The same clock in seconds.
double steady_seconds();

/// Seconds since it was made or restarted.
class Stopwatch {
 public:
  Stopwatch() : start_(steady_nanoseconds()) {}
  double seconds() const { return static_cast<double>(steady_nanoseconds() - start_) * 1e-9; }
  void restart() { start_ = steady_nanoseconds(); }

 private:
  int64_t start_;
};

/// Now as "2025-01-31T12:34:56Z".
std::string utc_timestamp();

}  // namespace tensmith
