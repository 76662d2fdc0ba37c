#include "ir/arith/linearize.h"
#include "tensmith/ir/arith/interval.h"
#include "tensmith/ir/fold.h"

namespace tensmith {

namespace {

constexpr int kMaxDepth = 4;   // nested minima and maxima looked into
constexpr int kMaxProofs = 2;  // one inside the other

Tri negate(Tri t) { return t == Tri::kUnknown ? t : t == Tri::kTrue ? Tri::kFalse : Tri::kTrue; }
Tri truth(bool b) { return b ? Tri::kTrue : Tri::kFalse; }

/// Variables bound by a let, replaced by their values.
Affine expand_lets(const Affine& form, const VarRanges& ranges) {
  bool any = false;
  for (const LinearTerm& term : form.terms()) {
    const auto* var = term.atom.as<Var>();
    const VarRanges::Entry* entry = var != nullptr ? ranges.find(var) : nullptr;
    any = any || (entry != nullptr && entry->value);
  }
  if (!any) return form;
  Affine out(form.type(), form.constant());
  Linearizer linearizer(ranges);
  for (const LinearTerm& term : form.terms()) linearizer.add(out, term.atom, term.coef);
  linearizer.recombine(out);
  return out;
}

/// `form` < 0 for all values, by its range, by one fact, or arm by arm of a minimum or maximum.
bool is_negative(const Affine& form, const VarRanges& ranges, int depth) {
  if (!form.valid()) return false;
  if (range_of(form, ranges).max < 0) return true;
  if (ranges.any_fact([&](const Affine& fact) {
        if (fact.type() != form.type()) return false;
        Affine above = form;  // form <= fact < 0
        above.add(fact, -1);
        return above.valid() && range_of(above, ranges).max <= 0;
      })) {
    return true;
  }
  if (depth == kMaxDepth) return false;
  for (size_t i = 0; i < form.terms().size(); ++i) {
    const LinearTerm term = form.terms()[i];
    const auto* n = term.atom.as<Binary>();
    if (n == nullptr || (n->op != BinaryOp::kMin && n->op != BinaryOp::kMax)) continue;
    const auto with_arm = [&](Expr arm) {
      Affine out = form;
      out.remove_term(i);
      Linearizer linearizer(ranges);
      linearizer.add(out, arm, term.coef);
      linearizer.recombine(out);
      return is_negative(out, ranges, depth + 1);
    };
    // The form is the smaller of the two arms' forms, or the larger.
    const bool smaller = (n->op == BinaryOp::kMin) == (term.coef > 0);
    if (smaller ? with_arm(n->a) || with_arm(n->b) : with_arm(n->a) && with_arm(n->b)) return true;
  }
  return false;
}

Tri prove_comparison(const Binary& n, const VarRanges& ranges) {
  if (!n.a.type().is_integral()) return Tri::kUnknown;
  BinaryOp op = n.op;
  const bool swapped = op == BinaryOp::kGt || op == BinaryOp::kGe;
  const Expr a = swapped ? n.b : n.a;
  const Expr b = swapped ? n.a : n.b;
  if (op == BinaryOp::kGt) op = BinaryOp::kLt;
  if (op == BinaryOp::kGe) op = BinaryOp::kLe;
  const Range ra = range_of(a, ranges);
  const Range rb = range_of(b, ranges);
  // uint64 has values above the largest finite end.
  if (a.type().is_uint() && a.type().bits == 64 && !(ra.bounded() && rb.bounded())) return Tri::kUnknown;
  switch (op) {
    case BinaryOp::kLt:
      if (ra.max < rb.min) return Tri::kTrue;
      if (ra.min >= rb.max) return Tri::kFalse;
      break;
    case BinaryOp::kLe:
      if (ra.max <= rb.min) return Tri::kTrue;
      if (ra.min > rb.max) return Tri::kFalse;
      break;
    default:
      if (ra.max < rb.min || ra.min > rb.max) return truth(op == BinaryOp::kNe);
      if (ra.is_point() && ra == rb) return truth(op == BinaryOp::kEq);
      break;
  }
  if (!is_index_type(a.type()) || !n.type.is_scalar()) return Tri::kUnknown;
  Affine difference(a.type());
  Linearizer linearizer(ranges);
  linearizer.add(difference, a, 1);
  linearizer.add(difference, b, -1);
  linearizer.recombine(difference);
  if (!difference.valid()) return Tri::kUnknown;
  if (op == BinaryOp::kLt) return prove_negative(difference, ranges);
  if (op == BinaryOp::kLe) {
    difference.add_constant(-1);
    return prove_negative(difference, ranges);
  }
  const bool is_eq = op == BinaryOp::kEq;
  if (difference.is_constant()) return truth((difference.constant() == 0) == is_eq);
  Affine opposite(difference.type());
  opposite.add(difference, -1);
  const Tri less = prove_negative(difference, ranges);
  const Tri greater = prove_negative(opposite, ranges);
  if (less == Tri::kTrue || greater == Tri::kTrue) return truth(!is_eq);
  if (less == Tri::kFalse && greater == Tri::kFalse) return truth(is_eq);
  const Modular m = modular_of(difference, ranges);
  return m.coef > 1 && m.base != 0 ? truth(!is_eq) : Tri::kUnknown;
}

}  // namespace

Tri prove_negative(const Affine& original, const VarRanges& ranges) {
  if (!original.valid() || original.wraps()) return Tri::kUnknown;
  if (original.is_constant()) return truth(original.constant() < 0);
  const VarRanges::Proof proof(ranges);
  if (proof.depth() > kMaxProofs) return Tri::kUnknown;
  const Affine form = expand_lets(original, ranges);
  if (!form.valid()) return Tri::kUnknown;
  if (is_negative(form, ranges, 0)) return Tri::kTrue;
  Affine opposite(form.type(), -1);  // form >= 0  <=>  -form - 1 < 0
  opposite.add(form, -1);
  return is_negative(opposite, ranges, 0) ? Tri::kFalse : Tri::kUnknown;
}

Tri prove(Expr condition, const VarRanges& ranges) {
  if (const std::optional<int64_t> c = as_const_int(condition)) return truth(*c != 0);
  if (const auto* n = condition.as<Not>()) return negate(prove(n->value, ranges));
  if (const int known = ranges.known_condition(condition); known >= 0) return truth(known == 1);
  const auto* n = condition.as<Binary>();
  if (n == nullptr) {
    if (const auto* var = condition.as<Var>()) {
      const Range r = ranges.range(var);
      if (r.is_point()) return truth(r.min != 0);
    }
    if (const auto* s = condition.as<Select>()) {
      const Tri a = prove(s->if_true, ranges);
      return a == prove(s->if_false, ranges) ? a : Tri::kUnknown;
    }
    return Tri::kUnknown;
  }
  if (n->op == BinaryOp::kAnd || n->op == BinaryOp::kOr) {
    const Tri dominant = truth(n->op == BinaryOp::kOr);
    const Tri a = prove(n->a, ranges);
    if (a == dominant) return a;
    const Tri b = prove(n->b, ranges);
    if (b == dominant) return b;
    return a == Tri::kUnknown ? a : b;
  }
  return is_comparison(n->op) ? prove_comparison(*n, ranges) : Tri::kUnknown;
}

}  // namespace tensmith
