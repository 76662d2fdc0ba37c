#include "tensmith/ir/ops.h"

#include "tensmith/ir/fold.h"
#include "tensmith/support/error.h"

namespace tensmith {

namespace {

/// Gives both operands one type: a literal takes the other's element type, a scalar is broadcast.
void unify(Expr& a, Expr& b) {
  TENSMITH_ICHECK(a && b, "an operator lacks an operand");
  if (a.type() == b.type()) [[likely]] {
    return;
  }
  const auto is_literal = [](Expr e) {
    const auto* broadcast = e.as<Broadcast>();
    return (broadcast != nullptr ? broadcast->value : e).kind() == ExprKind::kIntImm;
  };
  const auto adopt = [](Expr& literal, DataType element) {
    literal = fold_cast(element.with_lanes(literal.type().lanes), literal);
  };
  if (a.type().element() != b.type().element()) {
    if (is_literal(b) && !b.type().is_bool()) {
      adopt(b, a.type().element());
    } else if (is_literal(a) && !a.type().is_bool()) {
      adopt(a, b.type().element());
    }
  }
  if (a.type().lanes != b.type().lanes) {
    if (a.type().is_scalar()) a = make_broadcast(a, b.type().lanes);
    if (b.type().is_scalar()) b = make_broadcast(b, a.type().lanes);
  }
}

bool is_float_one(Expr e) {
  if (const auto* broadcast = e.as<Broadcast>()) e = broadcast->value;
  const auto* imm = e.as<FloatImm>();
  return imm != nullptr && imm->value == 1.0;
}

bool is_one(Expr e) { return e.type().is_float() ? is_float_one(e) : is_const_int(e, 1); }

Expr binary(BinaryOp op, Expr a, Expr b) {
  unify(a, b);
  if (Expr folded = fold_binary(op, a, b)) return folded;
  return make_binary(op, a, b);
}

/// An integer literal of `like`'s type.
Expr literal(Expr like, int64_t value) {
  const DataType type = like.type();
  return type.is_float() ? make_float(type, static_cast<double>(value)) : make_int(type, value);
}

Expr call1(Intrinsic intrinsic, Expr x) { return make_call(intrinsic, std::span<const Expr>(&x, 1)); }

}  // namespace

Expr operator+(Expr a, Expr b) {
  unify(a, b);
  // For floats x + 0 is not neutral: -0 + 0 is +0.
  if (is_const_int(b, 0)) return a;
  if (is_const_int(a, 0)) return b;
  return binary(BinaryOp::kAdd, a, b);
}

Expr operator-(Expr a, Expr b) {
  unify(a, b);
  if (is_const_int(b, 0)) return a;
  return binary(BinaryOp::kSub, a, b);
}

Expr operator*(Expr a, Expr b) {
  unify(a, b);
  if (is_one(b)) return a;
  if (is_one(a)) return b;
  return binary(BinaryOp::kMul, a, b);
}

Expr operator/(Expr a, Expr b) {
  unify(a, b);
  if (is_one(b)) return a;
  return binary(BinaryOp::kDiv, a, b);
}

Expr operator%(Expr a, Expr b) { return binary(BinaryOp::kMod, a, b); }

Expr operator-(Expr a) {
  if (a.type().is_float()) {
    // -x and 0 - x differ for x = +0; -1 * x negates exactly.
    return binary(BinaryOp::kMul, a, literal(a, -1));
  }
  return binary(BinaryOp::kSub, literal(a, 0), a);
}

Expr operator+(Expr a, int64_t b) { return a + literal(a, b); }
Expr operator-(Expr a, int64_t b) { return a - literal(a, b); }
Expr operator*(Expr a, int64_t b) { return a * literal(a, b); }
Expr operator/(Expr a, int64_t b) { return a / literal(a, b); }
Expr operator%(Expr a, int64_t b) { return a % literal(a, b); }

Expr operator<(Expr a, Expr b) { return binary(BinaryOp::kLt, a, b); }
Expr operator<=(Expr a, Expr b) { return binary(BinaryOp::kLe, a, b); }
Expr operator>(Expr a, Expr b) { return binary(BinaryOp::kGt, a, b); }
Expr operator>=(Expr a, Expr b) { return binary(BinaryOp::kGe, a, b); }
Expr operator<(Expr a, int64_t b) { return a < literal(a, b); }
Expr operator<=(Expr a, int64_t b) { return a <= literal(a, b); }
Expr operator>(Expr a, int64_t b) { return a > literal(a, b); }
Expr operator>=(Expr a, int64_t b) { return a >= literal(a, b); }
Expr equal(Expr a, Expr b) { return binary(BinaryOp::kEq, a, b); }
Expr not_equal(Expr a, Expr b) { return binary(BinaryOp::kNe, a, b); }

Expr logical_and(Expr a, Expr b) {
  unify(a, b);
  if (const std::optional<int64_t> x = as_const_int(a)) return *x != 0 ? b : a;
  if (const std::optional<int64_t> y = as_const_int(b)) return *y != 0 ? a : b;
  return make_binary(BinaryOp::kAnd, a, b);
}

Expr logical_or(Expr a, Expr b) {
  unify(a, b);
  if (const std::optional<int64_t> x = as_const_int(a)) return *x != 0 ? a : b;
  if (const std::optional<int64_t> y = as_const_int(b)) return *y != 0 ? b : a;
  return make_binary(BinaryOp::kOr, a, b);
}

Expr logical_not(Expr a) {
  if (const std::optional<int64_t> x = as_const_int(a); x && a.type().is_bool()) return make_int(a.type(), *x == 0);
  if (const auto* inner = a.as<Not>()) return inner->value;
  return make_not(a);
}

Expr min(Expr a, Expr b) { return binary(BinaryOp::kMin, a, b); }
Expr max(Expr a, Expr b) { return binary(BinaryOp::kMax, a, b); }

Expr select(Expr condition, Expr if_true, Expr if_false) {
  unify(if_true, if_false);
  if (condition.type().is_vector() && if_true.type().is_scalar()) {
    if_true = make_broadcast(if_true, condition.type().lanes);
    if_false = make_broadcast(if_false, condition.type().lanes);
  }
  if (const std::optional<int64_t> c = as_const_int(condition)) return *c != 0 ? if_true : if_false;
  return make_select(condition, if_true, if_false);
}

Expr cast(DataType type, Expr value) {
  if (value.type().lanes != type.lanes && value.type().is_scalar()) {
    return make_broadcast(cast(type.element(), value), type.lanes);
  }
  if (value.type() == type) return value;
  if (Expr folded = fold_cast(type, value)) return folded;
  return make_cast(type, value);
}

Expr exp(Expr x) { return call1(Intrinsic::kExp, x); }
Expr sqrt(Expr x) { return call1(Intrinsic::kSqrt, x); }
Expr tanh(Expr x) { return call1(Intrinsic::kTanh, x); }

}  // namespace tensmith
