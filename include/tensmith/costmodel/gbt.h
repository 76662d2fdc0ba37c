#pragma once

#include <cstdint>
#include <memory>

#include "tensmith/costmodel/cost_model.h"

namespace tensmith {

enum class GbtObjective : uint8_t {
  kRank,        ///< equation 2: only the order within a group counts; scores have no unit
  kRegression,  ///< squared error; a score estimates the label
};

struct GbtParams {
  GbtObjective objective = GbtObjective::kRank;
  int rounds = 80;  ///< trees
  int max_depth = 3;
  double learning_rate = 0.3;
  double min_child_weight = 1.0;
  double lambda = 1.0;          ///< L2 penalty on leaf values
  double gamma = 1e-4;          ///< loss that a split must save
  double column_share = 0.5;    ///< of the columns, drawn anew for each tree
  int max_bins = 64;            ///< of the histogram of a column
  uint32_t pairs_per_row = 32;  ///< kRank: partners that each row is compared with in a round
  uint64_t seed = 0;
};

/// Gradient-boosted trees through XGBoost. Trained by one thread from scratch at each fit: the same data give
/// the same model. Throws WorkError with XGBoost's own message when the library fails; the constructor throws UserError
/// when a parameter is out of range, and WorkError in a build without XGBoost.
std::unique_ptr<CostModel> make_gbt(const GbtParams& params = {});

/// Whether this build has XGBoost.
bool gbt_available();

}  // namespace tensmith
