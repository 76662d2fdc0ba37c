#include "tensmith/support/rng.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "tensmith/support/error.h"

namespace tensmith {
namespace {

// Golden values: recorded experiments are repeated from their seeds, on any machine.
TEST(Rng, SequenceOfASeedIsFixedForever) {
  Rng rng(42);
  EXPECT_EQ(rng.next(), 0x15780b2e0c2ec716ULL);
  EXPECT_EQ(rng.next(), 0x6104d9866d113a7eULL);
  EXPECT_EQ(rng.uniform_int(uint64_t{1000}), 680u);
  EXPECT_EQ(rng.uniform_real(), 0x1.d9715a8e0766cp-1);
  EXPECT_EQ(rng.normal(), 0x1.db514bfac5b4ep-2);
  EXPECT_EQ(rng.normal(), 0x1.7b6195d5a3e23p-1);
  EXPECT_EQ(rng.split(3).next(), 0x3d709eee714911a8ULL);
}

TEST(Rng, SeedsDiffer) {
  Rng a(1);
  Rng b(2);
  EXPECT_NE(a.next(), b.next());
  Rng zero(0);
  EXPECT_NE(zero.next(), zero.next());
}

TEST(Rng, SplitDependsOnSeedAndStreamOnly) {
  const Rng parent(7);
  Rng used(7);
  for (int i = 0; i < 100; ++i) used.next();
  EXPECT_EQ(parent.split(5).next(), used.split(5).next());
  std::set<uint64_t> firsts{Rng(7).next()};
  for (uint64_t stream = 0; stream < 1000; ++stream) EXPECT_TRUE(firsts.insert(parent.split(stream).next()).second);
  EXPECT_NE(parent.split(1).split(2).next(), parent.split(2).split(1).next());
}

TEST(Rng, UniformIntIsUnbiasedForABoundThatDoesNotDivide) {
  // With bound 3 * 2^62 a plain modulo would give the lowest quarter twice the share of the others.
  Rng rng(11);
  const uint64_t bound = 3ULL << 62;
  int lowest_third = 0;
  const int draws = 30000;
  for (int i = 0; i < draws; ++i) {
    const uint64_t value = rng.uniform_int(bound);
    ASSERT_LT(value, bound);
    lowest_third += value < bound / 3;
  }
  EXPECT_NEAR(lowest_third / double{draws}, 1.0 / 3.0, 0.015);
}

TEST(Rng, UniformIntReachesEveryValue) {
  Rng rng(3);
  std::vector<int> counts(7);
  for (int i = 0; i < 7000; ++i) ++counts[rng.uniform_int(uint64_t{7})];
  for (int count : counts) EXPECT_NEAR(count, 1000, 150);
  EXPECT_EQ(rng.uniform_int(uint64_t{1}), 0u);
  EXPECT_THROW(rng.uniform_int(uint64_t{0}), InternalError);
}

TEST(Rng, UniformIntRangeIncludesBothEnds) {
  Rng rng(5);
  std::set<int64_t> seen;
  for (int i = 0; i < 500; ++i) seen.insert(rng.uniform_int(int64_t{-2}, int64_t{2}));
  EXPECT_EQ(seen, (std::set<int64_t>{-2, -1, 0, 1, 2}));
  EXPECT_EQ(rng.uniform_int(INT64_MIN, INT64_MIN), INT64_MIN);
  rng.uniform_int(INT64_MIN, INT64_MAX);
  EXPECT_THROW(rng.uniform_int(int64_t{1}, int64_t{0}), InternalError);
}

TEST(Rng, UniformRealStaysInItsHalfOpenRange) {
  Rng rng(9);
  double sum = 0.0;
  for (int i = 0; i < 20000; ++i) {
    const double value = rng.uniform_real();
    ASSERT_GE(value, 0.0);
    ASSERT_LT(value, 1.0);
    sum += value;
  }
  EXPECT_NEAR(sum / 20000, 0.5, 0.01);
  EXPECT_NEAR(Rng(9).uniform_real(10.0, 20.0), 10.0 + 10.0 * Rng(9).uniform_real(), 1e-12);
}

TEST(Rng, NormalHasTheMomentsOfANormal) {
  Rng rng(13);
  const int draws = 50000;
  double sum = 0.0;
  double square = 0.0;
  double fourth = 0.0;
  int within_one = 0;
  for (int i = 0; i < draws; ++i) {
    const double value = rng.normal();
    sum += value;
    square += value * value;
    fourth += value * value * value * value;
    within_one += std::abs(value) < 1.0;
  }
  EXPECT_NEAR(sum / draws, 0.0, 0.02);
  EXPECT_NEAR(square / draws, 1.0, 0.03);
  EXPECT_NEAR(fourth / draws, 3.0, 0.2);
  EXPECT_NEAR(within_one / double{draws}, 0.6827, 0.01);
}

TEST(Rng, ShuffleGivesEveryOrderEqually) {
  Rng rng(17);
  std::vector<int> counts(6);
  for (int i = 0; i < 6000; ++i) {
    std::vector<int> items{0, 1, 2};
    rng.shuffle(items);
    int order = 0;
    std::vector<int> sorted{0, 1, 2};
    do {
      if (items == sorted) ++counts[order];
      ++order;
    } while (std::next_permutation(sorted.begin(), sorted.end()));
  }
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0), 6000);
  for (int count : counts) EXPECT_NEAR(count, 1000, 150);
}

TEST(Rng, SampleIsDistinctAndUniform) {
  Rng rng(19);
  std::vector<int> counts(10);
  std::vector<int> first(10);
  for (int i = 0; i < 5000; ++i) {
    const auto sample = rng.sample_without_replacement(10, 4);
    ASSERT_EQ(sample.size(), 4u);
    ASSERT_EQ(std::set<uint64_t>(sample.begin(), sample.end()).size(), 4u);
    for (uint64_t value : sample) ++counts[value];
    ++first[sample[0]];
  }
  for (int count : counts) EXPECT_NEAR(count, 2000, 200);
  for (int count : first) EXPECT_NEAR(count, 500, 110);
}

TEST(Rng, SampleNeverHoldsMoreThanThereAre) {
  Rng rng(23);
  auto sample = rng.sample_without_replacement(5, 100);
  std::sort(sample.begin(), sample.end());
  EXPECT_EQ(sample, (std::vector<uint64_t>{0, 1, 2, 3, 4}));
  EXPECT_TRUE(rng.sample_without_replacement(0, 3).empty());
  EXPECT_EQ(rng.sample_without_replacement(UINT64_MAX, 3).size(), 3u);
}

TEST(Rng, ServesTheStandardAlgorithms) {
  Rng rng(29);
  std::vector<int> items(20);
  std::iota(items.begin(), items.end(), 0);
  std::shuffle(items.begin(), items.end(), rng);
  EXPECT_FALSE(std::is_sorted(items.begin(), items.end()));
}

}  // namespace
}  // namespace tensmith
