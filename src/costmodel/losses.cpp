#include "tensmith/costmodel/losses.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tensmith/support/error.h"

namespace tensmith {

namespace {

/// Rows of one group, by position in `order`.
struct GroupRange {
  uint32_t begin;
  uint32_t end;
};

/// Rows sorted by group (stable), and where each group lies.
void split_groups(size_t rows, std::span<const uint32_t> groups, std::vector<uint32_t>& order,
                  std::vector<GroupRange>& ranges) {
  order.resize(rows);
  std::iota(order.begin(), order.end(), 0U);
  ranges.clear();
  if (groups.empty()) {
    ranges.push_back({0, static_cast<uint32_t>(rows)});
    return;
  }
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return groups[a] < groups[b]; });
  for (uint32_t i = 0; i < rows; ++i) {
    if (i == 0 || groups[order[i]] != groups[order[i - 1]]) ranges.push_back({i, i});
    ranges.back().end = i + 1;
  }
}

}  // namespace

void sample_rank_pairs(std::span<const double> labels, std::span<const uint32_t> groups, uint32_t pairs_per_row,
                       Rng& rng, std::vector<RankPair>& pairs) {
  TENSMITH_ICHECK(groups.empty() || groups.size() == labels.size(), "one group a row");
  std::vector<uint32_t> order;
  std::vector<GroupRange> ranges;
  split_groups(labels.size(), groups, order, ranges);
  pairs.clear();
  auto add = [&](uint32_t a, uint32_t b) {
    if (labels[a] > labels[b]) pairs.push_back({a, b});
    if (labels[a] < labels[b]) pairs.push_back({b, a});
  };
  for (const GroupRange& range : ranges) {
    const uint32_t size = range.end - range.begin;
    if (size - 1 <= uint64_t{2} * pairs_per_row) {
      for (uint32_t i = range.begin; i < range.end; ++i) {
        for (uint32_t j = i + 1; j < range.end; ++j) add(order[i], order[j]);
      }
      continue;
    }
    for (uint32_t i = range.begin; i < range.end; ++i) {
      for (uint32_t draw = 0; draw < pairs_per_row; ++draw) {
        // A number below size - 1, moved past the row itself: never a pair of a row with itself.
        uint32_t j = range.begin + static_cast<uint32_t>(rng.uniform_int(uint64_t{size} - 1));
        if (j >= i) ++j;
        add(order[i], order[j]);
      }
    }
  }
}

double rank_loss(std::span<const float> scores, std::span<const RankPair> pairs) {
  double loss = 0;
  for (const RankPair& pair : pairs) {
    const double gap = static_cast<double>(scores[pair.better]) - scores[pair.worse];
    // log(1 + exp(-gap)) without overflow for gap far below 0.
    loss += std::max(-gap, 0.0) + std::log1p(std::exp(-std::abs(gap)));
  }
  return loss;
}

void rank_loss_gradient(std::span<const float> scores, std::span<const RankPair> pairs, float weight,
                        std::span<float> gradient, std::span<float> hessian) {
  TENSMITH_ICHECK(gradient.size() == scores.size() && hessian.size() == scores.size(), "one derivative a score");
  std::fill(gradient.begin(), gradient.end(), 0.0F);
  std::fill(hessian.begin(), hessian.end(), 0.0F);
  for (const RankPair& pair : pairs) {
    // exp may overflow to infinity, which gives the right limit, 0.
    const float wrong = 1.0F / (1.0F + std::exp(scores[pair.better] - scores[pair.worse]));
    const float first = weight * wrong;
    const float second = weight * wrong * (1.0F - wrong);
    gradient[pair.better] -= first;
    gradient[pair.worse] += first;
    hessian[pair.better] += second;
    hessian[pair.worse] += second;
  }
}

double squared_loss(std::span<const float> scores, std::span<const double> labels) {
  double loss = 0;
  for (size_t i = 0; i < scores.size(); ++i) {
    const double gap = scores[i] - labels[i];
    loss += 0.5 * gap * gap;
  }
  return loss;
}

void squared_loss_gradient(std::span<const float> scores, std::span<const double> labels, std::span<float> gradient,
                           std::span<float> hessian) {
  TENSMITH_ICHECK(gradient.size() == scores.size() && hessian.size() == scores.size() && labels.size() == scores.size(),
                  "one derivative a score");
  for (size_t i = 0; i < scores.size(); ++i) {
    gradient[i] = static_cast<float>(scores[i] - labels[i]);
    hessian[i] = 1.0F;
  }
}

}  // namespace tensmith
