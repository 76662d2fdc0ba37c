#include "explore/strategies/validity_model.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "explore/strategies/knob_coordinates.h"

namespace tensmith {
namespace {

constexpr size_t kMaxColumnsOfPairs = 24;
constexpr size_t kMaxColumnsOfTriples = 10;

}  // namespace

ValidityModel::ValidityModel(const ConfigSpace& space, const ExtraTreesOptions& options) : trees_(0, {}, options) {
  std::vector<TreeFeature> features;
  std::vector<uint16_t> sizes;  // columns that are logarithms of sizes
  std::vector<bool> powers;     // whether all choices of such a column are powers of two
  const auto knobs = space.knobs();
  for (size_t k = 0; k < knobs.size(); ++k) {
    const Knob& knob = knobs[k];
    if (knob.choices.size() < 2) continue;
    size_t width = 0;
    for (const KnobValue& choice : knob.choices) width = std::max(width, choice.values.size());
    Block block{k, columns_, width, {}};
    bool positive = knob.ordinal;
    for (const KnobValue& choice : knob.choices) {
      positive = positive && choice.values.size() == width && choice.label.empty() &&
                 std::all_of(choice.values.begin(), choice.values.end(), [](int64_t v) { return v > 0; });
    }
    for (size_t i = 0; i < knob.choices.size(); ++i) {
      for (size_t j = 0; j < width; ++j) {
        const auto& values = knob.choices[i].values;
        if (positive) {
          block.values.push_back(static_cast<float>(std::log2(static_cast<double>(values[j]))));
        } else if (knob.ordinal) {
          block.values.push_back(j < values.size() ? static_cast<float>(knob_log(knob, values[j])) : 0.0F);
        } else {
          block.values.push_back(static_cast<float>(i));
        }
      }
    }
    for (size_t j = 0; j < width; ++j) {
      const auto column = static_cast<uint16_t>(columns_ + j);
      features.push_back({{{column, 1.0F}}});
      if (!positive) continue;
      sizes.push_back(column);
      powers.push_back(std::all_of(knob.choices.begin(), knob.choices.end(), [j](const KnobValue& v) {
        return std::has_single_bit(static_cast<uint64_t>(v.values[j]));
      }));
    }
    columns_ += width;
    blocks_.push_back(std::move(block));
  }
  if (sizes.size() <= kMaxColumnsOfPairs) {
    for (size_t i = 0; i < sizes.size(); ++i) {
      for (size_t j = i + 1; j < sizes.size(); ++j) {
        features.push_back({{{sizes[i], 1.0F}, {sizes[j], 1.0F}}});
        features.push_back({{{sizes[i], 1.0F}, {sizes[j], -1.0F}}});
      }
    }
  }
  if (sizes.size() <= kMaxColumnsOfTriples) {
    for (size_t i = 0; i < sizes.size(); ++i) {
      for (size_t j = i + 1; j < sizes.size(); ++j) {
        for (size_t k = j + 1; k < sizes.size(); ++k) {
          for (const auto& [a, b] : {std::pair(1.0F, 1.0F), {1.0F, -1.0F}, {-1.0F, 1.0F}, {-1.0F, -1.0F}}) {
            features.push_back({{{sizes[i], 1.0F}, {sizes[j], a}, {sizes[k], b}}});
          }
        }
      }
    }
    // Of powers of two the smaller one divides the larger one, which ratios tell.
    for (size_t i = 0; i < sizes.size(); ++i) {
      for (size_t j = 0; j < sizes.size(); ++j) {
        if (i == j || (powers[i] && powers[j])) continue;
        divisions_.push_back({sizes[i], sizes[j]});
        features.push_back({{{static_cast<uint16_t>(columns_++), 1.0F}}});
      }
    }
  }
  trees_ = ExtraTrees(columns_, std::move(features), options);
}

void ValidityModel::write(const Config& config, float* out, size_t stride) const {
  for (const Block& block : blocks_) {
    const float* values = block.values.data() + config.choices[block.knob] * block.width;
    for (size_t j = 0; j < block.width; ++j) out[(block.first + j) * stride] = values[j];
  }
  const size_t first = columns_ - divisions_.size();
  for (size_t d = 0; d < divisions_.size(); ++d) {
    const auto a = std::llround(std::exp2(out[divisions_[d].a * stride]));
    const auto b = std::llround(std::exp2(out[divisions_[d].b * stride]));
    out[(first + d) * stride] = a % b == 0 ? 1.0F : 0.0F;
  }
}

void ValidityModel::add(const Config& config, bool runs, bool anew, Rng& rng) {
  std::vector<float> row(columns_);
  write(config, row.data());
  trees_.add(row, runs, rng);
  // While nothing failed there is nothing to tell apart.
  if ((anew && failed_) || (!runs && !failed_)) {
    failed_ = failed_ || !runs;
    trees_.rebuild(rng);
  }
}

}  // namespace tensmith
