#include "explore/strategies/knob_coordinates.h"

#include <algorithm>
#include <cmath>

namespace tensmith {
namespace {

/// With more numbers than this there would be too many products.
constexpr size_t kMaxPairedNumbers = 5;
constexpr size_t kMinAlternatives = 3;
constexpr size_t kMaxAlternatives = 8;

bool is_tuple(const Knob& knob) {
  return std::any_of(knob.choices.begin(), knob.choices.end(), [](const KnobValue& v) { return v.values.size() > 1; });
}

std::vector<double> scaled(const std::vector<double>& values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double range = *high > *low ? *high - *low : 1.0;
  std::vector<double> out;
  for (double value : values) out.push_back((value - *low) / range);
  return out;
}

}  // namespace

bool is_size(const Knob& knob) {
  return knob.ordinal && std::all_of(knob.choices.begin(), knob.choices.end(), [](const KnobValue& v) {
           return v.values.size() == 1 && v.values[0] > 0 && v.label.empty();
         });
}

bool is_alternative(const Knob& knob) {
  if (is_tuple(knob)) return false;
  if (knob.choices.size() < kMinAlternatives) return false;
  if (!knob.ordinal) return true;
  if (knob.choices.size() > kMaxAlternatives) return false;
  for (size_t i = 0; i < knob.choices.size(); ++i) {
    if (knob.choices[i].values.front() != static_cast<int64_t>(i)) return false;
  }
  return true;
}

double knob_log(const Knob& knob, int64_t value) {
  if (is_size(knob)) return std::log2(static_cast<double>(value));
  const double size = std::log2(1.0 + std::abs(static_cast<double>(value)));
  return value < 0 ? -size : size;
}

KnobCoordinates::KnobCoordinates(const ConfigSpace& space) {
  const auto knobs = space.knobs();
  logs_.resize(knobs.size());
  std::vector<size_t> numbers;
  for (size_t k = 0; k < knobs.size(); ++k) {
    const Knob& knob = knobs[k];
    const size_t count = knob.choices.size();
    if (count < 2) continue;
    std::vector<std::vector<double>> columns;
    if (is_tuple(knob)) {
      size_t width = 0;
      for (const KnobValue& choice : knob.choices) width = std::max(width, choice.values.size());
      for (size_t j = 0; j < width; ++j) {
        std::vector<double> column;
        for (const KnobValue& choice : knob.choices) {
          column.push_back(j < choice.values.size() ? knob_log(knob, choice.values[j]) : 0.0);
        }
        if (*std::max_element(column.begin(), column.end()) > *std::min_element(column.begin(), column.end())) {
          columns.push_back(scaled(column));
        }
      }
    } else if (is_alternative(knob)) {
      for (size_t j = 0; j < count; ++j) {
        columns.emplace_back(count, 0.0);
        columns.back()[j] = 1.0;
      }
    } else if (count == 2) {
      columns.push_back({0.0, 1.0});
    } else {
      std::vector<double> logs;
      for (const KnobValue& choice : knob.choices) logs.push_back(knob_log(knob, choice.values.front()));
      const std::vector<double> log_part = scaled(logs);
      columns.emplace_back();
      for (size_t i = 0; i < count; ++i) {
        columns[0].push_back(0.5 * static_cast<double>(i) / static_cast<double>(count - 1) + 0.5 * log_part[i]);
      }
      if (is_size(knob)) {
        logs_[k] = std::move(logs);
        numbers.push_back(k);
      }
    }
    Block block{k, columns_, columns.size(), {}};
    for (size_t i = 0; i < count; ++i) {
      for (const std::vector<double>& column : columns) block.values.push_back(static_cast<float>(column[i]));
    }
    columns_ += block.width;
    blocks_.push_back(std::move(block));
  }
  if (numbers.size() > kMaxPairedNumbers) return;
  for (size_t i = 0; i < numbers.size(); ++i) {
    for (size_t j = i + 1; j < numbers.size(); ++j) {
      const auto [a_low, a_high] = std::minmax_element(logs_[numbers[i]].begin(), logs_[numbers[i]].end());
      const auto [b_low, b_high] = std::minmax_element(logs_[numbers[j]].begin(), logs_[numbers[j]].end());
      pairs_.push_back({numbers[i], numbers[j], *a_low + *b_low, 1.0 / (*a_high - *a_low + *b_high - *b_low)});
    }
  }
  columns_ += pairs_.size();
}

void KnobCoordinates::write(const Config& config, float* row) const {
  for (const Block& block : blocks_) {
    const float* values = block.values.data() + config.choices[block.knob] * block.width;
    for (size_t j = 0; j < block.width; ++j) row[block.first + j] = values[j];
  }
  float* out = row + columns_ - pairs_.size();
  for (const Pair& pair : pairs_) {
    const double sum = logs_[pair.a][config.choices[pair.a]] + logs_[pair.b][config.choices[pair.b]];
    *out++ = static_cast<float>((sum - pair.low) * pair.scale);
  }
}

}  // namespace tensmith
