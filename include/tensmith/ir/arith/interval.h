#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "tensmith/ir/arith/affine.h"
#include "tensmith/ir/arith/inline_vector.h"
#include "tensmith/ir/ir.h"

/// Integer ranges, the variables in scope, and proofs about conditions.

namespace tensmith {

inline constexpr int64_t kNegInf = std::numeric_limits<int64_t>::min();
inline constexpr int64_t kPosInf = std::numeric_limits<int64_t>::max();

/// Inclusive range of integers; kNegInf and kPosInf are unbounded ends. min > max: empty (code that never runs).
/// The arithmetic below saturates towards the safe side.
struct Range {
  int64_t min = kNegInf;
  int64_t max = kPosInf;

  bool operator==(const Range&) const = default;
  static constexpr Range point(int64_t v) { return {v, v}; }
  static constexpr Range of_extent(int64_t extent) { return {0, extent - 1}; }
  constexpr bool is_point() const { return min == max; }
  constexpr bool bounded() const { return min != kNegInf && max != kPosInf; }
  constexpr bool empty() const { return min > max; }
  constexpr bool contains(int64_t v) const { return min <= v && v <= max; }
  constexpr bool contains(Range r) const { return min <= r.min && r.max <= max; }
};

Range operator+(Range a, Range b);
Range operator-(Range a, Range b);
Range operator*(Range a, Range b);
Range operator*(Range a, int64_t scale);
Range floor_div(Range a, Range b);  ///< unbounded when the divisor may be 0 or negative
Range floor_mod(Range a, Range b);
Range min(Range a, Range b);
Range max(Range a, Range b);
Range hull(Range a, Range b);
Range intersect(Range a, Range b);

/// Values of an integer or bool type; uint64 has no upper end here.
Range range_of(DataType type);

/// The variables in scope with what is known of them, innermost last, and conditions known to hold. Scopes chain: a
/// VarRanges may stand on a parent that it does not change. Lookups are linear: nests have few variables.
class VarRanges {
 public:
  struct Entry {
    VarRef var;
    Range range;
    Expr value;  ///< of a let that may be expanded in analyses; empty otherwise
    bool wraps;  ///< bound to data
  };
  struct Mark {
    size_t entries, facts, conditions;
  };

  VarRanges() = default;
  explicit VarRanges(const VarRanges* parent) : parent_(parent) {}
  VarRanges(const VarRanges&) = delete;
  VarRanges& operator=(const VarRanges&) = delete;

  /// A variable with a range; hides an earlier one of the same variable.
  void push(VarRef var, Range range) { entries_.push_back({var, intersect(range, range_of(var->type)), {}, false}); }
  /// A loop variable over [0, extent): its range, and `var < extent` as a fact when the extent is no constant.
  void push_loop(VarRef var, Expr extent);
  /// A let: its range, and its value for the analyses.
  void push_let(VarRef var, Expr value);
  /// A scalar condition known to hold (or, with `holds` false, known not to).
  void push_fact(Expr condition, bool holds = true);
  /// The condition of an If around statements: as push_fact, without the parts that read data, which a store may
  /// change.
  void push_branch(Expr condition, bool holds);

  Mark mark() const { return {entries_.size(), facts_.size(), conditions_.size()}; }
  void pop(Mark mark);

  const Entry* find(VarRef var) const;
  /// The range of a variable; of its type when it is not in scope.
  Range range(VarRef var) const;

  /// Whether a fact `g < 0` satisfies `pred(g)`; innermost first.
  template <typename F>
  bool any_fact(F&& pred) const {
    for (size_t i = facts_.size(); i-- > 0;) {
      if (pred(facts_[i])) return true;
    }
    return parent_ != nullptr && parent_->any_fact(pred);
  }
  bool has_facts() const { return !facts_.empty() || (parent_ != nullptr && parent_->has_facts()); }
  /// Whether facts were seen to contradict each other, so that some variable has no value left: code under them never
  /// runs.
  bool contradictory() const;
  /// 1 or 0 when the same condition was pushed as a fact, -1 otherwise.
  int known_condition(Expr condition) const;

  /// A proof that goes on. Proofs use facts, whose ranges may need proofs in turn: that must come to an end.
  class Proof {
   public:
    explicit Proof(const VarRanges& ranges) : ranges_(ranges) { ++ranges_.proofs_; }
    ~Proof() { --ranges_.proofs_; }
    Proof(const Proof&) = delete;
    Proof& operator=(const Proof&) = delete;
    /// How many proofs go on, this one included.
    int depth() const { return ranges_.proofs_; }

   private:
    const VarRanges& ranges_;
  };

 private:
  void add_fact(const Affine& negative, int depth);

  struct Condition {
    Expr expr;
    bool holds;
  };
  const VarRanges* parent_ = nullptr;
  InlineVector<Entry, 24> entries_;
  std::vector<Affine> facts_;  ///< each form is negative
  std::vector<Condition> conditions_;
  mutable int proofs_ = 0;
};

/// Pops what was pushed during its lifetime.
class RangeScope {
 public:
  explicit RangeScope(VarRanges& ranges) : ranges_(ranges), mark_(ranges.mark()) {}
  ~RangeScope() { ranges_.pop(mark_); }
  RangeScope(const RangeScope&) = delete;
  RangeScope& operator=(const RangeScope&) = delete;

 private:
  VarRanges& ranges_;
  VarRanges::Mark mark_;
};

/// The values an integer or bool expression can have; for a vector, the values of all its lanes.
Range range_of(Expr e, const VarRanges& ranges);
Range range_of(const Affine& form, const VarRanges& ranges);

enum class Tri : uint8_t { kFalse, kTrue, kUnknown };

/// Whether a bool expression holds for all values of the variables in scope, for none, or neither is known. Comparisons
/// look at the linear form of the difference: yo*8 + yi < yo*8 + 8 is true when yi is in [0, 8).
Tri prove(Expr condition, const VarRanges& ranges);
/// The same for `form < 0`.
Tri prove_negative(const Affine& form, const VarRanges& ranges);
inline bool can_prove(Expr condition, const VarRanges& ranges) { return prove(condition, ranges) == Tri::kTrue; }

}  // namespace tensmith
