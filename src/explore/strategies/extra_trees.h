#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "tensmith/support/rng.h"

namespace tensmith {

/// A number computed from the columns of a row: the sum of up to three of them, each with a factor.
struct TreeFeature {
  struct Term {
    uint16_t column;
    float factor;
  };
  std::vector<Term> terms;
};

struct ExtraTreesOptions {
  int trees = 32;
  double feature_share = 0.1;  ///< of the features, tried at each node
  double smoothing = 0.5;      ///< rows of the overall rate that count in each leaf
};

/// Randomised trees for two classes, after Geurts, Ernst and Wehenkel (2006): every node takes the best split of
/// random features by Gini impurity, with the threshold at random between the two rows that it divides; all rows go
/// into each tree; leaves are pure where they can be.
///
/// A row that is added later changes the leaf it falls into, which is split again when it is not pure any more. The
/// probabilities of a fixed set of points are kept up to date meanwhile.
class ExtraTrees {
 public:
  ExtraTrees(size_t columns, std::vector<TreeFeature> features, const ExtraTreesOptions& options)
      : columns_(columns), features_(std::move(features)), options_(options) {}

  /// Adds a row of `columns` numbers that is of the class true or false.
  void add(std::span<const float> row, bool label, Rng& rng);
  /// Grows all trees anew from the rows there are.
  void rebuild(Rng& rng);

  /// The points to follow, one column after the other.
  void track(std::vector<float> columns, size_t points);
  /// Probability of the class true for each of them; 1 before there are trees.
  std::span<const float> probabilities() const { return probabilities_; }

 private:
  struct Node {
    int32_t feature = -1;  ///< -1: a leaf
    float threshold = 0.0F;
    int32_t left = -1;  ///< not above the threshold
    int32_t right = -1;
    uint32_t positive = 0;
    std::vector<uint32_t> rows;    ///< of a leaf
    std::vector<uint32_t> points;  ///< tracked ones, of a leaf
  };
  struct Tree {
    std::vector<Node> nodes;
  };

  float probability(const Node& leaf) const;
  bool mixed(const Node& leaf) const { return leaf.positive > 0 && leaf.positive < leaf.rows.size(); }
  float evaluate(const TreeFeature& feature, const float* row) const;
  /// Splits a leaf until all below it are pure.
  void split(Tree& tree, int32_t leaf, Rng& rng);
  /// Sends the points of a node down to their leaves.
  void route(Tree& tree, int32_t from);

  size_t columns_;
  std::vector<TreeFeature> features_;
  ExtraTreesOptions options_;
  std::vector<float> values_;  ///< row by row
  std::vector<uint8_t> labels_;
  float rate_ = 1.0F;  ///< of the class true when the trees were built
  std::vector<Tree> trees_;

  std::vector<float> points_;  ///< column by column
  size_t point_count_ = 0;
  std::vector<float> probabilities_;
  std::vector<uint32_t> below_;
  std::vector<uint32_t> above_;
};

}  // namespace tensmith
