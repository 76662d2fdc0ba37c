#include <gtest/gtest.h>

#include <atomic>
#include <climits>

#include "explore/fake_measurer.h"
#include "explore/spaces.h"
#include "tensmith/explore/racing.h"
#include "tensmith/explore/tuner.h"

/// Searches that measure configs again, and what they leave to others.

namespace tensmith {
namespace {

using testing::FakeMeasurer;
using testing::make_space;

class MemorySink final : public RecordSink {
 public:
  void add(std::span<const Record> added) override { records.insert(records.end(), added.begin(), added.end()); }
  std::vector<Record> news(const RecordKey&) override { return {}; }
  std::vector<Record> records;
};

class TunerRepeatsTest : public ::testing::Test {
 protected:
  TunerRepeatsTest() {
    task_.space = &space_;
    task_.default_config = Config{{7, 7, 7}};
    options_.batches = {{INT_MAX, 4}};
    options_.trials = 40;
    options_.comparison.most = 0;
  }

  TuneResult race(FakeMeasurer& measurer, MemorySink& sink) {
    RacingOptions racing;
    racing.budget = options_.trials;
    racing.seed = 5;
    racing.initial = {task_.default_config};
    return tune(task_, *make_racing_search(space_, racing), measurer, &sink, options_);
  }
  TuneResult search(FakeMeasurer& measurer) {
    return tune(task_, *make_random_search(space_, {5, {task_.default_config}}), measurer, nullptr, options_);
  }

  ConfigSpace space_ = make_space(3, 8);
  TuneTask task_;
  TuneOptions options_;
};

double time_of(const Config& config) { return testing::bowl(config, 2.0); }
double failing_time(const Config& config) { return testing::sum_of(config) % 3 == 0 ? 0.0 : time_of(config); }

TEST_F(TunerRepeatsTest, ARaceThatIsResumedTakesTheCourseOfAWholeOne) {
  FakeMeasurer whole(failing_time);
  MemorySink whole_sink;
  EXPECT_EQ(race(whole, whole_sink).trials, 40);
  EXPECT_LT(testing::distinct(space_, whole.measured), 30u) << "it measures again";

  std::atomic<bool> stop = false;
  options_.stop = &stop;
  MemorySink sink;
  FakeMeasurer first(failing_time);
  first.after_trial = [&] { stop = first.measured.size() >= 17; };
  race(first, sink);
  stop = false;
  task_.history = sink.records;
  FakeMeasurer second(failing_time);
  const TuneResult after = race(second, sink);
  EXPECT_EQ(after.trials, 40);
  EXPECT_EQ(after.new_trials, 23);
  std::vector<Config> both = first.measured;
  both.insert(both.end(), second.measured.begin(), second.measured.end());
  EXPECT_EQ(both, whole.measured);
}

TEST_F(TunerRepeatsTest, WhatWasMeasuredSeveralTimesIsOneTrialToOtherSearches) {
  for (int i = 0; i < 30; ++i) {
    Record record = task_.base;
    record.knobs = knob_values(space_, Config{{static_cast<uint16_t>(i % 3), 0, 0}});
    record.seconds = {1e-3 + 1e-5 * i};
    record.space_fingerprint = space_.fingerprint();
    task_.history.push_back(record);
  }
  options_.trials = 10;
  FakeMeasurer measurer(time_of);
  const TuneResult result = search(measurer);
  EXPECT_EQ(result.trials, 10);
  EXPECT_EQ(result.new_trials, 7);
  EXPECT_EQ(result.valid(), 10);
}

TEST_F(TunerRepeatsTest, TheTotalIsTheSpaceUnlessConfigsAreRepeated) {
  space_ = make_space(1, 6);
  task_.default_config = Config{{5}};
  int total = 0;
  options_.progress = [&](const TuneProgress& p) { total = p.total; };
  FakeMeasurer once(time_of);
  EXPECT_EQ(search(once).trials, 6);
  EXPECT_EQ(total, 6);
  FakeMeasurer often(time_of);
  MemorySink sink;
  EXPECT_EQ(race(often, sink).trials, 40);
  EXPECT_EQ(total, 40);
}

}  // namespace
}  // namespace tensmith
