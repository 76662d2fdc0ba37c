#pragma once

#include "tensmith/ir/ir.h"

namespace tensmith {

/// Turns every multi-dimensional access into one index in elements, by the buffer's strides:
///
///     C[y, x] = A[y, k] * B[k, x]        C[y*64 + x] = A[y*32 + k] * B[k*64 + x]
///
/// Buffers keep their shapes. Accesses that have one index already (rank 1) are multiplied by their stride like the
/// others, so the pass must run once only. A rank-0 access gets index 0.
Stmt flatten_storage(Stmt body);

}  // namespace tensmith
