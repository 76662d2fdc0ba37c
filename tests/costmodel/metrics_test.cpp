#include "tensmith/costmodel/metrics.h"

#include <gtest/gtest.h>

#include "tensmith/support/error.h"

namespace tensmith {
namespace {

const std::vector<double> kLabels = {0.2, 1.0, 0.0, 0.5, 0.8};
const std::vector<float> kScores = {9, 7, 1, 2, 8};  // order: 0, 4, 1, 3, 2

TEST(Metrics, Order) {
  EXPECT_EQ(order_by_score(kScores), (std::vector<uint32_t>{0, 4, 1, 3, 2}));
  EXPECT_EQ(order_by_score(std::vector<float>{1, 2, 1, 2}), (std::vector<uint32_t>{1, 3, 0, 2}));
}

TEST(Metrics, PairAccuracy) {
  // Wrong pairs: (0,1), (0,3), (0,4), (1,4) of ten.
  EXPECT_DOUBLE_EQ(pair_accuracy(kScores, kLabels), 0.6);
  EXPECT_DOUBLE_EQ(pair_accuracy(std::vector<float>{1, 1}, std::vector<double>{1, 2}), 0.5);
  EXPECT_DOUBLE_EQ(pair_accuracy(std::vector<float>{1, 2}, std::vector<double>{3, 3}), 1.0);
}

TEST(Metrics, PeakAtK) {
  EXPECT_DOUBLE_EQ(peak_at_k(kScores, kLabels, 1), 0.2);
  EXPECT_DOUBLE_EQ(peak_at_k(kScores, kLabels, 2), 0.8);
  EXPECT_DOUBLE_EQ(peak_at_k(kScores, kLabels, 3), 1.0);
  EXPECT_DOUBLE_EQ(peak_at_k(kScores, kLabels, 0), 0.2);
  EXPECT_DOUBLE_EQ(peak_at_k(kScores, kLabels, 100), 1.0);
  EXPECT_DOUBLE_EQ(peak_at_k(kScores, std::vector<double>(5, 0.0), 2), 1.0);
  EXPECT_THROW(peak_at_k({}, {}, 1), InternalError);
}

TEST(Metrics, RecallAtK) {
  EXPECT_DOUBLE_EQ(recall_at_k(kScores, kLabels, 1), 0.0);
  EXPECT_DOUBLE_EQ(recall_at_k(kScores, kLabels, 2), 0.5);
  EXPECT_DOUBLE_EQ(recall_at_k(kScores, kLabels, 3), 2.0 / 3);
  EXPECT_DOUBLE_EQ(recall_at_k(kScores, kLabels, 5), 1.0);
  EXPECT_THROW(recall_at_k({}, {}, 1), InternalError);
}

}  // namespace
}  // namespace tensmith
