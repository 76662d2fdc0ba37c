#include "tensmith/ir/fold.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tensmith/ir/half.h"
#include "tensmith/support/error.h"

namespace tensmith {

namespace {

/// Rounds a wide integer to a format of `mantissa` explicit bits through double without rounding twice: the bits that
/// a double cannot hold are folded into its last one, which keeps every later tie decision right.
double sticky_double(bool negative, uint64_t magnitude) {
  const int width = 64 - std::countl_zero(magnitude | 1);
  if (width > 53) {
    const int drop = width - 53;
    const uint64_t lost = magnitude & ((uint64_t{1} << drop) - 1);
    magnitude = (magnitude >> drop) << drop;
    if (lost != 0) {
      magnitude |= uint64_t{1} << drop;
    }
  }
  const double value = static_cast<double>(magnitude);
  return negative ? -value : value;
}

template <typename T>
bool compare(BinaryOp op, T a, T b) {
  switch (op) {
    case BinaryOp::kEq: return a == b;
    case BinaryOp::kNe: return a != b;
    case BinaryOp::kLt: return a < b;
    case BinaryOp::kLe: return a <= b;
    case BinaryOp::kGt: return a > b;
    case BinaryOp::kGe: return a >= b;
    default: TENSMITH_UNREACHABLE("not a comparison");
  }
}

template <typename T>
T arithmetic(BinaryOp op, T a, T b) {
  switch (op) {
    case BinaryOp::kAdd: return a + b;
    case BinaryOp::kSub: return a - b;
    case BinaryOp::kMul: return a * b;
    case BinaryOp::kDiv: return a / b;
    case BinaryOp::kMin: return a < b ? a : b;
    case BinaryOp::kMax: return a > b ? a : b;
    default: TENSMITH_UNREACHABLE("not a floating-point operation");
  }
}

Expr scalar_of(Expr e) {
  const auto* broadcast = e.as<Broadcast>();
  return broadcast != nullptr ? broadcast->value : e;
}

}  // namespace

std::optional<int64_t> fold_int(BinaryOp op, DataType type, int64_t a, int64_t b) {
  const uint64_t ua = static_cast<uint64_t>(a);
  const uint64_t ub = static_cast<uint64_t>(b);
  const bool is_unsigned = !type.is_int();
  switch (op) {
    case BinaryOp::kAdd: return wrap_int(type, static_cast<int64_t>(ua + ub));
    case BinaryOp::kSub: return wrap_int(type, static_cast<int64_t>(ua - ub));
    case BinaryOp::kMul: return wrap_int(type, static_cast<int64_t>(ua * ub));
    case BinaryOp::kDiv:
      if (b == 0) return std::nullopt;
      return wrap_int(type, is_unsigned ? static_cast<int64_t>(ua / ub) : floor_div(a, b));
    case BinaryOp::kMod:
      if (b == 0) return std::nullopt;
      return wrap_int(type, is_unsigned ? static_cast<int64_t>(ua % ub) : floor_mod(a, b));
    case BinaryOp::kMin: return (is_unsigned ? ua < ub : a < b) ? a : b;
    case BinaryOp::kMax: return (is_unsigned ? ua > ub : a > b) ? a : b;
    case BinaryOp::kAnd: return static_cast<int64_t>(a != 0 && b != 0);
    case BinaryOp::kOr: return static_cast<int64_t>(a != 0 || b != 0);
    default: return static_cast<int64_t>(is_unsigned ? compare(op, ua, ub) : compare(op, a, b));
  }
}

double round_float(DataType type, double value) {
  if (type.code == TypeCode::kBFloat) {
    return static_cast<double>(bfloat16_value(bfloat16_bits(value)));
  }
  switch (type.bits) {
    case 16: return static_cast<double>(float16_value(float16_bits(value)));
    case 32: return static_cast<double>(static_cast<float>(value));
    default: return value;
  }
}

double fold_float(BinaryOp op, DataType type, double a, double b) {
  if (type.bits == 64) {
    return arithmetic(op, a, b);
  }
  const float wide = arithmetic(op, static_cast<float>(a), static_cast<float>(b));
  return type.bits == 32 ? static_cast<double>(wide) : round_float(type, static_cast<double>(wide));
}

bool compare_float(BinaryOp op, double a, double b) { return compare(op, a, b); }

int64_t float_to_int(DataType type, double value) {
  if (type.is_bool()) {
    return value != 0.0;
  }
  if (std::isnan(value)) {
    return 0;
  }
  const double truncated = std::trunc(value);
  if (type.is_int()) {
    const double limit = std::ldexp(1.0, type.bits - 1);
    if (truncated >= limit) return wrap_int(type, std::numeric_limits<int64_t>::max() >> (64 - type.bits));
    if (truncated < -limit) return std::numeric_limits<int64_t>::min() >> (64 - type.bits);
    return static_cast<int64_t>(truncated);
  }
  const double limit = std::ldexp(1.0, type.bits);
  if (truncated >= limit) return wrap_int(type, -1);
  if (truncated <= 0.0) return 0;
  return static_cast<int64_t>(static_cast<uint64_t>(truncated));
}

double int_to_float(DataType from, DataType to, int64_t value) {
  if (to.bits == 64) {
    return from.is_int() ? static_cast<double>(value) : static_cast<double>(static_cast<uint64_t>(value));
  }
  const bool negative = from.is_int() && value < 0;
  const uint64_t bits = static_cast<uint64_t>(value);
  return round_float(to, sticky_double(negative, negative ? 0 - bits : bits));
}

Expr fold_binary(BinaryOp op, Expr a, Expr b) {
  const Expr sa = scalar_of(a);
  const Expr sb = scalar_of(b);
  const int lanes = a.type().lanes;
  const DataType type = sa.type();
  if (const auto* ia = sa.as<IntImm>()) {
    if (const auto* ib = sb.as<IntImm>()) {
      const std::optional<int64_t> value = fold_int(op, type, ia->value, ib->value);
      if (!value) return {};
      return make_int(is_comparison(op) ? bool_type(lanes) : type.with_lanes(lanes), *value);
    }
  }
  if (const auto* fa = sa.as<FloatImm>()) {
    if (const auto* fb = sb.as<FloatImm>()) {
      if (is_comparison(op)) return make_int(bool_type(lanes), compare_float(op, fa->value, fb->value));
      return make_float(type.with_lanes(lanes), fold_float(op, type, fa->value, fb->value));
    }
  }
  return {};
}

Expr fold_cast(DataType type, Expr value) {
  const Expr scalar = scalar_of(value);
  if (const auto* i = scalar.as<IntImm>()) {
    if (type.is_float()) return make_float(type, int_to_float(scalar.type(), type.element(), i->value));
    return make_int(type, i->value);
  }
  if (const auto* f = scalar.as<FloatImm>()) {
    if (type.is_float()) return make_float(type, f->value);
    return make_int(type, float_to_int(type.element(), f->value));
  }
  return {};
}

}  // namespace tensmith
