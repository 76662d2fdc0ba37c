#pragma once

#include <functional>
#include <limits>
#include <span>
#include <utility>

#include "tensmith/explore/trial.h"

namespace tensmith {

/// The score of a config that cannot become a program. Such a config is never proposed.
inline constexpr float kInfeasible = -std::numeric_limits<float>::infinity();

/// Predicts how good configs are, and learns from results. Bigger is better; the unit is the scorer's own.
class Scorer {
 public:
  virtual ~Scorer() = default;

  /// Learns from the results of a round.
  virtual void learn(std::span<const Observation> results) = 0;
  /// Whether enough was learned for scores to mean something.
  virtual bool ready() const = 0;
  /// scores[i] of configs[i]: finite, or kInfeasible. All 0 or kInfeasible while not ready. May use threads; the
  /// result does not depend on how many, nor on how configs are grouped into calls.
  virtual void score(std::span<const Config> configs, std::span<float> scores) = 0;
};

/// A fixed function as a scorer that has nothing to learn.
class FunctionScorer final : public Scorer {
 public:
  using Function = std::function<void(std::span<const Config> configs, std::span<float> scores)>;
  explicit FunctionScorer(Function function) : function_(std::move(function)) {}

  void learn(std::span<const Observation>) override {}
  bool ready() const override { return true; }
  void score(std::span<const Config> configs, std::span<float> scores) override { function_(configs, scores); }

 private:
  Function function_;
};

}  // namespace tensmith
