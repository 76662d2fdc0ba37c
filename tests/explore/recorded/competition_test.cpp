#include "tensmith/explore/recorded/competition.h"

#include <gtest/gtest.h>

namespace tensmith {
namespace {

// With equal counts of 50 and equal spreads of 0.1 the standard error of a difference is 0.02, and p < 0.05 from a
// difference of 0.0397 on (t = 1.9845 with 98 degrees of freedom).
CompetitionEntry entry(std::string space, std::string kernel, std::string algorithm, int64_t budget, double mean,
                       double stddev = 0.1, double count = 50) {
  return {std::move(space), std::move(kernel), std::move(algorithm), budget, {mean, stddev, count}};
}

TEST(Competition, WinsAreCountedByKernelAndRange) {
  const std::vector<CompetitionEntry> entries = {entry("s1", "k", "a", 100, 0.60), entry("s1", "k", "b", 100, 0.639),
                                                 entry("s1", "k", "c", 100, 0.64), entry("s1", "k", "a", 400, 0.90),
                                                 entry("s1", "k", "b", 400, 0.80), entry("s1", "k", "c", 400, 0.70),
                                                 entry("s2", "k", "a", 100, 0.60), entry("s2", "k", "b", 100, 0.70),
                                                 entry("t1", "l", "a", 200, 0.9),  entry("t1", "l", "b", 200, 0.5)};
  const std::vector<WinMatrix> matrices = compete(entries);
  ASSERT_EQ(matrices.size(), 6u);  // k, l, all; low, medium
  EXPECT_EQ(matrices[0].kernel, "k");
  EXPECT_EQ(matrices[0].range, BudgetRange::kLow);
  EXPECT_EQ(matrices[0].algorithms, (std::vector<std::string>{"a", "b", "c"}));
  // s1: only c over a; s2: b over a.
  EXPECT_EQ(matrices[0].wins, (std::vector<int>{0, 0, 0, 1, 0, 0, 1, 0, 0}));
  EXPECT_EQ(matrices[0].comparisons, (std::vector<int>{0, 2, 1, 2, 0, 1, 1, 1, 0}));
  EXPECT_EQ(matrices[1].wins, (std::vector<int>{0, 1, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(matrices[2].kernel, "");
  EXPECT_EQ(matrices[2].wins, (std::vector<int>{0, 1, 0, 1, 0, 0, 1, 0, 0}));
  EXPECT_EQ(matrices[3].range, BudgetRange::kMedium);
  EXPECT_EQ(matrices[3].wins, (std::vector<int>{0, 1, 1, 0, 0, 1, 0, 0, 0}));
  EXPECT_EQ(matrices[5].wins, matrices[3].wins);

  const std::vector<Standing> order = standings(matrices[2]);
  EXPECT_EQ(order[0].algorithm, "c");
  EXPECT_EQ(order[0].net(), 1);
  EXPECT_EQ(order[0].comparisons, 2);
  EXPECT_EQ(order[1].algorithm, "b");
  EXPECT_EQ(order[1].wins, 1);
  EXPECT_EQ(order[1].losses, 1);
  EXPECT_EQ(order[2].algorithm, "a");
  EXPECT_EQ(order[2].net(), -1);
}

TEST(Competition, TheSplitBelongsToTheLowRange) {
  const std::vector<CompetitionEntry> entries = {entry("s", "k", "a", 100, 1), entry("s", "k", "b", 100, 0),
                                                 entry("s", "k", "a", 200, 1), entry("s", "k", "b", 200, 0)};
  EXPECT_EQ(compete(entries, {.split = 200}).size(), 1u);
  const auto split = compete(entries, {.split = 100});
  ASSERT_EQ(split.size(), 2u);
  EXPECT_EQ(split[0].at(0, 1), 1);
  EXPECT_EQ(split[1].at(0, 1), 1);
  EXPECT_EQ(compete(entries, {.split = 50})[0].range, BudgetRange::kMedium);
}

TEST(Competition, TheTestDecides) {
  // Difference 0.05. With the true counts of 20 the standard error is 0.0316; with 100 taken for true, 0.0141.
  const std::vector<CompetitionEntry> entries = {entry("s", "k", "a", 25, 0.65, 0.1, 20),
                                                 entry("s", "k", "b", 25, 0.60, 0.1, 20)};
  EXPECT_EQ(compete(entries)[0].at(0, 1), 0);
  EXPECT_EQ(compete(entries, {.pooled = true})[0].at(0, 1), 0);
  EXPECT_EQ(compete(entries, {.pooled = true, .pooled_count = 100})[0].at(0, 1), 1);
  EXPECT_EQ(compete(entries, {.alpha = 0.2})[0].at(0, 1), 1);
  // Counts of 4 and 100: the few have the larger spread, which pooling plays down.
  const std::vector<CompetitionEntry> uneven = {entry("s", "k", "a", 25, 0.75, 0.2, 4),
                                                entry("s", "k", "b", 25, 0.60, 0.05, 100)};
  EXPECT_EQ(compete(uneven)[0].at(0, 1), 0);
  EXPECT_EQ(compete(uneven, {.pooled = true})[0].at(0, 1), 1);
}

TEST(Competition, ASingleRunIsNotJudged) {
  const std::vector<CompetitionEntry> entries = {entry("s", "k", "a", 25, 1.0, 0, 1), entry("s", "k", "b", 25, 0.1)};
  const auto matrices = compete(entries);
  EXPECT_EQ(matrices[0].algorithms.size(), 2u);
  EXPECT_EQ(matrices[0].comparisons, std::vector<int>(4));
}

TEST(Competition, EntryOfACell) {
  RaceCell cell{.space = "s", .kernel = "k", .algorithm = "a", .budget = 7};
  cell.runs = {{0.5, 7, false}, {1.0, 3, true}};
  const CompetitionEntry e = entry_of(cell);
  EXPECT_EQ(e.fraction.mean, 0.75);
  EXPECT_EQ(e.fraction.count, 2);
  EXPECT_NEAR(e.fraction.stddev, 0.3535533905932738, 1e-15);
  EXPECT_EQ(e.budget, 7);
}

}  // namespace
}  // namespace tensmith
