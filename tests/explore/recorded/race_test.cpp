#include "tensmith/explore/recorded/race.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <set>

#include "explore/recorded/race_spaces.h"
#include "tensmith/explore/history.h"
#include "tensmith/support/error.h"

namespace tensmith {
namespace {

using testing::grid_contender;
using testing::random_contender;
using testing::row_space;

TEST(Race, ResultsOfAnOrderThatIsKnown) {
  const std::vector<RecordedSpace> spaces = {row_space("a", "k", {0, -1, 4, 0, 2, 1, 8}), row_space("b", "k", {5, 5})};
  const std::vector<Contender> contenders = {grid_contender()};
  const RaceResult result = run_race(spaces, contenders, {.budgets = {1, 2, 4, 5, 7}, .runs = 2, .threads = 1});
  ASSERT_EQ(result.cells.size(), 10u);
  const double fractions[] = {0, 0, 0.25, 0.5, 1};
  const int64_t evaluations[] = {1, 2, 4, 5, 6};
  for (size_t i = 0; i < 5; ++i) {
    const RaceCell& cell = result.cells[i];
    EXPECT_EQ(cell.space, "a");
    EXPECT_EQ(cell.device, "gpu of a");
    ASSERT_EQ(cell.runs.size(), 2u);
    for (const RaceRun& run : cell.runs) {
      EXPECT_EQ(run.fraction, fractions[i]) << i;
      EXPECT_EQ(run.evaluations, evaluations[i]) << i;
      EXPECT_EQ(run.found, i == 4);
    }
    EXPECT_EQ(result.cells[5 + i].runs[0].fraction, 1.0);
    EXPECT_EQ(result.cells[5 + i].runs[0].evaluations, 1);
  }
  EXPECT_EQ(result.cells[2].settings, "budget=4");
  EXPECT_FALSE(result.stopped);
}

TEST(Race, RestrictedSearchesSeeWhatIsRecorded) {
  const std::vector<RecordedSpace> spaces = {row_space("a", "k", {0, -1, 4, 0, 2, 1, 8})};
  const std::vector<Contender> contenders = {grid_contender()};
  const RaceResult result =
      run_race(spaces, contenders, {.budgets = {1, 2, 4}, .runs = 1, .convention = Convention::kRestricted});
  EXPECT_EQ(result.cells[0].runs[0].fraction, 0.0);
  EXPECT_EQ(result.cells[1].runs[0].fraction, 0.25);
  EXPECT_EQ(result.cells[2].runs[0].fraction, 1.0);
}

TEST(Race, TheLimitIsWhereARunIsJudged) {
  const std::vector<RecordedSpace> spaces = {row_space("a", "k", {8, 4, 2, 1})};
  for (const bool by_budget : {false, true}) {
    const std::vector<Contender> contenders = {grid_contender("grid", by_budget)};
    RaceOptions options{.budgets = {1, 2}, .runs = 1};
    options.limit = [](const RecordedSpace&, const Contender&, int64_t budget) { return budget + 1; };
    const RaceResult result = run_race(spaces, contenders, options);
    EXPECT_EQ(result.cells[0].runs[0].fraction, 0.25);
    EXPECT_EQ(result.cells[1].runs[0].fraction, 0.5);
    EXPECT_EQ(result.cells[1].budget, 2);
  }
}

TEST(Race, AContenderMayHaveALargestBudget) {
  const std::vector<RecordedSpace> spaces = {row_space("a", "k", {8, 4, 2, 1})};
  std::vector<Contender> contenders = {grid_contender("short"), grid_contender("long")};
  contenders[0].largest_budget = 2;
  const RaceResult result = run_race(spaces, contenders, {.budgets = {1, 2, 3}, .runs = 1});
  ASSERT_EQ(result.cells.size(), 5u);
  EXPECT_EQ(result.cells[1].budget, 2);
  EXPECT_EQ(result.cells[2].algorithm, "long");
}

std::vector<double> fractions_of(const RaceResult& result) {
  std::vector<double> out;
  for (const RaceCell& cell : result.cells) {
    for (const RaceRun& run : cell.runs) out.push_back(run.fraction + static_cast<double>(run.evaluations));
  }
  return out;
}

std::vector<double> slope(int points) {
  std::vector<double> out;
  for (int i = 0; i < points; ++i) out.push_back(1.0 + (i * 37) % points);
  return out;
}

TEST(Race, TheSameAtAnyNumberOfThreads) {
  const std::vector<RecordedSpace> spaces = {row_space("a", "k", slope(90)), row_space("b", "k", slope(71))};
  std::vector<Contender> contenders = {random_contender(), random_contender("other")};
  contenders[1].by_budget = true;
  const RaceOptions one{.budgets = {3, 10, 40}, .runs = 20, .threads = 1};
  RaceOptions many = one;
  many.threads = 5;
  const auto reference = fractions_of(run_race(spaces, contenders, one));
  EXPECT_EQ(reference, fractions_of(run_race(spaces, contenders, many)));
  RaceOptions another = one;
  another.seed = 2;
  EXPECT_NE(reference, fractions_of(run_race(spaces, contenders, another)));
  // What else is in the race does not matter.
  const auto alone = fractions_of(run_race({&spaces[1], 1}, {&contenders[0], 1}, {.budgets = {3, 10}, .runs = 20}));
  EXPECT_TRUE(std::equal(alone.begin(), alone.end(), reference.begin() + 120));
}

TEST(Race, RunsSpacesAndAlgorithmsHaveSeedsOfTheirOwn) {
  const std::vector<RecordedSpace> spaces = {row_space("a", "k", slope(90)), row_space("b", "k", slope(90))};
  std::mutex mutex;
  std::vector<uint64_t> seeds;
  std::vector<Contender> contenders = {random_contender("x"), random_contender("y")};
  for (Contender& contender : contenders) {
    contender.make = [&](const RaceTask& task) {
      const std::lock_guard lock(mutex);
      seeds.push_back(task.seed);
      return make_grid_search(task.space);
    };
  }
  contenders[1].by_budget = true;
  run_race(spaces, contenders, {.budgets = {1, 2, 3}, .runs = 10, .threads = 2});
  EXPECT_EQ(seeds.size(), 2u * 10u * (1u + 3u));
  EXPECT_EQ(std::set(seeds.begin(), seeds.end()).size(), seeds.size());
}

TEST(Race, WhatRunsCanBe) {
  const RaceBounds bounds{.runs = 2, .evaluations = 10, .least_fraction = 0.25};
  const auto judge = [&](std::vector<RaceRun> runs, Objective objective = Objective::kMean) {
    return possible({.objective = objective, .runs = std::move(runs)}, bounds);
  };
  const RaceRun good{0.5, 10, false};
  EXPECT_TRUE(judge({good, {1.0, 1, true}}));
  EXPECT_TRUE(judge({good, {0.25, 10, false}}));
  EXPECT_TRUE(judge({{0.0, 0, false}, {0.0, 10, false}})) << "nothing valid was found";
  EXPECT_FALSE(judge({good}));
  EXPECT_FALSE(judge({good, good, good}));
  for (const RaceRun& bad : {RaceRun{0.5, 11, false},
                             {0.5, -1, false},
                             {0.5, 0, false},
                             {0.24, 5, false},
                             {1.5, 5, false},
                             {-0.5, 5, false},
                             {std::nan(""), 5, false},
                             {0.0, 5, true},
                             {0.5, 5, true},
                             {1.0, 5, false}}) {
    EXPECT_FALSE(judge({good, bad})) << bad.fraction << " " << bad.evaluations << " " << bad.found;
  }
  EXPECT_TRUE(judge({good, {0.5, 5, true}}, Objective::kDraw)) << "the optimum may be drawn and not be seen";
}

TEST(Race, RunsAreRecalledWithinTheBoundsOfTheSpace) {
  const std::vector<RecordedSpace> spaces = {row_space("a", "k", {4, 1, 8, -1, 0})};
  const Contender contender = random_contender();
  RaceHooks hooks;
  std::vector<RaceBounds> seen;
  hooks.recall = [&](RaceCell&, const RaceBounds& bounds) {
    seen.push_back(bounds);
    return false;
  };
  run_race(spaces, {&contender, 1}, {.budgets = {3}, .runs = 4}, hooks);
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].runs, 4);
  EXPECT_EQ(seen[0].evaluations, 3);
  EXPECT_EQ(seen[0].least_fraction, 0.125);
}

TEST(Race, FinishedCellsAreNotRunAgain) {
  const std::vector<RecordedSpace> spaces = {row_space("a", "k", slope(50))};
  std::atomic<int> made = 0;
  Contender contender = random_contender();
  contender.by_budget = true;
  const auto make = contender.make;
  contender.make = [&](const RaceTask& task) {
    ++made;
    return make(task);
  };
  std::map<std::string, std::vector<RaceRun>> known;
  RaceHooks hooks;
  hooks.store = [&](const RaceCell& cell) { known[cell.id] = cell.runs; };
  hooks.recall = [&](RaceCell& cell, const RaceBounds& bounds) {
    const auto found = known.find(cell.id);
    if (found == known.end()) return false;
    cell.runs = found->second;
    EXPECT_TRUE(possible(cell, bounds));
    return true;
  };
  // Stops after the first budget's runs.
  hooks.should_stop = [&] { return known.size() == 1; };
  const RaceOptions options{.budgets = {5, 10, 20}, .runs = 4};
  RaceResult result = run_race(spaces, {&contender, 1}, options, hooks);
  EXPECT_TRUE(result.stopped);
  ASSERT_EQ(result.cells.size(), 1u);
  EXPECT_EQ(made, 4);
  hooks.should_stop = {};
  result = run_race(spaces, {&contender, 1}, options, hooks);
  EXPECT_FALSE(result.stopped);
  EXPECT_EQ(made, 12);
  EXPECT_EQ(fractions_of(result), fractions_of(run_race(spaces, {&contender, 1}, options)));
  // Whatever the runs depend on makes them others.
  made = 0;
  const auto again = [&](const RaceOptions& changed, const RecordedSpace& space) {
    made = 0;
    const auto before = known;
    run_race({&space, 1}, {&contender, 1}, changed, hooks);
    known = before;
    return made.load();
  };
  EXPECT_EQ(again(options, spaces[0]), 0);
  RaceOptions changed = options;
  changed.seed = 9;
  EXPECT_EQ(again(changed, spaces[0]), 12);
  changed = options;
  changed.runs = 5;
  EXPECT_EQ(again(changed, spaces[0]), 15);
  changed = options;
  changed.convention = Convention::kRestricted;
  EXPECT_EQ(again(changed, spaces[0]), 12);
  changed = options;
  changed.budgets = {5, 11};
  EXPECT_EQ(again(changed, spaces[0]), 4);
  auto values = slope(50);
  values[7] += 0.5;
  EXPECT_EQ(again(options, row_space("a", "k", values)), 12);
  contender.settings = [](int64_t) { return "other"; };
  EXPECT_EQ(again(options, spaces[0]), 12);
}

TEST(Race, ASearchThatIsStoppedCountsForNothing) {
  std::vector<double> values = slope(50);
  values[0] = 100;  // the optimum is not reached
  values[49] = 0.5;
  const std::vector<RecordedSpace> spaces = {row_space("a", "k", values)};
  const std::vector<Contender> contenders = {grid_contender()};
  int asked = 0;
  RaceHooks hooks;
  hooks.should_stop = [&] { return ++asked > 10; };
  const RaceResult result = run_race(spaces, contenders, {.budgets = {40}, .runs = 1}, hooks);
  EXPECT_TRUE(result.stopped);
  EXPECT_TRUE(result.cells.empty());
}

TEST(Race, ProgressGoesFromNothingToAll) {
  const std::vector<RecordedSpace> spaces = {row_space("a", "k", slope(50))};
  const std::vector<Contender> contenders = {grid_contender("grid", true)};
  std::vector<RaceProgress> all;
  RaceHooks hooks;
  hooks.progress = [&](const RaceProgress& progress) { all.push_back(progress); };
  run_race(spaces, contenders, {.budgets = {10, 30}, .runs = 2}, hooks);
  ASSERT_EQ(all.size(), 5u);
  EXPECT_EQ(all[0].cells, 2u);
  EXPECT_EQ(all[0].share, 0.0);
  EXPECT_EQ(all[1].share, 10.0 / 80.0);
  EXPECT_EQ(all[2].cells_done, 1u);
  EXPECT_EQ(all[4].share, 1.0);
  EXPECT_EQ(all[4].cells_done, 2u);
}

TEST(Race, HistoryIsTheOtherSpacesOfTheKernel) {
  const std::vector<RecordedSpace> spaces = {row_space("a", "k", {1, 2, 3}), row_space("b", "k", {0, -1, 4}),
                                             row_space("c", "other", {1, 2}), row_space("d", "k", {2, 1, 1})};
  std::map<size_t, std::vector<TaskHistory>> seen;  // by the size of the history's first task, below
  std::mutex mutex;
  std::vector<std::string> names;
  Contender contender = grid_contender();
  contender.uses_history = true;
  contender.make = [&](const RaceTask& task) {
    const std::lock_guard lock(mutex);
    std::string text;
    for (const TaskHistory& other : task.history) {
      text += other.name + ":";
      for (const Observation& o : other.results) {
        text += fmt::format(" {}={}", other.space->index_of(o.config), o.ok() ? o.seconds * 1e3 : -1.0);
      }
      text += ";";
    }
    names.push_back(text);
    return make_grid_search(task.space);
  };
  run_race(spaces, {&contender, 1}, {.budgets = {1}, .runs = 1, .history = true});
  EXPECT_EQ(names, (std::vector<std::string>{"b: 1=-1 2=4;d: 0=2 1=1 2=1;", "a: 0=1 1=2 2=3;d: 0=2 1=1 2=1;", "",
                                             "a: 0=1 1=2 2=3;b: 1=-1 2=4;"}));
  names.clear();
  run_race(spaces, {&contender, 1}, {.budgets = {1}, .runs = 1});
  EXPECT_EQ(names, std::vector<std::string>(4));
}

TEST(Race, SummaryOfRuns) {
  RaceCell cell;
  cell.runs = {{1.0, 10, true}, {0.5, 30, false}, {0.0, 20, false}, {0.5, 20, false}};
  const RaceSummary s = summarize(cell);
  EXPECT_EQ(s.mean_fraction, 0.5);
  EXPECT_NEAR(s.std_fraction, std::sqrt(0.5 / 3), 1e-15);
  EXPECT_EQ(s.success_rate, 0.25);
  EXPECT_EQ(s.mean_evaluations, 20);
  EXPECT_NEAR(s.std_evaluations, std::sqrt(200.0 / 3), 1e-12);
}

std::string error_of(const std::vector<RecordedSpace>& spaces, const std::vector<Contender>& contenders,
                     const RaceOptions& options) {
  try {
    run_race(spaces, contenders, options);
  } catch (const UserError& e) {
    return e.what();
  }
  return "no error";
}

TEST(Race, Errors) {
  const std::vector<RecordedSpace> spaces = {row_space("a", "k", {1, 2, 3, 4})};
  const std::vector<Contender> contenders = {grid_contender()};
  const RaceOptions options{.budgets = {2}, .runs = 2};
  EXPECT_EQ(error_of({}, contenders, options), "a race needs a space (hint: name a file of a recorded space)");
  EXPECT_EQ(error_of(spaces, {}, options), "a race needs an algorithm");
  EXPECT_EQ(error_of({spaces[0], spaces[0]}, contenders, options), "space 'a' is there twice (hint: name each once)");
  EXPECT_EQ(error_of(spaces, {contenders[0], contenders[0]}, options),
            "algorithm 'grid' is there twice (hint: name each once)");
  EXPECT_EQ(error_of({row_space("empty", "k", {0, -1})}, contenders, options),
            "empty: no config of the space is valid, so there is nothing to find (hint: record at least one config "
            "that runs)");
  EXPECT_EQ(error_of(spaces, contenders, {.budgets = {}}),
            "a race needs a budget (hint: say how many evaluations a run has)");
  EXPECT_EQ(error_of(spaces, contenders, {.budgets = {0, 1}}),
            "a budget of 0 evaluations finds nothing (hint: give at least 1)");
  EXPECT_EQ(error_of(spaces, contenders, {.budgets = {2, 2}}),
            "budget 2 stands behind 2 (hint: give them in ascending order, each once)");
  EXPECT_EQ(error_of(spaces, contenders, {.budgets = {2, 5}}),
            "budget 5 is larger than every space (hint: the largest has 4 points)");
  EXPECT_EQ(error_of(spaces, contenders, {.budgets = {2}, .runs = 0}), "0 runs tell nothing (hint: give at least 1)");
  EXPECT_EQ(error_of(spaces, contenders, {.budgets = {2}, .objective = Objective::kDraw}),
            "a: only mean values are recorded, so there is nothing to draw from (hint: race for the mean, or give a "
            "file with "
            "the single runs)");
  Contender racing = grid_contender("racing");
  racing.needs_draws = true;
  EXPECT_EQ(error_of(spaces, {racing}, options),
            "racing measures configs again, and a mean is always the same (hint: race for draws from the single runs, "
            "or leave "
            "it out)");
  EXPECT_EQ(error_of({row_space("a", "k", {1, 2}, true)}, {racing}, {.budgets = {2}, .objective = Objective::kDraw}),
            "no error");
}

}  // namespace
}  // namespace tensmith
