#include "explore/strategies/extra_trees.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tensmith/support/error.h"

namespace tensmith {
float ExtraTrees::probability(const Node& leaf) const {
  const auto smoothing = static_cast<float>(options_.smoothing);
  return (static_cast<float>(leaf.positive) + smoothing * rate_) / (static_cast<float>(leaf.rows.size()) + smoothing);
}

float ExtraTrees::evaluate(const TreeFeature& feature, const float* row) const {
  float sum = 0.0F;
  for (const TreeFeature::Term& term : feature.terms) sum += term.factor * row[term.column];
  return sum;
}

void ExtraTrees::split(Tree& tree, int32_t leaf, Rng& rng) {
  const std::vector<uint32_t> rows = std::move(tree.nodes[static_cast<size_t>(leaf)].rows);
  const auto tries =
      static_cast<size_t>(std::max(1.0, std::round(options_.feature_share * static_cast<double>(features_.size()))));
  std::vector<float> values(rows.size());
  std::vector<float> best_values;
  std::vector<std::pair<float, uint8_t>> order;
  float low = 0.0F;
  float high = 0.0F;
  float best_threshold = 0.0F;
  double best_purity = -1.0;
  size_t best_feature = 0;
  size_t positive = 0;
  for (uint32_t r : rows) positive += labels_[r];
  const auto purity_of = [](double p, double n) { return (p * p + (n - p) * (n - p)) / n; };
  // Most features tell nothing apart where rows are few: more are tried until one does.
  for (size_t attempt = 0; attempt < tries || (best_purity < 0.0 && attempt < 4 * features_.size()); ++attempt) {
    const size_t f = rng.uniform_int(uint64_t{features_.size()});
    for (size_t i = 0; i < rows.size(); ++i) values[i] = evaluate(features_[f], values_.data() + rows[i] * columns_);
    order.resize(rows.size());
    for (size_t i = 0; i < rows.size(); ++i) order[i] = {values[i], labels_[rows[i]]};
    std::sort(order.begin(), order.end());
    size_t left_positive = 0;
    bool better = false;
    for (size_t left = 1; left < order.size(); ++left) {
      left_positive += order[left - 1].second;
      if (!(order[left].first > order[left - 1].first)) continue;
      const double purity =
          purity_of(static_cast<double>(left_positive), static_cast<double>(left)) +
          purity_of(static_cast<double>(positive - left_positive), static_cast<double>(order.size() - left));
      if (purity <= best_purity) continue;
      better = true;
      best_purity = purity;
      low = order[left - 1].first;
      high = order[left].first;
    }
    if (!better) continue;
    best_feature = f;
    best_values = values;
    best_threshold = low + static_cast<float>(rng.uniform_real()) * (high - low);
    if (!(best_threshold < high)) best_threshold = low;
  }
  if (best_purity < 0.0) {
    tree.nodes[static_cast<size_t>(leaf)].rows = rows;
    return;
  }
  const auto left = static_cast<int32_t>(tree.nodes.size());
  tree.nodes.resize(tree.nodes.size() + 2);
  Node& node = tree.nodes[static_cast<size_t>(leaf)];
  node.feature = static_cast<int32_t>(best_feature);
  node.threshold = best_threshold;
  node.left = left;
  node.right = left + 1;
  for (size_t i = 0; i < rows.size(); ++i) {
    Node& child = tree.nodes[static_cast<size_t>(best_values[i] <= best_threshold ? left : left + 1)];
    child.rows.push_back(rows[i]);
    child.positive += labels_[rows[i]];
  }
  for (int32_t child : {left, left + 1}) {
    if (mixed(tree.nodes[static_cast<size_t>(child)])) split(tree, child, rng);
  }
}

void ExtraTrees::rebuild(Rng& rng) {
  trees_.clear();
  if (labels_.empty()) return;
  const auto positive = static_cast<uint32_t>(std::count(labels_.begin(), labels_.end(), uint8_t{1}));
  rate_ = static_cast<float>(positive) / static_cast<float>(labels_.size());
  trees_.resize(static_cast<size_t>(options_.trees));
  for (Tree& tree : trees_) {
    Node root;
    root.positive = positive;
    root.rows.resize(labels_.size());
    std::iota(root.rows.begin(), root.rows.end(), 0U);
    tree.nodes.push_back(std::move(root));
    if (mixed(tree.nodes[0])) split(tree, 0, rng);
  }
  track(std::move(points_), point_count_);
}

void ExtraTrees::track(std::vector<float> columns, size_t points) {
  TENSMITH_ICHECK(columns.size() == points * columns_, "a number for each point and column");
  points_ = std::move(columns);
  point_count_ = points;
  probabilities_.assign(points, trees_.empty() ? 1.0F : 0.0F);
  std::vector<uint32_t> order(points);
  std::iota(order.begin(), order.end(), 0U);
  for (Tree& tree : trees_) {
    for (Node& node : tree.nodes) node.points.clear();
    tree.nodes[0].points = order;
    route(tree, 0);
    for (const Node& node : tree.nodes) {
      const float p = probability(node) / static_cast<float>(trees_.size());
      for (uint32_t i : node.points) probabilities_[i] += p;
    }
  }
}

void ExtraTrees::route(Tree& tree, int32_t from) {
  std::vector<int32_t> tasks = {from};
  while (!tasks.empty()) {
    const auto at = static_cast<size_t>(tasks.back());
    tasks.pop_back();
    Node& node = tree.nodes[at];
    if (node.feature < 0 || node.points.empty()) continue;
    const std::vector<uint32_t> points = std::move(node.points);
    node.points = {};
    above_.resize(points.size());
    below_.resize(points.size());
    // One pass over the points of a node sorts them to its children.
    size_t left = 0;
    size_t right = 0;
    const float threshold = node.threshold;
    const auto sort = [&](auto value) {
      for (const uint32_t p : points) {
        const bool below = value(p) <= threshold;
        below_[left] = p;
        above_[right] = p;
        left += below;
        right += !below;
      }
    };
    const TreeFeature& feature = features_[static_cast<size_t>(node.feature)];
    const auto column = [&](size_t t) { return points_.data() + feature.terms[t].column * point_count_; };
    const auto factor = [&](size_t t) { return feature.terms[t].factor; };
    const float* a = column(0);
    const float fa = factor(0);
    // The same order of additions as in evaluate(), so that a row and a point that are alike take the same way.
    if (feature.terms.size() == 1) {
      sort([=](uint32_t p) { return fa * a[p]; });
    } else if (feature.terms.size() == 2) {
      sort([=, b = column(1), fb = factor(1)](uint32_t p) { return fa * a[p] + fb * b[p]; });
    } else {
      sort([=, b = column(1), fb = factor(1), c = column(2), fc = factor(2)](uint32_t p) {
        return fa * a[p] + fb * b[p] + fc * c[p];
      });
    }
    tree.nodes[static_cast<size_t>(node.left)].points.assign(below_.begin(),
                                                             below_.begin() + static_cast<std::ptrdiff_t>(left));
    tree.nodes[static_cast<size_t>(node.right)].points.assign(above_.begin(),
                                                              above_.begin() + static_cast<std::ptrdiff_t>(right));
    tasks.push_back(node.left);
    tasks.push_back(node.right);
  }
}

void ExtraTrees::add(std::span<const float> row, bool label, Rng& rng) {
  TENSMITH_ICHECK(row.size() == columns_, "a number for each column");
  const auto index = static_cast<uint32_t>(labels_.size());
  values_.insert(values_.end(), row.begin(), row.end());
  labels_.push_back(label);
  for (Tree& tree : trees_) {
    int32_t at = 0;
    while (tree.nodes[static_cast<size_t>(at)].feature >= 0) {
      const Node& node = tree.nodes[static_cast<size_t>(at)];
      const bool below = evaluate(features_[static_cast<size_t>(node.feature)], row.data()) <= node.threshold;
      at = below ? node.left : node.right;
    }
    Node& leaf = tree.nodes[static_cast<size_t>(at)];
    const float before = probability(leaf);
    leaf.rows.push_back(index);
    leaf.positive += label;
    const auto share = 1.0F / static_cast<float>(trees_.size());
    for (uint32_t i : leaf.points) probabilities_[i] -= share * before;
    const auto first = static_cast<int32_t>(tree.nodes.size());
    if (mixed(leaf)) {
      split(tree, at, rng);
      route(tree, at);
    }
    const auto settle = [&](const Node& node) {
      const float p = share * probability(node);
      for (uint32_t i : node.points) probabilities_[i] += p;
    };
    settle(tree.nodes[static_cast<size_t>(at)]);
    for (auto i = static_cast<size_t>(first); i < tree.nodes.size(); ++i) settle(tree.nodes[i]);
  }
}

}  // namespace tensmith
