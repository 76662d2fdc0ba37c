#include <algorithm>
#include <cmath>
#include <numbers>

#include "explore/strategies/minimizers.h"

namespace tensmith {
namespace {

/// COBYLA's first step: the whole box.
constexpr double kRadius = 1.0;

/// Jumps with the tail that q_v gives: from a Gaussian (1) to Cauchy's (2) and beyond (Tsallis and Stariolo, 1996).
class Visits {
 public:
  explicit Visits(double q) : q_(q) {
    const double factor2 = std::exp((4.0 - q) * std::log(q - 1.0));
    const double factor3 = std::exp((2.0 - q) * std::numbers::ln2 / (q - 1.0));
    const double factor5 = 1.0 / (q - 1.0) - 0.5;
    factor4_ = std::sqrt(std::numbers::pi) * factor2 / (factor3 * (3.0 - q));
    factor6_ =
        std::numbers::pi * (1.0 - factor5) / std::sin(std::numbers::pi * (1.0 - factor5)) / std::tgamma(2.0 - factor5);
  }

  double draw(Rng& rng, double temperature) const {
    constexpr double kTail = 1e8;
    const double factor4 = factor4_ * std::exp(std::log(temperature) / (q_ - 1.0));
    const double x = rng.normal() * std::exp(-(q_ - 1.0) * std::log(factor6_ / factor4) / (3.0 - q_));
    const double y = std::exp((q_ - 1.0) * std::log(std::abs(rng.normal())) / (3.0 - q_));
    const double visit = x / y;
    if (visit > kTail) return kTail * rng.uniform_real();
    if (visit < -kTail) return -kTail * rng.uniform_real();
    return visit;
  }

 private:
  double q_;
  double factor4_;
  double factor6_;
};

double wrapped(double x, double upper) {
  const double rest = std::fmod(std::fmod(x, upper) + upper, upper);
  return rest;
}

/// One chain between two restarts.
class Chain {
 public:
  Chain(Box& box, const DualAnnealingOptions& options)
      : box_(box), options_(options), visits_(options.visiting), patience_(1000) {}

  Piece<int> start() {
    here_.point = box_.random_point();
    here_.value = co_await box_.at(here_.point);
    if (best_.point.empty() || here_.value < best_.value) best_ = here_;
    candidate_ = here_;
    co_return 0;
  }

  /// Twice as many visits as there are dimensions: all coordinates at once, then one by one.
  Piece<int> run(int step, double temperature) {
    const size_t n = box_.dimensions();
    const double level = temperature / (step + 1);
    ++unimproved_;
    improved_ = step == 0;
    for (size_t j = 0; j < 2 * n; ++j) {
      Minimum visit = here_;
      for (size_t d = j < n ? 0 : j - n; d < (j < n ? n : j - n + 1); ++d) {
        visit.point[d] = wrapped(visit.point[d] + visits_.draw(box_.rng(), temperature), box_.upper()[d]);
      }
      visit.value = co_await box_.at(visit.point);
      if (visit.value < here_.value) {
        here_ = visit;
        if (visit.value < best_.value) {
          best_ = visit;
          improved_ = true;
          unimproved_ = 0;
        }
        continue;
      }
      const double qa = 1.0 - options_.acceptance;
      const double inner = 1.0 - qa * (visit.value - here_.value) / level;
      const double probability = inner <= 0.0 ? 0.0 : std::exp(std::log(inner) / qa);
      if (box_.rng().uniform_real() <= probability) {
        here_ = visit;
        candidate_.point = here_.point;
      }
      if (unimproved_ >= patience_ && (j == 0 || here_.value < candidate_.value)) candidate_ = here_;
    }
    co_return 0;
  }

  /// From a new best point, or from where the chain is when nothing has come of it for long.
  Piece<int> descend() {
    if (improved_) {
      Minimum found = co_await minimize(box_, options_.minimizer, best_.point, kRadius);
      if (usable(found) && found.value < best_.value) {
        unimproved_ = 0;
        best_ = here_ = std::move(found);
      }
    }
    if (unimproved_ < patience_) co_return 0;
    Minimum found = co_await minimize(box_, options_.minimizer, candidate_.point, kRadius);
    if (usable(found) && found.value < candidate_.value) candidate_ = std::move(found);
    unimproved_ = 0;
    patience_ = static_cast<int>(box_.dimensions());
    if (candidate_.value < best_.value) best_ = here_ = candidate_;
    co_return 0;
  }

 private:
  bool usable(const Minimum& found) const { return box_.contains(found.point); }

  Box& box_;
  const DualAnnealingOptions& options_;
  Visits visits_;
  Minimum here_;
  Minimum best_;
  Minimum candidate_;
  bool improved_ = true;
  int unimproved_ = 0;
  int patience_;  ///< runs without a new best point, after which a minimum is looked for all the same
};

Piece<int> anneal(Look& look, DualAnnealingOptions options) {
  Box box(look);
  Chain chain(box, options);
  const double q = options.visiting - 1.0;
  const double first = std::exp(q * std::numbers::ln2) - 1.0;
  while (true) {
    co_await chain.start();
    for (int step = 0;; ++step) {
      const double temperature = options.temperature * first / (std::exp(q * std::log(step + 2.0)) - 1.0);
      if (temperature < options.temperature * options.restart_share) break;
      co_await chain.run(step, temperature);
      co_await chain.descend();
    }
  }
}

}  // namespace

std::unique_ptr<SearchStrategy> make_dual_annealing(const ConfigSpace& space, DualAnnealingOptions options) {
  return std::make_unique<SequentialSearch>(space, options, [options](Look& look) { return anneal(look, options); });
}

}  // namespace tensmith
