#include "tensmith/support/stats.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "tensmith/support/error.h"

namespace tensmith::stats {
namespace {

void check_not_empty(std::span<const double> values) { TENSMITH_ICHECK(!values.empty(), "a statistic of no values"); }

void check_same_length(std::span<const double> a, std::span<const double> b) {
  TENSMITH_ICHECK(a.size() == b.size(), "paired samples differ in length");
}

}  // namespace

double min(std::span<const double> values) {
  check_not_empty(values);
  return *std::min_element(values.begin(), values.end());
}

double max(std::span<const double> values) {
  check_not_empty(values);
  return *std::max_element(values.begin(), values.end());
}

double mean(std::span<const double> values) {
  check_not_empty(values);
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double median(std::span<const double> values) { return quantile(values, 0.5); }

double stddev(std::span<const double> values) {
  const double centre = mean(values);
  if (values.size() == 1) return 0.0;
  double sum = 0.0;
  for (double value : values) sum += (value - centre) * (value - centre);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

double quantile(std::span<const double> values, double q) {
  check_not_empty(values);
  TENSMITH_ICHECK(q >= 0.0 && q <= 1.0, "a quantile lies in [0, 1]");
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(position);
  const double weight = position - static_cast<double>(below);
  // Without this an infinite neighbour of weight 0 would give NaN.
  if (weight == 0.0) return sorted[below];
  return sorted[below] * (1.0 - weight) + sorted[below + 1] * weight;
}

double geomean(std::span<const double> values) {
  check_not_empty(values);
  double sum = 0.0;
  for (double value : values) {
    TENSMITH_ICHECK(value > 0.0, "a geometric mean needs positive values");
    sum += std::log(value);
  }
  return std::exp(sum / static_cast<double>(values.size()));
}

std::vector<double> ratios(std::span<const double> numerator, std::span<const double> denominator) {
  check_same_length(numerator, denominator);
  std::vector<double> result(numerator.size());
  for (size_t i = 0; i < result.size(); ++i) result[i] = numerator[i] / denominator[i];
  return result;
}

std::vector<double> ranks(std::span<const double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> result(values.size());
  for (size_t first = 0; first < order.size();) {
    size_t last = first;
    while (last + 1 < order.size() && values[order[last + 1]] == values[order[first]]) ++last;
    const double rank = static_cast<double>(first + last) / 2.0 + 1.0;
    for (size_t i = first; i <= last; ++i) result[order[i]] = rank;
    first = last + 1;
  }
  return result;
}

double pearson(std::span<const double> a, std::span<const double> b) {
  check_same_length(a, b);
  TENSMITH_ICHECK(a.size() >= 2, "a correlation needs two points");
  const double mean_a = mean(a);
  const double mean_b = mean(b);
  double cross = 0.0;
  double square_a = 0.0;
  double square_b = 0.0;
  for (size_t i = 0; i < a.size(); ++i) {
    cross += (a[i] - mean_a) * (b[i] - mean_b);
    square_a += (a[i] - mean_a) * (a[i] - mean_a);
    square_b += (b[i] - mean_b) * (b[i] - mean_b);
  }
  if (square_a == 0.0 || square_b == 0.0) return 0.0;
  return cross / std::sqrt(square_a * square_b);
}

double spearman(std::span<const double> a, std::span<const double> b) { return pearson(ranks(a), ranks(b)); }

double pairwise_accuracy(std::span<const double> scores, std::span<const double> truths) {
  check_same_length(scores, truths);
  double right = 0.0;
  int64_t pairs = 0;
  for (size_t i = 0; i < scores.size(); ++i) {
    for (size_t j = i + 1; j < scores.size(); ++j) {
      if (truths[i] == truths[j]) continue;
      ++pairs;
      if (scores[i] == scores[j]) {
        right += 0.5;
      } else if ((scores[i] < scores[j]) == (truths[i] < truths[j])) {
        right += 1.0;
      }
    }
  }
  return pairs == 0 ? 1.0 : right / static_cast<double>(pairs);
}

}  // namespace tensmith::stats
