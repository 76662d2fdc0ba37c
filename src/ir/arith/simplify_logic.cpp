#include <numeric>

#include "ir/arith/simplifier.h"
#include "tensmith/ir/fold.h"

namespace tensmith {

namespace {

BinaryOp mirrored(BinaryOp op) {
  switch (op) {
    case BinaryOp::kGt: return BinaryOp::kLt;
    case BinaryOp::kGe: return BinaryOp::kLe;
    default: return op;
  }
}

bool fits(DataType type, int64_t value) { return wrap_int(type, value) == value; }

/// The terms of one sign as an expression, plus a constant; 0 when there is nothing.
Expr side(const Affine& form, bool positive, int64_t constant) {
  Affine out(form.type(), constant);
  for (const LinearTerm& term : form.terms()) {
    if ((term.coef > 0) == positive) out.add_term(term.atom, positive ? term.coef : -term.coef);
  }
  return to_expr(out);
}

bool has_positive(const Affine& form) {
  for (const LinearTerm& term : form.terms()) {
    if (term.coef > 0) return true;
  }
  return false;
}

int64_t common_factor(const Affine& form) {
  int64_t factor = 0;
  for (const LinearTerm& term : form.terms()) factor = std::gcd(factor, term.coef);
  return factor;
}

/// `form < 0` with all coefficients divided by their common factor, constants rounded to fit.
Affine tightened(const Affine& form) {
  const int64_t factor = common_factor(form);
  if (factor <= 1) return form;
  // factor*t + c < 0  <=>  t <= floor((-c - 1) / factor)
  Affine out(form.type(), -floor_div(-(form.constant() + 1), factor) - 1);
  for (const LinearTerm& term : form.terms()) out.add_term(term.atom, term.coef / factor);
  return out;
}

/// Operands of a chain of one operation, left to right.
using Operands = InlineVector<Expr, 12>;
void flatten(Expr e, BinaryOp op, Operands& out) {
  const auto* n = e.as<Binary>();
  if (n != nullptr && n->op == op) {
    flatten(n->a, op, out);
    flatten(n->b, op, out);
  } else {
    out.push_back(e);
  }
}

}  // namespace

Expr Simplifier::visit_comparison(const Binary& n) {
  const DataType type = n.a.type();
  if (is_index_type(type) && type.is_scalar()) {
    if (Expr canonical = visit_index_comparison(n)) return same_expr(canonical, &n) ? Expr(&n) : canonical;
  }
  // a > b is b < a, NaN included.
  const BinaryOp op = mirrored(n.op);
  const Expr a = visit(op == n.op ? n.a : n.b);
  const Expr b = visit(op == n.op ? n.b : n.a);
  if (Expr folded = fold_binary(op, a, b)) return folded;
  if (type.is_vector()) {
    if (Expr simpler = vector_rules(op, a, b)) return simpler;
  }
  if (type.is_integral()) {
    const bool reflexive = op == BinaryOp::kEq || op == BinaryOp::kLe;
    if (same_expr(a, b)) return make_int(n.type, reflexive);
    const bool wide = type.is_uint() && type.bits == 64;
    const Range ra = range_of(a, ranges_), rb = range_of(b, ranges_);
    if (!wide || (ra.bounded() && rb.bounded())) {
      if (ra.max < rb.min) return make_int(n.type, op != BinaryOp::kEq);
      if (ra.min > rb.max) return make_int(n.type, op == BinaryOp::kNe);
      if (op == BinaryOp::kLe && ra.max <= rb.min) return make_true(n.type.lanes);
      if (op == BinaryOp::kLt && ra.min >= rb.max) return make_false(n.type.lanes);
    }
  }
  const Expr out = op == n.op && a.same_as(n.a) && b.same_as(n.b) ? Expr(&n) : make_binary(op, a, b);
  const int known = n.type.is_scalar() ? ranges_.known_condition(out) : -1;
  return known >= 0 ? make_int(kBool, known) : out;
}

/// Empty when the operands may wrap or have too many terms.
Expr Simplifier::visit_index_comparison(const Binary& n) {
  const DataType type = n.a.type();
  Linearizer lin = linearizer();
  const BinaryOp op = mirrored(n.op);
  Affine form(type);  // a - b
  lin.add(form, op == n.op ? n.a : n.b, 1);
  lin.add(form, op == n.op ? n.b : n.a, -1);
  lin.recombine(form);
  if (!form.valid() || form.wraps()) return {};
  if (op == BinaryOp::kEq || op == BinaryOp::kNe) {
    const Tri equal = prove(make_binary(BinaryOp::kEq, to_expr(form), make_int(type, 0)), ranges_);
    if (equal != Tri::kUnknown) return make_int(kBool, (equal == Tri::kTrue) == (op == BinaryOp::kEq));
    const int64_t factor = common_factor(form);
    if (factor == 0 || form.constant() % factor != 0 || form.constant() == kNegInf) return {};
    Affine reduced(type);
    const int64_t sign = form.terms()[0].coef < 0 ? -factor : factor;
    for (const LinearTerm& term : form.terms()) reduced.add_term(term.atom, term.coef / sign);
    const int64_t right = -(form.constant() / sign);
    if (!reduced.valid() || !fits(type, right)) return {};
    const Expr left = side(reduced, true, 0), other = side(reduced, false, right);
    const int known = ranges_.known_condition(make_binary(BinaryOp::kEq, left, other));
    if (known >= 0) return make_int(kBool, (known == 1) == (op == BinaryOp::kEq));
    return make_binary(op, left, other);
  }
  if (op == BinaryOp::kLe) form.add_constant(-1);
  if (!form.valid() || form.constant() == kPosInf || form.constant() <= kNegInf + 1) return {};
  Tri less = prove_negative(form, ranges_);
  if (less != Tri::kUnknown) return make_int(kBool, less == Tri::kTrue);
  bool changed = false;
  for (Periodic p; form.valid(); changed = true) {
    if (common_factor(form) > 1) {
      form = tightened(form);
    } else if (find_period(form, 0, ranges_, p)) {
      form = p.quotient;  // 8*y + x < 16 with x in [0, 8) says y < 2
    } else {
      break;
    }
    lin.recombine(form);
  }
  if (changed) {
    less = prove_negative(form, ranges_);
    if (less != Tri::kUnknown) return make_int(kBool, less == Tri::kTrue);
  }
  if (!form.valid() || form.constant() == kNegInf || !fits(type, form.constant()) || !fits(type, -form.constant())) {
    return {};
  }
  if (!has_positive(form)) return make_binary(BinaryOp::kLt, make_int(type, form.constant()), side(form, false, 0));
  return make_binary(BinaryOp::kLt, side(form, true, 0), side(form, false, -form.constant()));
}

/// Chains of `and` and `or`. Each operand is simplified where those before it hold (do not hold, for `or`), and dropped
/// when the others decide it.
Expr Simplifier::visit_logic(const Binary& n) {
  const int lanes = n.type.lanes;
  const bool is_and = n.op == BinaryOp::kAnd;
  Operands operands;
  flatten(&n, n.op, operands);
  Operands kept;
  {
    RangeScope scope(ranges_);
    for (Expr operand : operands) {
      const Expr simpler = visit(operand);
      if (const std::optional<int64_t> c = as_const_int(simpler)) {
        if ((*c != 0) != is_and) return make_int(n.type, *c);
        continue;
      }
      // A simplified operand may itself be a chain.
      Operands parts;
      flatten(simpler, n.op, parts);
      for (Expr part : parts) {
        bool repeated = false;
        for (Expr other : kept) repeated = repeated || same_expr(other, part);
        if (repeated) continue;
        kept.push_back(part);
        ranges_.push_fact(part, is_and);
      }
    }
  }
  for (size_t i = 0; lanes == 1 && kept.size() > 1 && i < kept.size();) {
    RangeScope scope(ranges_);
    for (size_t j = 0; j < kept.size(); ++j) {
      if (j != i) ranges_.push_fact(kept[j], is_and);
    }
    if (prove(kept[i], ranges_) == (is_and ? Tri::kTrue : Tri::kFalse)) {
      kept.erase(i);
    } else {
      ++i;
    }
  }
  if (kept.empty()) return make_int(n.type, is_and);
  Expr out = kept[0];
  for (size_t i = 1; i < kept.size(); ++i) {
    Expr joined = lanes > 1 ? vector_rules(n.op, out, kept[i]) : Expr();
    out = joined ? joined : make_binary(n.op, out, kept[i]);
  }
  return same_expr(out, &n) ? Expr(&n) : out;
}

Expr Simplifier::visit_not(const Not& n) {
  const Expr v = visit(n.value);
  if (const std::optional<int64_t> c = as_const_int(v)) return make_int(n.type, *c == 0);
  if (const auto* inner = v.as<Not>()) return inner->value;
  if (const auto* b = v.as<Broadcast>()) return make_broadcast(visit(make_not(b->value)), n.type.lanes);
  if (const auto* compare = v.as<Binary>(); compare != nullptr && is_comparison(compare->op)) {
    const bool total = !compare->a.type().is_float();  // with NaN, not (a < b) is not b <= a
    switch (compare->op) {
      case BinaryOp::kEq: return visit(make_binary(BinaryOp::kNe, compare->a, compare->b));
      case BinaryOp::kNe: return visit(make_binary(BinaryOp::kEq, compare->a, compare->b));
      case BinaryOp::kLt:
        if (total) return visit(make_binary(BinaryOp::kLe, compare->b, compare->a));
        break;
      case BinaryOp::kLe:
        if (total) return visit(make_binary(BinaryOp::kLt, compare->b, compare->a));
        break;
      default: break;
    }
  }
  return v.same_as(n.value) ? Expr(&n) : make_not(v);
}

Expr Simplifier::visit_select(const Select& n) {
  const Expr c = visit(n.condition);
  if (const std::optional<int64_t> known = as_const_int(c)) return visit(*known != 0 ? n.if_true : n.if_false);
  if (const auto* b = c.as<Broadcast>()) return visit(make_select(b->value, n.if_true, n.if_false));
  if (const auto* negation = c.as<Not>()) return visit(make_select(negation->value, n.if_false, n.if_true));
  Expr t, f;
  {
    RangeScope scope(ranges_);
    ranges_.push_fact(c, true);
    t = visit(n.if_true);
  }
  {
    RangeScope scope(ranges_);
    ranges_.push_fact(c, false);
    f = visit(n.if_false);
  }
  if (same_expr(t, f)) return t;
  if (n.type.is_bool() && c.type().lanes == n.type.lanes) {
    if (is_const_int(t, 1) && is_const_int(f, 0)) return c;
    if (is_const_int(t, 0) && is_const_int(f, 1)) return visit(make_not(c));
  }
  return c.same_as(n.condition) && t.same_as(n.if_true) && f.same_as(n.if_false) ? Expr(&n) : make_select(c, t, f);
}

}  // namespace tensmith
