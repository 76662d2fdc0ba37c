#include <gtest/gtest.h>

#include <limits>
#include <thread>

#include "tensmith/runtime/runtime.h"

namespace {

// Half of the smallest normal float: a denormal, unless it is flushed.
float half_of_smallest_normal() {
  volatile float smallest = std::numeric_limits<float>::min();
  volatile float half = smallest * 0.5f;
  return half;
}

class FloatMode : public ::testing::Test {
 protected:
  void SetUp() override {
    before_ = tensmith_set_flush_to_zero(0);
    if (before_ < 0) GTEST_SKIP() << "this CPU has no flush-to-zero mode";
  }
  void TearDown() override {
    if (before_ >= 0) tensmith_set_flush_to_zero(before_);
    tensmith_set_num_threads(0);
  }

 private:
  int before_ = -1;
};

TEST_F(FloatMode, SetReturnsWhatWasBefore) {
  EXPECT_EQ(tensmith_set_flush_to_zero(1), 0);
  EXPECT_EQ(half_of_smallest_normal(), 0.0f);
  EXPECT_EQ(tensmith_set_flush_to_zero(1), 1);
  EXPECT_EQ(tensmith_set_flush_to_zero(0), 1);
  EXPECT_GT(half_of_smallest_normal(), 0.0f);
}

TEST_F(FloatMode, IsOfTheCallingThreadAlone) {
  std::thread([] { tensmith_set_flush_to_zero(1); }).join();
  EXPECT_GT(half_of_smallest_normal(), 0.0f);
}

TEST_F(FloatMode, BodiesFlushInEveryThreadAndTheCallersModeReturns) {
  for (const int threads : {1, 4}) {
    tensmith_set_num_threads(threads);
    float seen[16];
    const auto body = [](int64_t begin, int64_t end, void* closure) {
      for (int64_t i = begin; i < end; ++i) static_cast<float*>(closure)[i] = half_of_smallest_normal();
      return 0;
    };
    for (float& value : seen) value = 1.0f;
    EXPECT_EQ(tensmith_parallel_for(16, body, seen), 0);
    for (const float value : seen) EXPECT_EQ(value, 0.0f) << threads << " threads";
    EXPECT_GT(half_of_smallest_normal(), 0.0f) << threads << " threads";
  }
}

}  // namespace
