#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "explore/spaces.h"
#include "tensmith/explore/algorithms.h"

namespace tensmith {
namespace {

using testing::bowl;
using testing::distinct;
using testing::make_space;
using testing::run_search;
using testing::sum_of;

struct Kind {
  Algorithm algorithm;
  int64_t budget;  ///< whose settings it has
};

std::vector<Kind> kinds() {
  std::vector<Kind> out;
  for (Algorithm algorithm : all_algorithms()) {
    if (repeats_configs(algorithm) || uses_model(algorithm) || algorithm == Algorithm::kRandom) continue;
    for (int64_t budget : {25, 400, 800}) {
      if (budget == 400 ||
          to_string(default_settings(algorithm, budget)) != to_string(default_settings(algorithm, 400)))
        out.push_back({algorithm, budget});
    }
  }
  return out;
}

class EverySequentialSearch : public ::testing::TestWithParam<Kind> {
 protected:
  std::unique_ptr<SearchStrategy> make(const ConfigSpace& space, uint64_t seed = 3, std::vector<Config> initial = {}) {
    const auto [algorithm, budget] = GetParam();
    return make_algorithm(algorithm, space, default_settings(algorithm, budget), {seed, std::move(initial)});
  }
};

double to_two(const Config& config) { return bowl(config, 2.0); }

TEST_P(EverySequentialSearch, SeesEveryPointOnceAndStops) {
  ConfigSpace space = make_space(3, 5);
  space.add_constraint("even sum", [](const ConfigSpace&, const Config& c) { return sum_of(c) % 2 == 0; });
  const auto strategy = make(space);
  const std::vector<Config> all = run_search(*strategy, 1000, 16, to_two);
  EXPECT_EQ(all.size(), 63u);
  EXPECT_EQ(distinct(space, all), 63u);
  for (const Config& config : all) EXPECT_TRUE(space.valid(config));
  EXPECT_TRUE(strategy->propose(8).empty());
}

TEST_P(EverySequentialSearch, SpacesWithNextToNothing) {
  const ConfigSpace none, one = make_space(3, 1);
  for (const ConfigSpace* space : {&none, &one}) {
    const auto strategy = make(*space);
    EXPECT_EQ(run_search(*strategy, 10, 4, to_two).size(), 1u);
    EXPECT_TRUE(strategy->propose(1).empty());
    StrategyOptions once;
    once.restart = false;
    const auto [algorithm, budget] = GetParam();
    const auto short_lived = make_algorithm(algorithm, *space, default_settings(algorithm, budget), once);
    EXPECT_EQ(run_search(*short_lived, 10, 4, to_two).size(), 1u) << "looks at the only config";
  }
  ConfigSpace never = make_space(4, 6);
  never.add_constraint("never", [](const ConfigSpace&, const Config&) { return false; });
  EXPECT_TRUE(make(never)->propose(4).empty());
  EXPECT_TRUE(make(one)->propose(0).empty());
  EXPECT_TRUE(make(one)->propose(-1).empty());
}

TEST_P(EverySequentialSearch, KnownConfigsCostNothing) {
  const ConfigSpace space = make_space(2, 6);
  const auto strategy = make(space);
  std::vector<Observation> known;
  for (uint64_t i = 0; i < space.size(); i += 2) known.push_back({space.at(i), TrialStatus::kOk, to_two(space.at(i))});
  strategy->update(known);
  const std::vector<Config> all = run_search(*strategy, 1000, 7, to_two);
  EXPECT_EQ(all.size(), space.size() / 2);
  for (const Config& config : all) EXPECT_EQ(space.index_of(config) % 2, 1u);
}

TEST_P(EverySequentialSearch, AResumedRunGoesOnAsAnUninterruptedOne) {
  ConfigSpace tight = make_space(6, 7);
  tight.add_constraint("multiple of 3", [](const ConfigSpace&, const Config& c) { return sum_of(c) % 3 == 0; });
  const auto time = [](const Config& c) { return sum_of(c) % 5 == 0 ? 0.0 : bowl(c, 3.0); };
  for (const ConfigSpace& space : {make_space(6, 7), tight}) {
    const std::vector<Config> all = run_search(*make(space), 120, 1, time);
    EXPECT_EQ(all, run_search(*make(space), 120, 16, time)) << "whatever the batch";
    EXPECT_NE(all, run_search(*make(space, 4), 120, 1, time));
    const auto resumed = make(space);
    std::vector<Observation> known;
    for (int i = 0; i < 81; ++i) {
      known.push_back({all[i], time(all[i]) > 0 ? TrialStatus::kOk : TrialStatus::kBuildError, time(all[i])});
    }
    resumed->update(known);
    EXPECT_EQ(run_search(*resumed, 39, 1, time), std::vector<Config>(all.begin() + 81, all.end()));
  }
}

TEST_P(EverySequentialSearch, ComesNearTheBottomOfABowl) {
  if (GetParam().algorithm == Algorithm::kSimulatedAnnealing && GetParam().budget == 25) {
    return;  // the published settings for so few evaluations are a random walk
  }
  const ConfigSpace space = make_space(5, 9);
  double best = 1e9;
  for (const Config& config : run_search(*make(space), 400, 1, [](const Config& c) { return bowl(c, 6.0); })) {
    best = std::min(best, bowl(config, 6.0));
  }
  EXPECT_LE(best, 5e-3) << "two steps away at most: one in 450 configs";
}

TEST_P(EverySequentialSearch, AllFailing) {
  const ConfigSpace space = make_space(4, 6);
  const std::vector<Config> all = run_search(*make(space), 120, 30, [](const Config&) { return 0.0; });
  EXPECT_EQ(all.size(), 120u);
  EXPECT_EQ(distinct(space, all), 120u);
}

TEST_P(EverySequentialSearch, HugeSpacesAndTightConstraints) {
  ConfigSpace space = make_space(14, 10);  // 10^14 points, one in 10^5 valid
  space.add_constraint("first five equal 3", [](const ConfigSpace&, const Config& c) {
    return std::all_of(c.choices.begin(), c.choices.begin() + 5, [](uint16_t choice) { return choice == 3; });
  });
  const std::vector<Config> all = run_search(*make(space), 40, 1, to_two);
  EXPECT_EQ(all.size(), 40u);
  for (const Config& config : all) EXPECT_TRUE(space.valid(config));
}

TEST_P(EverySequentialSearch, InitialConfigsComeFirst) {
  const ConfigSpace space = make_space(3, 5);
  const std::vector<Config> initial = {Config{{4, 4, 4}}, Config{{9, 0, 0}}, Config{{1, 1}}, Config{{2, 1, 1}}};
  const auto strategy = make(space, 3, initial);
  EXPECT_EQ(strategy->propose(4), (std::vector<Config>{initial[0], initial[3]}));
  // The search itself might ask for one of them, which must not be proposed twice.
  EXPECT_TRUE(strategy->propose(4).empty());
  strategy->update(std::vector<Observation>{{initial[0], TrialStatus::kOk, 1.0}});
  EXPECT_TRUE(strategy->propose(4).empty());
  strategy->update(std::vector<Observation>{{initial[3], TrialStatus::kOk, 1.0}});
  EXPECT_EQ(strategy->propose(4).size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Strategies, EverySequentialSearch, ::testing::ValuesIn(kinds()), [](const auto& info) {
  std::string name(to_string(info.param.algorithm));
  std::replace(name.begin(), name.end(), '-', '_');
  return name + "_" + std::to_string(info.param.budget);
});

/// How many knobs differ.
int distance(const Config& a, const Config& b) {
  int count = 0;
  for (size_t i = 0; i < a.choices.size(); ++i) count += a.choices[i] != b.choices[i];
  return count;
}

TEST(MultiStartSearch, BestImprovementLooksAtAllNeighboursBeforeItMoves) {
  const ConfigSpace space = make_space(3, 4);
  const std::vector<Config> all = run_search(*make_multi_start_search(space, Improvement::kBest, {1, {}}), 10, 1,
                                             [](const Config& c) { return bowl(c, 3.0); });
  ASSERT_EQ(all.size(), 10u);
  for (size_t i = 1; i < all.size(); ++i) EXPECT_EQ(distance(all[0], all[i]), 1) << i;
}

TEST(MultiStartSearch, FirstImprovementMovesAtOnce) {
  // Every larger sum is better: each look at a larger one is followed by a neighbour of that one.
  const ConfigSpace space = make_space(4, 50);
  const auto time = [](const Config& c) { return 1.0 / (1.0 + sum_of(c)); };
  const std::vector<Config> all =
      run_search(*make_multi_start_search(space, Improvement::kFirst, {2, {}}), 30, 1, time);
  Config here = all[0];
  for (size_t i = 1; i < all.size(); ++i) {
    EXPECT_EQ(distance(here, all[i]), 1) << i;
    if (sum_of(all[i]) > sum_of(here)) here = all[i];
  }
}

TEST(IteratedSearch, StartsNearTheBestMinimum) {
  // One minimum: with a walk of one move, the second start is next to it.
  const ConfigSpace space = make_space(6, 5);
  IteratedSearchOptions options;
  options.walk = 0.0;
  options.improvement = Improvement::kBest;
  const std::vector<Config> all = run_search(*make_iterated_search(space, options), 500, 1, to_two);
  const Config bottom{{2, 2, 2, 2, 2, 2}};
  const auto reached = std::find(all.begin(), all.end(), bottom);
  ASSERT_NE(reached, all.end());
  // All of its neighbours are known then, so that what follows is a neighbour's neighbour.
  for (auto it = reached + 24; it != all.end() && it != reached + 60; ++it) EXPECT_LE(distance(*it, bottom), 2);
}

TEST(IteratedSearch, AdjacentNeighboursAreOneStepAway) {
  const ConfigSpace space = make_space(3, 9);
  IteratedSearchOptions options;
  options.improvement = Improvement::kBest;
  options.neighbourhood = Neighbourhood::kAdjacent;
  const auto time = [](const Config& c) { return bowl(c, 9.0); };
  const std::vector<Config> all = run_search(*make_iterated_search(space, options), 12, 1, time);
  const auto steps = [](const Config& a, const Config& b) {
    int sum = 0;
    for (size_t i = 0; i < a.choices.size(); ++i) sum += std::abs(a.choices[i] - b.choices[i]);
    return sum;
  };
  Config here = all[0];
  Config best = here;
  size_t looks = 0;
  for (size_t i = 1; i < all.size(); ++i) {
    if (steps(here, all[i]) != 1) {
      ASSERT_GE(looks, 3u) << "not before all neighbours that are new were looked at";
      here = best;
      looks = 0;
    }
    EXPECT_EQ(steps(here, all[i]), 1) << i;
    ++looks;
    if (time(all[i]) < time(best)) best = all[i];
  }
  EXPECT_NE(best, all[0]);
}

TEST(IteratedSearch, FirstImprovementKeepsItsOrder) {
  // Three other choices a knob: one order of neighbours has each knob once, whatever is found on the way.
  const ConfigSpace space = make_space(4, 4);
  const auto time = [](const Config& c) { return 1.0 / (1.0 + sum_of(c)); };
  const std::vector<Config> all = run_search(*make_iterated_search(space, {}), 13, 1, time);
  ASSERT_EQ(all.size(), 13u);
  Config here = all[0];
  int improvements = 0;
  for (size_t i = 1; i < all.size(); ++i) {
    ASSERT_EQ(distance(here, all[i]), 1) << i;
    size_t knob = 0;
    while (here.choices[knob] == all[i].choices[knob]) ++knob;
    const size_t first = i - (i - 1) % 3;  // of this knob
    for (size_t other = 0; other < 4; ++other) {
      if (other == knob) continue;
      EXPECT_EQ(all[first].choices[other], all[i].choices[other]) << i;
    }
    if (sum_of(all[i]) <= sum_of(here)) continue;
    here = all[i];
    ++improvements;
  }
  EXPECT_GT(improvements, 2);
}

TEST(GeneticLocalSearch, MeasuresTheChildrenBeforeAnyDescent) {
  const ConfigSpace space = make_space(8, 9);
  GeneticLocalSearchOptions options;
  options.population = 2;
  const std::vector<Config> all = run_search(*make_genetic_local_search(space, options), 5, 1, to_two);
  ASSERT_EQ(all.size(), 5u);
  for (size_t knob = 0; knob < 8; ++knob) {
    const std::multiset<int> parents = {all[0].choices[knob], all[1].choices[knob]};
    const std::multiset<int> children = {all[2].choices[knob], all[3].choices[knob]};
    EXPECT_EQ(parents, children) << knob;
  }
  EXPECT_EQ(distance(all[2], all[4]), 1) << "a neighbour of the first child";
}

TEST(TabuSearch, LeavesAMinimumAndDoesNotComeBack) {
  // A valley at 0 and, behind a ridge, a deeper one at 9.
  const ConfigSpace space = make_space(2, 10);
  const auto time = [](const Config& c) {
    const int x = c.choices[0] + c.choices[1];
    return x < 12 ? 1.0 + 0.1 * x : 3.0 - 0.15 * x;
  };
  TabuOptions options;
  const std::vector<Config> all = run_search(*make_tabu_search(space, options), 100, 1, time);
  EXPECT_EQ(std::count(all.begin(), all.end(), Config{{9, 9}}), 1);
  EXPECT_EQ(distinct(space, all), all.size());
}

}  // namespace
}  // namespace tensmith
