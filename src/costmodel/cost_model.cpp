#include "tensmith/costmodel/cost_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "tensmith/costmodel/features.h"
#include "tensmith/support/error.h"
#include "tensmith/support/file.h"
#include "tensmith/support/hash.h"

namespace tensmith {

namespace {

constexpr int kFormatVersion = 1;
constexpr std::string_view kFormatName = "tensmith-cost-model";

void check_training_set(const FeatureMatrix& rows, std::span<const double> labels, std::span<const uint32_t> groups) {
  if (labels.size() != rows.rows) {
    throw UserError(fmt::format("cost model: {} rows of features but {} labels", rows.rows, labels.size()),
                    "give one label a row");
  }
  if (!groups.empty() && groups.size() != rows.rows) {
    throw UserError(fmt::format("cost model: {} rows of features but {} group numbers", rows.rows, groups.size()),
                    "give one group a row, or none at all");
  }
  for (size_t i = 0; i < labels.size(); ++i) {
    if (!std::isfinite(labels[i])) {
      throw UserError(fmt::format("cost model: the label of row {} is {}", i, labels[i]),
                      "labels are finite; throughput_labels gives a failed trial 0");
    }
  }
  const size_t count = rows.rows * rows.columns;
  for (size_t i = 0; i < count; ++i) {
    if (!std::isfinite(rows.values[i])) {
      throw UserError(
          fmt::format("cost model: feature {} of row {} is {}", i % rows.columns, i / rows.columns, rows.values[i]),
          "features are finite");
    }
  }
}

}  // namespace

FeatureMatrix::FeatureMatrix(std::span<const float> values, size_t columns)
    : values(values.data()), rows(columns == 0 ? 0 : values.size() / columns), columns(columns) {
  TENSMITH_ICHECK(rows * columns == values.size(), "the number of values is a multiple of the number of columns");
}

void CostModel::fit(const FeatureMatrix& rows, std::span<const double> labels, std::span<const uint32_t> groups) {
  check_training_set(rows, labels, groups);
  do_fit(rows, labels, groups);
  columns_ = rows.columns;
}

void CostModel::predict(const FeatureMatrix& rows, std::span<float> scores) const {
  if (scores.size() != rows.rows) {
    throw UserError(fmt::format("cost model: {} rows of features but room for {} scores", rows.rows, scores.size()),
                    "give one score a row");
  }
  if (columns_ == 0) {
    // Nothing was learned, or from rows without a single feature: all programs look the same.
    std::fill(scores.begin(), scores.end(), 0.0F);
    return;
  }
  if (rows.rows == 0) return;
  if (rows.columns != columns_) {
    throw UserError(
        fmt::format("cost model: rows of {} features, but the model learned from rows of {}", rows.columns, columns_),
        "features of one version and one config space have one length; fit the model again");
  }
  do_predict(rows, scores);
}

std::vector<float> CostModel::predict(const FeatureMatrix& rows) const {
  std::vector<float> scores(rows.rows);
  predict(rows, scores);
  return scores;
}

std::string CostModel::save() const {
  const std::string payload = columns_ == 0 ? std::string() : do_save();
  const nlohmann::ordered_json header = {{"format", kFormatName},
                                         {"version", kFormatVersion},
                                         {"model", name()},
                                         {"features", kFeatureVersion},
                                         {"columns", columns_},
                                         {"bytes", payload.size()},
                                         {"hash", fmt::format("{:016x}", hash_bytes(payload))}};
  return header.dump() + "\n" + payload;
}

void CostModel::load(std::string_view bytes) {
  const size_t line_end = bytes.find('\n');
  const nlohmann::json header =
      line_end == std::string_view::npos
          ? nlohmann::json()
          : nlohmann::json::parse(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(line_end), nullptr, false);
  if (!header.is_object() || header.value("format", nlohmann::json()) != kFormatName) {
    throw WorkError("cost model: this is not a saved cost model", "save one with `save` or `save_file`");
  }
  std::string model, hash;
  int version = 0, features = 0;
  size_t columns = 0, size = 0;
  try {
    version = header.at("version").get<int>();
    model = header.at("model").get<std::string>();
    features = header.at("features").get<int>();
    columns = header.at("columns").get<size_t>();
    size = header.at("bytes").get<size_t>();
    hash = header.at("hash").get<std::string>();
  } catch (const nlohmann::json::exception& e) {
    throw WorkError(fmt::format("cost model: the header of the saved model is damaged ({})", e.what()),
                    "train a model anew");
  }
  if (version != kFormatVersion) {
    throw WorkError(
        fmt::format("cost model: saved in format {}, this version reads format {}", version, kFormatVersion),
        "train a model anew");
  }
  if (model != name()) {
    throw WorkError(fmt::format("cost model: the saved model is a '{}', not a '{}'", model, name()),
                    "load it into a model of its own kind");
  }
  if (features != kFeatureVersion) {
    throw WorkError(
        fmt::format("cost model: trained on version {} of the features, this is version {}", features, kFeatureVersion),
        "train a model anew");
  }
  const std::string_view payload = bytes.substr(line_end + 1);
  if (payload.size() != size || fmt::format("{:016x}", hash_bytes(payload)) != hash) {
    throw WorkError(
        fmt::format("cost model: the saved model is damaged: {} bytes of {} or another checksum", payload.size(), size),
        "train a model anew");
  }
  if (columns > 0) do_load(payload, columns);
  columns_ = columns;
}

void CostModel::save_file(const std::filesystem::path& path) const { write_file(path, save()); }

void CostModel::load_file(const std::filesystem::path& path) {
  const std::string bytes = read_file(path);
  try {
    load(bytes);
  } catch (const WorkError& e) {
    throw WorkError(fmt::format("{}: {}", path.string(), e.message()), e.hint());
  }
}

std::vector<double> throughput_labels(std::span<const double> seconds, std::span<const uint32_t> groups) {
  if (!groups.empty() && groups.size() != seconds.size()) {
    throw UserError(fmt::format("cost model: {} times but {} group numbers", seconds.size(), groups.size()),
                    "give one group a time, or none at all");
  }
  auto works = [](double s) { return std::isfinite(s) && s > 0; };
  std::unordered_map<uint32_t, double> best;
  for (size_t i = 0; i < seconds.size(); ++i) {
    if (!works(seconds[i])) continue;
    double& b = best.try_emplace(groups.empty() ? 0 : groups[i], std::numeric_limits<double>::infinity()).first->second;
    b = std::min(b, seconds[i]);
  }
  std::vector<double> labels(seconds.size(), 0.0);
  for (size_t i = 0; i < seconds.size(); ++i) {
    if (works(seconds[i])) labels[i] = best.at(groups.empty() ? 0 : groups[i]) / seconds[i];
  }
  return labels;
}

}  // namespace tensmith
