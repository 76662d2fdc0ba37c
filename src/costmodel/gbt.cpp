#include "tensmith/costmodel/gbt.h"

#include <fmt/format.h>
#include <xgboost/c_api.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "tensmith/costmodel/losses.h"
#include "tensmith/support/error.h"

namespace tensmith {

namespace {

void check(int result, const char* what) {
  if (result != 0) {
    std::string reason = XGBGetLastError();
    // The library appends a stack trace to its reason.
    reason.resize(std::min(reason.find("Stack trace"), reason.size()));
    while (!reason.empty() && std::isspace(static_cast<unsigned char>(reason.back()))) reason.pop_back();
    throw WorkError(fmt::format("XGBoost could not {}: {}", what, reason));
  }
}

/// Owns a DMatrix.
class TrainingRows {
 public:
  explicit TrainingRows(const FeatureMatrix& rows) {
    check(XGDMatrixCreateFromMat(rows.values, rows.rows, rows.columns, std::numeric_limits<float>::quiet_NaN(), &handle_),
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
  Booster() = default;
  explicit Booster(DMatrixHandle rows) { check(XGBoosterCreate(&rows, rows == nullptr ? 0 : 1, &handle_), "make a model"); }
  ~Booster() {
    if (handle_ != nullptr) XGBoosterFree(handle_);
  }
  Booster(Booster&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Booster& operator=(Booster&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  BoosterHandle get() const { return handle_; }
  void set(const char* key, const std::string& value) {
    check(XGBoosterSetParam(handle_, key, value.c_str()), "set a parameter");
  }

 private:
  BoosterHandle handle_ = nullptr;
};

constexpr const char* kPredictConfig =
    R"({"type":1,"training":false,"iteration_begin":0,"iteration_end":0,"strict_shape":false,"missing":NaN,"cache_id":0})";
constexpr const char* kTrainConfig =
    R"({"type":1,"training":true,"iteration_begin":0,"iteration_end":0,"strict_shape":false})";

class Gbt final : public CostModel {
 public:
  explicit Gbt(const GbtParams& params) : params_(params) {}

  std::string_view name() const override { return "gbt"; }

 protected:
  void do_fit(const FeatureMatrix& rows, std::span<const double> labels, std::span<const uint32_t> groups) override {
    const bool differ = std::adjacent_find(labels.begin(), labels.end(), std::not_equal_to<>()) != labels.end();
    if (!differ || rows.columns == 0) {
      constant_ = params_.objective == GbtObjective::kRegression && !labels.empty() ? static_cast<float>(labels[0]) : 0.0F;
      booster_ = Booster();
      return;
    }
    booster_ = train(rows, labels, groups);
  }

  void do_predict(const FeatureMatrix& rows, std::span<float> scores) const override {
    if (booster_.get() == nullptr) {
      std::fill(scores.begin(), scores.end(), constant_);
      return;
    }
    char values[160];
    *fmt::format_to_n(values, sizeof(values) - 1,
                      R"({{"data":[{},true],"shape":[{},{}],"typestr":"<f4","version":3}})",
                      reinterpret_cast<uintptr_t>(rows.values), rows.rows, rows.columns)
         .out = '\0';
    const bst_ulong* shape = nullptr;
    bst_ulong dimensions = 0;
    const float* result = nullptr;
    check(XGBoosterPredictFromDense(booster_.get(), values, kPredictConfig, nullptr, &shape, &dimensions, &result), "predict");
    std::copy_n(result, rows.rows, scores.begin());
  }

  std::string do_save() const override {
    std::string payload(sizeof(float), '\0');
    std::memcpy(payload.data(), &constant_, sizeof(float));
    if (booster_.get() != nullptr) {
      bst_ulong size = 0;
      const char* data = nullptr;
      check(XGBoosterSaveModelToBuffer(booster_.get(), R"({"format":"ubj"})", &size, &data), "save the model");
      payload.append(data, size);
    }
    return payload;
  }

  void do_load(std::string_view payload, size_t columns) override {
    if (payload.size() < sizeof(float)) throw WorkError("cost model: the saved model is too short", "train a model anew");
    Booster loaded;
    if (payload.size() > sizeof(float)) {
      loaded = Booster(nullptr);
      quiet(loaded);
      check(XGBoosterLoadModelFromBuffer(loaded.get(), payload.data() + sizeof(float), payload.size() - sizeof(float)),
            "load the model");
      bst_ulong found = 0;
      check(XGBoosterGetNumFeature(loaded.get(), &found), "load the model");
      if (found != columns) {
        throw WorkError(fmt::format("cost model: the saved model has {} columns, its header says {}", found, columns),
                        "train a model anew");
      }
    }
    std::memcpy(&constant_, payload.data(), sizeof(float));
    booster_ = std::move(loaded);
  }

 private:
  static void quiet(Booster& booster) {
    booster.set("verbosity", "0");
    booster.set("nthread", "1");
  }

  Booster train(const FeatureMatrix& rows, std::span<const double> labels, std::span<const uint32_t> groups) const {
    const size_t n = rows.rows;
    TrainingRows data(rows);
    Booster booster(data.get());
    quiet(booster);
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
    for (int round = 0; round < params_.rounds; ++round) {
      const bst_ulong* shape = nullptr;
      bst_ulong dimensions = 0;
      const float* current = nullptr;
      check(XGBoosterPredictFromDMatrix(booster.get(), data.get(), kTrainConfig, &shape, &dimensions, &current), "train");
      const std::span<const float> scores(current, n);
      if (params_.objective == GbtObjective::kRegression) {
        squared_loss_gradient(scores, labels, gradient, hessian);
      } else {
        sample_rank_pairs(labels, groups, params_.pairs_per_row, rng, pairs);
        if (pairs.empty()) break;
        // A row's pairs weigh `kRowWeight` together, on average, so that the penalties mean the same for any number of rows.
        constexpr float kRowWeight = 8.0F;
        const float weight = kRowWeight * static_cast<float>(n) / (2.0F * static_cast<float>(pairs.size()));
        rank_loss_gradient(scores, pairs, weight, gradient, hessian);
      }
      check(XGBoosterBoostOneIter(booster.get(), data.get(), gradient.data(), hessian.data(), n), "train");
    }
    return booster;
  }

  GbtParams params_;
  float constant_ = 0.0F;
  Booster booster_;
};

void check_range(bool ok, const char* name, double value, const char* range) {
  if (!ok) throw UserError(fmt::format("gradient-boosted trees: {} is {}, it must be {}", name, value, range));
}

}  // namespace

std::unique_ptr<CostModel> make_gbt(const GbtParams& p) {
  check_range(p.rounds >= 1 && p.rounds <= 10000, "rounds", p.rounds, "from 1 to 10000");
  check_range(p.max_depth >= 1 && p.max_depth <= 16, "max_depth", p.max_depth, "from 1 to 16");
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
