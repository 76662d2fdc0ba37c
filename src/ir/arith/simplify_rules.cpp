#include "ir/arith/simplifier.h"
#include "tensmith/ir/fold.h"

namespace tensmith {

namespace {

bool is_float_value(Expr e, double value) {
  if (const auto* broadcast = e.as<Broadcast>()) e = broadcast->value;
  const auto* imm = e.as<FloatImm>();
  return imm != nullptr && std::memcmp(&imm->value, &value, sizeof(value)) == 0;
}

/// A vector whose lane i is base + i * stride.
struct Lanes {
  Expr base;
  Expr stride;
  explicit operator bool() const { return static_cast<bool>(base); }
};

Lanes lanes_of(Expr e) {
  if (!e.type().is_integral()) return {};
  if (const auto* ramp = e.as<Ramp>()) return {ramp->base, ramp->stride};
  if (const auto* broadcast = e.as<Broadcast>()) return {broadcast->value, make_int(e.type().element(), 0)};
  return {};
}

/// Every value of `from` is a value of `to`.
bool is_widening(DataType from, DataType to) {
  if (from.is_float() && to.is_float()) return to.code == TypeCode::kFloat && to.bits > from.bits;
  if (from.is_bool()) return true;
  if (!from.is_integral() || !to.is_integral()) return false;
  return from.bits < to.bits && (from.is_uint() || to.is_int());
}

}  // namespace

Expr Simplifier::visit_cast(const Cast& n) {
  const Expr v = visit(n.value);
  if (v.type() == n.type) return v;
  if (Expr folded = fold_cast(n.type, v)) return folded;
  if (const auto* b = v.as<Broadcast>())
    return make_broadcast(visit(make_cast(n.type.element(), b->value)), n.type.lanes);
  if (const auto* inner = v.as<Cast>(); inner != nullptr && is_widening(inner->value.type(), inner->type)) {
    return visit(make_cast(n.type, inner->value));
  }
  if (const auto* r = v.as<Ramp>(); r != nullptr && is_index_type(r->type) && n.type.is_int() &&
                                    n.type.bits > r->type.bits && !may_wrap(v, ranges_)) {
    const DataType element = n.type.element();
    return visit(make_ramp(make_cast(element, r->base), make_cast(element, r->stride), n.type.lanes));
  }
  return v.same_as(n.value) ? Expr(&n) : make_cast(n.type, v);
}

Expr Simplifier::visit_ramp(const Ramp& n) {
  const Expr base = visit(n.base);
  const Expr stride = visit(n.stride);
  if (is_const_int(stride, 0)) return make_broadcast(base, n.type.lanes);
  return base.same_as(n.base) && stride.same_as(n.stride) ? Expr(&n) : make_ramp(base, stride, n.type.lanes);
}

Expr Simplifier::visit_broadcast(const Broadcast& n) {
  const Expr v = visit(n.value);
  return v.same_as(n.value) ? Expr(&n) : make_broadcast(v, n.type.lanes);
}

Expr Simplifier::visit_load(const Load& n) {
  const Array<Expr> indices = map_array(n.indices, [&](Expr i) { return visit(i); });
  Expr predicate = n.predicate ? visit(n.predicate) : n.predicate;
  if (predicate) {
    if (is_const_int(predicate, 0)) return make_const(n.type, 0.0);
    if (is_const_int(predicate, 1)) predicate = {};
  }
  return indices.begin() == n.indices.begin() && predicate.same_as(n.predicate)
             ? Expr(&n)
             : make_load(n.buffer, indices, predicate);
}

/// Arithmetic that has no linear form: floats, vectors, integers that wrap.
Expr Simplifier::visit_arithmetic(const Binary& n) {
  const Expr a = visit(n.a);
  const Expr b = visit(n.b);
  if (Expr folded = fold_binary(n.op, a, b)) return folded;
  if (n.type.is_vector()) {
    if (Expr simpler = vector_rules(n.op, a, b)) return simpler;
  }
  if (Expr simpler = n.type.is_float() ? float_rules(n.op, a, b) : integer_rules(n.op, a, b)) return simpler;
  return a.same_as(n.a) && b.same_as(n.b) ? Expr(&n) : make_binary(n.op, a, b);
}

/// Exact for every value: NaN, infinities and both zeros.
Expr Simplifier::float_rules(BinaryOp op, Expr a, Expr b) {
  switch (op) {
    case BinaryOp::kAdd:
      if (is_float_value(b, -0.0)) return a;
      return is_float_value(a, -0.0) ? b : Expr();
    case BinaryOp::kSub: return is_float_value(b, 0.0) ? a : Expr();
    case BinaryOp::kMul:
      if (is_float_value(b, 1.0)) return a;
      return is_float_value(a, 1.0) ? b : Expr();
    case BinaryOp::kDiv: return is_float_value(b, 1.0) ? a : Expr();
    case BinaryOp::kMin:
    case BinaryOp::kMax: return same_expr(a, b) ? a : Expr();
    default: return {};
  }
}

/// Rules for integers of any type, right under wrapping. Operands are simplified; so is the result.
Expr Simplifier::integer_rules(BinaryOp op, Expr a, Expr b) {
  const DataType type = a.type();
  const bool commutes = op == BinaryOp::kAdd || op == BinaryOp::kMul || op == BinaryOp::kMin || op == BinaryOp::kMax;
  // Constants to the right, and together: (x op c) op d == x op (c op d).
  if (commutes && as_const_int(a)) return integer_rules(op, b, a) ? integer_rules(op, b, a) : make_binary(op, b, a);
  if (const auto* inner = a.as<Binary>(); commutes && inner != nullptr && inner->op == op && as_const_int(b)) {
    if (Expr both = fold_binary(op, inner->b, b)) {
      if (Expr simpler = integer_rules(op, inner->a, both)) return simpler;
      return make_binary(op, inner->a, both);
    }
  }
  switch (op) {
    case BinaryOp::kAdd: return is_const_int(b, 0) ? a : Expr();
    case BinaryOp::kSub:
      if (is_const_int(b, 0)) return a;
      return same_expr(a, b) ? make_int(type, 0) : Expr();
    case BinaryOp::kMul:
      if (is_const_int(b, 0)) return b;
      return is_const_int(b, 1) ? a : Expr();
    case BinaryOp::kDiv: return is_const_int(b, 1) ? a : Expr();
    case BinaryOp::kMod: return is_const_int(b, 1) ? make_int(type, 0) : Expr();
    case BinaryOp::kMin:
    case BinaryOp::kMax: {
      if (same_expr(a, b)) return a;
      const Range ra = range_of(a, ranges_), rb = range_of(b, ranges_);
      if (type.is_uint() && type.bits == 64 && !(ra.bounded() && rb.bounded())) return {};
      if (ra.max <= rb.min) return op == BinaryOp::kMin ? a : b;
      if (rb.max <= ra.min) return op == BinaryOp::kMin ? b : a;
      return {};
    }
    default: return {};
  }
}

/// Ramps and broadcasts: scalar work instead of vector work. Operands are simplified; so is the result.
Expr Simplifier::vector_rules(BinaryOp op, Expr a, Expr b) {
  const int n = a.type().lanes;
  const auto *ba = a.as<Broadcast>(), *bb = b.as<Broadcast>();
  if (ba != nullptr && bb != nullptr) return make_broadcast(binary(op, ba->value, bb->value), n);
  const Lanes la = lanes_of(a), lb = lanes_of(b);
  if (!la || !lb) return {};
  const auto ramp = [&](Expr base, Expr stride) {
    return is_const_int(stride, 0) ? make_broadcast(base, n) : make_ramp(base, stride, n);
  };
  switch (op) {
    case BinaryOp::kAdd:
    case BinaryOp::kSub: return ramp(binary(op, la.base, lb.base), binary(op, la.stride, lb.stride));
    case BinaryOp::kMul:
      if (bb != nullptr) return ramp(binary(op, la.base, bb->value), binary(op, la.stride, bb->value));
      if (ba != nullptr) return ramp(binary(op, ba->value, lb.base), binary(op, ba->value, lb.stride));
      return {};
    default: break;
  }
  // The rest assumes that lanes do not wrap.
  if (!is_index_type(a.type()) || may_wrap(a, ranges_) || may_wrap(b, ranges_)) return {};
  const std::optional<int64_t> sa = as_const_int(la.stride), sb = as_const_int(lb.stride);
  if (!sa || !sb) return {};
  const auto last = [&](const Lanes& l, int64_t stride) {
    return binary(BinaryOp::kAdd, l.base, make_int(l.base.type(), stride * (n - 1)));
  };
  /// The comparison at the first and the last lane; lanes are linear between them.
  const auto at_both_ends = [&](BinaryOp compare) {
    const Tri first = prove(make_binary(compare, la.base, lb.base), ranges_);
    if (first == Tri::kUnknown) return first;
    return prove(make_binary(compare, last(la, *sa), last(lb, *sb)), ranges_) == first ? first : Tri::kUnknown;
  };
  switch (op) {
    case BinaryOp::kDiv:
    case BinaryOp::kMod: {
      const std::optional<int64_t> c = as_const_int(b);
      if (!c || *c <= 0) return {};
      const bool is_div = op == BinaryOp::kDiv;
      const Expr base = binary(op, la.base, bb->value);
      if (*sa % *c == 0) return is_div ? make_ramp(base, make_int(base.type(), *sa / *c), n) : make_broadcast(base, n);
      const Range first = range_of(make_binary(BinaryOp::kMod, la.base, bb->value), ranges_);
      const Range all = hull(first, first + Range::point(*sa * (n - 1)));
      if (!Range::of_extent(*c).contains(all)) return {};
      return is_div ? make_broadcast(base, n) : make_ramp(base, la.stride, n);
    }
    case BinaryOp::kMin:
    case BinaryOp::kMax: {
      const Tri le = at_both_ends(BinaryOp::kLe);
      if (le == Tri::kTrue) return op == BinaryOp::kMin ? a : b;
      if (at_both_ends(BinaryOp::kLt) == Tri::kFalse) return op == BinaryOp::kMin ? b : a;
      return {};
    }
    case BinaryOp::kLt:
    case BinaryOp::kLe: {
      const Tri t = at_both_ends(op);
      return t == Tri::kUnknown ? Expr() : make_int(bool_type(n), t == Tri::kTrue);
    }
    default: return {};
  }
}

}  // namespace tensmith
