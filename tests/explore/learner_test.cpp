#include "tensmith/explore/learner.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>

#include "explore/spaces.h"
#include "explore/worker_pool.h"
#include "tensmith/explore/strategy.h"
#include "tensmith/support/error.h"

namespace tensmith {
namespace {

using testing::bowl;
using testing::make_space;
using testing::run_search;
using testing::sum_of;

/// Nearest neighbour: deterministic, needs no library, and shows what it was given.
class NeighbourModel final : public CostModel {
 public:
  std::string_view name() const override { return "neighbour"; }
  int fits = 0;
  std::vector<double> labels;

 protected:
  void do_fit(const FeatureMatrix& rows, std::span<const double> fit_labels, std::span<const uint32_t>) override {
    ++fits;
    width_ = rows.columns;
    values_.assign(rows.values, rows.values + rows.rows * rows.columns);
    labels.assign(fit_labels.begin(), fit_labels.end());
  }
  void do_predict(const FeatureMatrix& rows, std::span<float> scores) const override {
    for (size_t i = 0; i < rows.rows; ++i) {
      double nearest = 1e300;
      for (size_t k = 0; k < labels.size(); ++k) {
        double distance = 0.0;
        for (size_t j = 0; j < width_; ++j) {
          const double d = rows.row(i)[j] - values_[k * width_ + j];
          distance += d * d;
        }
        if (distance < nearest) {
          nearest = distance;
          scores[i] = static_cast<float>(labels[k] - 0.01 * distance);
        }
      }
    }
  }
  std::string do_save() const override { return {}; }
  void do_load(std::string_view, size_t) override {}

 private:
  size_t width_ = 0;
  std::vector<float> values_;
};

FeatureSource choices_as_features(size_t knobs, std::function<bool(const Config&)> feasible = {}) {
  return {knobs, [knobs, feasible] {
            return FeatureFunction([knobs, feasible](const Config& config, float* row) {
              for (size_t j = 0; j < knobs; ++j) row[j] = config.choices[j];
              return !feasible || feasible(config);
            });
          }};
}

Observation ok(std::vector<uint16_t> choices, double seconds) {
  return {Config{std::move(choices)}, TrialStatus::kOk, seconds};
}

TEST(Learner, LabelsAreThroughputOverTheBestAndZeroForFailures) {
  NeighbourModel model;
  Learner learner(model, choices_as_features(1), {.min_results = 3});
  learner.learn(std::vector<Observation>{ok({0}, 2.0), {Config{{1}}, TrialStatus::kCrash, 0.0}});
  EXPECT_FALSE(learner.ready());
  learner.learn(std::vector<Observation>{ok({2}, 0.5), {Config{{3}}, TrialStatus::kWorkerLost, 0.0}});
  EXPECT_TRUE(learner.ready());
  EXPECT_EQ(model.labels, (std::vector<double>{0.25, 0.0, 1.0}));
  EXPECT_EQ(learner.rows(), 3u);
}

TEST(Learner, EqualOrFailedResultsDoNotMakeItReady) {
  NeighbourModel model;
  Learner learner(model, choices_as_features(1), {.min_results = 2});
  learner.learn(
      std::vector<Observation>{{Config{{0}}, TrialStatus::kCrash, 0.0}, {Config{{1}}, TrialStatus::kHang, 0.0}});
  EXPECT_FALSE(learner.ready());
  std::vector<float> scores(1, 9.0f);
  learner.score(std::vector<Config>{Config{{0}}}, scores);
  EXPECT_EQ(scores[0], 0.0f);
  learner.learn({});
  EXPECT_FALSE(learner.ready());
  learner.learn(std::vector<Observation>{ok({2}, 1.0)});
  EXPECT_TRUE(learner.ready());
}

TEST(Learner, InfeasibleConfigsScoreMinusInfinityBeforeAndAfterTheFit) {
  NeighbourModel model;
  Learner learner(model, choices_as_features(1, [](const Config& c) { return c.choices[0] != 1; }), {.min_results = 2});
  std::vector<Config> configs = {Config{{0}}, Config{{1}}, Config{{2}}};
  std::vector<float> scores(3);
  learner.score(configs, scores);
  EXPECT_EQ(scores, (std::vector<float>{0.0f, kInfeasible, 0.0f}));
  learner.learn(std::vector<Observation>{ok({0}, 2.0), ok({1}, 2.0), ok({2}, 1.0)});
  EXPECT_EQ(learner.rows(), 2u);
  learner.score(configs, scores);
  EXPECT_EQ(scores, (std::vector<float>{0.5f, kInfeasible, 1.0f}));
}

TEST(Learner, RefitsAfterAnInterval) {
  NeighbourModel model;
  Learner learner(model, choices_as_features(1), {.min_results = 2, .refit_interval = 3});
  learner.learn(std::vector<Observation>{ok({0}, 2.0), ok({1}, 1.0)});
  EXPECT_EQ(model.fits, 1);
  learner.learn(std::vector<Observation>{ok({2}, 3.0), ok({3}, 1.5)});
  EXPECT_EQ(model.fits, 1);
  learner.learn(std::vector<Observation>{ok({4}, 4.0)});
  EXPECT_EQ(model.fits, 2);
  EXPECT_EQ(model.labels.size(), 5u);
}

TEST(Learner, NeedsFeatures) {
  NeighbourModel model;
  EXPECT_THROW(Learner(model, FeatureSource{}), UserError);
}

TEST(Learner, TheSearchIsTheSameAtAnyNumberOfJobs) {
  const ConfigSpace space = make_space(6, 8);
  std::vector<Config> expected;
  for (int jobs = 1; jobs <= 4; ++jobs) {
    NeighbourModel model;
    Learner learner(model, choices_as_features(6, [](const Config& c) { return sum_of(c) % 7 != 0; }), {.jobs = jobs});
    AnnealingOptions options;
    options.steps = 30;
    const auto strategy = make_annealing_search(space, learner, options);
    const std::vector<Config> all = run_search(*strategy, 96, 32, [](const Config& c) { return bowl(c, 5.0); });
    EXPECT_EQ(all.size(), 96u);
    if (jobs == 1) expected = all;
    EXPECT_EQ(all, expected) << jobs << " jobs";
  }
}

TEST(Learner, GuidesTheSearch) {
  const ConfigSpace space = make_space(6, 8);
  NeighbourModel model;
  Learner learner(model, choices_as_features(6));
  const auto strategy = make_annealing_search(space, learner, {});
  const auto time = [](const Config& c) { return bowl(c, 5.0); };
  const auto random = make_random_search(space, {1, {}});
  double best = 1.0;
  for (const Config& c : run_search(*strategy, 192, 32, time)) best = std::min(best, time(c));
  double random_best = 1.0;
  for (const Config& c : run_search(*random, 192, 32, time)) random_best = std::min(random_best, time(c));
  EXPECT_LT(best, random_best);
}

TEST(WorkerPool, VisitsEveryItemOnce) {
  for (int jobs = 1; jobs <= 4; ++jobs) {
    WorkerPool pool(jobs);
    EXPECT_EQ(pool.jobs(), jobs);
    for (const size_t count : {0u, 1u, 7u, 100u, 1000u}) {
      std::vector<std::atomic<int>> visits(count);
      pool.run(count, 7, [&](int worker, size_t begin, size_t end) {
        EXPECT_GE(worker, 0);
        EXPECT_LT(worker, jobs);
        for (size_t i = begin; i < end; ++i) ++visits[i];
      });
      for (const auto& visit : visits) EXPECT_EQ(visit, 1);
    }
  }
}

TEST(WorkerPool, PassesExceptionsOn) {
  WorkerPool pool(3);
  EXPECT_THROW(pool.run(100, 1,
                        [](int, size_t begin, size_t) {
                          if (begin == 50) throw UserError("no");
                        }),
               UserError);
  std::atomic<int> items = 0;
  pool.run(100, 1, [&](int, size_t begin, size_t end) { items += static_cast<int>(end - begin); });
  EXPECT_EQ(items, 100);
}

}  // namespace
}  // namespace tensmith
