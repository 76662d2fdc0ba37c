#include <algorithm>
#include <cmath>

#include "explore/strategies/minimizers.h"

namespace tensmith {
namespace {

/// A step that adapts so that about half of the moves are accepted.
class Step {
 public:
  explicit Step(double size) : size_(size) {}
  double size() const { return size_; }
  void told(bool accepted) {
    constexpr int kInterval = 50;
    constexpr double kTarget = 0.5;
    constexpr double kFactor = 0.9;
    accepted_ += accepted;
    if (++moves_ % kInterval != 0) return;
    size_ *= static_cast<double>(accepted_) / moves_ > kTarget ? 1.0 / kFactor : kFactor;
  }

 private:
  double size_;
  int moves_ = 0;
  int accepted_ = 0;
};

/// A hundredth of the box around its middle is one standard deviation.
Vector near_the_middle(const Box& box) {
  Vector point = box.upper();
  for (double& x : point) x = std::clamp(0.5 * x + 0.01 * x * box.rng().normal(), 0.0, x);
  return point;
}

Piece<int> hop(Look& look, BasinHoppingOptions options) {
  constexpr int kMostHops = 1000000;
  Box box(look);
  Step step(options.step);
  Vector start = near_the_middle(box);
  Minimum here = co_await minimize(box, options.minimizer, std::move(start), box.cell());
  for (int i = 0; i < kMostHops; ++i) {
    Vector moved = here.point;
    for (double& x : moved) x += look.rng().uniform_real(-step.size(), step.size());
    Minimum there = co_await minimize(box, options.minimizer, std::move(moved), box.cell());
    const bool accept = there.value < here.value ||
                        std::exp((here.value - there.value) / options.temperature) >= look.rng().uniform_real();
    step.told(accept);
    if (accept) here = std::move(there);
  }
  co_return 0;
}

}  // namespace

std::unique_ptr<SearchStrategy> make_basin_hopping(const ConfigSpace& space, BasinHoppingOptions options) {
  return std::make_unique<SequentialSearch>(space, options, [options](Look& look) { return hop(look, options); });
}

}  // namespace tensmith
