#pragma once

#include "tensmith/ir/ir.h"

/// Operators on expressions. Integer literals take the type of the other operand; scalars are broadcast to vectors.
/// Nothing is simplified here beyond constant folding of two constants and the neutral elements x+0, x*1 (see
/// ir/arith/simplify.h for the rest).

namespace tensmith {

Expr operator+(Expr a, Expr b);
Expr operator-(Expr a, Expr b);
Expr operator*(Expr a, Expr b);
Expr operator/(Expr a, Expr b);  ///< floor division for integers
Expr operator%(Expr a, Expr b);  ///< floor modulo for integers
Expr operator-(Expr a);
Expr operator+(Expr a, int64_t b);
Expr operator-(Expr a, int64_t b);
Expr operator*(Expr a, int64_t b);
Expr operator/(Expr a, int64_t b);
Expr operator%(Expr a, int64_t b);
Expr operator<(Expr a, Expr b);
Expr operator<=(Expr a, Expr b);
Expr operator>(Expr a, Expr b);
Expr operator>=(Expr a, Expr b);
Expr operator<(Expr a, int64_t b);
Expr operator<=(Expr a, int64_t b);
Expr operator>(Expr a, int64_t b);
Expr operator>=(Expr a, int64_t b);
Expr equal(Expr a, Expr b);
Expr not_equal(Expr a, Expr b);
/// Named functions, since `!e`, `a && b` on handles mean "empty handle" tests. Both operands may be evaluated;
/// constants fold.
Expr logical_and(Expr a, Expr b);
Expr logical_or(Expr a, Expr b);
Expr logical_not(Expr a);
Expr min(Expr a, Expr b);
Expr max(Expr a, Expr b);
Expr select(Expr condition, Expr if_true, Expr if_false);
Expr cast(DataType type, Expr value);
Expr exp(Expr x);
Expr sqrt(Expr x);
Expr tanh(Expr x);

}  // namespace tensmith
