#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tensmith/ir/ir.h"

/// Linear forms of index expressions, as loops and regions are made from them.
///
/// The general analyses of ir/arith work on expressions; a candidate's nest is built from numbers instead, so that no
/// expression has to be made, taken apart and simplified again. A form is sum(coef * atom) + constant with atoms in
/// rising order; atoms are loop variables, axes of a stage (whose forms are known), and divisions and modulos that do
/// not dissolve. Forms live in the pool that made them; clear() forgets all and keeps the memory.

namespace tensmith {

struct LinearPart {
  int32_t atom;
  int64_t coef;
};

struct Linear {
  int64_t constant = 0;
  uint32_t begin = 0;
  uint32_t count = 0;
};

/// Closed interval.
struct Interval {
  int64_t lo;
  int64_t hi;
};

/// Values min, min + 1, .. min + range as some loops run; `min` depends on loops further out only.
struct LinearRegion {
  Linear min;
  int64_t range;
};

class LinearPool {
 public:
  /// Range of a region of which nothing is known.
  static constexpr int64_t kUnknown = int64_t{1} << 60;

  void clear();

  /// A loop variable over [0, extent), inside `depth` - 1 others.
  int32_t add_loop(Expr var, int64_t extent, int depth);
  /// An axis: `base` + `offset`, where offset is in [0, extent) and the sum in [0, domain).
  int32_t add_axis(Linear base, Linear offset, int64_t extent, int64_t domain);
  /// Any other integer expression, of which nothing is known.
  int32_t add_opaque(Expr value);

  Linear atom(int32_t id, int64_t coef = 1);
  static Linear constant(int64_t value) { return {value, 0, 0}; }
  Linear add(Linear a, Linear b, int64_t scale_b = 1);
  Linear scale(Linear a, int64_t factor);
  /// Floor division and modulo by a positive constant; what divides comes out, what is known to be small goes away.
  Linear div(Linear a, int64_t divisor);
  Linear mod(Linear a, int64_t divisor);
  /// Without axes: in terms of loops.
  Linear expand(Linear a);
  /// Whether an atom is opaque.
  bool is_opaque(Linear a) const;
  /// The form after `loop` went on by `distance`.
  Linear shift(Linear a, int32_t loop, int64_t distance);
  bool equal(Linear a, Linear b) const;

  Interval interval(Linear a) const;
  /// Values as the loops deeper than `depth` run.
  LinearRegion region(Linear a, int depth);
  /// Depth of the deepest loop that occurs.
  int depth(Linear a) const;
  int atom_depth(int32_t id) const { return atoms_[id].depth; }
  Expr to_expr(Linear a);
  /// Valid until a form is made.
  std::span<const LinearPart> parts(Linear a) const { return {parts_.data() + a.begin, a.count}; }

 private:
  enum class Kind : uint8_t { kLoop, kAxis, kDiv, kMod, kOpaque };
  struct Atom {
    Kind kind;
    int depth;
    Interval interval;
    Linear form;         ///< div, mod: the dividend; axis: the whole
    Linear base;         ///< axis
    Linear offset;       ///< axis
    int64_t number = 0;  ///< div, mod: divisor; axis: extent
    Expr expr;           ///< made on demand for div and mod
  };
  int32_t quotient_atom(Kind kind, Linear dividend, int64_t divisor);
  /// a = g*head + rest with 0 <= rest < g and g a divisor of `divisor`, the largest that can be shown.
  struct Divided {
    Linear head;
    Linear rest;
    int64_t g;
  };
  Divided divide(Linear a, int64_t divisor);
  Expr atom_expr(int32_t id);

  /// Makes room for parts and returns where they begin. What points into parts_ is not valid any more.
  uint32_t room(size_t count) {
    if (used_ + count > parts_.size()) [[unlikely]]
      parts_.resize(2 * (used_ + count));
    return used_;
  }
  /// The parts of `a` with the coefficients that coef_of(part, i) gives, without those that become 0.
  template <typename F>
  Linear pick(Linear a, int64_t constant, F&& coef_of);

  std::vector<Atom> atoms_;
  std::vector<LinearPart> parts_;  ///< the first `used_`
  uint32_t used_ = 0;
};

}  // namespace tensmith
