#include "tensmith/explore/tuner.h"

#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <thread>
#include <utility>

#include "explore/fake_measurer.h"
#include "explore/records.h"
#include "explore/spaces.h"
#include "tensmith/explore/database.h"
#include "tensmith/explore/replay.h"
#include "tensmith/support/error.h"
#include "tensmith/support/file.h"
#include "tensmith/support/log.h"

namespace tensmith {
namespace {

using testing::bowl;
using testing::FakeMeasurer;
using testing::make_space;
using testing::sum_of;

class MemorySink final : public RecordSink {
 public:
  void add(std::span<const Record> added) override {
    records.insert(records.end(), added.begin(), added.end());
    if (static_cast<int>(records.size()) >= fail_at) throw WorkError("cannot append to db: No space left", "free some");
  }
  std::vector<Record> news(const RecordKey&) override { return std::exchange(others, {}); }
  std::vector<Record> records;
  std::vector<Record> others;
  int fail_at = 1 << 30;
};

class TunerTest : public ::testing::Test {
 protected:
  TunerTest() {
    set_log_sink([this](LogLevel, std::string_view message) { messages_ += std::string(message) + "\n"; });
    task_.space = &space_;
    task_.default_config = Config{{7, 7, 7}};
    task_.base.key.workload = "test:n=1";
    task_.base.space = "test/1";
    task_.base.seed = 5;
    options_.batches = {{4, 4}, {12, 8}, {INT_MAX, 16}};
    options_.trials = 40;
  }
  ~TunerTest() override { set_log_sink({}); }

  TuneResult run(Measurer& measurer, RecordSink* sink = nullptr, uint64_t seed = 5) {
    const auto strategy = make_random_search(space_, {seed, {task_.default_config}});
    return tune(task_, *strategy, measurer, sink, options_);
  }

  ConfigSpace space_ = make_space(3, 8);
  TuneTask task_;
  TuneOptions options_;
  std::string messages_;
};

double time_of(const Config& config) { return bowl(config, 2.0); }
double failing_time(const Config& config) { return sum_of(config) % 3 == 0 ? 0.0 : time_of(config); }

TEST_F(TunerTest, MeasuresInRoundsStoresEverythingAndConfirms) {
  FakeMeasurer measurer(failing_time);
  MemorySink sink;
  task_.default_config = Config{{7, 7, 6}};
  const TuneResult result = run(measurer, &sink);
  EXPECT_EQ(result.end, TuneEnd::kTrialsDone);
  EXPECT_EQ(result.trials, 40);
  EXPECT_EQ(result.new_trials, 40);
  EXPECT_EQ(measurer.batches, (std::vector<int>{4, 8, 16, 12}));
  // The first batch holds the default config; the fake ends batches in reverse.
  EXPECT_EQ(measurer.measured[3], task_.default_config);
  EXPECT_EQ(testing::distinct(space_, measurer.measured), 40u);

  double best = 1.0;
  int valid = 0;
  for (const Config& config : measurer.measured) {
    if (failing_time(config) <= 0.0) continue;
    ++valid;
    best = std::min(best, time_of(config));
  }
  EXPECT_EQ(result.valid(), valid);
  EXPECT_EQ(result.by_status[static_cast<size_t>(TrialStatus::kBuildError)], 40 - valid);
  ASSERT_TRUE(result.best);
  EXPECT_TRUE(result.best->confirmed);
  EXPECT_EQ(result.best->seconds, best);
  ASSERT_TRUE(result.default_config);
  EXPECT_EQ(result.default_config->seconds, time_of(task_.default_config));
  EXPECT_EQ(measurer.comparisons, 1);

  size_t trials = 0;
  for (const Record& record : sink.records) {
    if (record.kind == RecordKind::kConfirmation) continue;
    EXPECT_EQ(record.trial, static_cast<int>(trials++));
    EXPECT_EQ(record.key, task_.base.key);
    EXPECT_EQ(record.space_fingerprint, space_.fingerprint());
    EXPECT_EQ(record.seed, 5u);
    EXPECT_FALSE(record.date.empty());
    EXPECT_EQ(record.knobs.size(), 3u);
  }
  EXPECT_EQ(trials, 40u);
  EXPECT_EQ(sink.records.size(), 40 + measurer.compared.size());
}

TEST_F(TunerTest, RepeatingAFinishedRunMeasuresNothingAndGivesTheSame) {
  task_.default_config = Config{{7, 7, 6}};
  MemorySink sink;
  FakeMeasurer first(failing_time);
  const TuneResult before = run(first, &sink);
  task_.history = sink.records;
  FakeMeasurer second(failing_time);
  MemorySink second_sink;
  const TuneResult after = run(second, &second_sink);
  EXPECT_TRUE(second.measured.empty());
  EXPECT_EQ(second.comparisons, 0);
  EXPECT_TRUE(second_sink.records.empty());
  EXPECT_EQ(after.trials, 40);
  EXPECT_EQ(after.new_trials, 0);
  ASSERT_TRUE(after.best);
  EXPECT_EQ(after.best->config, before.best->config);
  EXPECT_EQ(after.best->seconds, before.best->seconds);
  EXPECT_TRUE(after.best->confirmed);
  ASSERT_TRUE(after.default_config);
  EXPECT_EQ(after.default_config->seconds, before.default_config->seconds);
  EXPECT_EQ(after.by_status, before.by_status);
}

TEST_F(TunerTest, AnInterruptedRunGoesOnToTheTrialsOfAnUninterruptedOne) {
  FakeMeasurer whole(failing_time);
  run(whole);
  std::set<uint64_t> expected;
  for (const Config& config : whole.measured) expected.insert(space_.index_of(config));

  for (const int interrupted_after : {1, 4, 6, 27, 39}) {
    std::atomic<bool> stop = false;
    options_.stop = &stop;
    MemorySink sink;
    FakeMeasurer first(failing_time);
    first.after_trial = [&] { stop = static_cast<int>(first.measured.size()) >= interrupted_after; };
    const TuneResult before = run(first, &sink);
    EXPECT_EQ(before.end, TuneEnd::kInterrupted);
    EXPECT_EQ(before.trials, interrupted_after);
    EXPECT_EQ(sink.records.size(), static_cast<size_t>(interrupted_after));
    EXPECT_EQ(first.comparisons, 0);

    stop = false;
    task_.history = sink.records;
    FakeMeasurer second(failing_time);
    const TuneResult after = run(second);
    EXPECT_EQ(after.end, TuneEnd::kTrialsDone);
    EXPECT_EQ(after.trials, 40);
    EXPECT_EQ(after.new_trials, 40 - interrupted_after);
    std::set<uint64_t> all;
    for (const Config& config : first.measured) all.insert(space_.index_of(config));
    for (const Config& config : second.measured) all.insert(space_.index_of(config));
    EXPECT_EQ(all, expected) << "interrupted after " << interrupted_after;
    task_.history.clear();
  }
}

TEST_F(TunerTest, MoreTrialsGoOnFromTheRecords) {
  MemorySink sink;
  FakeMeasurer first(time_of);
  run(first, &sink);
  task_.history = sink.records;
  options_.trials = 60;
  FakeMeasurer second(time_of);
  const TuneResult result = run(second, &sink);
  EXPECT_EQ(second.batches, (std::vector<int>{4, 16}));
  EXPECT_EQ(result.trials, 60);
  EXPECT_EQ(second.comparisons, 1);
  for (const Config& config : second.measured) {
    EXPECT_EQ(std::count(first.measured.begin(), first.measured.end(), config), 0);
  }
}

TEST_F(TunerTest, WhatAnotherRunStoresMeanwhileIsNotDoneAgain) {
  MemorySink theirs;
  FakeMeasurer other(time_of);
  run(other, &theirs);
  MemorySink sink;
  FakeMeasurer measurer(time_of);
  measurer.after_trial = [&] {
    if (measurer.measured.size() == 4) sink.others = theirs.records;
  };
  const TuneResult result = run(measurer, &sink, 6);
  EXPECT_EQ(measurer.measured.size(), 4u);
  EXPECT_EQ(result.trials, 43) << "the default, which both measured, is one trial";
  EXPECT_EQ(measurer.comparisons, 0);
  EXPECT_TRUE(result.best->confirmed);
}

TEST_F(TunerTest, AComparisonStoredInPartIsRepeated) {
  const auto compared = [](const Config& c) { return 1e-3 / time_of(c); };
  MemorySink sink;
  FakeMeasurer first(time_of, compared);
  const TuneResult whole = run(first, &sink);
  ASSERT_TRUE(whole.best->confirmed);
  const size_t confirmations = sink.records.size() - 40;
  ASSERT_GE(confirmations, 3u);
  for (size_t cut = 1; cut < confirmations; ++cut) {
    task_.history = sink.records;
    task_.history.resize(sink.records.size() - cut);
    FakeMeasurer second(time_of, compared);
    const TuneResult result = run(second);
    EXPECT_TRUE(second.measured.empty());
    EXPECT_EQ(second.comparisons, 1);
    EXPECT_EQ(result.best->config, whole.best->config);
  }
}

TEST_F(TunerTest, ADefaultWhoseWorkerWasLostIsMeasuredAgain) {
  options_.comparison.most = 0;
  for (const int times : {1, 2, 100}) {
    int lost = 0;
    FakeMeasurer measurer([&](const Config& c) {
      if (c != task_.default_config) return time_of(c);
      return lost++ < times ? 0.0 : time_of(c);
    });
    measurer.failure = TrialStatus::kWorkerLost;
    const TuneResult result = run(measurer);
    EXPECT_EQ(result.trials, 40);
    EXPECT_EQ(std::count(measurer.measured.begin(), measurer.measured.end(), task_.default_config),
              std::min(times + 1, 3));
    EXPECT_EQ(result.default_config.has_value(), times < 3);
  }
}

TEST_F(TunerTest, TheCommonestFailureIsAStatusWithAnExample) {
  FakeMeasurer measurer([](const Config&) { return 0.0; });
  measurer.after_trial = [&] {
    const size_t done = measurer.measured.size();
    measurer.failure = done < 15 ? TrialStatus::kBuildError : TrialStatus::kWrongOutput;
    measurer.error = done < 15 ? "the back end says no" : std::to_string(done / 2) + " of 64 elements are wrong";
  };
  EXPECT_EQ(run(measurer).commonest_failure,
            "all of 40 trials failed, 25 of them with: wrong output, such as: 10 of 64 elements are wrong");
}

TEST_F(TunerTest, TheDefaultWinsWhenTheTrialsWereLucky) {
  // Every trial but the default's looks faster than it is.
  const auto lucky = [&](const Config& c) { return c == task_.default_config ? 1.0 : 0.5; };
  const auto honest = [&](const Config& c) { return c == task_.default_config ? 1.0 : 1.1; };
  FakeMeasurer measurer(lucky, honest);
  const TuneResult result = run(measurer);
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.best->config, task_.default_config);
  EXPECT_EQ(result.best->seconds, 1.0);
  EXPECT_EQ(result.default_config->config, task_.default_config);
}

TEST_F(TunerTest, TheIncumbentDefendsItsPlace) {
  MemorySink sink;
  // The first run's winner is only found by the comparison: its own trial was the slowest of the finalists.
  FakeMeasurer first(time_of, [](const Config& c) { return 1e-3 / time_of(c); });
  const TuneResult before = run(first, &sink);
  task_.history = sink.records;
  options_.trials = 60;
  FakeMeasurer second(time_of, [](const Config& c) { return 1e-3 / time_of(c); });
  run(second, &sink);
  EXPECT_EQ(std::count(second.compared.begin(), second.compared.end(), before.best->config), 1);
}

TEST_F(TunerTest, AFinalistThatFailsInTheComparisonCannotWin) {
  Config fastest;
  FakeMeasurer measurer(time_of, [&](const Config& c) {
    return c == measurer.compared.back() || c == task_.default_config ? time_of(c) : 0.0;
  });
  measurer.failure = TrialStatus::kCrash;
  const TuneResult result = run(measurer);
  EXPECT_EQ(result.best->config, measurer.compared.back());
}

TEST_F(TunerTest, WithoutComparisonTheFastestTrialWins) {
  options_.comparison.most = 0;
  FakeMeasurer measurer(time_of);
  const TuneResult result = run(measurer);
  EXPECT_EQ(measurer.comparisons, 0);
  EXPECT_FALSE(result.best->confirmed);
}

TEST_F(TunerTest, AllTrialsFailing) {
  MemorySink sink;
  FakeMeasurer measurer([](const Config&) { return 0.0; });
  measurer.failure = TrialStatus::kRunTimeout;
  measurer.error = "took longer than 1 ms";
  const TuneResult result = run(measurer, &sink);
  EXPECT_FALSE(result.best);
  EXPECT_FALSE(result.default_config);
  EXPECT_EQ(result.valid(), 0);
  EXPECT_EQ(result.trials, 40);
  EXPECT_EQ(result.commonest_failure, "all of 40 trials failed, 40 of them with: run timeout: took longer than 1 ms");
  EXPECT_EQ(sink.records.size(), 40u);
  EXPECT_EQ(measurer.comparisons, 0);

  task_.history = sink.records;
  FakeMeasurer again(time_of);
  const TuneResult repeated = run(again);
  EXPECT_TRUE(again.measured.empty());
  EXPECT_EQ(repeated.commonest_failure, result.commonest_failure);
}

TEST_F(TunerTest, AnInvalidDefaultIsNotMeasured) {
  space_.add_constraint("not the default", [](const ConfigSpace&, const Config& c) { return sum_of(c) != 21; });
  FakeMeasurer measurer(time_of);
  const TuneResult result = run(measurer);
  EXPECT_EQ(std::count(measurer.measured.begin(), measurer.measured.end(), task_.default_config), 0);
  EXPECT_FALSE(result.default_config);
  EXPECT_TRUE(result.best);
}

TEST_F(TunerTest, ASmallSpaceIsExhausted) {
  space_ = make_space(3, 2);
  task_.default_config = Config{{1, 1, 1}};
  FakeMeasurer measurer(time_of);
  MemorySink sink;
  const TuneResult result = run(measurer, &sink);
  EXPECT_EQ(result.end, TuneEnd::kSpaceExhausted);
  EXPECT_EQ(result.trials, 8);
  task_.history = sink.records;
  FakeMeasurer again(time_of);
  EXPECT_EQ(run(again).end, TuneEnd::kSpaceExhausted);
  EXPECT_TRUE(again.measured.empty());
  EXPECT_EQ(again.comparisons, 0);
}

TEST_F(TunerTest, TheTimeBudgetEndsTheSearchButNotTheComparison) {
  options_.time_budget_seconds = 1e-9;
  FakeMeasurer measurer(time_of);
  EXPECT_EQ(run(measurer).end, TuneEnd::kTimeBudget);
  EXPECT_TRUE(measurer.measured.empty());

  options_.time_budget_seconds = 0.05;
  FakeMeasurer slow(time_of);
  slow.after_trial = [] { std::this_thread::sleep_for(std::chrono::milliseconds(10)); };
  const TuneResult result = run(slow);
  EXPECT_EQ(result.end, TuneEnd::kTimeBudget);
  EXPECT_LT(result.trials, 40);
  EXPECT_EQ(slow.comparisons, result.trials > 1 ? 1 : 0);
}

TEST_F(TunerTest, TheTimeBudgetIncludesTheComparison) {
  const auto trials_in = [&](double comparison_seconds) {
    options_.trials = 40;
    options_.time_budget_seconds = 0.4;
    options_.comparison.seconds = comparison_seconds;
    FakeMeasurer slow(time_of);
    slow.after_trial = [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
    return run(slow);
  };
  const TuneResult result = trials_in(100);
  EXPECT_EQ(result.end, TuneEnd::kTimeBudget);
  EXPECT_LE(result.trials, 11) << "half of the time is kept for the comparison";
}

TEST_F(TunerTest, AStoreThatFailsEndsTheRunWithItsReason) {
  MemorySink sink;
  sink.fail_at = 6;
  FakeMeasurer measurer(time_of);
  const TuneResult result = run(measurer, &sink);
  EXPECT_EQ(result.end, TuneEnd::kStoreFailed);
  EXPECT_EQ(result.store_error, "cannot append to db: No space left (free some)");
  EXPECT_EQ(result.trials, 6);
  EXPECT_TRUE(result.best);
}

TEST_F(TunerTest, WrongOutputsAreLoud) {
  FakeMeasurer measurer(failing_time);
  measurer.failure = TrialStatus::kWrongOutput;
  measurer.error = "max error 0.5 at [0, 1]";
  run(measurer);
  EXPECT_NE(messages_.find("wrong output in test:n=1, config k0="), std::string::npos) << messages_;
  EXPECT_NE(messages_.find("max error 0.5"), std::string::npos);
}

TEST_F(TunerTest, RecordsOfAnotherSpaceAreNotUsed) {
  MemorySink sink;
  FakeMeasurer first(time_of);
  run(first, &sink);
  task_.history = sink.records;
  for (Record& record : task_.history) record.space_fingerprint ^= 1;
  FakeMeasurer second(time_of);
  const TuneResult result = run(second);
  EXPECT_EQ(result.new_trials, 40);
  EXPECT_EQ(result.ignored_history, static_cast<int>(sink.records.size()));
  EXPECT_NE(messages_.find("another version of the search space"), std::string::npos);
  // Edited by hand: the fingerprint fits, the values do not.
  task_.history = sink.records;
  task_.history[0].knobs[0].second.values = {99};
  FakeMeasurer third(time_of);
  EXPECT_EQ(run(third).ignored_history, 1);
}

TEST_F(TunerTest, ProgressIsTold) {
  std::vector<int> trials;
  double last_best = 0.0;
  options_.progress = [&](const TuneProgress& progress) {
    trials.push_back(progress.trials);
    EXPECT_EQ(progress.total, 40);
    EXPECT_GT(progress.trials_per_second, 0.0);
    EXPECT_GE(progress.seconds_left, 0.0);
    EXPECT_TRUE(progress.last != nullptr);
    if (progress.trials == 40) last_best = progress.best_seconds;
  };
  FakeMeasurer measurer(time_of);
  const TuneResult result = run(measurer);
  EXPECT_EQ(trials.size(), 40u);
  EXPECT_EQ(trials.back(), 40);
  EXPECT_EQ(last_best, result.best->seconds);
  EXPECT_EQ(last_best, result.best_trial_seconds);
}

TEST_F(TunerTest, AZeroTimeIsNotInfinitelyFast) {
  class ZeroMeasurer final : public Measurer {
   public:
    void measure(std::span<const Config> configs, const Done& done, const StopQuery&) override {
      for (size_t i = 0; i < configs.size(); ++i) {
        TrialResult result;
        result.status = TrialStatus::kOk;
        if (i % 2 == 0) result.seconds = {0.0, 0.0};
        done(i, std::move(result));
      }
    }
    std::vector<Compared> compare(std::span<const Config> configs, const Rounds&, const StopQuery&) override {
      return std::vector<Compared>(configs.size());
    }
  };
  ZeroMeasurer measurer;
  const TuneResult result = run(measurer);
  EXPECT_EQ(result.by_status[static_cast<size_t>(TrialStatus::kWorkerLost)], 20);
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.best->seconds, 1e-10);
}

TEST_F(TunerTest, RoundsAreSmallFirst) {
  options_ = {};
  options_.trials = 150;
  FakeMeasurer measurer(time_of);
  run(measurer);
  std::vector<int> expected = {24};
  expected.insert(expected.end(), 13, 8);
  expected.insert(expected.end(), {16, 6});
  EXPECT_EQ(measurer.batches, expected);
}

TEST_F(TunerTest, BadOptionsAreRefused) {
  FakeMeasurer measurer(time_of);
  options_.trials = 0;
  EXPECT_THROW(run(measurer), UserError);
  options_.trials = 10;
  options_.batches = {};
  EXPECT_THROW(run(measurer), UserError);
  options_.batches = {{4, 4}, {INT_MAX, 0}};
  EXPECT_THROW(run(measurer), UserError);
  options_.batches = {{INT_MAX, 4}};
  for (const Measurer::Rounds& rounds :
       {Measurer::Rounds{.least = 0, .most = 5}, Measurer::Rounds{.least = 6, .most = 5}}) {
    options_.comparison = rounds;
    EXPECT_THROW(run(measurer), UserError);
  }
}

TEST_F(TunerTest, AComparisonOfAnotherRunMayComeInPieces) {
  // Another run compared two configs; its records arrive one after the other.
  MemorySink sink;
  const auto confirmation = [&](const Config& config, double seconds) {
    Record record = task_.base;
    record.kind = RecordKind::kConfirmation;
    record.space_fingerprint = space_.fingerprint();
    record.knobs = knob_values(space_, config);
    record.seconds = {seconds};
    record.comparison = "theirs";
    record.comparison_size = 2;
    return record;
  };
  const Config theirs{{1, 2, 3}};
  FakeMeasurer measurer([&](const Config& c) { return c == theirs ? 1e-6 : time_of(c); });
  int trials = 0;
  measurer.after_trial = [&] {
    if (++trials == 1) sink.others = {confirmation(theirs, 1e-6)};
    if (trials == 6) sink.others = {confirmation(task_.default_config, 1.0)};
  };
  const TuneResult result = run(measurer, &sink);
  EXPECT_EQ(std::count(measurer.compared.begin(), measurer.compared.end(), theirs), 1);
  EXPECT_EQ(result.best->config, theirs);
}

TEST_F(TunerTest, WhatOthersWroteAndCannotBeReadEndsTheRunWithItsResult) {
  class NewerSink final : public RecordSink {
   public:
    void add(std::span<const Record>) override {}
    std::vector<Record> news(const RecordKey&) override {
      if (++asked_ > 2) throw WorkError("db: the record has version 99", "use a newer Tensmith");
      return {};
    }

   private:
    int asked_ = 0;
  };
  NewerSink sink;
  FakeMeasurer measurer(time_of);
  const TuneResult result = run(measurer, &sink);
  EXPECT_EQ(result.end, TuneEnd::kStoreFailed);
  EXPECT_EQ(result.store_error, "db: the record has version 99 (use a newer Tensmith)");
  EXPECT_GT(result.trials, 0);
  EXPECT_TRUE(result.best);
}

TEST_F(TunerTest, WithADatabaseTheSameCommandResumes) {
  const TempDir directory;
  const auto path = directory.path() / "db.jsonl";
  std::atomic<bool> stop = false;
  options_.stop = &stop;
  const auto command = [&](FakeMeasurer& measurer) {
    Database database(path, Database::Missing::kIsEmpty);
    task_.history = database.records(task_.base.key);
    return run(measurer, &database);
  };
  FakeMeasurer first(failing_time);
  first.after_trial = [&] { stop = first.measured.size() >= 9; };
  EXPECT_EQ(command(first).end, TuneEnd::kInterrupted);
  stop = false;
  FakeMeasurer second(failing_time);
  const TuneResult finished = command(second);
  EXPECT_EQ(finished.new_trials, 31);
  FakeMeasurer third(failing_time);
  const TuneResult repeated = command(third);
  EXPECT_TRUE(third.measured.empty());
  EXPECT_EQ(third.comparisons, 0);
  EXPECT_EQ(repeated.best->config, finished.best->config);
  const Lookup lookup = Database(path).lookup(task_.base.key, space_.fingerprint());
  EXPECT_EQ(space_.from_values(lookup.record->knobs), finished.best->config);
  EXPECT_TRUE(lookup.confirmed);
}

TEST(ReplayMeasurer, AnswersFromTheTable) {
  const ConfigSpace space = make_space(2, 4);
  ReplayMeasurer measurer(space);
  measurer.put(space.at(3), TrialStatus::kOk, {2.0, 1.0});
  measurer.put(space.at(4), TrialStatus::kCrash, {}, "boom");
  std::vector<TrialResult> results;
  const std::vector<Config> configs = {space.at(3), space.at(4), space.at(5)};
  measurer.measure(
      configs,
      [&](size_t position, TrialResult result) {
        EXPECT_EQ(position, results.size());
        results.push_back(std::move(result));
      },
      [] { return false; });
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(results[0].seconds, (std::vector<double>{2.0, 1.0}));
  EXPECT_EQ(results[1].error, "boom");
  EXPECT_EQ(results[2].status, TrialStatus::kInvalidConfig);
  EXPECT_EQ(measurer.trials(), 3u);
  const auto compared = measurer.compare(configs, {.least = 3}, [] { return false; });
  EXPECT_EQ(compared[0].seconds, (std::vector<double>{1.0, 1.0, 1.0}));
  EXPECT_EQ(compared[1].status, TrialStatus::kCrash);
}

}  // namespace
}  // namespace tensmith
