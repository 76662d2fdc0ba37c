#include "tensmith/explore/learned_search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "explore/sampling.h"
#include "explore/spaces.h"
#include "explore/strategies/acquisition.h"
#include "explore/strategies/knob_coordinates.h"
#include "explore/strategies/model_search.h"
#include "explore/strategies/portfolio.h"
#include "explore/strategies/row_choice.h"
#include "explore/strategies/space_filling.h"
#include "explore/strategies/task_prior.h"
#include "explore/strategies/validity_model.h"

namespace tensmith {
namespace {

using testing::bowl;
using testing::distinct;
using testing::make_space;
using testing::run_search;
using testing::sum_of;

TEST(Acquisition, ExpectedImprovementHasItsClosedForm) {
  // deviation * (z cdf(z) + pdf(z)), with cdf and pdf from a table.
  EXPECT_NEAR(expected_improvement(0.0, 1.0), 0.398942, 1e-6);
  EXPECT_NEAR(expected_improvement(1.0, 1.0), 0.841345 + 0.241971, 1e-6);
  EXPECT_NEAR(expected_improvement(-1.0, 2.0), 2.0 * (-0.5 * 0.308538 + 0.352065), 2e-6);
  EXPECT_NEAR(expected_improvement(-3.0, 1.0), -3.0 * 0.00134990 + 0.00443185, 1e-7);
  EXPECT_EQ(expected_improvement(2.0, 0.0), 2.0);
  EXPECT_EQ(expected_improvement(-2.0, 0.0), 0.0);
  EXPECT_EQ(expected_improvement(-1.0, 1e-3), 0.0);
}

TEST(Acquisition, CompressedTimes) {
  EXPECT_EQ(compressed(1.0, 0.3), 0.0);
  EXPECT_DOUBLE_EQ(compressed(4.0, 1.0), 0.75);
  EXPECT_DOUBLE_EQ(compressed(4.0, 0.5), 1.0);
  EXPECT_DOUBLE_EQ(compressed(4.0, 0.0), std::log(4.0));
  EXPECT_LT(compressed(0.5, 0.3), 0.0);
}

std::vector<float> coordinates_of(const KnobCoordinates& coordinates, const Config& config) {
  std::vector<float> row(coordinates.columns());
  coordinates.write(config, row.data());
  return row;
}

TEST(KnobCoordinates, NumbersAlternativesAndProducts) {
  ConfigSpace space;
  space.add(int_knob("x", std::vector<int64_t>{1, 2, 4, 16}));
  space.add(int_knob("y", std::vector<int64_t>{1, 3, 9}));
  space.add(int_knob("fixed", std::vector<int64_t>{7}));
  space.add(bool_knob("flag"));
  space.add(int_knob("method", std::vector<int64_t>{0, 1, 2}));
  const KnobCoordinates coordinates(space);
  // x, y, flag, three methods, x * y.
  ASSERT_EQ(coordinates.columns(), 7u);
  const std::vector<float> row = coordinates_of(coordinates, Config{{2, 1, 0, 1, 2}});
  EXPECT_NEAR(row[0], 0.5 * 2 / 3 + 0.5 * 2 / 4, 1e-6);
  EXPECT_NEAR(row[1], 0.5, 1e-6);
  EXPECT_EQ(row[2], 1.0F);
  EXPECT_EQ((std::vector<float>(row.begin() + 3, row.begin() + 6)), (std::vector<float>{0, 0, 1}));
  EXPECT_NEAR(row[6], (2 + std::log2(3.0)) / (4 + std::log2(9.0)), 1e-6);
}

TEST(KnobCoordinates, SplitsAndNamedAlternatives) {
  ConfigSpace space;
  space.add(split_knob("tile", 8, 2));
  space.add(enum_knob("order", std::vector<std::string_view>{"a", "b", "c"}));
  const KnobCoordinates coordinates(space);
  ASSERT_EQ(coordinates.columns(), 5u);
  const auto four_by_two =
      std::find(space.knobs()[0].choices.begin(), space.knobs()[0].choices.end(), KnobValue{{4, 2}, ""}) -
      space.knobs()[0].choices.begin();
  const std::vector<float> row = coordinates_of(coordinates, Config{{static_cast<uint16_t>(four_by_two), 1}});
  EXPECT_GT(row[0], row[1]);
  EXPECT_EQ((std::vector<float>(row.begin() + 2, row.end())), (std::vector<float>{0, 1, 0}));
}

/// Two sizes, of which the second has to divide the first.
ConfigSpace sizes() {
  const std::vector<int64_t> choices = {1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 15, 16, 18, 20, 24};
  ConfigSpace space;
  space.add(int_knob("a", choices));
  space.add(int_knob("b", choices));
  space.add(int_knob("c", std::vector<int64_t>{1, 2, 3, 4}));
  return space;
}

/// The share of the points that a model tells right after some of them.
double accuracy(const ConfigSpace& space, size_t taught, bool anew, auto&& runs) {
  Rng rng(4);
  ValidityModel model(space, {});
  std::vector<float> columns(space.size() * model.columns());
  for (uint64_t i = 0; i < space.size(); ++i) model.write(space.at(i), columns.data() + i, space.size());
  model.track(std::move(columns), space.size());
  const std::vector<uint64_t> order = rng.sample_without_replacement(space.size(), space.size());
  for (size_t i = 0; i < taught; ++i) {
    const Config config = space.at(order[i]);
    model.add(config, runs(config), anew && i + 1 == taught, rng);
  }
  size_t right = 0;
  for (size_t i = taught; i < order.size(); ++i) {
    right += (model.probabilities()[order[i]] > 0.5F) == runs(space.at(order[i]));
  }
  return static_cast<double>(right) / static_cast<double>(order.size() - taught);
}

TEST(ValidityModel, LearnsDivisibility) {
  const ConfigSpace space = sizes();
  const auto divides = [&](const Config& c) { return space.get(c, 0) % space.get(c, 1) == 0; };
  EXPECT_GT(accuracy(space, 150, true, divides), 0.95);
  EXPECT_GT(accuracy(space, 150, false, divides), 0.9);
}

TEST(ValidityModel, LearnsALimitOfAProduct) {
  const ConfigSpace space = sizes();
  const auto small = [&](const Config& c) { return space.get(c, 0) * space.get(c, 1) * space.get(c, 2) <= 100; };
  EXPECT_GT(accuracy(space, 150, true, small), 0.95);
}

TEST(ValidityModel, AllIsWellUntilSomethingFails) {
  const ConfigSpace space = sizes();
  const auto all = [](const Config&) { return true; };
  EXPECT_EQ(accuracy(space, 20, true, all), 1.0);
}

TaskHistory history_of(const ConfigSpace& space, double centre) {
  TaskHistory history{"other", &space, {}};
  for (uint64_t i = 0; i < space.size(); ++i) {
    const Config config = space.at(i);
    history.results.push_back({config, TrialStatus::kOk, bowl(config, centre)});
  }
  return history;
}

std::unique_ptr<SearchStrategy> learned(const ConfigSpace& space, uint64_t seed,
                                        std::vector<TaskHistory> history = {}) {
  LearnedSearchOptions options;
  options.seed = seed;
  options.history = std::move(history);
  return make_learned_search(space, std::move(options));
}

TEST(LearnedSearch, TheFirstProposalIsTheBestOfTheHistory) {
  const ConfigSpace space = make_space(3, 9);
  for (double centre : {1.0, 6.0}) {
    const auto strategy = learned(space, 1, {history_of(space, centre), history_of(space, centre)});
    const auto c = static_cast<uint16_t>(centre);
    EXPECT_EQ(strategy->propose(1).front(), (Config{{c, c, c}}));
  }
}

/// A history on the choices of one knob; 0 seconds: it fails.
TaskHistory history_of(const ConfigSpace& space, const std::vector<double>& seconds) {
  TaskHistory history{"other", &space, {}};
  for (uint64_t i = 0; i < space.size(); ++i) {
    const TrialStatus status = seconds[i] > 0.0 ? TrialStatus::kOk : TrialStatus::kRunError;
    history.results.push_back({space.at(i), status, seconds[i]});
  }
  return history;
}

ConfigSpace line(int64_t count) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(i);
  ConfigSpace space;
  space.add(int_knob("x", values));
  return space;
}

TEST(LearnedSearch, BeginsWithWhatWasGoodOnOneTaskOrAnother) {
  const ConfigSpace space = line(6);
  // 2 is good on both, 0 and 5 are the best on one each, 1 is nearly 0.
  const auto strategy =
      learned(space, 1,
              {history_of(space, {1.0, 1.01, 1.5, 8.0, 9.0, 8.0}), history_of(space, {8.0, 8.0, 1.5, 8.0, 9.0, 1.0})});
  EXPECT_EQ(strategy->propose(3), (std::vector<Config>{Config{{2}}, Config{{0}}, Config{{5}}}));
}

TEST(LearnedSearch, DoesNotBeginWithWhatFailsOnSomeTasks) {
  const ConfigSpace space = line(3);
  const std::vector<double> fails = {0.0, 1.2, 2.0};
  const auto strategy =
      learned(space, 1, {history_of(space, {1.0, 1.2, 2.0}), history_of(space, fails), history_of(space, fails)});
  EXPECT_EQ(strategy->propose(1).front(), Config{{1}});
}

TEST(Portfolio, GainsAreWhatTheBestCostsFallBy) {
  const ConfigSpace space = line(3);
  const KnobCoordinates coordinates(space);
  // Uncompressed costs are logarithms: 0, log 2, log 4 and 0, 0, log 4.
  const std::vector<TaskHistory> history = {history_of(space, {1.0, 2.0, 4.0}), history_of(space, {1.0, 1.0, 4.0})};
  const TaskPrior prior(space, coordinates, history, 0.0);
  std::vector<Config> configs = {space.at(0), space.at(1), space.at(2)};
  std::vector<TaskPrior::Opinion> opinions(3);
  std::vector<float> deviations(3 * prior.columns());
  prior.ask(configs, opinions, deviations);
  Portfolio portfolio(prior, 0.0);
  const auto gain = [&](size_t i) { return portfolio.gain(opinions[i], deviations.data() + i * prior.columns()); };
  EXPECT_NEAR(gain(1).saved, 3.0 - std::log(2.0) / 2.0, 1e-5);
  EXPECT_NEAR(gain(1).cost, std::log(2.0) / 2.0, 1e-5);
  portfolio.add(opinions[2], deviations.data() + 2 * prior.columns());
  EXPECT_NEAR(gain(0).saved, std::log(4.0), 1e-5);
  EXPECT_NEAR(gain(1).saved, std::log(4.0) - std::log(2.0) / 2.0, 1e-5);
  EXPECT_EQ(gain(2).saved, 0.0);
  EXPECT_TRUE(gain(0) > gain(1));
}

TEST(RowChoice, TheBestAndTheNewest) {
  const std::vector<double> values = {5.0, 1.0, 9.0, 1.0, 7.0, 3.0, 8.0};
  EXPECT_EQ(best_and_newest({0, 1, 2, 3, 4, 5, 6}, values, 2, 2), (std::vector<size_t>{1, 3, 5, 6}));
  EXPECT_EQ(best_and_newest({0, 2, 3, 4, 6}, values, 1, 2), (std::vector<size_t>{3, 4, 6}));
  EXPECT_EQ(best_and_newest({0, 2, 3}, values, 1, 2), (std::vector<size_t>{0, 2, 3}));
  EXPECT_EQ(best_and_newest({}, values, 1, 2), std::vector<size_t>{});
}

TEST(RowChoice, HalfTheBestAndOthersAtRandom) {
  std::vector<double> values;
  for (int i = 0; i < 100; ++i) values.push_back((i * 37) % 100);
  Rng rng(1);
  const std::vector<size_t> chosen = best_and_random(values, 20, rng);
  ASSERT_EQ(std::set<size_t>(chosen.begin(), chosen.end()).size(), 20u);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(values[chosen[i]], i);
  double largest = 0.0;
  for (int i = 10; i < 20; ++i) largest = std::max(largest, values[chosen[i]]);
  EXPECT_GT(largest, 50.0);
  EXPECT_EQ(best_and_random(std::vector<double>{2.0, 1.0}, 2, rng), (std::vector<size_t>{0, 1}));
}

TEST(LearnedSearch, HistoryIsMatchedByNameAndValue) {
  ConfigSpace space;
  space.add(int_knob("a", std::vector<int64_t>{8, 4, 2, 1}));
  space.add(int_knob("new", std::vector<int64_t>{5, 6}));
  ConfigSpace other;
  other.add(int_knob("old", std::vector<int64_t>{1, 2}));
  other.add(int_knob("a", std::vector<int64_t>{1, 2, 4, 16}));
  TaskHistory history{"other", &other, {}};
  for (uint64_t i = 0; i < other.size(); ++i) {
    const Config config = other.at(i);
    const double seconds[] = {4.0, 1.0, 3.0, 0.5};  // the fastest, 16, is none of ours
    history.results.push_back({config, TrialStatus::kOk, seconds[config.choices[1]]});
  }
  // Without a task of the same kernel the other one would have to earn its trust. To this one 4, 2 and 1 are alike.
  TaskHistory same{"same", &space, {}};
  for (uint64_t i = 2; i < space.size(); ++i) same.results.push_back({space.at(i), TrialStatus::kOk, 1.0});
  const auto strategy = learned(space, 1, {history, same});
  EXPECT_EQ(space.get(strategy->propose(1).front(), 0), 2);
}

TEST(LearnedSearch, HistoryOfAnotherSpaceIsIgnored) {
  const ConfigSpace space = make_space(3, 3);
  ConfigSpace other;
  other.add(int_knob("nothing alike", std::vector<int64_t>{1, 2}));
  TaskHistory history{"other", &other, {{other.at(0), TrialStatus::kOk, 1.0}, {other.at(1), TrialStatus::kCrash, 0.0}}};
  TaskHistory empty{"empty", &space, {}};
  TaskHistory failed{"failed", &space, {{space.at(0), TrialStatus::kCrash, 0.0}}};
  const auto time = [](const Config& c) { return bowl(c, 2.0); };
  const auto strategy = learned(space, 1, {history, empty, failed});
  EXPECT_EQ(run_search(*strategy, 1000, 1, time).size(), space.size());
}

TEST(LearnedSearch, AWrongHistoryDoesNotLast) {
  const ConfigSpace space = make_space(3, 9);
  const auto strategy = learned(space, 1, {history_of(space, 1.0), history_of(space, 0.0)});
  double best = 1e9;
  for (const Config& config : run_search(*strategy, 40, 1, [](const Config& c) { return bowl(c, 7.0); })) {
    best = std::min(best, bowl(config, 7.0));
  }
  EXPECT_LE(best, bowl(Config{{7, 7, 6}}, 7.0));
}

TEST(SpaceFilling, FarthestAndFromTheMiddle) {
  // Two coordinates and a number that does not count.
  const std::vector<float> rows = {0.0F, 0.0F, 9.0F, 1.0F, 1.0F, 0.0F, 0.5F, 0.4F, 7.0F, 0.9F, 0.0F, 0.0F};
  std::vector<size_t> candidates = {0, 1, 2, 3};
  EXPECT_EQ(farthest(candidates, rows, {}, 3, 2), 0u);
  EXPECT_EQ(farthest(candidates, rows, std::vector<float>{0.1F, 0.0F, 0.0F}, 3, 2), 1u);
  EXPECT_EQ(farthest(candidates, rows, std::vector<float>{0.1F, 0.0F, 0.0F, 1.0F, 0.9F, 0.0F}, 3, 2), 3u);
  EXPECT_EQ(farthest(std::vector<size_t>{2}, rows, std::vector<float>{0.5F, 0.4F, 0.0F}, 3, 2), 2u);
  sort_from_middle(candidates, rows, 3, 2);
  EXPECT_EQ(candidates, (std::vector<size_t>{2, 3, 0, 1}));
}

/// A search with a history around (2, 2, 2) that was told results of a task around (7, 7, 7).
std::unique_ptr<SearchStrategy> misled(const ConfigSpace& space, size_t doubt_starts) {
  ModelSearchOptions options;
  options.seed = 1;
  options.history = {history_of(space, 2.0), history_of(space, 2.0)};
  options.doubt_starts = doubt_starts;
  auto strategy = make_model_search(space, std::move(options));
  std::vector<Observation> told;
  for (int i = 0; i < 20; ++i) {
    const Config config{{static_cast<uint16_t>(i % 3), static_cast<uint16_t>(i % 5), static_cast<uint16_t>(i % 7)}};
    told.push_back({config, TrialStatus::kOk, bowl(config, 7.0)});
  }
  strategy->update(told);
  return strategy;
}

TEST(ModelSearch, AHistoryThatIsPutAsideIsFollowedByStartPoints) {
  const ConfigSpace space = make_space(3, 8);
  // The first proposal after the results finds that the history is wrong, the next are start points: far from all.
  const auto nearest = [&](size_t doubt_starts) {
    const auto strategy = misled(space, doubt_starts);
    const auto time = [](const Config& c) { return bowl(c, 7.0); };
    const std::vector<Config> all = run_search(*strategy, 4, 1, time);
    std::vector<Config> before(all.begin(), all.begin() + 1);
    std::vector<int> out;
    for (size_t i = 1; i < all.size(); ++i) {
      int least = 1000;
      for (const Config& other : before) {
        int sum = 0;
        for (size_t k = 0; k < 3; ++k) sum += std::abs(other.choices[k] - all[i].choices[k]);
        least = std::min(least, sum);
      }
      out.push_back(least);
      before.push_back(all[i]);
    }
    return out;
  };
  const std::vector<int> model = nearest(0);
  const std::vector<int> starts = nearest(2);
  EXPECT_LE(model[0], 3);
  EXPECT_LE(starts[2], 3);
  for (int i : {0, 1}) {
    EXPECT_GE(starts[i], 7);
    EXPECT_GT(starts[i], model[i]);
  }
}

TEST(LearnedSearch, FewResultsOfAnotherTaskHelpToo) {
  const ConfigSpace space = make_space(4, 9);
  TaskHistory history{"other", &space, {}};
  Rng rng(3);
  for (uint64_t i : rng.sample_without_replacement(space.size(), 100)) {
    history.results.push_back({space.at(i), TrialStatus::kOk, bowl(space.at(i), 6.0)});
  }
  const Config first = learned(space, 1, {history})->propose(1).front();
  EXPECT_LT(bowl(first, 6.0), 4.5e-3);
}

TEST(LearnedSearch, AvoidsWhatFails) {
  const ConfigSpace space = sizes();
  const auto time = [&](const Config& c) { return space.get(c, 0) % space.get(c, 1) != 0 ? 0.0 : bowl(c, 3.0); };
  const auto strategy = learned(space, 2);
  const std::vector<Config> all = run_search(*strategy, 100, 1, time);
  int failures = 0;
  for (size_t i = 50; i < all.size(); ++i) failures += time(all[i]) == 0.0;
  // Nine in ten of the space fail.
  EXPECT_LT(failures, 20);
}

TEST(LearnedSearch, IsAheadOfRandom) {
  const ConfigSpace space = make_space(4, 8);
  // A heavy tail: most configs are many times slower than the best.
  const auto time = [](const Config& c) { return std::pow(bowl(c, 5.0) * 1e3, 3.0); };
  double learned_sum = 0.0;
  double random_sum = 0.0;
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    const auto best_of = [&](SearchStrategy& strategy) {
      double best = 1e30;
      for (const Config& config : run_search(strategy, 40, 1, time)) best = std::min(best, time(config));
      return std::log(best);
    };
    learned_sum += best_of(*learned(space, seed));
    random_sum += best_of(*make_random_search(space, {seed, {}}));
  }
  EXPECT_LT(learned_sum, random_sum - 2.0);
}

std::vector<Config> capped(const ConfigSpace& space, size_t best_rows, size_t newest_rows) {
  ModelSearchOptions options;
  options.seed = 1;
  options.best_rows = best_rows;
  options.newest_rows = newest_rows;
  return run_search(*make_model_search(space, std::move(options)), 26, 1,
                    [](const Config& c) { return sum_of(c) % 7 == 0 ? 0.0 : bowl(c, 6.0); });
}

TEST(ModelSearch, TheProcessIsGivenTheBestAndTheNewestRows) {
  const ConfigSpace space = make_space(3, 9);
  const std::vector<Config> all = capped(space, 1000, 500);
  // 26 results are no more than it may be given: nothing changes.
  EXPECT_EQ(capped(space, 16, 10), all);
  const std::vector<Config> few = capped(space, 8, 4);
  EXPECT_TRUE(std::equal(all.begin(), all.begin() + 12, few.begin()));
  EXPECT_NE(few, all);
  double best = 1e9;
  for (const Config& config : few) best = std::min(best, bowl(config, 6.0));
  EXPECT_LE(best, 3e-3);
}

// More points than are modelled one by one, few enough that which are left is known exactly.
TEST(LearnedSearch, FewValidPointsAreAllProposed) {
  ConfigSpace space = make_space(3, 65);
  ASSERT_GT(space.size(), uint64_t{1} << 18);
  ASSERT_LE(space.size(), uint64_t{1} << 20);
  space.add_constraint("few", [](const ConfigSpace&, const Config& c) {
    return c.choices[0] == 7 && c.choices[1] == 5 && c.choices[2] % 3 == 0;
  });
  for (double seconds : {0.0, 1.0}) {
    const auto strategy = learned(space, 1);
    const std::vector<Config> all = run_search(*strategy, 1000, 5, [&](const Config&) { return seconds; });
    EXPECT_EQ(all.size(), 22u);
    EXPECT_EQ(distinct(space, all), 22u);
  }
}

TEST(LearnedSearch, AResumedSearchGoesOn) {
  const ConfigSpace space = make_space(4, 8);
  const auto time = [](const Config& c) { return bowl(c, 5.0); };
  const std::vector<Config> all = run_search(*learned(space, 5), 30, 1, time);
  std::vector<Observation> known;
  for (const Config& config : all) known.push_back({config, TrialStatus::kOk, time(config)});
  const auto resumed = learned(space, 5);
  resumed->update(known);
  const std::vector<Config> more = run_search(*resumed, 8, 1, time);
  double mean = 0.0;
  for (const Config& config : more) {
    EXPECT_EQ(std::find(all.begin(), all.end(), config), all.end());
    mean += time(config) / 8;
  }
  // A random config takes 31 ms on average; the model knows better.
  EXPECT_LT(mean, 12e-3);
}

TEST(LearnedSearch, ALostWorkerSaysNothing) {
  const ConfigSpace space = make_space(3, 5);
  const auto strategy = learned(space, 5);
  std::vector<Observation> lost;
  for (uint64_t i = 0; i < 50; ++i) lost.push_back({space.at(i), TrialStatus::kWorkerLost, 0.0});
  strategy->update(lost);
  const std::vector<Config> rest = run_search(*strategy, 1000, 4, [](const Config& c) { return bowl(c, 2.0); });
  EXPECT_EQ(rest.size(), space.size() - 50);
}

TEST(LearnedSearch, BatchesDoNotRepeatThemselves) {
  const ConfigSpace space = make_space(4, 8);
  const auto strategy = learned(space, 5);
  const auto time = [](const Config& c) { return bowl(c, 5.0); };
  run_search(*strategy, 16, 16, time);
  // Not told of the first batch when the second is asked for.
  std::vector<Config> both = strategy->propose(8);
  for (Config& config : strategy->propose(8)) both.push_back(std::move(config));
  EXPECT_EQ(both.size(), 16u);
  EXPECT_EQ(distinct(space, both), 16u);
}

TEST(LearnedSearch, WhileNothingIsBetterEverySecondProposalIsNearTheFastest) {
  const ConfigSpace space = make_space(4, 6);
  const Config best{{2, 2, 2, 2}};
  // Nothing tells one config from another but the best: the model has no reason to stay near it.
  const auto time = [&](const Config& c) { return c == best ? 1e-4 : 1.0; };
  const auto near_ones = [&](size_t near_best) {
    ModelSearchOptions options;
    options.seed = 5;
    options.initial = {best};
    options.patience = 20;
    options.near_best = near_best;
    const std::vector<Config> all = run_search(*make_model_search(space, options), 120, 1, time);
    int near = 0;
    for (size_t i = 23; i < all.size(); i += 2) near += differing_choices(all[i], best) <= 2;
    return near;
  };
  EXPECT_EQ(near_ones(1), 49);
  EXPECT_LT(near_ones(0), 40);
}

enum class Kind { kLearned, kGp, kSmac };

std::unique_ptr<SearchStrategy> make(Kind kind, const ConfigSpace& space, uint64_t seed = 3,
                                     std::vector<Config> initial = {}) {
  const StrategyOptions common{seed, std::move(initial)};
  switch (kind) {
    case Kind::kLearned: return make_learned_search(space, {common, {}});
    case Kind::kGp: return make_gp_search(space, common);
    case Kind::kSmac: break;
  }
  return make_smac_search(space, {common});
}

class EveryModelSearch : public ::testing::TestWithParam<Kind> {};

TEST_P(EveryModelSearch, SeesEveryPointOnceAndStops) {
  ConfigSpace space = make_space(3, 5);
  space.add_constraint("even sum", [](const ConfigSpace&, const Config& c) { return testing::sum_of(c) % 2 == 0; });
  const auto strategy = make(GetParam(), space);
  const auto time = [](const Config& c) { return c.choices[0] == 1 ? 0.0 : bowl(c, 2.0); };
  const std::vector<Config> all = run_search(*strategy, 1000, 5, time);
  EXPECT_EQ(all.size(), 63u);
  EXPECT_EQ(distinct(space, all), 63u);
  for (const Config& config : all) EXPECT_TRUE(space.valid(config));
  EXPECT_TRUE(strategy->propose(8).empty());
}

TEST_P(EveryModelSearch, SmallestSpaces) {
  const ConfigSpace none;
  const ConfigSpace one = make_space(3, 1);
  ConfigSpace forbidden = make_space(4, 6);
  forbidden.add_constraint("never", [](const ConfigSpace&, const Config&) { return false; });
  for (const ConfigSpace* space : {&none, &one}) {
    const auto strategy = make(GetParam(), *space);
    EXPECT_TRUE(strategy->propose(0).empty());
    const std::vector<Config> all = strategy->propose(8);
    ASSERT_EQ(all.size(), 1u);
    strategy->update(std::vector<Observation>{{all[0], TrialStatus::kOk, 1.0}});
    EXPECT_TRUE(strategy->propose(8).empty());
  }
  EXPECT_TRUE(make(GetParam(), forbidden)->propose(4).empty());
}

TEST_P(EveryModelSearch, HugeSpace) {
  const ConfigSpace space = make_space(15, 10);  // 10^15 points
  const auto strategy = make(GetParam(), space);
  const std::vector<Config> all = run_search(*strategy, 24, 8, [](const Config& c) { return bowl(c, 2.0); });
  EXPECT_EQ(all.size(), 24u);
  EXPECT_EQ(distinct(space, all), 24u);
}

TEST_P(EveryModelSearch, SameSeedAndResultsGiveTheSameProposals) {
  const ConfigSpace space = make_space(3, 6);
  const auto time = [](const Config& c) { return testing::sum_of(c) % 5 == 0 ? 0.0 : bowl(c, 3.0); };
  const std::vector<Config> all = run_search(*make(GetParam(), space), 18, 3, time);
  EXPECT_EQ(all, run_search(*make(GetParam(), space), 18, 3, time));
  EXPECT_NE(all, run_search(*make(GetParam(), space, 4), 18, 3, time));
}

TEST_P(EveryModelSearch, AllTrialsFailingOrAllTheSame) {
  const ConfigSpace space = make_space(3, 4);
  for (double seconds : {0.0, 1.0}) {
    const std::vector<Config> all = run_search(*make(GetParam(), space), 40, 7, [&](const Config&) { return seconds; });
    EXPECT_EQ(distinct(space, all), 40u);
  }
}

TEST_P(EveryModelSearch, InitialConfigsComeFirst) {
  ConfigSpace space = make_space(3, 5);
  space.add_constraint("even sum", [](const ConfigSpace&, const Config& c) { return testing::sum_of(c) % 2 == 0; });
  const std::vector<Config> initial = {Config{{4, 4, 4}}, Config{{0, 0, 1}}, Config{{1, 1}}, Config{{2, 1, 1}}};
  const std::vector<Config> batch = make(GetParam(), space, 3, initial)->propose(3);
  ASSERT_EQ(batch.size(), 3u);
  EXPECT_EQ(batch[0], initial[0]);
  EXPECT_EQ(batch[1], initial[3]);
}

TEST_P(EveryModelSearch, FindsTheBestOfASmoothSpace) {
  const ConfigSpace space = make_space(3, 8);
  double best = 1e9;
  for (const Config& config :
       run_search(*make(GetParam(), space), 30, 1, [](const Config& c) { return bowl(c, 5.0); })) {
    best = std::min(best, bowl(config, 5.0));
  }
  EXPECT_LE(best, 2e-3);
}

const char* kind_name(const ::testing::TestParamInfo<Kind>& info) {
  constexpr const char* kNames[] = {"Learned", "Gp", "Smac"};
  return kNames[static_cast<int>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(Searches, EveryModelSearch, ::testing::Values(Kind::kLearned, Kind::kGp, Kind::kSmac),
                         kind_name);

}  // namespace
}  // namespace tensmith
