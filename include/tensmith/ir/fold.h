#pragma once

#include <cstdint>
#include <optional>

#include "tensmith/ir/ir.h"

/// Arithmetic on constants, exactly as ir.h defines it. The interpreter, the operators of ops.h and the simplifier
/// share these, so that folding never changes a program's meaning.

namespace tensmith {

/// The value that `type` (int, uint or bool) holds after storing `value`: wrapped to its bits. uint64 keeps its bit
/// pattern in the int64.
constexpr int64_t wrap_int(DataType type, int64_t value) {
  if (type.is_bool()) {
    return value != 0;
  }
  if (type.bits >= 64) {
    return value;
  }
  const int unused = 64 - type.bits;
  const uint64_t shifted = static_cast<uint64_t>(value) << unused;
  return type.is_int() ? static_cast<int64_t>(shifted) >> unused : static_cast<int64_t>(shifted >> unused);
}

/// Quotient rounded towards minus infinity; `b` is not zero. The one overflow, lowest / -1, wraps.
constexpr int64_t floor_div(int64_t a, int64_t b) {
  if (b == -1) {
    return static_cast<int64_t>(0 - static_cast<uint64_t>(a));
  }
  const int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

/// Remainder with the sign of `b`; `b` is not zero.
constexpr int64_t floor_mod(int64_t a, int64_t b) {
  if (b == -1) {
    return 0;
  }
  const int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

/// `a op b` for operands of the integral or bool `type`; comparisons give 0 or 1. Empty for a zero divisor.
std::optional<int64_t> fold_int(BinaryOp op, DataType type, int64_t a, int64_t b);

/// `value` rounded to the floating-point `type`.
double round_float(DataType type, double value);

/// `a op b`, an arithmetic operation of the floating-point `type`, rounded to it.
double fold_float(BinaryOp op, DataType type, double a, double b);
/// A comparison of two floating-point values.
bool compare_float(BinaryOp op, double a, double b);

/// Conversions by the rules of ir.h: floats to integers truncate and saturate, NaN gives 0.
int64_t float_to_int(DataType type, double value);
/// An integer of type `from` rounded (once) to the floating-point type `to`.
double int_to_float(DataType from, DataType to, int64_t value);

/// `a op b` when both are constants (broadcasts of constants included), else empty. Operands have the same type.
Expr fold_binary(BinaryOp op, Expr a, Expr b);
/// `value` converted to `type` when it is a constant, else empty. Lanes are equal.
Expr fold_cast(DataType type, Expr value);

}  // namespace tensmith
