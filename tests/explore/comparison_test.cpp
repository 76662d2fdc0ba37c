#include "tensmith/explore/comparison.h"

#include <gtest/gtest.h>

#include "explore/records.h"

namespace tensmith {
namespace {

using testing::make_confirmation;
using testing::make_failure;
using testing::make_record;

TEST(ComparisonSeconds, TheRatiosOfARoundCountWhateverItsSpeed) {
  // The second config is 10 % slower in every round; the first met the slow rounds' worst moments with its minimum.
  const std::vector<std::vector<double>> rounds = {{1.0, 2.0, 1.0, 4.0, 1.0}, {1.1, 2.2, 0.9, 4.4, 1.1}};
  const std::vector<double> seconds = comparison_seconds(rounds);
  EXPECT_NEAR(seconds[1] / seconds[0], 1.1, 1e-12);
  EXPECT_LT(rounds[1][2], 1.0);  // by its minimum it would have won
  // In seconds of the fastest round, which is the third.
  EXPECT_NEAR(seconds[0] * seconds[1], 0.9, 1e-12);
}

TEST(ComparisonSeconds, AConfigThatFailedHasNone) {
  const std::vector<std::vector<double>> rounds = {{}, {2.0, 3.0}, {}};
  EXPECT_EQ(comparison_seconds(rounds), (std::vector<double>{0.0, 2.0, 0.0}));
  EXPECT_EQ(comparison_seconds(std::vector<std::vector<double>>(2)), (std::vector<double>{0.0, 0.0}));
  EXPECT_TRUE(comparison_seconds({}).empty());
}

TEST(ComparisonSeconds, OnlyRoundsThatAllHaveCount) {
  const std::vector<std::vector<double>> rounds = {{1.0}, {1.0, 5.0, 5.0}};
  EXPECT_EQ(comparison_seconds(rounds), (std::vector<double>{1.0, 1.0}));
}

TEST(ChooseBest, WithoutComparisonTheFastestTrialTiesToTheOlder) {
  EXPECT_FALSE(choose_best({}));
  EXPECT_FALSE(choose_best(std::vector<Record>{make_failure("w", TrialStatus::kCrash, "")}));
  const std::vector<Record> records = {make_record("w", 3.0), make_record("w", 2.0), make_record("w", 2.0),
                                       make_failure("w", TrialStatus::kCrash, "")};
  const auto best = choose_best(records);
  ASSERT_TRUE(best);
  EXPECT_EQ(best->position, 1u);
  EXPECT_FALSE(best->confirmed);
}

TEST(ChooseBest, AComparisonOverrulesTheTrialsBeforeIt) {
  const std::vector<Record> records = {make_record("w", 1.0), make_record("w", 2.0), make_confirmation("w", 3.0, "a"),
                                       make_confirmation("w", 2.5, "a"), make_record("w", 2.6)};
  const auto best = choose_best(records);
  ASSERT_TRUE(best);
  EXPECT_EQ(best->position, 3u);
  EXPECT_TRUE(best->confirmed);
}

TEST(ChooseBest, AComparisonOfWhichARecordIsMissingIsNone) {
  Record winner = make_confirmation("a", 2.0, "c1");
  Record loser = make_confirmation("a", 3.0, "c1");
  winner.comparison_size = loser.comparison_size = 2;
  const std::vector<Record> records = {make_record("a", 1.0), loser, winner};
  EXPECT_EQ(choose_best(records)->position, 2u);
  EXPECT_EQ(of_partial_comparison(records), (std::vector<bool>{false, false, false}));
  const std::vector<Record> cut = {records[0], loser};
  EXPECT_EQ(choose_best(cut)->position, 0u);
  EXPECT_FALSE(choose_best(cut)->confirmed);
  EXPECT_EQ(of_partial_comparison(cut), (std::vector<bool>{false, true}));
}

TEST(ChooseBest, AFasterTrialAfterTheComparisonWinsUnconfirmed) {
  const std::vector<Record> records = {make_confirmation("w", 2.5, "a"), make_confirmation("w", 3.0, "a"),
                                       make_record("w", 2.4)};
  const auto best = choose_best(records);
  ASSERT_TRUE(best);
  EXPECT_EQ(best->position, 2u);
  EXPECT_FALSE(best->confirmed);
}

TEST(ChooseBest, TheNewestComparisonInWhichSomethingRanDecides) {
  Record dead = make_confirmation("w", 1.0, "c");
  dead.status = TrialStatus::kCrash;
  dead.seconds.clear();
  const std::vector<Record> records = {make_confirmation("w", 1.0, "a"), make_record("w", 5.0),
                                       make_confirmation("w", 2.0, "b"), make_confirmation("w", 4.0, "b"), dead};
  EXPECT_EQ(choose_best(records)->position, 2u);
}

TEST(ChooseBest, ALaterTrialHasToBeatTheLeastOfTheWinnersRounds) {
  Record winner = make_confirmation("w", 2.0, "a");
  winner.compared_seconds = 2.5;
  const std::vector<Record> close = {winner, make_record("w", 2.2)};
  EXPECT_EQ(choose_best(close)->position, 0u);
  const std::vector<Record> faster = {winner, make_record("w", 1.9)};
  EXPECT_EQ(choose_best(faster)->position, 1u);
  EXPECT_FALSE(choose_best(faster)->confirmed);
}

TEST(ChooseBest, AComparisonIsDecidedByItsSecondsNotByALuckyRound) {
  Record lucky = make_confirmation("w", 2.0, "a"), steady = make_confirmation("w", 2.2, "a");
  lucky.compared_seconds = 2.6;
  steady.compared_seconds = 2.5;
  const std::vector<Record> records = {lucky, steady, make_record("w", 2.55)};
  EXPECT_EQ(choose_best(records)->position, 1u);
  EXPECT_TRUE(choose_best(records)->confirmed);
}

}  // namespace
}  // namespace tensmith
