#include "tensmith/costmodel/gbt.h"

#include <fmt/format.h>
#include <xgboost/c_api.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "costmodel/forest.h"
#include "tensmith/costmodel/losses.h"
#include "tensmith/support/error.h"

namespace tensmith {

namespace {

void check(int result, const char* what) {
  if (result != 0) {
    std::string reason = XGBGetLastError();
    // The library puts the time of day before its reason and a stack trace behind it.
    reason.resize(std::min(reason.find("Stack trace"), reason.size()));
    if (reason.starts_with('[')) reason.erase(0, std::min(reason.find("] "), reason.size() - 2) + 2);
    while (!reason.empty() && std::isspace(static_cast<unsigned char>(reason.back()))) reason.pop_back();
    throw WorkError(fmt::format("XGBoost could not {}: {}", what, reason));
  }
}

/// Owns a DMatrix.
class TrainingRows {
 public:
  explicit TrainingRows(const FeatureMatrix& rows) {
    check(
        XGDMatrixCreateFromMat(rows.values, rows.rows, rows.columns, std::numeric_limits<float>::quiet_NaN(), &handle_),
        "take the training rows");
  }
  ~TrainingRows() { XGDMatrixFree(handle_); }
  TrainingRows(const TrainingRows&) = delete;
  TrainingRows& operator=(const TrainingRows&) = delete;
  DMatrixHandle get() const { return handle_; }

 private:
  DMatrixHandle handle_ = nullptr;
};

/// Owns a Booster.
class Booster {
 public:
  explicit Booster(DMatrixHandle rows) { check(XGBoosterCreate(&rows, 1, &handle_), "make a model"); }
  ~Booster() { XGBoosterFree(handle_); }
  Booster(const Booster&) = delete;
  Booster& operator=(const Booster&) = delete;
  BoosterHandle get() const { return handle_; }
  void set(const char* key, const std::string& value) {
    check(XGBoosterSetParam(handle_, key, value.c_str()), "set a parameter");
  }

 private:
  BoosterHandle handle_ = nullptr;
};

constexpr const char* kTrainConfig =
    R"({"type":1,"training":true,"iteration_begin":0,"iteration_end":0,"strict_shape":false})";

/// Columns worth training on: those that vary and differ from every column before them. Within one workload a good part
/// of the features are constant or repeat each other, and training takes time in proportion to the columns.
std::vector<uint32_t> useful_columns(const FeatureMatrix& rows) {
  std::vector<uint64_t> hashes(rows.columns, 0);
  for (size_t i = 0; i < rows.rows; ++i) {
    const std::span<const float> row = rows.row(i);
    for (size_t c = 0; c < rows.columns; ++c) {
      hashes[c] = (hashes[c] ^ std::bit_cast<uint32_t>(row[c])) * 0x9fb21c651e98df25ULL;
      hashes[c] ^= hashes[c] >> 29;
    }
  }
  auto equal_columns = [&](size_t a, size_t b) {
    for (size_t i = 0; i < rows.rows; ++i) {
      if (rows.row(i)[a] != rows.row(i)[b]) return false;
    }
    return true;
  };
  std::unordered_map<uint64_t, uint32_t> first_of;
  std::vector<uint32_t> useful;
  for (uint32_t c = 0; c < rows.columns; ++c) {
    bool constant = true;
    for (size_t i = 1; i < rows.rows && constant; ++i) constant = rows.row(i)[c] == rows.row(0)[c];
    if (constant) continue;
    const auto [entry, fresh] = first_of.try_emplace(hashes[c], c);
    if (fresh || !equal_columns(entry->second, c)) useful.push_back(c);
  }
  return useful;
}

class Gbt final : public CostModel {
 public:
  explicit Gbt(const GbtParams& params) : params_(params) {}

  std::string_view name() const override { return "gbt"; }

 protected:
  void do_fit(const FeatureMatrix& rows, std::span<const double> labels, std::span<const uint32_t> groups) override {
    const bool differ = std::adjacent_find(labels.begin(), labels.end(), std::not_equal_to<>()) != labels.end();
    std::vector<uint32_t> columns;
    if (differ) columns = useful_columns(rows);
    if (columns.empty()) {
      double sum = 0;
      for (double label : labels) sum += label;
      const bool mean = params_.objective == GbtObjective::kRegression && !labels.empty();
      learned_ = {.constant = mean ? static_cast<float>(sum / static_cast<double>(labels.size())) : 0.0F};
      return;
    }
    std::vector<float> compact;
    compact.reserve(rows.rows * columns.size());
    for (size_t i = 0; i < rows.rows; ++i) {
      const std::span<const float> row = rows.row(i);
      for (uint32_t c : columns) compact.push_back(row[c]);
    }
    std::vector<float> expected;
    std::string trees = train(FeatureMatrix(compact, columns.size()), labels, groups, expected);
    Forest forest = Forest::from_xgboost_json(trees, columns, rows.columns);
    check_agreement(forest, rows, expected);
    learned_ = {0.0F, std::move(columns), std::move(trees), std::move(forest)};
  }

  void do_predict(const FeatureMatrix& rows, std::span<float> scores) const override {
    if (learned_.trees.empty()) {
      std::fill(scores.begin(), scores.end(), learned_.constant);
    } else {
      learned_.forest.predict(rows, scores);
    }
  }

  std::string do_save() const override {
    const nlohmann::ordered_json head = {{"constant", learned_.constant}, {"columns", learned_.columns}};
    return head.dump() + "\n" + learned_.trees;
  }

  void do_load(std::string_view payload, size_t columns) override {
    Learned loaded;
    const size_t line_end = std::min(payload.find('\n'), payload.size());
    try {
      const nlohmann::json head = nlohmann::json::parse(payload.substr(0, line_end));
      head.at("constant").get_to(loaded.constant);
      head.at("columns").get_to(loaded.columns);
    } catch (const nlohmann::json::exception& e) {
      throw WorkError(fmt::format("cost model: the saved trees are damaged ({})", e.what()), "train a model anew");
    }
    loaded.trees = payload.substr(std::min(line_end + 1, payload.size()));
    if (!loaded.trees.empty()) loaded.forest = Forest::from_xgboost_json(loaded.trees, loaded.columns, columns);
    learned_ = std::move(loaded);
  }

 private:
  struct Learned {
    float constant = 0.0F;          ///< score of every row while there are no trees
    std::vector<uint32_t> columns;  ///< of a row, that the trees' columns stand for
    std::string trees;              ///< XGBoost's JSON, empty when there are none
    Forest forest;
  };

  /// Our reading of the trees and XGBoost's must agree, whatever version of it is installed.
  static void check_agreement(const Forest& forest, const FeatureMatrix& rows, std::span<const float> expected) {
    std::vector<float> scores(rows.rows);
    forest.predict(rows, scores);
    for (size_t i = 0; i < rows.rows; ++i) {
      if (std::abs(scores[i] - expected[i]) > 1e-3F * (1.0F + std::abs(expected[i]))) {
        throw WorkError(
            fmt::format("cost model: XGBoost scores row {} as {}, its saved trees give {}", i, expected[i], scores[i]),
            "this build does not know the format of the installed XGBoost");
      }
    }
  }

  /// XGBoost's model as JSON, and its scores of the training rows.
  std::string train(const FeatureMatrix& rows, std::span<const double> labels, std::span<const uint32_t> groups,
                    std::vector<float>& scores) const {
    const size_t n = rows.rows;
    TrainingRows data(rows);
    Booster booster(data.get());
    booster.set("verbosity", "0");
    booster.set("nthread", "1");
    booster.set("booster", "gbtree");
    booster.set("tree_method", "hist");
    booster.set("objective", "reg:squarederror");  // only its link (none) matters: the gradient is ours
    booster.set("max_depth", fmt::to_string(params_.max_depth));
    booster.set("eta", fmt::to_string(params_.learning_rate));
    booster.set("min_child_weight", fmt::to_string(params_.min_child_weight));
    booster.set("lambda", fmt::to_string(params_.lambda));
    booster.set("gamma", fmt::to_string(params_.gamma));
    booster.set("colsample_bytree", fmt::to_string(params_.column_share));
    booster.set("max_bin", fmt::to_string(params_.max_bins));
    booster.set("seed", fmt::to_string(params_.seed & 0x7fffffff));
    double base = 0;
    if (params_.objective == GbtObjective::kRegression) {
      for (double label : labels) base += label / static_cast<double>(n);
    }
    booster.set("base_score", fmt::to_string(base));

    Rng rng(params_.seed);
    std::vector<RankPair> pairs;
    std::vector<float> gradient(n), hessian(n);
    auto predict_training_rows = [&] {
      const bst_ulong* shape = nullptr;
      bst_ulong dimensions = 0;
      const float* current = nullptr;
      check(XGBoosterPredictFromDMatrix(booster.get(), data.get(), kTrainConfig, &shape, &dimensions, &current),
            "train");
      scores.assign(current, current + n);
    };
    for (int round = 0; round < params_.rounds; ++round) {
      predict_training_rows();
      if (params_.objective == GbtObjective::kRegression) {
        squared_loss_gradient(scores, labels, gradient, hessian);
      } else {
        sample_rank_pairs(labels, groups, params_.pairs_per_row, rng, pairs);
        if (pairs.empty()) {
          std::fill(gradient.begin(), gradient.end(), 0.0F);
          std::fill(hessian.begin(), hessian.end(), 0.0F);
        } else {
          // A row's pairs weigh `kRowWeight` together, on average, so that penalties mean the same for any number of
          // rows.
          constexpr float kRowWeight = 8.0F;
          const float weight = kRowWeight * static_cast<float>(n) / (2.0F * static_cast<float>(pairs.size()));
          rank_loss_gradient(scores, pairs, weight, gradient, hessian);
        }
      }
      check(XGBoosterBoostOneIter(booster.get(), data.get(), gradient.data(), hessian.data(), n), "train");
    }
    predict_training_rows();
    bst_ulong size = 0;
    const char* json = nullptr;
    check(XGBoosterSaveModelToBuffer(booster.get(), R"({"format":"json"})", &size, &json), "save the model");
    return {json, size};
  }

  GbtParams params_;
  Learned learned_;
};

void check_range(bool ok, const char* name, double value, const char* range) {
  if (!ok) throw UserError(fmt::format("gradient-boosted trees: {} is {}, it must be {}", name, value, range));
}

}  // namespace

std::unique_ptr<CostModel> make_gbt(const GbtParams& p) {
  check_range(p.rounds >= 1 && p.rounds <= 10000, "rounds", p.rounds, "from 1 to 10000");
  check_range(p.max_depth >= 1 && p.max_depth <= 12, "max_depth", p.max_depth, "from 1 to 12");
  check_range(p.learning_rate > 0 && p.learning_rate <= 1, "learning_rate", p.learning_rate, "above 0, at most 1");
  check_range(p.min_child_weight >= 0, "min_child_weight", p.min_child_weight, "at least 0");
  check_range(p.lambda >= 0, "lambda", p.lambda, "at least 0");
  check_range(p.gamma >= 0, "gamma", p.gamma, "at least 0");
  check_range(p.column_share > 0 && p.column_share <= 1, "column_share", p.column_share, "above 0, at most 1");
  check_range(p.max_bins >= 2 && p.max_bins <= 1024, "max_bins", p.max_bins, "from 2 to 1024");
  check_range(p.pairs_per_row >= 1, "pairs_per_row", p.pairs_per_row, "at least 1");
  return std::make_unique<Gbt>(p);
}

bool gbt_available() { return true; }

}  // namespace tensmith
