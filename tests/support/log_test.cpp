#include "tensmith/support/log.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace tensmith {
namespace {

class LogTest : public testing::Test {
 protected:
  ~LogTest() override {
    set_log_sink({});
    set_log_level(LogLevel::kWarning);
  }
};

TEST_F(LogTest, WritesOneClearLineToStandardError) {
  testing::internal::CaptureStderr();
  log_warning("skipped {} of {}", 2, "runs.db");
  log_info("not shown");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "tensmith: warning: skipped 2 of runs.db\n");
}

TEST_F(LogTest, LevelsFilter) {
  std::vector<std::string> seen;
  set_log_sink([&](LogLevel, std::string_view message) { seen.emplace_back(message); });
  set_log_level(LogLevel::kInfo);
  log_debug("d");
  log_info("i");
  log_error("e");
  set_log_level(LogLevel::kOff);
  log_error("off");
  EXPECT_EQ(seen, (std::vector<std::string>{"i", "e"}));
}

TEST_F(LogTest, SinkGetsLevelAndTextAsTheyAre) {
  LogLevel level = LogLevel::kOff;
  std::string text;
  set_log_sink([&](LogLevel at, std::string_view message) {
    level = at;
    text = message;
  });
  log_error("{}", "{braces} and %v stay");
  EXPECT_EQ(level, LogLevel::kError);
  EXPECT_EQ(text, "{braces} and %v stay");
}

TEST_F(LogTest, ThreadsDoNotMixLines) {
  int messages = 0;
  set_log_sink([&](LogLevel, std::string_view) { ++messages; });
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 100; ++i) log_warning("w{}", i);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(messages, 400);
}

TEST_F(LogTest, LevelNames) {
  EXPECT_EQ(parse_log_level("debug"), LogLevel::kDebug);
  EXPECT_EQ(parse_log_level("off"), LogLevel::kOff);
  EXPECT_FALSE(parse_log_level("loud"));
}

}  // namespace
}  // namespace tensmith
