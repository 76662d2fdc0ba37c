#include "tensmith/costmodel/losses.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace tensmith {
namespace {

TEST(SampleRankPairs, AllPairsOfFewRowsBetterFirst) {
  Rng rng(1);
  std::vector<RankPair> pairs;
  const std::vector<double> labels = {0.5, 1.0, 0.5, 0.0};
  sample_rank_pairs(labels, {}, 8, rng, pairs);
  std::set<std::pair<uint32_t, uint32_t>> seen;
  for (const RankPair& p : pairs) seen.insert({p.better, p.worse});
  EXPECT_EQ(seen, (std::set<std::pair<uint32_t, uint32_t>>{{0, 3}, {1, 0}, {1, 2}, {1, 3}, {2, 3}}));
  EXPECT_EQ(pairs.size(), 5U);
}

TEST(SampleRankPairs, NeverAcrossGroups) {
  Rng rng(1);
  std::vector<RankPair> pairs;
  const std::vector<double> labels = {0, 1, 2, 3, 4, 5};
  const std::vector<uint32_t> groups = {7, 3, 7, 3, 9, 7};
  sample_rank_pairs(labels, groups, 8, rng, pairs);
  EXPECT_EQ(pairs.size(), 3U + 1U);
  for (const RankPair& p : pairs) EXPECT_EQ(groups[p.better], groups[p.worse]);
}

TEST(SampleRankPairs, DrawsPartnersOfManyRows) {
  std::vector<double> labels(500);
  for (size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<double>(i * 7919 % 500);
  Rng a(5), b(5);
  std::vector<RankPair> first, second;
  sample_rank_pairs(labels, {}, 4, a, first);
  sample_rank_pairs(labels, {}, 4, b, second);
  ASSERT_EQ(first.size(), 2000U);  // all labels differ, so no draw is dropped
  std::vector<int> drawn(500, 0);
  for (size_t i = 0; i < first.size(); ++i) {
    EXPECT_GT(labels[first[i].better], labels[first[i].worse]);
    EXPECT_EQ(first[i].better, second[i].better);
    EXPECT_EQ(first[i].worse, second[i].worse);
    ++drawn[first[i].better];
    ++drawn[first[i].worse];
  }
  for (int count : drawn) EXPECT_GE(count, 4);
}

TEST(SampleRankPairs, NothingToCompare) {
  Rng rng(1);
  std::vector<RankPair> pairs = {{0, 1}};
  sample_rank_pairs({}, {}, 8, rng, pairs);
  EXPECT_TRUE(pairs.empty());
  sample_rank_pairs(std::vector<double>{1}, {}, 8, rng, pairs);
  EXPECT_TRUE(pairs.empty());
  sample_rank_pairs(std::vector<double>(100, 2.0), {}, 8, rng, pairs);
  EXPECT_TRUE(pairs.empty());
}

TEST(RankLoss, ValueByHand) {
  const std::vector<RankPair> pairs = {{0, 1}, {2, 0}};
  const std::vector<float> scores = {1, -1, 1};
  EXPECT_NEAR(rank_loss(scores, pairs), std::log(1 + std::exp(-2.0)) + std::log(2.0), 1e-12);
}

TEST(RankLoss, FiniteForHugeScores) {
  const std::vector<RankPair> pairs = {{0, 1}, {1, 0}};
  const std::vector<float> scores = {3e30F, -3e30F};
  EXPECT_TRUE(std::isfinite(rank_loss(scores, pairs)));
  std::vector<float> g(2), h(2);
  rank_loss_gradient(scores, pairs, 1, g, h);
  EXPECT_FLOAT_EQ(g[0], 1.0F);
  EXPECT_FLOAT_EQ(g[1], -1.0F);
  EXPECT_FLOAT_EQ(h[0], 0.0F);
}

TEST(RankLoss, DerivativesAgreeWithFiniteDifferences) {
  Rng rng(3);
  std::vector<double> labels(12);
  std::vector<float> scores(12);
  for (double& l : labels) l = rng.uniform_real();
  for (float& s : scores) s = static_cast<float>(rng.uniform_real(-2, 2));
  std::vector<RankPair> pairs;
  sample_rank_pairs(labels, {}, 20, rng, pairs);
  std::vector<float> g(12), h(12);
  rank_loss_gradient(scores, pairs, 1, g, h);
  const float step = 1.0F / 64;
  for (size_t i = 0; i < scores.size(); ++i) {
    std::vector<float> up = scores, down = scores;
    up[i] += step;
    down[i] -= step;
    const double width = static_cast<double>(up[i]) - down[i];
    const double plus = rank_loss(up, pairs), zero = rank_loss(scores, pairs), minus = rank_loss(down, pairs);
    EXPECT_NEAR(g[i], (plus - minus) / width, 1e-3);
    EXPECT_NEAR(h[i], (plus - 2 * zero + minus) / (width * width / 4), 1e-2);
  }
}

TEST(RankLoss, WeightScalesDerivatives) {
  const std::vector<RankPair> pairs = {{0, 1}};
  const std::vector<float> scores = {0, 0};
  std::vector<float> g(2), h(2);
  rank_loss_gradient(scores, pairs, 4, g, h);
  EXPECT_FLOAT_EQ(g[0], -2.0F);
  EXPECT_FLOAT_EQ(h[1], 1.0F);
}

TEST(SquaredLoss, DerivativesAgreeWithFiniteDifferences) {
  const std::vector<float> scores = {0.5F, -1, 2};
  const std::vector<double> labels = {0.25, 1, 2};
  EXPECT_NEAR(squared_loss(scores, labels), 0.5 * (0.0625 + 4), 1e-9);
  std::vector<float> g(3), h(3);
  squared_loss_gradient(scores, labels, g, h);
  EXPECT_FLOAT_EQ(g[0], 0.25F);
  EXPECT_FLOAT_EQ(g[1], -2.0F);
  EXPECT_FLOAT_EQ(g[2], 0.0F);
  for (float x : h) EXPECT_FLOAT_EQ(x, 1.0F);
}

}  // namespace
}  // namespace tensmith
