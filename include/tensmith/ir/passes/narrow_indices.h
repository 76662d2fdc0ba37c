#pragma once

#include "tensmith/ir/ir.h"

namespace tensmith {

/// Turns int64 loop variables, lets and index arithmetic into int32 when interval analysis proves that every
/// intermediate value of them lies in [-2^31, 2^31); otherwise the function stays as it is. All or nothing, so that no
/// conversions are needed inside. Runs after storage flattening.
Stmt narrow_indices(Stmt body);

}  // namespace tensmith
