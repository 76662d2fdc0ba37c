#include "explore/strategies/box.h"

#include <algorithm>
#include <cmath>

#include "explore/units.h"

namespace tensmith {
namespace {

/// Stands for Look::kForbidden.
constexpr double kFiniteForbidden = 1e30;

}  // namespace

Box::Box(Look& look, double scale) : look_(look) {
  size_t longest = 1;
  for (int knob : look.free_knobs()) longest = std::max(longest, look.space().knobs()[knob].choices.size());
  cell_ = scale / static_cast<double>(longest);
  for (int knob : look.free_knobs()) {
    upper_.push_back(cell_ * static_cast<double>(look.space().knobs()[knob].choices.size()));
  }
}

Vector Box::random_point() const {
  Vector point(dimensions());
  for (size_t i = 0; i < point.size(); ++i) point[i] = rng().uniform_real(0.0, upper_[i]);
  return point;
}

bool Box::contains(const Vector& point) const {
  for (size_t i = 0; i < point.size(); ++i) {
    if (!(point[i] >= 0.0 && point[i] <= upper_[i])) return false;
  }
  return true;
}

Piece<double> Box::at(const Vector& point) const {
  const auto knobs = look_.space().knobs();
  Config config;
  config.choices.resize(knobs.size());
  for (size_t i = 0; i < point.size(); ++i) {
    const int knob = look_.free_knobs()[i];
    const auto last = static_cast<double>(knobs[knob].choices.size() - 1);
    const double place = std::floor(point[i] / cell_);
    // Not a number: an overflow of some step; the first cell.
    config.choices[knob] = place > 0.0 ? static_cast<uint16_t>(std::min(place, last)) : uint16_t{0};
  }
  const double value = co_await look_(config);
  co_return value < Look::kMissing ? value* kMillisecondsPerSecond : std::min(value, kFiniteForbidden);
}

}  // namespace tensmith
