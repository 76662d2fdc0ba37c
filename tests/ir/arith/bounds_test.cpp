#include "tensmith/ir/arith/bounds.h"

#include <gtest/gtest.h>

#include <vector>

#include "ir/arith/scope.h"
#include "tensmith/ir/ops.h"

namespace tensmith {
namespace {

using testing::Scope;

class BoundsTest : public ::testing::Test {
 protected:
  BoundsTest() {
    // Outer: a, b unknown, t in [0, 7). Inner: p in [0, 4), q in [0, 3).
    a_ = s_.add("a"), b_ = s_.add("b"), t_ = s_.add("t", Range::of_extent(7));
    inner_ = {{s_.add("p"), 4}, {s_.add("q"), 3}};
    s_.add_buffer("B", kInt64, {16});
    s_.add_buffer("C", int_type(8), {16});
  }
  /// "min +extent"
  std::string bounds(const char* text) {
    const SymbolicInterval i = bounds_over(s_(text), inner_, s_.ranges());
    return i.bounded() ? to_string(i.min) + " +" + std::to_string(i.extent) : "unknown";
  }
  /// "all [min, end) any [min, end)"
  std::string solved(const char* text, VarRef v) {
    const std::optional<SolvedRange> r = solve(s_(text), v, inner_, s_.ranges());
    if (!r) return "none";
    const auto show = [](Expr e) { return e ? to_string(e) : std::string("-"); };
    return show(r->all_min) + " " + show(r->all_end) + " | " + show(r->any_min) + " " + show(r->any_end);
  }
  Scope s_;
  VarRef a_, b_, t_;
  std::vector<VarExtent> inner_;
};

TEST_F(BoundsTest, LinearFormsAreExact) {
  EXPECT_EQ(bounds("a*4 + p"), "a*4 +4");
  EXPECT_EQ(bounds("a*2 + q - 1"), "a*2 - 1 +3");
  EXPECT_EQ(bounds("(a*4 + p)*2 + q - 1"), "a*8 - 1 +9");
  EXPECT_EQ(bounds("a - p"), "a - 3 +4");
  EXPECT_EQ(bounds("a + b"), "a + b +1");
  EXPECT_EQ(bounds("p*2 - q*3 + a"), "a - 6 +13");
  EXPECT_EQ(bounds("7"), "7 +1");
}

TEST_F(BoundsTest, FusedAndThenSplitAxes) {
  // f = a*4 + p over rows of 8: aligned, one row, columns in the half that a says.
  EXPECT_EQ(bounds("(a*4 + p)/8"), "a/2 +1");
  EXPECT_EQ(bounds("(a*4 + p)%8"), "a%2*4 +4");
  // Rows of 12 take three tiles each; rows of 7 are not aligned.
  EXPECT_EQ(bounds("(a*4 + p)/12"), "a/3 +1");
  EXPECT_EQ(bounds("(a*4 + p)/7"), "a*4/7 +2");
  EXPECT_EQ(bounds("(a*4 + p)%7"), "0 +7");
  // Aligned by 2 within rows of 6: at most from 4 on, so at most two rows.
  EXPECT_EQ(bounds("(a*2 + p)/6"), "a/3 +2");
  EXPECT_EQ(bounds("(a*4 + p*2)/3"), "a + a/3 +3");
  // A tile larger than a row.
  EXPECT_EQ(bounds("(a*12 + p*3 + q)/4"), "a*3 +3");
  EXPECT_EQ(bounds("(a*12 + p*3 + q)%4"), "0 +4");
}

TEST_F(BoundsTest, MinimumMaximumAndSelect) {
  EXPECT_EQ(bounds("min(a + p, a + 2)"), "a +3");
  EXPECT_EQ(bounds("max(a + p, a + 2)"), "a + 2 +2");
  EXPECT_EQ(bounds("min(a*4 + p, 12)"), "min(a*4, 12) +4");
  EXPECT_EQ(bounds("max(min(t + q - 1, 6), 0)"), "max(t - 1, 0) +3");
  EXPECT_EQ(bounds("select(a < b, a + p, a + q + 1)"), "a +4");
  EXPECT_EQ(bounds("select(a < b, t, p)"), "0 +7");
  EXPECT_EQ(bounds("select(a < b, a, b + p)"), "unknown");
}

TEST_F(BoundsTest, DataIsBoundedByItsType) {
  EXPECT_EQ(bounds("int64(C[p]) + a"), "a - 128 +256");
  EXPECT_EQ(bounds("B[p]"), "unknown");
  EXPECT_EQ(bounds("B[3] + p"), "B[3] +4");
  EXPECT_EQ(bounds("B[p]%8"), "0 +8");
}

TEST_F(BoundsTest, Hull) {
  const auto both = [&](const char* x, int64_t xe, const char* y, int64_t ye) {
    const SymbolicInterval h = hull(SymbolicInterval{s_(x), xe}, SymbolicInterval{s_(y), ye}, s_.ranges());
    return h.bounded() ? to_string(h.min) + " +" + std::to_string(h.extent) : "unknown";
  };
  EXPECT_EQ(both("a", 3, "a + 2", 4), "a +6");
  EXPECT_EQ(both("a + 2", 4, "a", 3), "a +6");
  EXPECT_EQ(both("a", 9, "a + 2", 4), "a +9");
  EXPECT_EQ(both("a", 2, "a + 8", 1), "a +9");
  EXPECT_EQ(both("a", 2, "b", 1), "unknown");
  EXPECT_EQ(both("t", 2, "3", 1), "min(t, 3) +5");
  EXPECT_EQ(both("a", kPosInf, "a", 1), "unknown");
}

TEST_F(BoundsTest, SolveOneComparison) {
  EXPECT_EQ(solved("a*4 + p < 13", a_), "- 3 | - 4");
  EXPECT_EQ(solved("0 <= a + q - 1", a_), "1 - | -1 -");
  EXPECT_EQ(solved("a + q - 1 < 14", a_), "- 13 | - 15");
  EXPECT_EQ(solved("a*4 + p + b < 13", a_), "- (1 - b)/4 + 3 | - b*-1/4 + 4");
  EXPECT_EQ(solved("b - a*2 - q < 0", a_), "b/2 + 1 - | b/2 -");
  EXPECT_EQ(solved("a == 0", a_), "0 1 | 0 1");
  EXPECT_EQ(solved("a == b + q", a_), "b + 2 b + 1 | b b + 3");
  EXPECT_EQ(solved("not (a < 3)", a_), "3 - | 3 -");
}

TEST_F(BoundsTest, SolveConjunctions) {
  EXPECT_EQ(solved("0 <= a + q - 1 and a + q - 1 < 14", a_), "1 13 | -1 15");
  EXPECT_EQ(solved("a < 5 and a < b", a_), "- min(b, 5) | - min(b, 5)");
  EXPECT_EQ(solved("a < 5 and t < 7", a_), "- 5 | - 5");
  EXPECT_EQ(solved("a < 5 and t < 6", a_), "none") << "t < 6 is neither proven nor refuted";
  EXPECT_EQ(solved("a < 5 and t < 0", a_), "0 0 | 0 0");
}

TEST_F(BoundsTest, WhatCannotBeSolved) {
  for (const char* text :
       {"a != 3", "a/3 < b", "a*b < 3", "min(a, b) < 3", "a < 3 or b < 3", "B[a] < 3", "a + B[0] < 3"}) {
    EXPECT_EQ(solved(text, a_), "none") << text;
  }
}

TEST_F(BoundsTest, ConditionForAllInnerValues) {
  const auto holds = [&](const char* text) {
    const Expr e = condition_for_all(s_(text), inner_, s_.ranges());
    return e ? to_string(e) : std::string("none");
  };
  EXPECT_EQ(holds("a%7*4 + p < 27"), "a%7 < 6");
  EXPECT_EQ(holds("0 <= a%7*4 + p + q - 1"), "0 < a%7");
  EXPECT_EQ(holds("p < 4"), "true");
  EXPECT_EQ(holds("p < 3"), "false");
  EXPECT_EQ(holds("a == p"), "none");
}

}  // namespace
}  // namespace tensmith
