#include "tensmith/explore/recorded/settings_selection.h"

#include <gtest/gtest.h>

#include <cmath>

#include "explore/recorded/race_spaces.h"
#include "tensmith/support/error.h"

namespace tensmith {
namespace {

TEST(SettingsSelection, TheLastToDropOutAsKShrinksIsChosen) {
  // Space 1: best 0.9 (sigma 0.1). Settings are behind by 0, 0.5, 2 sigma.
  // Space 2: best 0.8 (sigma 0.05). Settings are behind by 4, 1, 0 sigma.
  const std::vector<std::vector<SettingScore>> scores = {{{0.9, 0.1}, {0.85, 0.3}, {0.7, 0.0}},
                                                         {{0.6, 0.2}, {0.75, 0.4}, {0.8, 0.05}}};
  const std::vector<RankedSetting> ranking = rank_settings(scores);
  ASSERT_EQ(ranking.size(), 3u);
  EXPECT_EQ(ranking[0].setting, 1u);
  EXPECT_NEAR(ranking[0].k, 1.0, 1e-12);
  EXPECT_NEAR(ranking[0].mean, 0.8, 1e-12);
  EXPECT_EQ(ranking[1].setting, 2u);
  EXPECT_NEAR(ranking[1].k, 2.0, 1e-12);
  EXPECT_EQ(ranking[2].setting, 0u);
  EXPECT_NEAR(ranking[2].k, 4.0, 1e-12);
}

TEST(SettingsSelection, WithoutSpreadOnlyTheBestIsGood) {
  const std::vector<std::vector<SettingScore>> scores = {{{0.9, 0.0}, {0.9, 0.0}, {0.8, 0.1}},
                                                         {{0.5, 0.1}, {0.6, 0.1}, {0.6, 0.1}}};
  const std::vector<RankedSetting> ranking = rank_settings(scores);
  EXPECT_EQ(ranking[0].setting, 1u);
  EXPECT_EQ(ranking[0].k, 0.0);
  EXPECT_EQ(ranking[1].setting, 0u);
  EXPECT_TRUE(std::isinf(ranking[2].k));
}

TEST(SettingsSelection, TheShareIsOfAllSelectionsTogether) {
  const std::vector<Algorithm> algorithms = {Algorithm::kFirstTabu, Algorithm::kBestTabu};
  const std::vector<int64_t> budgets = {2, 6};
  SelectionsShare share(algorithms, budgets);
  // As many settings each: a budget of 2 is an eighth of an algorithm's half.
  EXPECT_DOUBLE_EQ(share.with(Algorithm::kFirstTabu, 2, 0.0), 0.0);
  EXPECT_DOUBLE_EQ(share.with(Algorithm::kFirstTabu, 2, 0.5), 0.0625);
  share.finish(Algorithm::kFirstTabu, 2);
  EXPECT_DOUBLE_EQ(share.with(Algorithm::kFirstTabu, 6, 0.0), 0.125);
  EXPECT_DOUBLE_EQ(share.with(Algorithm::kFirstTabu, 6, 1.0), 0.5);
  share.finish(Algorithm::kFirstTabu, 6);
  share.finish(Algorithm::kBestTabu, 2);
  EXPECT_DOUBLE_EQ(share.with(Algorithm::kBestTabu, 6, 1.0), 1.0);
}

TEST(SettingsSelection, NothingToChooseFromIsAnError) {
  EXPECT_THROW(rank_settings({}), UserError);
  const std::vector<std::vector<SettingScore>> empty(2);
  EXPECT_THROW(rank_settings(empty), UserError);
}

}  // namespace
}  // namespace tensmith
