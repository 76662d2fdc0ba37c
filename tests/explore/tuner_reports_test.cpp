#include <gtest/gtest.h>

#include <algorithm>

#include "explore/fake_measurer.h"
#include "explore/spaces.h"
#include "tensmith/explore/strategy.h"
#include "tensmith/explore/tuner.h"
#include "tensmith/support/log.h"

/// What a tuning run tells of failures and of its length, and what it makes of trials that were lost.

namespace tensmith {
namespace {

using testing::FakeMeasurer;

class TunerReportsTest : public ::testing::Test {
 protected:
  TunerReportsTest() {
    set_log_sink([this](LogLevel, std::string_view message) { messages_.emplace_back(message); });
    task_.default_config = Config{{7, 7, 7}};
    task_.base.key.workload = "test:n=1";
    task_.base.space = "test/1";
    options_.trials = 40;
    options_.comparison.most = 0;
  }
  ~TunerReportsTest() override { set_log_sink({}); }

  TuneResult run(Measurer& measurer) {
    task_.space = &space_;
    const auto strategy = make_random_search(space_, {5, {task_.default_config}});
    return tune(task_, *strategy, measurer, &sink_, options_);
  }

  struct Sink : RecordSink {
    void add(std::span<const Record> added) override { records.insert(records.end(), added.begin(), added.end()); }
    std::vector<Record> news(const RecordKey&) override { return {}; }
    std::vector<Record> records;
  };

  ConfigSpace space_ = testing::make_space(3, 8);
  TuneTask task_;
  TuneOptions options_;
  Sink sink_;
  std::vector<std::string> messages_;
};

TEST_F(TunerReportsTest, ManyWrongOutputsAreCounted) {
  task_.base.key.workload = "kernel:" + std::string(400, 'k');
  FakeMeasurer measurer([](const Config&) { return 0.0; });
  measurer.failure = TrialStatus::kWrongOutput;
  run(measurer);
  ASSERT_EQ(messages_.size(), 4u);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(messages_[i].find("wrong output in kernel:" + std::string(53, 'k') + "..., config k0="), 0u)
        << messages_[i];
  }
  EXPECT_EQ(messages_[3], "37 more trials with wrong outputs or wild stores are not told one by one");
}

TEST_F(TunerReportsTest, TheTotalCountsWhatTheConstraintsAllow) {
  space_.add_constraint("k0 is 7", [](const ConfigSpace&, const Config& c) { return c.choices[0] == 7; });
  space_.add_constraint("k1 is above 4", [](const ConfigSpace&, const Config& c) { return c.choices[1] > 4; });
  options_.trials = 400;
  int total = 0;
  options_.progress = [&](const TuneProgress& p) { total = p.total; };
  FakeMeasurer measurer([](const Config&) { return 1.0; });
  const TuneResult result = run(measurer);
  EXPECT_EQ(total, 3 * 8) << "of 512";
  EXPECT_EQ(result.trials, 3 * 8);
  options_.trials = 10;
  run(measurer);
  EXPECT_EQ(total, 10);
}

TEST_F(TunerReportsTest, ADefaultWithoutATimeHasItsReason) {
  FakeMeasurer measurer([&](const Config& c) { return c == task_.default_config ? 0.0 : 1.0; });
  measurer.failure = TrialStatus::kRunTimeout;
  measurer.error = "took longer than 2 s";
  TuneResult result = run(measurer);
  EXPECT_FALSE(result.default_config);
  EXPECT_EQ(result.default_failure, "run timeout: took longer than 2 s");
  EXPECT_TRUE(result.best);
  // From the records too.
  task_.history = sink_.records;
  EXPECT_EQ(run(measurer).default_failure, "run timeout: took longer than 2 s");
  task_.history.clear();
  FakeMeasurer sound([](const Config&) { return 1.0; });
  EXPECT_EQ(run(sound).default_failure, "");
  task_.default_config = Config{{0, 7, 7}};
  space_.add_constraint("k0 is 7", [](const ConfigSpace&, const Config& c) { return c.choices[0] == 7; });
  result = run(sound);
  EXPECT_FALSE(result.default_config);
  EXPECT_EQ(result.default_failure, "") << "it was not tried";
}

TEST_F(TunerReportsTest, WhatWasLostIsTriedAgainByTheNextRun) {
  space_ = testing::make_space(1, 8);
  task_.default_config = Config{{7}};
  const Config unlucky{{3}};
  FakeMeasurer first([&](const Config& c) { return c == unlucky ? 0.0 : 1.0; });
  first.failure = TrialStatus::kWorkerLost;
  EXPECT_EQ(run(first).trials, 8);
  task_.history = sink_.records;
  FakeMeasurer second([](const Config&) { return 1.0; });
  const TuneResult result = run(second);
  EXPECT_EQ(second.measured, std::vector<Config>{unlucky});
  EXPECT_EQ(result.valid(), 8);
}

}  // namespace
}  // namespace tensmith
