#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "tensmith/ir/arith/inline_vector.h"
#include "tensmith/ir/ir.h"

/// Linear forms of integer index expressions, and what follows from them: strides and alignment.

namespace tensmith {

class VarRanges;

/// Integer types whose arithmetic may be assumed not to overflow when it is computed from loop variables: int64, and
/// int32 after narrowing.
constexpr bool is_index_type(DataType t) { return t.is_int() && t.bits >= 32; }

/// Whether the value of `e` depends on data (a load, a call, a narrowing cast), so that arithmetic on it may wrap and
/// rules that assume no overflow must not be used.
bool may_wrap(Expr e);
/// The same where variables may be bound to data by lets in scope.
bool may_wrap(Expr e, const VarRanges& ranges);

/// Whether `e` holds a load.
bool reads_data(Expr e);

/// Whether evaluating `e` where the conditions around it do not hold may be an error: it loads, or divides by what may
/// be zero. It must not move out of them, and not into one `and` with them, which may evaluate both operands.
bool may_fail(Expr e);

/// Same structure, types and variables. Loads are compared by buffer and indices.
bool same_expr(Expr a, Expr b);

/// coef * atom. An atom is a variable or an expression that is not a sum: a division, a modulo, a minimum, a load, ...
struct LinearTerm {
  Expr atom;
  int64_t coef;
};

/// sum(coef_i * atom_i) + constant, with distinct atoms in the order of their first occurrence and no coefficient that
/// is zero or INT64_MIN (so that all can be negated). At most kMaxTerms terms: what needs more, or overflows, becomes
/// invalid and proves nothing.
class Affine {
 public:
  static constexpr size_t kMaxTerms = 12;

  explicit Affine(DataType type = kInt64, int64_t constant = 0) : type_(type), constant_(constant) {}

  DataType type() const { return type_; }
  std::span<const LinearTerm> terms() const { return terms_; }
  int64_t constant() const { return constant_; }
  bool valid() const { return valid_; }
  /// Some atom is data: only rules that hold under wrapping may be used.
  bool wraps() const { return wraps_; }
  bool is_constant() const { return valid_ && terms_.empty(); }
  /// The coefficient of a variable, 0 when it is not a term (it may still occur inside another atom).
  int64_t coef(VarRef var) const;
  /// The only atom, with coefficient 1 and no constant, or an empty Expr.
  Expr single_atom() const;

  void add_term(Expr atom, int64_t coef);
  void add_constant(int64_t value, int64_t scale = 1);
  void add(const Affine& other, int64_t scale = 1);
  void remove_term(size_t i) { terms_.erase(i); }
  void set_wraps() { wraps_ = true; }
  void invalidate() { valid_ = false; }

 private:
  InlineVector<LinearTerm, kMaxTerms> terms_;
  DataType type_;
  bool valid_ = true;
  bool wraps_ = false;
  int64_t constant_;
};

/// The linear form of an integer expression of an index type (scalar). Divisions and modulos by constants are split
/// into the part that divides and the rest, with the ranges of the variables: (yo*8 + yi) / 8 is yo when yi is in [0,
/// 8); (f/7)*7 + f%7 is f. Variables bound by a let are replaced by their values. Empty when the type is not an index
/// type or the form has too many terms or overflows.
std::optional<Affine> to_affine(Expr e, const VarRanges& ranges);

/// The canonical expression of a linear form: positive terms, then negative ones, the constant last.
Expr to_expr(const Affine& form);

/// The change of `index` when `v` grows by one, when that is the same everywhere; empty when it is not or is unknown.
/// Of a vector index (ramp, broadcast) the stride of its first lane.
std::optional<int64_t> stride_of(Expr index, VarRef v, const VarRanges& ranges);

/// value == base (mod coef). coef 0: the value is exactly `base`; coef 1: nothing is known (base is 0).
/// Otherwise 0 <= base < coef.
struct Modular {
  int64_t coef = 1;
  int64_t base = 0;
  bool operator==(const Modular&) const = default;
  /// Whether every value is a multiple of `n` (n > 0).
  bool divisible_by(int64_t n) const { return coef % n == 0 && base % n == 0; }
};

/// What is known of the remainder of an integer expression, from coefficients, lets and single-valued variables.
Modular modular_of(Expr e, const VarRanges& ranges);
Modular modular_of(const Affine& form, const VarRanges& ranges);

}  // namespace tensmith
