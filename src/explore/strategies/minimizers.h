#pragma once

#include "explore/strategies/box.h"
#include "tensmith/explore/continuous_search.h"

/// Local minimizers without derivatives of the caller's. All are bounded: on the steps of a box of cells they end after
/// a few hundred looks.

namespace tensmith {

struct Minimum {
  Vector point;
  double value = 0.0;
};

/// From `start`; `radius` is COBYLA's first step.
Piece<Minimum> minimize(Box& box, LocalMinimizer minimizer, Vector start, double radius);

Piece<Minimum> minimize_powell(Box& box, Vector start);
Piece<Minimum> minimize_cobyla(Box& box, Vector start, double radius);
Piece<Minimum> minimize_slsqp(Box& box, Vector start);

}  // namespace tensmith
