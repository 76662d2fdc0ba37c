#include "tensmith/explore/diversity.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tensmith/support/rng.h"

namespace tensmith {
namespace {

Config config(std::vector<uint16_t> choices) { return Config{std::move(choices)}; }

std::vector<Config> pick(const std::vector<Config>& candidates, const std::vector<int>& positions) {
  std::vector<Config> chosen;
  for (int position : positions) chosen.push_back(candidates[position]);
  return chosen;
}

TEST(BatchObjective, IsEquationThree) {
  const std::vector<Config> configs = {config({0, 1, 2}), config({0, 3, 2}), config({4, 1, 2})};
  const std::vector<double> scores = {0.5, -0.25, 1.0};
  // Components: knob 0 has {0, 4}, knob 1 {1, 3}, knob 2 {2}.
  EXPECT_DOUBLE_EQ(batch_objective(configs, scores, 0.5), 1.25 + 0.5 * 5);
  EXPECT_DOUBLE_EQ(batch_objective(configs, scores, 0.0), 1.25);
  EXPECT_DOUBLE_EQ(batch_objective({}, {}, 1.0), 0.0);
}

TEST(ChooseDiverse, WithoutAlphaTakesTheBestScores) {
  const std::vector<Config> configs = {config({0}), config({1}), config({2}), config({3})};
  const std::vector<double> scores = {0.1, 0.9, 0.9, 0.5};
  EXPECT_EQ(choose_diverse(configs, scores, 3, 0.0), (std::vector<int>{1, 2, 3}));
}

TEST(ChooseDiverse, PrefersNewComponentsWhenAlphaIsLarge) {
  const std::vector<Config> configs = {config({0, 0}), config({0, 1}), config({1, 1})};
  const std::vector<double> scores = {1.0, 0.9, 0.2};
  EXPECT_EQ(choose_diverse(configs, scores, 2, 0.0), (std::vector<int>{0, 1}));
  EXPECT_EQ(choose_diverse(configs, scores, 2, 1.0), (std::vector<int>{0, 2}));
}

TEST(ChooseDiverse, TakesAllWhenThereAreFew) {
  const std::vector<Config> configs = {config({0, 0}), config({0, 1})};
  EXPECT_EQ(choose_diverse(configs, std::vector<double>{0.0, 1.0}, 5, 0.1).size(), 2u);
  EXPECT_TRUE(choose_diverse({}, {}, 5, 0.1).empty());
  EXPECT_TRUE(choose_diverse(configs, std::vector<double>{0.0, 1.0}, 0, 0.1).empty());
}

/// The plain greedy algorithm, without bounds.
std::vector<int> plain_greedy(const std::vector<Config>& candidates, const std::vector<double>& scores, int count,
                              double alpha) {
  std::vector<int> chosen;
  std::vector<double> chosen_scores;
  while (static_cast<int>(chosen.size()) < count) {
    int best = -1;
    double best_value = 0.0;
    for (size_t i = 0; i < candidates.size(); ++i) {
      if (std::find(chosen.begin(), chosen.end(), static_cast<int>(i)) != chosen.end()) continue;
      std::vector<Config> with = pick(candidates, chosen);
      with.push_back(candidates[i]);
      std::vector<double> with_scores = chosen_scores;
      with_scores.push_back(scores[i]);
      const double value = batch_objective(with, with_scores, alpha);
      if (best < 0 || value > best_value) {
        best = static_cast<int>(i);
        best_value = value;
      }
    }
    chosen.push_back(best);
    chosen_scores.push_back(scores[best]);
  }
  return chosen;
}

TEST(ChooseDiverse, EqualsPlainGreedyAndIsNearTheOptimum) {
  Rng rng(7);
  for (int round = 0; round < 60; ++round) {
    std::vector<Config> candidates;
    std::vector<double> scores;
    for (int i = 0; i < 10; ++i) {
      Config c;
      for (int j = 0; j < 4; ++j) c.choices.push_back(static_cast<uint16_t>(rng.uniform_int(uint64_t{4})));
      candidates.push_back(c);
      // Multiples of 1/64: sums are exact, so ties are real ties for both algorithms.
      scores.push_back(static_cast<double>(rng.uniform_int(uint64_t{64})) / 64.0);
    }
    const double alpha = 0.125 * static_cast<double>(rng.uniform_int(uint64_t{5}));
    const std::vector<int> chosen = choose_diverse(candidates, scores, 4, alpha);
    EXPECT_EQ(chosen, plain_greedy(candidates, scores, 4, alpha));

    double optimum = 0.0;
    for (int mask = 0; mask < 1 << 10; ++mask) {
      if (__builtin_popcount(mask) != 4) continue;
      std::vector<Config> set;
      std::vector<double> set_scores;
      for (int i = 0; i < 10; ++i) {
        if ((mask >> i & 1) == 0) continue;
        set.push_back(candidates[i]);
        set_scores.push_back(scores[i]);
      }
      optimum = std::max(optimum, batch_objective(set, set_scores, alpha));
    }
    std::vector<double> chosen_scores;
    for (int position : chosen) chosen_scores.push_back(scores[position]);
    EXPECT_GE(batch_objective(pick(candidates, chosen), chosen_scores, alpha), (1.0 - std::exp(-1.0)) * optimum);
  }
}

}  // namespace
}  // namespace tensmith
