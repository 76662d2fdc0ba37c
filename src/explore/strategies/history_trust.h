#pragma once

#include <cmath>
#include <limits>

#include "tensmith/support/rng.h"

namespace tensmith {

/// Which of two processes a search asks: the one that knows the history, or the one that looks at the results alone.
/// Each is asked in the share of the proposals that is its probability by Bayes' rule, so that a history which is
/// wrong in part costs little, and one that is right is nearly always asked.
class HistoryTrust {
 public:
  /// `odds` are those of the history before there is a result. Until something is judged it is trusted wholly, or not
  /// at all where its trust `is_earned`.
  HistoryTrust(double odds, bool is_earned)
      : prior_(std::log(odds)), evidence_((is_earned ? -1.0 : 1.0) * std::numeric_limits<double>::infinity()) {}

  /// Logarithms of the likelihood of the results, by the process with the history and by the one without.
  void judge(double with, double without) { evidence_ = with - without; }

  /// The probability that the history is right.
  double share() const { return 1.0 / (1.0 + std::exp(-(prior_ + evidence_))); }
  bool asks_history(Rng& rng) const { return rng.uniform_real() < share(); }

 private:
  double prior_;
  double evidence_;
};

}  // namespace tensmith
