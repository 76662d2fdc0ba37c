#include "tensmith/support/t_test.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tensmith/support/error.h"

namespace tensmith::stats {
namespace {

// Student's sleep data (1908): extra hours of sleep with two drugs, ten patients each; the values that textbooks print.
const SampleSummary kFirst{0.75, 1.7890096577591628, 10};
const SampleSummary kSecond{2.33, 2.0022487170722196, 10};

TEST(TTest, StudentsSleep) {
  const TTestResult pooled = pooled_t_test(kFirst, kSecond);
  EXPECT_NEAR(pooled.t, -1.8608, 5e-5);
  EXPECT_EQ(pooled.degrees_of_freedom, 18);
  EXPECT_NEAR(pooled.p, 0.07919, 5e-6);
  const TTestResult welch = welch_t_test(kFirst, kSecond);
  EXPECT_NEAR(welch.t, -1.8608, 5e-5);
  EXPECT_NEAR(welch.degrees_of_freedom, 17.776, 5e-4);
  EXPECT_NEAR(welch.p, 0.07939, 5e-6);
  EXPECT_EQ(welch_t_test(kSecond, kFirst).t, -welch.t);
  EXPECT_EQ(welch_t_test(kSecond, kFirst).p, welch.p);
}

// Critical values of the tables: t = 2.228 with 10, 12.706 with 1 and 1.984 with 100 degrees of freedom are p = 0.05.
TEST(TTest, TablesOfCriticalValues) {
  const auto p = [](double t, double count) {
    return pooled_t_test({t * std::sqrt(2.0 / count), 1.0, count}, {0.0, 1.0, count}).p;
  };
  EXPECT_NEAR(p(2.228139, 6), 0.05, 1e-6);
  EXPECT_NEAR(p(4.302653, 2), 0.05, 1e-6);
  EXPECT_NEAR(p(1.983972, 51), 0.05, 1e-6);
  EXPECT_NEAR(p(3.169273, 6), 0.01, 1e-6);
}

// Worked out by hand: variances 4 and 1 with counts 5 and 20 pool to (4*4 + 19*1) / 23.
TEST(TTest, PoolingWeighsByCount) {
  const SampleSummary a{3, 2, 5}, b{1, 1, 20};
  EXPECT_NEAR(pooled_t_test(a, b).t, 2 / std::sqrt(35.0 / 23.0 * 0.25), 1e-12);
  EXPECT_NEAR(welch_t_test(a, b).t, 2 / std::sqrt(0.8 + 0.05), 1e-12);
  EXPECT_NEAR(welch_t_test(a, b).degrees_of_freedom, 0.85 * 0.85 / (0.64 / 4 + 0.0025 / 19), 1e-12);
}

TEST(TTest, FarTailsAreNotZero) {
  const double p = welch_t_test({10, 1, 100}, {0, 1, 100}).p;
  EXPECT_GT(p, 0.0);
  EXPECT_LT(p, 1e-100);
}

TEST(TTest, SamplesWithoutSpread) {
  EXPECT_EQ(welch_t_test({1, 0, 50}, {1, 0, 50}).p, 1.0);
  EXPECT_EQ(welch_t_test({1, 0, 50}, {0.5, 0, 50}).p, 0.0);
  EXPECT_EQ(pooled_t_test({0.5, 0, 50}, {1, 0, 50}).p, 0.0);
  EXPECT_EQ(pooled_t_test({0.5, 0, 50}, {1, 0, 50}).t, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(pooled_t_test({0.5, 0.1, 50}, {0.5, 0, 50}).p, 1.0);
  EXPECT_LT(welch_t_test({1, 0, 50}, {0.5, 0.1, 50}).p, 1e-10);
}

TEST(TTest, OneSampleAgainstZero) {
  EXPECT_NEAR(one_sample_t_test({2.228139 / std::sqrt(11.0), 1.0, 11}).p, 0.05, 1e-6);
  EXPECT_NEAR(one_sample_t_test({-2.0, 4.0, 16}).t, -2.0, 1e-12);
  EXPECT_EQ(one_sample_t_test({0.0, 0.0, 5}).p, 1.0);
  EXPECT_EQ(one_sample_t_test({-1.0, 0.0, 5}).p, 0.0);
}

TEST(TTest, OneIsNoSample) {
  EXPECT_THROW(welch_t_test({1, 0, 1}, {1, 0, 50}), InternalError);
  EXPECT_THROW(one_sample_t_test({1, 0, 1}), InternalError);
}

// Tables of the two distributions.
TEST(TTest, Quantiles) {
  EXPECT_NEAR(stats::student_quantile(0.975, 1), 12.7062, 1e-4);
  EXPECT_NEAR(stats::student_quantile(0.975, 4), 2.7764, 1e-4);
  EXPECT_NEAR(stats::student_quantile(0.5, 7), 0.0, 1e-12);
  EXPECT_NEAR(stats::chi_squared_quantile(0.95, 1), 3.8415, 1e-4);
  EXPECT_NEAR(stats::chi_squared_quantile(0.95, 10), 18.3070, 1e-4);
}

}  // namespace
}  // namespace tensmith::stats
