#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <set>

#include "explore/candidates.h"
#include "explore/spaces.h"
#include "tensmith/explore/strategy.h"

namespace tensmith {
namespace {

using testing::bowl;
using testing::distinct;
using testing::make_space;
using testing::run_search;
using testing::sum_of;

/// Scores by a function, ready after `needed` results, and remembers what it was asked.
class ProbeScorer final : public Scorer {
 public:
  ProbeScorer(std::function<float(const Config&)> function, size_t needed = 0)
      : function_(std::move(function)), needed_(needed) {}

  void learn(std::span<const Observation> results) override { learnt += results.size(); }
  bool ready() const override { return learnt >= needed_; }
  void score(std::span<const Config> configs, std::span<float> scores) override {
    ++calls;
    for (size_t i = 0; i < configs.size(); ++i) {
      scores[i] = function_(configs[i]);
      asked.push_back(configs[i]);
    }
  }

  size_t learnt = 0;
  int calls = 0;
  std::vector<Config> asked;

 private:
  std::function<float(const Config&)> function_;
  size_t needed_;
};

float bowl_score(const Config& config) { return static_cast<float>(1e-3 / bowl(config, 7.0)); }

TEST(Annealing, FindsTheOptimumOfAKnownScore) {
  const ConfigSpace space = make_space(10, 12);  // 6 * 10^10 points
  ProbeScorer scorer(bowl_score);
  AnnealingOptions options;
  options.steps = 300;
  const auto strategy = make_annealing_search(space, scorer, options);
  std::vector<Config> all = run_search(*strategy, 96, 32, [](const Config& c) { return bowl(c, 7.0); });
  double best = 1.0;
  for (const Config& config : all) best = std::min(best, bowl(config, 7.0));
  EXPECT_DOUBLE_EQ(best, 1e-3);
}

TEST(Annealing, DrawsAtRandomUntilTheScorerIsReady) {
  const ConfigSpace space = make_space(6, 10);
  ProbeScorer scorer(bowl_score, 32);
  const auto strategy = make_annealing_search(space, scorer, {});
  const std::vector<Config> first = strategy->propose(32);
  EXPECT_EQ(first.size(), 32u);
  EXPECT_LE(scorer.calls, 2);
  std::vector<Observation> results;
  for (const Config& config : first) results.push_back({config, TrialStatus::kOk, bowl(config, 7.0)});
  strategy->update(results);
  EXPECT_EQ(scorer.learnt, 32u);
  const std::vector<Config> second = strategy->propose(32);
  double first_mean = 0.0;
  double second_mean = 0.0;
  for (const Config& config : first) first_mean += bowl_score(config);
  for (const Config& config : second) second_mean += bowl_score(config);
  EXPECT_GT(second_mean, 2.0 * first_mean);
}

TEST(Annealing, NeverProposesInfeasibleConfigs) {
  const ConfigSpace space = make_space(4, 8);
  for (const size_t needed : {size_t{0}, size_t{64}}) {
    ProbeScorer scorer([](const Config& c) { return sum_of(c) % 3 == 0 ? kInfeasible : bowl_score(c); }, needed);
    const auto strategy = make_annealing_search(space, scorer, {});
    const std::vector<Config> all = run_search(*strategy, 256, 32, [](const Config& c) { return bowl(c, 7.0); });
    EXPECT_EQ(all.size(), 256u);
    for (const Config& config : all) EXPECT_NE(sum_of(config) % 3, 0);
  }
}

TEST(Annealing, SurvivesScoresThatAreNotNumbers) {
  const ConfigSpace space = make_space(3, 6);
  ProbeScorer scorer([](const Config& c) { return sum_of(c) % 2 ? std::nanf("") : 1.0f; });
  const auto strategy = make_annealing_search(space, scorer, {});
  EXPECT_FALSE(strategy->propose(16).empty());
}

TEST(Annealing, EndsWhenNothingIsFeasible) {
  for (const ConfigSpace& space : {make_space(3, 6), make_space(14, 10)}) {
    ProbeScorer scorer([](const Config&) { return kInfeasible; });
    const auto strategy = make_annealing_search(space, scorer, {});
    EXPECT_TRUE(strategy->propose(16).empty());
  }
}

TEST(Annealing, ScoresNoConfigTwiceInARound) {
  const ConfigSpace space = make_space(3, 6);  // 216 points: chains meet often
  ProbeScorer scorer(bowl_score);
  AnnealingOptions options;
  options.epsilon = 0.0;
  const auto strategy = make_annealing_search(space, scorer, options);
  EXPECT_EQ(strategy->propose(16).size(), 16u);
  EXPECT_EQ(distinct(space, scorer.asked), scorer.asked.size());
}

TEST(Annealing, KeepsTheRandomShareOverSmallBatches) {
  // A score that likes only k0 = 0: other configs in a batch were drawn at random.
  const ConfigSpace space = make_space(6, 10);
  ProbeScorer scorer([](const Config& c) { return c.choices[0] == 0 ? 1.0f : 0.0f; });
  AnnealingOptions options;
  options.epsilon = 0.25;
  options.alpha = 0.0;
  options.chains = 16;
  const auto strategy = make_annealing_search(space, scorer, options);
  int random = 0;
  const std::vector<Config> all = run_search(*strategy, 80, 2, [](const Config&) { return 1.0; });
  for (const Config& config : all) random += config.choices[0] != 0;
  EXPECT_GE(random, 12);
  EXPECT_LE(random, 20);
}

TEST(Annealing, SeedsChainsFromTheBestMeasured) {
  // The score says nothing except around one needle that was measured.
  const ConfigSpace space = make_space(12, 10);
  Config needle;
  needle.choices.assign(12, 4);
  ProbeScorer scorer([&](const Config& c) {
    int same = 0;
    for (size_t i = 0; i < 12; ++i) same += c.choices[i] == 4;
    return same >= 11 ? 1.0f : 0.0f;
  });
  AnnealingOptions options;
  options.epsilon = 0.0;
  const auto strategy = make_annealing_search(space, scorer, options);
  strategy->update(std::vector<Observation>{{needle, TrialStatus::kOk, 1e-3}});
  int near = 0;
  for (const Config& config : strategy->propose(16)) {
    near += std::count(config.choices.begin(), config.choices.end(), 4) >= 11;
  }
  EXPECT_GE(near, 12);
}

TEST(Annealing, ConstantScoresStillGiveFullBatches) {
  const ConfigSpace space = make_space(4, 6);
  ProbeScorer scorer([](const Config&) { return -3.0f; });
  const auto strategy = make_annealing_search(space, scorer, {});
  EXPECT_EQ(strategy->propose(64).size(), 64u);
}

TEST(Candidates, KeepsTheBestUnseenInOrder) {
  const ConfigSpace space = make_space(1, 10);
  ProbeScorer scorer([](const Config& c) { return c.choices[0] == 5 ? std::nanf("") : float(c.choices[0] / 2); });
  const IndexSet seen = {9};
  Candidates candidates(space, scorer, seen, 3);
  std::vector<Config> configs;
  for (uint64_t i = 0; i < 10; ++i) configs.push_back(space.at(i));
  configs.push_back(space.at(3));
  const std::vector<float> scores = candidates.score(configs);
  EXPECT_EQ(scores[9], 4.0f);
  EXPECT_EQ(scores[5], kInfeasible);
  EXPECT_EQ(scores[10], 1.0f);
  EXPECT_EQ(scorer.asked.size(), 10u);
  const auto best = candidates.best();
  ASSERT_EQ(best.size(), 3u);
  EXPECT_EQ(best[0].index, 8u);
  EXPECT_EQ(best[1].index, 6u);
  EXPECT_EQ(best[2].index, 7u);
  const uint64_t changes = candidates.changes();
  candidates.score(configs);
  EXPECT_EQ(candidates.changes(), changes);
}

}  // namespace
}  // namespace tensmith
