#include "tensmith/support/stats.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tensmith/support/error.h"

namespace tensmith {
namespace {

using Values = std::vector<double>;

TEST(Stats, MiddleAndExtremes) {
  const Values values{3.0, 1.0, 2.0, 10.0};
  EXPECT_EQ(stats::min(values), 1.0);
  EXPECT_EQ(stats::max(values), 10.0);
  EXPECT_EQ(stats::mean(values), 4.0);
  EXPECT_EQ(stats::median(values), 2.5);
  EXPECT_EQ(stats::median(Values{5.0, 1.0, 3.0}), 3.0);
  EXPECT_EQ(values[0], 3.0);
}

TEST(Stats, StddevUsesTheSampleDenominator) {
  EXPECT_DOUBLE_EQ(stats::stddev(Values{2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0}), std::sqrt(32.0 / 7.0));
  EXPECT_EQ(stats::stddev(Values{7.0}), 0.0);
}

TEST(Stats, QuantileInterpolates) {
  const Values values{10.0, 20.0, 30.0, 40.0};
  EXPECT_EQ(stats::quantile(values, 0.0), 10.0);
  EXPECT_EQ(stats::quantile(values, 1.0), 40.0);
  EXPECT_DOUBLE_EQ(stats::quantile(values, 0.25), 17.5);
  EXPECT_THROW(stats::quantile(values, 1.5), InternalError);
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(stats::median(Values{1.0, 2.0, infinity}), 2.0);
  EXPECT_EQ(stats::quantile(Values{1.0, infinity}, 1.0), infinity);
}

TEST(Stats, Geomean) {
  EXPECT_DOUBLE_EQ(stats::geomean(Values{1.0, 4.0, 16.0}), 4.0);
  EXPECT_THROW(stats::geomean(Values{1.0, 0.0}), InternalError);
}

TEST(Stats, NoValuesIsAMistake) {
  EXPECT_THROW(stats::min({}), InternalError);
  EXPECT_THROW(stats::max({}), InternalError);
  EXPECT_THROW(stats::mean({}), InternalError);
  EXPECT_THROW(stats::median({}), InternalError);
  EXPECT_THROW(stats::stddev({}), InternalError);
  EXPECT_THROW(stats::geomean({}), InternalError);
}

TEST(Stats, RatiosGoPairByPair) {
  EXPECT_EQ(stats::ratios(Values{6.0, 8.0}, Values{2.0, 4.0}), (Values{3.0, 2.0}));
  EXPECT_THROW(stats::ratios(Values{1.0}, Values{1.0, 2.0}), InternalError);
}

TEST(Stats, TiesShareTheirRank) {
  EXPECT_EQ(stats::ranks(Values{30.0, 10.0, 30.0, 20.0}), (Values{3.5, 1.0, 3.5, 2.0}));
  EXPECT_TRUE(stats::ranks({}).empty());
}

TEST(Stats, Correlations) {
  EXPECT_DOUBLE_EQ(stats::pearson(Values{1.0, 2.0, 3.0}, Values{2.0, 4.0, 6.0}), 1.0);
  EXPECT_DOUBLE_EQ(stats::pearson(Values{1.0, 2.0, 3.0}, Values{3.0, 2.0, 1.0}), -1.0);
  EXPECT_EQ(stats::pearson(Values{1.0, 1.0}, Values{1.0, 2.0}), 0.0);
  EXPECT_DOUBLE_EQ(stats::spearman(Values{1.0, 2.0, 3.0, 4.0}, Values{1.0, 10.0, 100.0, 1000.0}), 1.0);
  EXPECT_LT(stats::pearson(Values{1.0, 2.0, 3.0, 4.0}, Values{1.0, 10.0, 100.0, 1000.0}), 0.95);
  EXPECT_THROW(stats::pearson(Values{1.0}, Values{1.0}), InternalError);
}

TEST(Stats, PairwiseAccuracyCountsPairsWhoseTruthsDiffer) {
  EXPECT_EQ(stats::pairwise_accuracy(Values{1.0, 2.0, 3.0}, Values{10.0, 20.0, 30.0}), 1.0);
  EXPECT_EQ(stats::pairwise_accuracy(Values{3.0, 2.0, 1.0}, Values{10.0, 20.0, 30.0}), 0.0);
  EXPECT_DOUBLE_EQ(stats::pairwise_accuracy(Values{1.0, 3.0, 2.0}, Values{10.0, 20.0, 30.0}), 2.0 / 3.0);
  EXPECT_EQ(stats::pairwise_accuracy(Values{5.0, 5.0}, Values{1.0, 2.0}), 0.5);
  EXPECT_EQ(stats::pairwise_accuracy(Values{5.0, 1.0, 9.0}, Values{2.0, 2.0, 3.0}), 1.0);
  EXPECT_EQ(stats::pairwise_accuracy(Values{1.0, 2.0}, Values{4.0, 4.0}), 1.0);
}

}  // namespace
}  // namespace tensmith
