#pragma once

#include "tensmith/ir/ir.h"

namespace tensmith {

/// Replaces vectorized loops by vector operations; the loop variable becomes ramp(0, 1, extent):
///
///     vectorized x in [0, 8):              C[ramp(y*64, 1, 8)] = A[ramp(y*64, 1, 8)] + broadcast(b, 8)
///       C[y*64 + x] = A[y*64 + x] + b
///
/// A condition that depends on the loop variable becomes the predicate of the accesses it guards (a masked tail). Runs
/// after storage flattening. A let that depends on the lane is replaced by its value; a prefetch asks for the first
/// lane's line. A vectorized loop of extent 1 becomes its body. These run as serial loops, so that none is left marked:
///
/// * an extent that is not constant, below 1 or above 1024;
/// * an allocation inside, or a loop whose extent depends on the lane;
/// * a store to the same element from all lanes;
/// * a let that depends on the lane and reads data, and a condition that does and whose data is stored to below
///   it: they would be read again after the store;
/// * the lane inside an expression that is a vector already.
///
/// Under a condition that depends on the lane, whatever reads data does.
Stmt vectorize_loops(Stmt body);

}  // namespace tensmith
