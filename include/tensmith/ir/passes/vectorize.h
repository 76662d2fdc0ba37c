#pragma once

#include "tensmith/ir/ir.h"

namespace tensmith {

/// Replaces vectorized loops by vector operations; the loop variable becomes ramp(0, 1, extent):
///
///     vectorized x in [0, 8):              C[ramp(y*64, 1, 8)] = A[ramp(y*64, 1, 8)] + broadcast(b, 8)
///       C[y*64 + x] = A[y*64 + x] + b
///
/// A condition that depends on the loop variable becomes the predicate of the accesses it guards (a masked tail). Runs
/// after storage flattening. A vectorized loop of extent 1 becomes its body; one whose extent is not constant, or whose
/// body holds a loop with an extent or an allocation that depends on the lane, runs as a serial loop.
Stmt vectorize_loops(Stmt body);

}  // namespace tensmith
