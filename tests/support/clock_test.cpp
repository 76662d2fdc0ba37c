#include "tensmith/support/clock.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

namespace tensmith {
namespace {

TEST(Clock, SteadyClockNeverGoesBack) {
  int64_t last = steady_nanoseconds();
  for (int i = 0; i < 1000; ++i) {
    const int64_t now = steady_nanoseconds();
    ASSERT_GE(now, last);
    last = now;
  }
  EXPECT_NEAR(steady_seconds(), static_cast<double>(steady_nanoseconds()) * 1e-9, 60.0);
}

TEST(Clock, StopwatchCountsAtLeastTheTimeSlept) {
  Stopwatch watch;
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const double first = watch.seconds();
  EXPECT_GE(first, 0.005);
  watch.restart();
  EXPECT_GE(watch.seconds(), 0.0);
}

TEST(Clock, TimestampIsIso8601InUtc) {
  const std::string stamp = utc_timestamp();
  std::string shape = stamp;
  for (char& c : shape) {
    if (c >= '0' && c <= '9') c = 'd';
  }
  EXPECT_EQ(shape, "dddd-dd-ddTdd:dd:ddZ");
  EXPECT_EQ(stamp.substr(0, 2), "20");
}

}  // namespace
}  // namespace tensmith
