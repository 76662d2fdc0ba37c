#pragma once

#include "ir/arith/linearize.h"
#include "tensmith/ir/arith/bounds.h"

namespace tensmith {

/// min <= value <= min + width; width kPosInf: unknown.
struct FormInterval {
  Affine min;
  int64_t width = 0;
  bool bounded() const { return width != kPosInf && min.valid(); }
};

/// Bounds of expressions over inner variables.
class BoundsOver {
 public:
  BoundsOver(std::span<const VarExtent> inner, const VarRanges& outer);
  /// `unknown` is looked at as if nothing were known of it.
  BoundsOver(std::span<const VarExtent> inner, const VarRanges& outer, VarRef unknown) : BoundsOver(inner, outer) {
    all_.push(unknown, Range{});
  }

  FormInterval visit(Expr e);
  FormInterval visit(const Affine& form);
  /// The variables with the inner ones in scope.
  const VarRanges& all() const { return all_; }
  const VarRanges& outer() const { return outer_; }

 private:
  bool is_inner(Expr var) const;
  bool uses_inner(Expr e) const;
  FormInterval visit_atom(Expr atom);
  FormInterval visit_quotient(const Binary& n, int64_t divisor);
  FormInterval visit_min_max(const Binary& n);
  FormInterval constant_bounds(Expr e);

  std::span<const VarExtent> inner_;
  const VarRanges& outer_;
  VarRanges all_;
};

FormInterval hull(const FormInterval& a, const FormInterval& b, const VarRanges& ranges);

}  // namespace tensmith
