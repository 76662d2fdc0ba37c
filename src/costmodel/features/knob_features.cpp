#include "tensmith/costmodel/knob_features.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tensmith/support/error.h"

namespace tensmith {

KnobFeatures::KnobFeatures(const ConfigSpace& space) {
  for (const Knob& knob : space.knobs()) {
    size_t width = 1;
    if (knob.ordinal) {
      for (const KnobValue& choice : knob.choices) width = std::max(width, choice.values.size());
    }
    Block block{names_.size(), width, {}};
    for (size_t column = 0; column < width; ++column) {
      names_.push_back(width == 1 ? knob.name : fmt::format("{}.{}", knob.name, column));
    }
    for (size_t i = 0; i < knob.choices.size(); ++i) {
      for (size_t column = 0; column < width; ++column) {
        const std::vector<int64_t>& values = knob.choices[i].values;
        const double x = column < values.size() ? static_cast<double>(values[column]) : 0.0;
        block.values.push_back(
            static_cast<float>(knob.ordinal ? std::copysign(std::log2(1.0 + std::abs(x)), x) : static_cast<double>(i)));
      }
    }
    blocks_.push_back(std::move(block));
  }
}

void KnobFeatures::extract(const Config& config, std::span<float> out) const {
  TENSMITH_ICHECK(config.choices.size() == blocks_.size() && out.size() == names_.size(),
                  "a config of the space that the columns were made for");
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const Block& block = blocks_[i];
    std::copy_n(block.values.begin() + static_cast<ptrdiff_t>(config.choices[i] * block.width), block.width,
                out.begin() + static_cast<ptrdiff_t>(block.first));
  }
}

std::vector<float> KnobFeatures::extract(const Config& config) const {
  std::vector<float> out(size());
  extract(config, out);
  return out;
}

}  // namespace tensmith
