#include "tensmith/ir/arith/bounds.h"

#include <algorithm>
#include <numeric>

#include "ir/arith/bounds_impl.h"
#include "tensmith/ir/fold.h"
#include "tensmith/ir/visit.h"

namespace tensmith {

namespace {

/// Sum of two widths or extents, both at least 0.
int64_t add_width(int64_t a, int64_t b) {
  int64_t sum = 0;
  return a == kPosInf || b == kPosInf || __builtin_add_overflow(a, b, &sum) ? kPosInf : sum;
}

FormInterval unknown(DataType type) { return {Affine(type), kPosInf}; }

FormInterval narrower(const FormInterval& a, const FormInterval& b) { return b.bounded() && b.width < a.width ? b : a; }

}  // namespace

BoundsOver::BoundsOver(std::span<const VarExtent> inner, const VarRanges& outer)
    : inner_(inner), outer_(outer), all_(&outer) {
  for (const VarExtent& v : inner) all_.push(v.var, Range::of_extent(std::max<int64_t>(v.extent, 1)));
}

bool BoundsOver::is_inner(Expr var) const {
  return std::any_of(inner_.begin(), inner_.end(), [&](const VarExtent& v) { return v.var == var.get(); });
}

bool BoundsOver::uses_inner(Expr e) const {
  if (e.kind() == ExprKind::kVar) return is_inner(e);
  bool found = false;
  for_each_child(e, [&](Expr child) { found = found || uses_inner(child); });
  return found;
}

FormInterval BoundsOver::visit(Expr e) {
  if (!is_index_type(e.type()) || !e.type().is_scalar()) return constant_bounds(e);
  const Affine form = Linearizer(all_).run(e);
  return form.valid() ? visit(form) : constant_bounds(e);
}

FormInterval BoundsOver::visit(const Affine& form) {
  FormInterval out{Affine(form.type(), form.constant()), 0};
  if (!form.valid()) return unknown(form.type());
  for (const LinearTerm& term : form.terms()) {
    const bool is_var = term.atom.kind() == ExprKind::kVar;
    if (is_var ? !is_inner(term.atom) : !uses_inner(term.atom)) {
      out.min.add_term(term.atom, term.coef);
      continue;
    }
    FormInterval part{Affine(form.type()), 0};
    if (is_var) {
      part.width = all_.range(term.atom.as<Var>()).max;
    } else {
      part = visit_atom(term.atom);
      if (!part.bounded()) return unknown(form.type());
    }
    int64_t width = 0;
    if (term.coef == kNegInf || __builtin_mul_overflow(part.width, std::abs(term.coef), &width)) {
      return unknown(form.type());
    }
    out.min.add(part.min, term.coef);
    if (term.coef < 0) out.min.add_constant(part.width, term.coef);
    out.width = add_width(out.width, width);
  }
  return out.min.valid() ? out : unknown(form.type());
}

FormInterval BoundsOver::constant_bounds(Expr e) {
  const Range r = range_of(e, all_);
  int64_t width = 0;
  if (!r.bounded() || r.empty() || __builtin_sub_overflow(r.max, r.min, &width)) return unknown(e.type());
  return {Affine(e.type(), r.min), width};
}

FormInterval BoundsOver::visit_atom(Expr atom) {
  if (const auto* n = atom.as<Binary>()) {
    if (n->op == BinaryOp::kMin || n->op == BinaryOp::kMax) return visit_min_max(*n);
    const auto* divisor = n->b.as<IntImm>();
    if ((n->op == BinaryOp::kDiv || n->op == BinaryOp::kMod) && divisor != nullptr && divisor->value > 0 &&
        !may_wrap(n->a, all_)) {
      return visit_quotient(*n, divisor->value);
    }
  }
  if (const auto* s = atom.as<Select>()) {
    return narrower(hull(visit(s->if_true), visit(s->if_false), outer_), constant_bounds(atom));
  }
  return constant_bounds(atom);
}

FormInterval BoundsOver::visit_quotient(const Binary& n, int64_t divisor) {
  const FormInterval number = visit(n.a);
  const FormInterval constant = constant_bounds(&n);
  if (!number.bounded()) return constant;
  // Where number.min can stand inside a period of `divisor`: at `first`, or at most at `first` when only its remainder
  // by a factor of the divisor is known.
  const Modular m = modular_of(number.min, outer_);
  const int64_t step = std::gcd(m.coef, divisor);
  const int64_t residue = floor_mod(m.base, step);
  const int64_t latest = divisor - step + residue;
  FormInterval out{Affine(n.type), 0};
  Linearizer linearizer(outer_);
  if (n.op == BinaryOp::kDiv) {
    linearizer.add_div(out.min, number.min, divisor, 1);
    if (number.width > kPosInf - divisor) return constant;
    out.width = (latest + number.width) / divisor;
  } else {
    if (number.width >= divisor || latest + number.width >= divisor) {
      // It may pass a multiple of the divisor, and so take any remainder.
      return narrower(FormInterval{Affine(n.type), divisor - 1}, constant);
    }
    linearizer.add_mod(out.min, number.min, divisor, 1);
    out.width = number.width;
  }
  return out.min.valid() ? narrower(out, constant) : constant;
}

FormInterval BoundsOver::visit_min_max(const Binary& n) {
  const FormInterval a = visit(n.a), b = visit(n.b);
  const FormInterval constant = constant_bounds(&n);
  if (!a.bounded() || !b.bounded()) return constant;
  const bool is_min = n.op == BinaryOp::kMin;
  FormInterval out{Affine(n.type), std::max(a.width, b.width)};
  Affine difference = a.min;
  difference.add(b.min, -1);
  if (difference.is_constant()) {
    // b.min = 0: [d, d + a.width] against [0, b.width].
    const int64_t d = difference.constant();
    int64_t a_max = 0;
    if (__builtin_add_overflow(a.width, d, &a_max)) return constant;
    const int64_t low = is_min ? std::min<int64_t>(d, 0) : std::max<int64_t>(d, 0);
    const int64_t high = is_min ? std::min(a_max, b.width) : std::max(a_max, b.width);
    out.min = b.min;
    out.min.add_constant(low);
    out.width = high - low;
    return narrower(out, constant);
  }
  // min(x + i, y + j) - min(x, y) <= max(i, j), and so for max.
  Linearizer(outer_).add(out.min, min_max_expr(n.op, a.min, b.min, outer_), 1);
  return narrower(out, constant);
}

FormInterval hull(const FormInterval& a, const FormInterval& b, const VarRanges& ranges) {
  if (!a.bounded() || !b.bounded() || a.min.type() != b.min.type()) return unknown(a.min.type());
  Affine difference = a.min;  // a.min - b.min
  difference.add(b.min, -1);
  const Range d = range_of(difference, ranges);
  if (!difference.valid() || !d.bounded() || d.empty()) return unknown(a.min.type());
  FormInterval out{Affine(a.min.type()), 0};
  Linearizer(ranges).add(out.min, min_max_expr(BinaryOp::kMin, a.min, b.min, ranges), 1);
  // From b.min to a's end where a starts later, from a.min to b's end where b does.
  const int64_t a_later = add_width(a.width, std::max<int64_t>(d.max, 0));
  const int64_t b_later = add_width(b.width, std::max<int64_t>(d.min == kNegInf ? kPosInf : -d.min, 0));
  out.width = d.min >= 0   ? std::max(a_later, b.width)
              : d.max <= 0 ? std::max(a.width, b_later)
                           : std::max(a_later, b_later);
  return out.width == kPosInf ? unknown(a.min.type()) : out;
}

SymbolicInterval bounds_over(Expr index, std::span<const VarExtent> inner, const VarRanges& outer) {
  const FormInterval out = BoundsOver(inner, outer).visit(index);
  if (!out.bounded()) return {make_int(index.type().element(), 0), kPosInf};
  return {to_expr(out.min), add_width(out.width, 1)};
}

SymbolicInterval hull(const SymbolicInterval& a, const SymbolicInterval& b, const VarRanges& ranges) {
  if (!a.bounded()) return a;
  if (!b.bounded()) return b;
  Linearizer linearizer(ranges);
  const FormInterval out = hull(FormInterval{linearizer.run(a.min), a.extent - 1},
                                FormInterval{linearizer.run(b.min), b.extent - 1}, ranges);
  if (!out.bounded()) return {make_int(a.min.type(), 0), kPosInf};
  return {to_expr(out.min), add_width(out.width, 1)};
}

}  // namespace tensmith
