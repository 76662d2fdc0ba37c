#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "tensmith/ir/arith/interval.h"
#include "tensmith/ir/ir.h"

/// Symbolic regions: what an index covers while some loops run and others stand still, and where a condition holds.

namespace tensmith {

/// A variable that runs over [0, extent).
struct VarExtent {
  VarRef var;
  int64_t extent;
};

/// min <= value < min + extent.
struct SymbolicInterval {
  Expr min;
  int64_t extent = kPosInf;
  /// False when no bound was found (a value read from memory of a wide type): min is then a constant without meaning.
  bool bounded() const { return extent != kPosInf; }
};

/// The values of `index` while the `inner` variables run over their extents: `min` is written in the other variables
/// only, whose ranges `outer` knows. Linear forms are exact; quotients and remainders by constants (fused and then
/// split axes) are exact where the alignment of the outer part is known and else as small as holds for every outer
/// value; minima and maxima are at most as wide as their wider arm. An inner extent below 1 counts as 1.
SymbolicInterval bounds_over(Expr index, std::span<const VarExtent> inner, const VarRanges& outer);

/// The smallest interval found that holds both: exact when the difference of their minima is constant.
SymbolicInterval hull(const SymbolicInterval& a, const SymbolicInterval& b, const VarRanges& ranges);

/// Where a condition holds, as ranges of one variable. An empty Expr is a side without limit.
struct SolvedRange {
  Expr all_min, all_end;  ///< all_min <= v < all_end: holds for all values of the inner variables
  Expr any_min, any_end;  ///< v < any_min or any_end <= v: holds for none of them
};

/// Solves `condition`, a comparison or a conjunction of comparisons, for `v`: the inner variables run over their
/// extents, all others stay symbolic in the result. Empty when some comparison is not linear in `v` with a constant
/// coefficient (or is a `!=`), or does not depend on `v` and is neither proven nor refuted. The all-range is the
/// largest when the condition is one comparison.
std::optional<SolvedRange> solve(Expr condition, VarRef v, std::span<const VarExtent> inner, const VarRanges& outer);

/// A condition in outer variables under which `condition` (a comparison) holds for all values of the inner ones; as
/// weak as bounds_over is tight. Empty for other conditions and where no bound is known.
Expr condition_for_all(Expr condition, std::span<const VarExtent> inner, const VarRanges& outer);

}  // namespace tensmith
