#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tensmith/costmodel/cost_model.h"

namespace tensmith {

/// Regression trees laid out for scoring many rows: no locks, no allocation, some ten times the rows a second that
/// XGBoost's own prediction reaches on batches of a hundred.
///
/// Every tree is complete to the depth of the deepest one; a leaf that lies higher is repeated in all leaves below it.
/// So a walk has a fixed number of steps without a branch, and walks of several rows overlap.
class Forest {
 public:
  /// From a model that XGBoost saved as JSON (trees of one output). `columns[c]` is the column of a row that column
  /// c of the saved model stands for; a row has `row_columns` columns. Throws WorkError when the text is not such a
  /// model.
  static Forest from_xgboost_json(std::string_view json, std::span<const uint32_t> columns, size_t row_columns);

  /// Writes a score for each row. Rows have the number of columns given at construction.
  void predict(const FeatureMatrix& rows, std::span<float> scores) const;

  size_t trees() const { return trees_; }
  int depth() const { return depth_; }

 private:
  struct Split {
    float threshold;  ///< smaller goes left
    uint32_t column;
  };
  size_t trees_ = 0;
  int depth_ = 0;
  float base_ = 0.0F;
  std::vector<Split> splits_;  ///< tree by tree, 2^depth - 1 each, children of i at 2i+1 and 2i+2
  std::vector<float> leaves_;  ///< tree by tree, 2^depth each
};

}  // namespace tensmith
