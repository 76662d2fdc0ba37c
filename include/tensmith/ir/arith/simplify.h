#pragma once

#include "tensmith/ir/arith/interval.h"
#include "tensmith/ir/ir.h"

/// Canonical, smaller expressions and statements with the same value.
///
/// Loop variables and indices (int64, int32 after narrowing) are assumed not to overflow, unless they are computed from
/// data. Other integers wrap and get only rules that hold under wrapping. Floating-point values keep every bit, signed
/// zeros included: constants are folded as the interpreter computes them, x*1, x/1, x - 0 and x + (-0) become x.
/// The result is a fixed point: simplifying it again gives the same expression.
///
/// Canonical forms of index expressions: sums collect like terms, positive terms first and the constant last; quotients
/// and remainders by constants are split with the ranges of the variables; comparisons are `<`, `==` or `!=` with
/// positive terms on the left, and the constant on the right (`3 < x` when there is no positive term); constants stand
/// right in min and max.

namespace tensmith {

/// `ranges` says what is known of the variables; see interval.h.
Expr simplify(Expr e, const VarRanges& ranges);
Expr simplify(Expr e);

struct SimplifyOptions {
  /// Keep loops that run once (for analyses that count loops); in their body the variable is 0 all the same.
  bool keep_unit_loops = false;
  /// Replace variables bound by a let to an index expression that reads no data by that expression.
  bool inline_index_lets = false;
};

/// Simplifies a statement and all below it. Loop variables bring their ranges; conditions that hold by the enclosing
/// loops and branches disappear; loops that run once become their body, loops and branches that never run vanish; lets
/// with trivial or unused values are inlined. An empty Stmt comes back when nothing is left to do.
Stmt simplify(Stmt s, const SimplifyOptions& options = {});
/// The same for a part of a program: `scope` holds the loops around it.
Stmt simplify(Stmt s, const VarRanges& scope, const SimplifyOptions& options = {});

}  // namespace tensmith
