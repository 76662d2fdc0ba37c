#include "tensmith/explore/algorithms.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "explore/spaces.h"
#include "tensmith/costmodel/gbt.h"
#include "tensmith/support/error.h"
#include "tensmith/support/rng.h"

namespace tensmith {
namespace {

using testing::bowl;
using testing::make_space;
using testing::sum_of;

TEST(Algorithms, NamesAreReadBack) {
  std::set<std::string_view> names;
  for (Algorithm algorithm : all_algorithms()) {
    EXPECT_EQ(find_algorithm(to_string(algorithm)), algorithm);
    names.insert(to_string(algorithm));
  }
  EXPECT_EQ(names.size(), static_cast<size_t>(kAlgorithmCount));
  EXPECT_EQ(to_string(Algorithm::kDualAnnealing), "dual-annealing");
  EXPECT_EQ(to_string(Algorithm::kRacing), "racing");
  EXPECT_FALSE(find_algorithm("annealing of steel"));
}

TEST(Algorithms, DefaultsAreTheRowOfTheBudget) {
  const auto text = [](Algorithm algorithm, int64_t budget) { return to_string(default_settings(algorithm, budget)); };
  EXPECT_EQ(text(Algorithm::kGeneticAlgorithm, 25), "population=8 crossover=one-point tournament=8 mutation=0.02");
  EXPECT_EQ(text(Algorithm::kGeneticAlgorithm, 1600), "population=320 crossover=two-point tournament=4 mutation=0.02");
  EXPECT_EQ(text(Algorithm::kParticleSwarm, 399), "particles=20 neighbours=10 scale=1000");
  EXPECT_EQ(text(Algorithm::kDifferentialEvolution, 400),
            "population=8 method=best2bin mutation=0.2..0.7 recombination=0.7");
  EXPECT_EQ(text(Algorithm::kBasinHopping, 1), "minimizer=powell temperature=0.1");
  EXPECT_EQ(text(Algorithm::kFirstTabu, 99), "tabu_size=4");
  EXPECT_EQ(text(Algorithm::kRandom, 100), "");
}

TEST(Algorithms, WhatDependsOnTheBudgetHasSettingsThatDo) {
  for (Algorithm algorithm : all_algorithms()) {
    std::set<std::string> texts;
    for (int64_t budget : {25, 50, 100, 200, 400, 800, 1600})
      texts.insert(to_string(default_settings(algorithm, budget)));
    EXPECT_EQ(texts.size() > 1, depends_on_budget(algorithm)) << to_string(algorithm);
  }
}

TEST(Algorithms, TheGridHoldsTheDefaultsAndNothingTwice) {
  for (Algorithm algorithm : all_algorithms()) {
    for (int64_t budget : {1, 25, 100, 400, 1600}) {
      std::set<std::string> texts;
      const std::vector<AlgorithmSettings> grid = settings_grid(algorithm, budget);
      for (const AlgorithmSettings& settings : grid) texts.insert(to_string(settings));
      EXPECT_EQ(texts.size(), grid.size()) << to_string(algorithm) << " " << budget;
    }
    // The published ones were rounded by hand for populations.
    if (algorithm == Algorithm::kGeneticAlgorithm || algorithm == Algorithm::kGeneticLocalSearch ||
        algorithm == Algorithm::kDifferentialEvolution || algorithm == Algorithm::kParticleSwarm) {
      continue;
    }
    std::set<std::string> texts;
    for (const AlgorithmSettings& settings : settings_grid(algorithm, 400)) texts.insert(to_string(settings));
    EXPECT_TRUE(texts.contains(to_string(default_settings(algorithm, 400)))) << to_string(algorithm);
  }
}

TEST(Algorithms, SettingsOfAnotherAlgorithmAreAMistake) {
  const ConfigSpace space = make_space(2, 3);
  EXPECT_THROW(make_algorithm(Algorithm::kDualAnnealing, space, TabuOptions{}, {}), InternalError);
}

TEST(Algorithms, SeedsAndInitialConfigsReachTheSearch) {
  const ConfigSpace space = make_space(4, 9);
  for (Algorithm algorithm : all_algorithms()) {
    if (algorithm == Algorithm::kGbt && !gbt_available()) continue;
    const int trials = uses_model(algorithm) ? 20 : 40;
    const Config first{{1, 2, 3, 4}};
    const auto make = [&](uint64_t seed) {
      return make_algorithm(algorithm, space, default_settings(algorithm, 100), {seed, {first}});
    };
    const auto time = [](const Config& c) { return bowl(c, 3.0); };
    const auto a = testing::run_search(*make(1), trials, 1, time), b = testing::run_search(*make(2), trials, 1, time);
    EXPECT_EQ(a.front(), first) << to_string(algorithm);
    EXPECT_NE(a, b) << to_string(algorithm);
    EXPECT_EQ(a, testing::run_search(*make(1), trials, 1, time)) << to_string(algorithm);
  }
}

TEST(Algorithms, AConvergedSearchEndsWhenItIsNotToRestart) {
  const ConfigSpace space = make_space(2, 4);
  StrategyOptions once;
  once.restart = false;
  const auto strategy = make_algorithm(Algorithm::kDifferentialEvolution, space,
                                       default_settings(Algorithm::kDifferentialEvolution, 25), once);
  const auto all = testing::run_search(*strategy, 100, 1, [](const Config&) { return 1.0; });
  EXPECT_LE(all.size(), 5u) << "five vectors, all equally good";
  EXPECT_GE(all.size(), 1u);
}

TEST(Racing, MeasuresTheBestOftenAndKeepsTheBudget) {
  // Times that vary by 20 % about a bowl.
  const ConfigSpace space = make_space(2, 8);
  RacingOptions options;
  options.budget = 300;
  Rng noise(5);
  std::map<uint64_t, int> counts;
  const auto strategy = make_racing_search(space, options);
  const auto all = testing::run_search(*strategy, 1000, 1, [&](const Config& c) {
    ++counts[space.index_of(c)];
    return bowl(c, 4.0) * noise.uniform_real(0.9, 1.1);
  });
  EXPECT_GE(all.size(), 290u);
  EXPECT_LE(all.size(), 301u);
  EXPECT_LT(counts.size(), 100u);
  const auto most =
      std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  EXPECT_LE(bowl(space.at(most->first), 4.0), 2e-3) << "at most a step from the bottom";
  EXPECT_GE(most->second, 10);
}

TEST(Racing, FailuresDropOutAtOnce) {
  const ConfigSpace space = make_space(2, 8);
  RacingOptions options;
  options.budget = 100;
  std::map<uint64_t, int> counts;
  testing::run_search(*make_racing_search(space, options), 100, 1, [&](const Config& c) {
    ++counts[space.index_of(c)];
    return sum_of(c) < 7 ? 0.0 : bowl(c, 5.0);
  });
  for (const auto& [index, count] : counts) {
    if (sum_of(space.at(index)) >= 7) continue;
    EXPECT_LE(count, 4);  // a later race may draw it again
  }
}

}  // namespace
}  // namespace tensmith
