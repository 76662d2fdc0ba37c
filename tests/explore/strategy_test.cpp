#include "tensmith/explore/strategy.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>

#include "explore/spaces.h"
#include "tensmith/costmodel/gbt.h"
#include "tensmith/explore/gbt_search.h"

namespace tensmith {
namespace {

using testing::bowl;
using testing::distinct;
using testing::make_space;
using testing::run_search;
using testing::sum_of;

enum class Kind { kRandom, kGrid, kGenetic, kAnnealing, kGbt };

FunctionScorer bowl_scorer(double centre) {
  return FunctionScorer([centre](std::span<const Config> configs, std::span<float> scores) {
    for (size_t i = 0; i < configs.size(); ++i) scores[i] = static_cast<float>(1e-3 / bowl(configs[i], centre));
  });
}

std::unique_ptr<SearchStrategy> make(Kind kind, const ConfigSpace& space, Scorer& scorer, uint64_t seed = 3,
                                     std::vector<Config> initial = {}) {
  switch (kind) {
    case Kind::kRandom: return make_random_search(space, {seed, std::move(initial)});
    case Kind::kGrid: return make_grid_search(space);
    case Kind::kGenetic: {
      GeneticOptions options;
      options.seed = seed;
      options.initial = std::move(initial);
      options.population = 20;
      return make_genetic_search(space, options);
    }
    case Kind::kGbt: return make_gbt_search(space, {{seed, std::move(initial)}});
    case Kind::kAnnealing: break;
  }
  AnnealingOptions options;
  options.seed = seed;
  options.initial = std::move(initial);
  options.chains = 16;
  options.steps = 40;
  options.early_stop = 20;
  return make_annealing_search(space, scorer, options);
}

class EveryStrategy : public ::testing::TestWithParam<Kind> {
 protected:
  FunctionScorer scorer_ = bowl_scorer(2.0);
};

TEST_P(EveryStrategy, SeesEveryPointOnceAndStops) {
  ConfigSpace space = make_space(3, 5);
  space.add_constraint("even sum", [](const ConfigSpace&, const Config& c) { return sum_of(c) % 2 == 0; });
  const auto strategy = make(GetParam(), space, scorer_);
  const std::vector<Config> all = run_search(*strategy, 1000, 16, [](const Config& c) { return bowl(c, 2.0); });
  EXPECT_EQ(all.size(), 63u);
  EXPECT_EQ(distinct(space, all), 63u);
  for (const Config& config : all) EXPECT_TRUE(space.valid(config));
  EXPECT_TRUE(strategy->propose(8).empty());
}

TEST_P(EveryStrategy, OnePointSpace) {
  const ConfigSpace space = make_space(3, 1);
  const auto strategy = make(GetParam(), space, scorer_);
  EXPECT_EQ(strategy->propose(8).size(), 1u);
  EXPECT_TRUE(strategy->propose(8).empty());
  strategy->update({});
  EXPECT_TRUE(strategy->propose(8).empty());
}

TEST_P(EveryStrategy, SpaceWithoutKnobs) {
  const ConfigSpace space;
  const auto strategy = make(GetParam(), space, scorer_);
  EXPECT_EQ(strategy->propose(2).size(), 1u);
  EXPECT_TRUE(strategy->propose(2).empty());
}

TEST_P(EveryStrategy, SpaceWithoutValidPoints) {
  ConfigSpace space = make_space(4, 6);
  space.add_constraint("never", [](const ConfigSpace&, const Config&) { return false; });
  const auto strategy = make(GetParam(), space, scorer_);
  EXPECT_TRUE(strategy->propose(4).empty());
}

TEST_P(EveryStrategy, NeverProposesWhatItWasTold) {
  const ConfigSpace space = make_space(2, 6);
  const auto strategy = make(GetParam(), space, scorer_);
  std::vector<Observation> known;
  for (uint64_t i = 0; i < space.size(); i += 2)
    known.push_back({space.at(i), TrialStatus::kOk, bowl(space.at(i), 2.0)});
  strategy->update(known);
  const std::vector<Config> all = run_search(*strategy, 1000, 7, [](const Config& c) { return bowl(c, 2.0); });
  EXPECT_EQ(all.size(), space.size() / 2);
  for (const Config& config : all) EXPECT_EQ(space.index_of(config) % 2, 1u);
}

TEST_P(EveryStrategy, HugeSpace) {
  const ConfigSpace space = make_space(15, 10);  // 10^15 points
  const auto strategy = make(GetParam(), space, scorer_);
  const std::vector<Config> all = run_search(*strategy, 150, 50, [](const Config& c) { return bowl(c, 2.0); });
  EXPECT_EQ(all.size(), 150u);
  EXPECT_EQ(distinct(space, all), 150u);
}

TEST_P(EveryStrategy, TightConstraintInASmallSpace) {
  ConfigSpace space = make_space(6, 10);  // ten valid points of 10^6
  space.add_constraint("all equal", [](const ConfigSpace&, const Config& c) {
    return std::all_of(c.choices.begin(), c.choices.end(), [&](uint16_t choice) { return choice == c.choices[0]; });
  });
  const auto strategy = make(GetParam(), space, scorer_);
  const std::vector<Config> all = run_search(*strategy, 100, 4, [](const Config& c) { return bowl(c, 2.0); });
  EXPECT_EQ(all.size(), 10u);
}

TEST_P(EveryStrategy, TightConstraintInAHugeSpace) {
  ConfigSpace space = make_space(14, 10);  // 10^14 points, one in 10^5 valid
  space.add_constraint("first five equal 3", [](const ConfigSpace&, const Config& c) {
    return std::all_of(c.choices.begin(), c.choices.begin() + 5, [](uint16_t choice) { return choice == 3; });
  });
  const auto strategy = make(GetParam(), space, scorer_);
  // The valid points lie in one run in the middle of the index order, where grid search comes only after 3 * 10^13.
  const size_t wanted = GetParam() == Kind::kGrid ? 0 : 96;
  const std::vector<Config> all = run_search(*strategy, 96, 32, [](const Config& c) { return bowl(c, 2.0); });
  EXPECT_EQ(all.size(), wanted);
  for (const Config& config : all) EXPECT_TRUE(space.valid(config));
}

TEST_P(EveryStrategy, SameSeedAndResultsGiveTheSameProposals) {
  const ConfigSpace space = make_space(5, 8);
  const auto time = [](const Config& c) { return sum_of(c) % 5 == 0 ? 0.0 : bowl(c, 3.0); };
  const auto first = make(GetParam(), space, scorer_);
  const auto second = make(GetParam(), space, scorer_);
  const std::vector<Config> all = run_search(*first, 128, 32, time);
  EXPECT_EQ(all, run_search(*second, 128, 32, time));
  if (GetParam() != Kind::kGrid) {
    const auto other = make(GetParam(), space, scorer_, 4);
    EXPECT_NE(all, run_search(*other, 128, 32, time));
  }
}

TEST_P(EveryStrategy, AllTrialsFailing) {
  const ConfigSpace space = make_space(4, 6);
  const auto strategy = make(GetParam(), space, scorer_);
  const std::vector<Config> all = run_search(*strategy, 120, 30, [](const Config&) { return 0.0; });
  EXPECT_EQ(all.size(), 120u);
  EXPECT_EQ(distinct(space, all), 120u);
}

TEST_P(EveryStrategy, InitialConfigsComeFirst) {
  if (GetParam() == Kind::kGrid) return;  // keeps its own order
  ConfigSpace space = make_space(3, 5);
  space.add_constraint("even sum", [](const ConfigSpace&, const Config& c) { return sum_of(c) % 2 == 0; });
  const std::vector<Config> initial = {Config{{4, 4, 4}}, Config{{0, 0, 1}}, Config{{9, 0, 0}},
                                       Config{{1, 1}},    Config{{4, 4, 4}}, Config{{2, 1, 1}}};
  const auto strategy = make(GetParam(), space, scorer_, 3, initial);
  const std::vector<Config> batch = strategy->propose(4);
  ASSERT_EQ(batch.size(), 4u);
  EXPECT_EQ(batch[0], initial[0]);
  EXPECT_EQ(batch[1], initial[5]);
  EXPECT_EQ(distinct(space, batch), 4u);
}

TEST_P(EveryStrategy, NothingAskedNothingGiven) {
  const ConfigSpace space = make_space(3, 5);
  const auto strategy = make(GetParam(), space, scorer_);
  EXPECT_TRUE(strategy->propose(0).empty());
  EXPECT_TRUE(strategy->propose(-1).empty());
  EXPECT_EQ(strategy->propose(1).size(), 1u);
}

const char* kind_name(const ::testing::TestParamInfo<Kind>& info) {
  constexpr const char* kNames[] = {"Random", "Grid", "Genetic", "Annealing", "Gbt"};
  return kNames[static_cast<int>(info.param)];
}

std::vector<Kind> kinds() {
  std::vector<Kind> out = {Kind::kRandom, Kind::kGrid, Kind::kGenetic, Kind::kAnnealing};
  if (gbt_available()) out.push_back(Kind::kGbt);
  return out;
}

INSTANTIATE_TEST_SUITE_P(Strategies, EveryStrategy, ::testing::ValuesIn(kinds()), kind_name);

TEST(RandomSearch, AResumedRunGoesOnAsAnUninterruptedOne) {
  const auto time = [](const Config& c) { return bowl(c, 2.0); };
  for (const ConfigSpace& space : {make_space(4, 9), make_space(12, 9)}) {
    const auto whole = make_random_search(space, {11, {}});
    const std::vector<Config> all = run_search(*whole, 100, 32, time);
    std::vector<Observation> known;
    for (int i = 0; i < 41; ++i) known.push_back({all[i], TrialStatus::kOk, time(all[i])});
    const auto resumed = make_random_search(space, {11, {}});
    resumed->update(known);
    const std::vector<Config> rest = run_search(*resumed, 59, 17, time);
    EXPECT_EQ(rest, std::vector<Config>(all.begin() + 41, all.end()));
  }
}

TEST(RandomSearch, IsUniform) {
  const ConfigSpace space = make_space(1, 4);
  std::array<int, 4> firsts{};
  for (uint64_t seed = 0; seed < 400; ++seed) {
    ++firsts[make_random_search(space, {seed, {}})->propose(1).front().choices[0]];
  }
  for (int count : firsts) EXPECT_NEAR(count, 100, 40);
}

TEST(GridSearch, GoesInIndexOrder) {
  const ConfigSpace space = make_space(2, 4);
  const auto strategy = make_grid_search(space);
  std::vector<uint64_t> indices;
  for (const Config& config : strategy->propose(20)) indices.push_back(space.index_of(config));
  std::vector<uint64_t> expected(16);
  std::iota(expected.begin(), expected.end(), 0u);
  EXPECT_EQ(indices, expected);
}

double best_of(const std::vector<Config>& configs, double centre) {
  double best = 1e9;
  for (const Config& config : configs) best = std::min(best, bowl(config, centre));
  return best;
}

TEST(GeneticSearch, BeatsRandomOnASmoothSpace) {
  const ConfigSpace space = make_space(8, 12);
  double genetic_sum = 0.0;
  double random_sum = 0.0;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    GeneticOptions options;
    options.seed = seed;
    const auto time = [](const Config& c) { return bowl(c, 8.0); };
    genetic_sum += best_of(run_search(*make_genetic_search(space, options), 600, 64, time), 8.0);
    random_sum += best_of(run_search(*make_random_search(space, {seed, {}}), 600, 64, time), 8.0);
  }
  EXPECT_LT(genetic_sum, 0.5 * random_sum);
}

}  // namespace
}  // namespace tensmith
