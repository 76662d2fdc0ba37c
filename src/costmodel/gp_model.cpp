#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "tensmith/costmodel/gaussian_process.h"
#include "tensmith/support/error.h"
#include "tensmith/support/rng.h"
#include "tensmith/support/stats.h"

namespace tensmith {
namespace {

/// What a fit keeps, from which the process can be made again.
struct GpFit {
  float constant = 0.0F;          ///< score of every row while there are no columns
  std::vector<uint32_t> columns;  ///< of a row, that the process sees
  std::vector<float> low;         ///< of each of these columns; they are scaled to [0, 1]
  std::vector<float> scale;
  std::vector<float> rows;  ///< scaled, row by row
  std::vector<double> labels;
  std::vector<double> parameters;
};

GaussianProcess process_of(const GpFit& fit) {
  GaussianProcessOptions options;
  // The sum of many small differences is not small.
  options.length.median = std::max(1.5, 0.4 * std::sqrt(static_cast<double>(fit.columns.size())));
  options.noise.median = 0.1;
  GaussianProcess process(fit.columns.size(), options);
  process.set_rows({fit.rows.data(), fit.labels.size(), fit.columns.size()}, fit.labels);
  if (!fit.parameters.empty()) process.set_parameters(fit.parameters);
  return process;
}

class GpModel final : public CostModel {
 public:
  explicit GpModel(const GpModelParams& params) : params_(params) {}

  std::string_view name() const override { return "gp"; }

 protected:
  void do_fit(const FeatureMatrix& rows, std::span<const double> labels, std::span<const uint32_t>) override {
    GpFit fit;
    process_.reset();
    if (!labels.empty()) fit.constant = static_cast<float>(stats::mean(labels));
    if (std::adjacent_find(labels.begin(), labels.end(), std::not_equal_to<>()) != labels.end()) {
      const std::vector<size_t> chosen = choose_rows(labels);
      fit.columns = choose_columns(rows, labels, chosen);
      for (uint32_t c : fit.columns) {
        const auto [low, high] = range(rows, chosen, c);
        fit.low.push_back(low);
        fit.scale.push_back(1.0F / (high - low));
      }
      for (size_t i : chosen) {
        append(rows.row(i), fit, fit.rows);
        fit.labels.push_back(labels[i]);
      }
    }
    if (!fit.columns.empty()) {
      GaussianProcess process = process_of(fit);
      process.optimize(params_.steps);
      fit.parameters.assign(process.parameters().begin(), process.parameters().end());
      process_ = std::make_unique<GaussianProcess>(std::move(process));
    }
    fit_ = std::move(fit);
  }

  void do_predict(const FeatureMatrix& rows, std::span<float> scores) const override {
    if (!process_) {
      std::fill(scores.begin(), scores.end(), fit_.constant);
      return;
    }
    std::vector<float> points;
    for (size_t i = 0; i < rows.rows; ++i) append(rows.row(i), fit_, points);
    std::vector<double> means(rows.rows);
    process_->predict({points.data(), rows.rows, fit_.columns.size()}, means, {});
    std::copy(means.begin(), means.end(), scores.begin());
  }

  std::string do_save() const override {
    const nlohmann::json all = {{"constant", fit_.constant},    {"columns", fit_.columns}, {"low", fit_.low},
                                {"scale", fit_.scale},          {"rows", fit_.rows},       {"labels", fit_.labels},
                                {"parameters", fit_.parameters}};
    const std::vector<uint8_t> bytes = nlohmann::json::to_msgpack(all);
    return {bytes.begin(), bytes.end()};
  }

  void do_load(std::string_view payload, size_t columns) override {
    GpFit fit;
    try {
      const nlohmann::json all = nlohmann::json::from_msgpack(payload.begin(), payload.end());
      all.at("constant").get_to(fit.constant);
      all.at("columns").get_to(fit.columns);
      all.at("low").get_to(fit.low);
      all.at("scale").get_to(fit.scale);
      all.at("rows").get_to(fit.rows);
      all.at("labels").get_to(fit.labels);
      all.at("parameters").get_to(fit.parameters);
    } catch (const nlohmann::json::exception& e) {
      throw WorkError(fmt::format("cost model: the saved Gaussian process is damaged ({})", e.what()),
                      "train a model anew");
    }
    const size_t width = fit.columns.size();
    const bool fits = fit.low.size() == width && fit.scale.size() == width &&
                      fit.rows.size() == width * fit.labels.size() &&
                      fit.parameters.size() == (width > 0 ? width + 2 : 0) &&
                      std::all_of(fit.columns.begin(), fit.columns.end(), [&](uint32_t c) { return c < columns; });
    if (!fits) throw WorkError("cost model: the parts of the saved Gaussian process disagree", "train a model anew");
    process_ = width > 0 ? std::make_unique<GaussianProcess>(process_of(fit)) : nullptr;
    fit_ = std::move(fit);
  }

 private:
  /// Appends what the process sees of a row.
  static void append(std::span<const float> row, const GpFit& fit, std::vector<float>& out) {
    constexpr float kFar = 1e6F;  // nothing is known out there, and squares of it have to be finite
    for (size_t j = 0; j < fit.columns.size(); ++j) {
      out.push_back(std::clamp((row[fit.columns[j]] - fit.low[j]) * fit.scale[j], -kFar, kFar));
    }
  }

  static std::pair<float, float> range(const FeatureMatrix& rows, const std::vector<size_t>& chosen, size_t column) {
    float low = rows.row(chosen[0])[column];
    float high = low;
    for (size_t i : chosen) {
      low = std::min(low, rows.row(i)[column]);
      high = std::max(high, rows.row(i)[column]);
    }
    return {low, high};
  }

  std::vector<size_t> choose_rows(std::span<const double> labels) const {
    std::vector<size_t> order(labels.size());
    std::iota(order.begin(), order.end(), size_t{0});
    const auto limit = static_cast<size_t>(params_.max_rows);
    if (order.size() <= limit) return order;
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return labels[a] > labels[b]; });
    std::vector<size_t> rest(order.begin() + static_cast<std::ptrdiff_t>(limit / 2), order.end());
    Rng rng(params_.seed);
    rng.shuffle(rest);
    std::copy_n(rest.begin(), limit - limit / 2, order.begin() + static_cast<std::ptrdiff_t>(limit / 2));
    order.resize(limit);
    std::sort(order.begin(), order.end());
    return order;
  }

  std::vector<uint32_t> choose_columns(const FeatureMatrix& rows, std::span<const double> labels,
                                       const std::vector<size_t>& chosen) const {
    struct Candidate {
      double correlation;
      uint32_t column;
    };
    std::vector<double> targets;
    for (size_t i : chosen) targets.push_back(labels[i]);
    std::vector<Candidate> candidates;
    std::vector<double> values(chosen.size());
    for (uint32_t c = 0; c < rows.columns; ++c) {
      const auto [low, high] = range(rows, chosen, c);
      // Neither the difference nor its inverse may overflow.
      if (!std::isnormal(high - low)) continue;
      for (size_t i = 0; i < chosen.size(); ++i) values[i] = rows.row(chosen[i])[c];
      candidates.push_back({std::abs(stats::pearson(values, targets)), c});
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) { return a.correlation > b.correlation; });
    const auto equal = [&](uint32_t a, uint32_t b) {
      return std::all_of(chosen.begin(), chosen.end(), [&](size_t i) { return rows.row(i)[a] == rows.row(i)[b]; });
    };
    std::vector<uint32_t> columns;
    for (size_t i = 0; i < candidates.size() && columns.size() < static_cast<size_t>(params_.max_columns); ++i) {
      const uint32_t c = candidates[i].column;
      if (std::none_of(columns.begin(), columns.end(), [&](uint32_t other) { return equal(c, other); })) {
        columns.push_back(c);
      }
    }
    std::sort(columns.begin(), columns.end());
    return columns;
  }

  GpModelParams params_;
  GpFit fit_;
  std::unique_ptr<GaussianProcess> process_;
};

void check_range(bool ok, const char* name, int value, const char* range) {
  if (!ok) throw UserError(fmt::format("Gaussian process: {} is {}, it must be {}", name, value, range));
}

}  // namespace

std::unique_ptr<CostModel> make_gp(const GpModelParams& p) {
  check_range(p.max_rows >= 2 && p.max_rows <= 4000, "max_rows", p.max_rows, "from 2 to 4000");
  check_range(p.max_columns >= 1 && p.max_columns <= 1000, "max_columns", p.max_columns, "from 1 to 1000");
  check_range(p.steps >= 0 && p.steps <= 1000, "steps", p.steps, "from 0 to 1000");
  return std::make_unique<GpModel>(p);
}

}  // namespace tensmith
