#pragma once

#include "tensmith/ir/ir.h"

namespace tensmith {

struct UnrollOptions {
  /// Statements that unrolling may produce in one function, all its loops together; beyond it the program is refused,
  /// since back ends take minutes over such code.
  int64_t max_statements = 20000;
};

/// Replaces unrolled loops of constant extent by copies of their body, in order, the variable replaced by its value:
///
///     unrolled i in [0, 3):                acc[0] = acc[0] + a[0]
///       acc[i] = acc[i] + a[i]             acc[1] = acc[1] + a[1]
///                                          acc[2] = acc[2] + a[2]
///
/// A loop marked unrolled whose extent is not constant stays a serial loop. Throws UserError when the limit is reached.
Stmt unroll_loops(Stmt body, const UnrollOptions& options = {});

}  // namespace tensmith
