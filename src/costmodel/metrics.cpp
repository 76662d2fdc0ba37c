#include "tensmith/costmodel/metrics.h"

#include <algorithm>
#include <numeric>

#include "tensmith/support/error.h"
#include "tensmith/support/stats.h"

namespace tensmith {

namespace {

template <typename T>
std::vector<uint32_t> falling_order(std::span<const T> values) {
  std::vector<uint32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return values[a] > values[b]; });
  return order;
}

size_t clamp_k(size_t scores, size_t labels, size_t k) {
  TENSMITH_ICHECK(scores == labels && scores > 0, "scores and labels of one length, at least 1");
  return std::clamp<size_t>(k, 1, scores);
}

}  // namespace

std::vector<uint32_t> order_by_score(std::span<const float> scores) { return falling_order(scores); }

double pair_accuracy(std::span<const float> scores, std::span<const double> labels) {
  return stats::pairwise_accuracy(std::vector<double>(scores.begin(), scores.end()), labels);
}

double peak_at_k(std::span<const float> scores, std::span<const double> labels, size_t k) {
  k = clamp_k(scores.size(), labels.size(), k);
  const double best = *std::max_element(labels.begin(), labels.end());
  if (!(best > 0)) return 1.0;
  const std::vector<uint32_t> order = order_by_score(scores);
  double found = labels[order[0]];
  for (size_t i = 1; i < k; ++i) found = std::max(found, labels[order[i]]);
  return found / best;
}

double recall_at_k(std::span<const float> scores, std::span<const double> labels, size_t k) {
  k = clamp_k(scores.size(), labels.size(), k);
  const std::vector<uint32_t> by_score = order_by_score(scores);
  const std::vector<uint32_t> by_label = falling_order(labels);
  std::vector<bool> chosen(scores.size(), false);
  for (size_t i = 0; i < k; ++i) chosen[by_score[i]] = true;
  size_t hits = 0;
  for (size_t i = 0; i < k; ++i) hits += chosen[by_label[i]] ? 1 : 0;
  return static_cast<double>(hits) / static_cast<double>(k);
}

}  // namespace tensmith
