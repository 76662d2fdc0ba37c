#pragma once

#include "tensmith/ir/arith/affine.h"
#include "tensmith/ir/arith/interval.h"

namespace tensmith {

/// Turns integer expressions into linear forms. With a hook, atoms are simplified by it on the way (that is how the
/// simplifier canonicalises sums); without one the expression is only looked at.
class Linearizer {
 public:
  using Hook = Expr (*)(void* self, Expr atom);

  /// For analyses: variables bound by a let stand for their values.
  explicit Linearizer(const VarRanges& ranges) : ranges_(ranges), expand_lets_(true) {}
  /// For the simplifier. `hook` gets every node that is not a sum, product, division or modulo.
  Linearizer(const VarRanges& ranges, Hook hook, void* self) : ranges_(ranges), hook_(hook), self_(self) {}

  /// The linear form of `e`, quotients and remainders put together again where they meet.
  Affine run(Expr e);
  /// out += scale * e, without recombination.
  void add(Affine& out, Expr e, int64_t scale);
  /// Puts quotients and remainders of the same number together, and moves a sum into a minimum or maximum where that
  /// makes an arm constant.
  void recombine(Affine& form);
  /// out += scale * floor(number / divisor), divisor > 0.
  void add_div(Affine& out, const Affine& number, int64_t divisor, int64_t scale);
  /// out += scale * (number mod divisor), divisor > 0.
  void add_mod(Affine& out, const Affine& number, int64_t divisor, int64_t scale);

 private:
  struct Split;
  Split split(const Affine& number, int64_t divisor);
  void add_term(Affine& out, Expr atom, int64_t scale);
  void add_atom(Affine& out, Expr e, int64_t scale);
  void add_product(Affine& out, const Binary& n, int64_t scale);
  void add_quotient(Affine& out, const Binary& n, int64_t scale);
  bool recombine_quotient(Affine& form);
  bool recombine_min_max(Affine& form);

  const VarRanges& ranges_;
  Hook hook_ = nullptr;
  void* self_ = nullptr;
  bool expand_lets_ = false;
};

/// min(a, b) or max(a, b) of linear forms: one of them when that is proven, else a canonical node.
Expr min_max_expr(BinaryOp op, const Affine& a, const Affine& b, const VarRanges& ranges);

/// The common structure of `yo*8 + yi`: form == step * quotient + rest, where rest (terms that `step` does not divide)
/// stays within one period, so that floor(form / step) == quotient.
/// Returns false when no step > 1 that divides `divisor` (any step when divisor is 0) does this.
struct Periodic {
  int64_t step;
  Affine quotient;
  Affine rest;  ///< form - step * quotient, in [0, step)
};
bool find_period(const Affine& form, int64_t divisor, const VarRanges& ranges, Periodic& out);

}  // namespace tensmith
