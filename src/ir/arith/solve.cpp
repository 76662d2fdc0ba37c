#include "ir/arith/bounds_impl.h"
#include "tensmith/ir/arith/bounds.h"
#include "tensmith/ir/arith/simplify.h"
#include "tensmith/ir/visit.h"

namespace tensmith {

namespace {

class Solver {
 public:
  Solver(VarRef v, std::span<const VarExtent> inner, const VarRanges& outer) : v_(v), bounds_(inner, outer, v) {}

  bool visit(Expr condition) {
    if (const auto* negation = condition.as<Not>()) {
      const auto* n = negation->value.as<Binary>();
      if (n == nullptr) return false;
      switch (n->op) {
        case BinaryOp::kLt: return compare(BinaryOp::kGe, n->a, n->b);
        case BinaryOp::kLe: return compare(BinaryOp::kGt, n->a, n->b);
        case BinaryOp::kGt: return compare(BinaryOp::kLe, n->a, n->b);
        case BinaryOp::kGe: return compare(BinaryOp::kLt, n->a, n->b);
        case BinaryOp::kNe: return compare(BinaryOp::kEq, n->a, n->b);
        default: return false;
      }
    }
    const auto* n = condition.as<Binary>();
    if (n == nullptr) return false;
    if (n->op == BinaryOp::kAnd) return visit(n->a) && visit(n->b);
    return is_comparison(n->op) && compare(n->op, n->a, n->b);
  }

  const SolvedRange& result() const { return result_; }

 private:
  bool compare(BinaryOp op, Expr a, Expr b) {
    if (!is_index_type(a.type()) || !a.type().is_scalar()) return false;
    Affine form(a.type());  // a - b
    Linearizer linearizer(bounds_.all());
    linearizer.add(form, a, 1);
    linearizer.add(form, b, -1);
    linearizer.recombine(form);
    if (!form.valid() || form.wraps()) return false;
    switch (op) {
      case BinaryOp::kLt: return negative(form, 1, 0);
      case BinaryOp::kLe: return negative(form, 1, -1);
      case BinaryOp::kGt: return negative(form, -1, 0);
      case BinaryOp::kGe: return negative(form, -1, -1);
      case BinaryOp::kEq: return negative(form, 1, -1) && negative(form, -1, -1);
      default: return false;
    }
  }

  /// sign * form + offset < 0
  bool negative(const Affine& form, int64_t sign, int64_t offset) {
    Affine rest(form.type(), offset);
    rest.add(form, sign);
    const int64_t k = rest.coef(v_);
    if (!rest.valid() || k == kNegInf) return false;
    rest.add_term(v_, -k);
    for (const LinearTerm& term : rest.terms()) {
      if (term.atom.kind() != ExprKind::kVar && uses_var(term.atom, v_)) return false;
    }
    const FormInterval range = bounds_.visit(rest);
    if (!range.bounded()) return false;
    const Affine& least = range.min;
    Affine most = least;
    most.add_constant(range.width);
    if (!most.valid()) return false;
    if (k == 0) {
      // Not about v: holds everywhere, or nowhere.
      if (prove_negative(most, bounds_.outer()) == Tri::kTrue) return true;
      if (prove_negative(least, bounds_.outer()) != Tri::kFalse) return false;
      const Expr zero = make_int(form.type(), 0);
      all_at_least(zero), all_below(zero), any_at_least(zero), any_below(zero);
      return true;
    }
    if (k > 0) {  // v <= floor((-rest - 1) / k)
      all_below(bound(most, -1, -1, k));
      any_below(bound(least, -1, -1, k));
    } else {  // v > floor(rest / -k)
      all_at_least(bound(most, 1, 0, -k));
      any_at_least(bound(least, 1, 0, -k));
    }
    return true;
  }

  /// floor((sign * form + offset) / divisor) + 1
  Expr bound(const Affine& form, int64_t sign, int64_t offset, int64_t divisor) {
    Affine number(form.type(), offset);
    number.add(form, sign);
    Affine out(form.type(), 1);
    Linearizer(bounds_.outer()).add_div(out, number, divisor, 1);
    return to_expr(out);
  }

  void limit(Expr& side, BinaryOp op, Expr value) {
    Linearizer linearizer(bounds_.outer());
    side = side ? min_max_expr(op, linearizer.run(side), linearizer.run(value), bounds_.outer()) : value;
  }
  void all_below(Expr e) { limit(result_.all_end, BinaryOp::kMin, e); }
  void any_below(Expr e) { limit(result_.any_end, BinaryOp::kMin, e); }
  void all_at_least(Expr e) { limit(result_.all_min, BinaryOp::kMax, e); }
  void any_at_least(Expr e) { limit(result_.any_min, BinaryOp::kMax, e); }

  VarRef v_;
  BoundsOver bounds_;
  SolvedRange result_;
};

}  // namespace

std::optional<SolvedRange> solve(Expr condition, VarRef v, std::span<const VarExtent> inner, const VarRanges& outer) {
  Solver solver(v, inner, outer);
  if (!solver.visit(condition)) return std::nullopt;
  return solver.result();
}

Expr condition_for_all(Expr condition, std::span<const VarExtent> inner, const VarRanges& outer) {
  const auto* n = condition.as<Binary>();
  if (n == nullptr || !is_comparison(n->op) || !is_index_type(n->a.type()) || !n->type.is_scalar()) return {};
  const bool swapped = n->op == BinaryOp::kGt || n->op == BinaryOp::kGe;
  const bool inclusive = n->op == BinaryOp::kLe || n->op == BinaryOp::kGe;
  if (!swapped && !inclusive && n->op != BinaryOp::kLt) return {};
  BoundsOver bounds(inner, outer);
  Affine form(n->a.type(), inclusive ? -1 : 0);  // negative where the condition holds
  Linearizer linearizer(bounds.all());
  linearizer.add(form, n->a, swapped ? -1 : 1);
  linearizer.add(form, n->b, swapped ? 1 : -1);
  linearizer.recombine(form);
  if (!form.valid() || form.wraps()) return {};
  FormInterval range = bounds.visit(form);
  if (!range.bounded()) return {};
  range.min.add_constant(range.width);
  if (!range.min.valid()) return {};
  return simplify(make_binary(BinaryOp::kLt, to_expr(range.min), make_int(form.type(), 0)), outer);
}

}  // namespace tensmith
