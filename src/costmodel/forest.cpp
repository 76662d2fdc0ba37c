#include "costmodel/forest.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "tensmith/support/error.h"
#include "tensmith/support/strings.h"

namespace tensmith {

namespace {

constexpr int kMaxDepth = 16;

[[noreturn]] void fail(const std::string& why) {
  throw WorkError(fmt::format("cost model: the trees cannot be read: {}", why),
                  "train a model anew; if a new version of XGBoost is installed, this build may not know its format");
}

/// One tree as XGBoost writes it.
struct SavedTree {
  std::vector<int32_t> left, right;
  std::vector<uint32_t> column;
  std::vector<float> value;  ///< threshold of a split, value of a leaf

  explicit SavedTree(const nlohmann::json& json) {
    json.at("left_children").get_to(left);
    json.at("right_children").get_to(right);
    json.at("split_indices").get_to(column);
    json.at("split_conditions").get_to(value);
    if (left.empty() || right.size() != left.size() || column.size() != left.size() || value.size() != left.size()) {
      fail("a tree's arrays differ in length");
    }
  }

  bool is_leaf(int32_t node) const { return left[static_cast<size_t>(node)] < 0; }

  /// Checks the links on the way. A child comes after its parent, so the walk ends.
  int depth(int32_t node, size_t columns) const {
    const size_t at = static_cast<size_t>(node);
    if (is_leaf(node)) return 0;
    for (int32_t child : {left[at], right[at]}) {
      if (child <= node || static_cast<size_t>(child) >= left.size()) fail("a tree's links are broken");
    }
    if (column[at] >= columns) fail(fmt::format("a tree splits column {} of {}", column[at], columns));
    const int depth = 1 + std::max(this->depth(left[at], columns), this->depth(right[at], columns));
    if (depth > kMaxDepth) fail(fmt::format("a tree is deeper than {}", kMaxDepth));
    return depth;
  }
};

}  // namespace

Forest Forest::from_xgboost_json(std::string_view text, std::span<const uint32_t> columns, size_t row_columns) {
  for (uint32_t c : columns) {
    if (c >= row_columns) fail(fmt::format("column {} of {}", c, row_columns));
  }
  Forest forest;
  std::vector<SavedTree> saved;
  try {
    const nlohmann::json learner = nlohmann::json::parse(text).at("learner");
    const std::string base = learner.at("learner_model_param").at("base_score").get<std::string>();
    const auto parsed = parse_double(base);
    if (!parsed) fail(fmt::format("the base score is '{}'", base));
    forest.base_ = static_cast<float>(*parsed);
    for (const nlohmann::json& tree : learner.at("gradient_booster").at("model").at("trees")) saved.emplace_back(tree);
  } catch (const nlohmann::json::exception& e) {
    fail(e.what());
  }
  for (const SavedTree& tree : saved) forest.depth_ = std::max(forest.depth_, tree.depth(0, columns.size()));
  forest.trees_ = saved.size();
  const size_t leaf_count = size_t{1} << forest.depth_;
  forest.splits_.assign(saved.size() * (leaf_count - 1), Split{0.0F, 0});
  forest.leaves_.resize(saved.size() * leaf_count);
  std::vector<int32_t> origin(2 * leaf_count - 1);
  for (size_t t = 0; t < saved.size(); ++t) {
    const SavedTree& tree = saved[t];
    Split* splits = forest.splits_.data() + t * (leaf_count - 1);
    float* leaves = forest.leaves_.data() + t * leaf_count;
    origin[0] = 0;
    for (size_t i = 0; i < leaf_count - 1; ++i) {
      const size_t node = static_cast<size_t>(origin[i]);
      const bool leaf = tree.is_leaf(origin[i]);
      if (!leaf) splits[i] = {tree.value[node], columns[tree.column[node]]};
      origin[2 * i + 1] = leaf ? origin[i] : tree.left[node];
      origin[2 * i + 2] = leaf ? origin[i] : tree.right[node];
    }
    for (size_t i = 0; i < leaf_count; ++i) leaves[i] = tree.value[static_cast<size_t>(origin[leaf_count - 1 + i])];
  }
  return forest;
}

void Forest::predict(const FeatureMatrix& rows, std::span<float> scores) const {
  // Rows whose walks overlap, to hide the latency of a step.
  constexpr size_t kBlock = 8;
  const uint32_t inner = (uint32_t{1} << depth_) - 1;
  for (size_t first = 0; first < rows.rows; first += kBlock) {
    const size_t count = std::min(kBlock, rows.rows - first);
    const float* x[kBlock];
    float sum[kBlock];
    for (size_t r = 0; r < kBlock; ++r) {
      x[r] = rows.values + (first + std::min(r, count - 1)) * rows.columns;
      sum[r] = base_;
    }
    for (size_t t = 0; t < trees_; ++t) {
      const Split* splits = splits_.data() + t * inner;
      const float* leaves = leaves_.data() + t * (inner + 1);
      uint32_t at[kBlock] = {};
      for (int level = 0; level < depth_; ++level) {
        for (size_t r = 0; r < kBlock; ++r) {
          const Split split = splits[at[r]];
          at[r] = 2 * at[r] + 2 - (x[r][split.column] < split.threshold ? 1 : 0);
        }
      }
      for (size_t r = 0; r < kBlock; ++r) sum[r] += leaves[at[r] - inner];
    }
    std::copy_n(sum, count, scores.begin() + static_cast<ptrdiff_t>(first));
  }
}

}  // namespace tensmith
