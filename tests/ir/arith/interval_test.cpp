#include "tensmith/ir/arith/interval.h"

#include <gtest/gtest.h>

#include <string>

#include "ir/arith/scope.h"
#include "tensmith/ir/fold.h"
#include "tensmith/ir/ops.h"

namespace tensmith {

void PrintTo(Range r, std::ostream* out) { *out << "[" << r.min << ", " << r.max << "]"; }

namespace {

using testing::Scope;

TEST(RangeTest, ArithmeticSaturatesTowardsTheSafeSide) {
  const Range all, low{kNegInf, 5}, high{5, kPosInf}, top = Range::point(kPosInf - 1);
  EXPECT_EQ(low + Range::point(3), (Range{kNegInf, 8}));
  EXPECT_EQ(high - low, (Range{0, kPosInf}));
  EXPECT_EQ(low * -2, (Range{-10, kPosInf}));
  EXPECT_EQ(high * 0, Range::point(0));
  EXPECT_EQ(all + all, all);
  EXPECT_EQ((Range{0, kPosInf} * Range{3, 4}), (Range{0, kPosInf}));
  EXPECT_EQ((low * Range{1, 2}), all);
  // An upper end beyond int64 becomes unbounded; a lower one stays a true bound.
  EXPECT_EQ((top + top).max, kPosInf);
  EXPECT_EQ((top + top).min, kPosInf - 1);
  EXPECT_EQ((Range::point(kNegInf + 1) * 2).min, kNegInf);
  EXPECT_EQ((Range::point(kNegInf + 1) * 2).max, kNegInf + 1);
}

TEST(RangeTest, QuotientsAndRemaindersHoldForAllPairs) {
  for (int64_t a0 = -9; a0 <= 9; a0 += 3) {
    for (int64_t a1 = a0; a1 <= a0 + 11; a1 += 2) {
      for (int64_t b0 : {-5, -2, 1, 2, 5}) {
        for (int64_t b1 = b0; b1 <= b0 + (b0 < 0 ? 1 : 4); ++b1) {
          const Range a{a0, a1}, b{b0, b1}, q = floor_div(a, b), m = floor_mod(a, b);
          for (int64_t x = a0; x <= a1; ++x) {
            for (int64_t y = b0; y <= b1; ++y) {
              if (y == 0) continue;
              ASSERT_TRUE(q.contains(floor_div(x, y))) << x << "/" << y;
              ASSERT_TRUE(m.contains(floor_mod(x, y))) << x << "%" << y;
            }
          }
        }
      }
    }
  }
  EXPECT_EQ(floor_div(Range{-7, 20}, Range::point(4)), (Range{-2, 5}));
  EXPECT_EQ(floor_mod(Range{9, 11}, Range::point(4)), (Range{1, 3}));
  EXPECT_EQ(floor_mod(Range{3, 5}, Range::point(4)), (Range{0, 3}));
  EXPECT_EQ(floor_div(Range{5, kPosInf}, Range{2, kPosInf}), (Range{0, kPosInf}));
  EXPECT_EQ(floor_div(Range{-5, -1}, Range{2, kPosInf}), (Range{-3, -1}));
  EXPECT_EQ(floor_div(Range{0, 8}, Range{0, 4}), Range{});
}

TEST(RangeOfTest, Expressions) {
  Scope s;
  testing::add_common(s);
  s.add("b", {}, int_type(8));
  s.add("u", {}, uint_type(8));
  s.add("w", {}, uint_type(64));
  s.add_buffer("B", int_type(16), {16});
  s.add_buffer("L", kInt64, {16});
  struct Case {
    const char* text;
    Range range;
  };
  const Case cases[] = {
      {"i*4 + j", {0, 31}},
      {"i - i", {0, 0}},
      {"x*8 + i - x*8", {0, 7}},
      {"(i*4 + j)/4", {0, 7}},
      {"x%5", {0, 4}},
      {"x%-5", {-4, 0}},
      {"min(x, 3)", {kNegInf, 3}},
      {"max(x, 3)", {3, kPosInf}},
      {"select(x < 0, i, j + 20)", {0, 23}},
      {"ramp(i, 2, 4)", {0, 13}},
      {"broadcast(i, 4)", {0, 7}},
      {"x < 3", {0, 1}},
      {"B[i]", {-32768, 32767}},
      {"int32(B[i])*2", {-65536, 65534}},
      {"b + 1", {-128, 127}},
      {"b/2", {-64, 63}},
      {"int32(b) + 1", {-127, 128}},
      {"u + 1", {0, 255}},
      {"uint8(i)", {0, 7}},
      {"uint8(k*4)", {0, 255}},
      {"int8(u)", {-128, 127}},
      {"w", {0, kPosInf}},
      {"w + 1", {0, kPosInf}},
      {"int64(w)", {kNegInf, kPosInf}},
      {"max(L[i], 0) + 1", {kNegInf, kPosInf}},  // may wrap
      {"max(x, 0) + 1", {1, kPosInf}},           // an index does not
      {"bool(i + 1)", {1, 1}},
  };
  for (const Case& c : cases) EXPECT_EQ(range_of(s(c.text), s.ranges()), c.range) << c.text;
}

TEST(ProveTest, Conditions) {
  Scope s;
  testing::add_common(s);
  s.add("w", {}, uint_type(64));
  s.add_buffer("B", kInt32, {16});
  const auto holds = [&](const char* text) { return prove(s(text), s.ranges()); };
  for (const char* text : {"x*8 + i < x*8 + 8", "i < 8 and j < 4", "x < 0 or i < 8", "not (i < 0)", "x == x", "i != 8",
                           "min(x, y) <= x", "max(x, y) >= y", "min(x, 3) < 4", "min(i, x) <= max(i, y)",
                           "x*4 != y*2 + 1", "select(x < 0, i, j) < 8", "true", "B[i] <= 2147483647"}) {
    EXPECT_EQ(holds(text), Tri::kTrue) << text;
  }
  for (const char* text :
       {"x*8 + i >= x*8 + 8", "i < 8 and j > 4", "x < x", "i == 8", "not (i < 8)", "x*4 == y*2 + 1"}) {
    EXPECT_EQ(holds(text), Tri::kFalse) << text;
  }
  for (const char* text : {"x < 3", "x < y", "x < 3 and i < 8", "i < 7", "B[i] + 1 > B[i]",
                           "w <= 9223372036854775807u64", "w >= 0u64", "B[i] < 1", "x/0 < 3"}) {
    EXPECT_EQ(holds(text), Tri::kUnknown) << text;
  }
}

TEST(VarRangesTest, ScopesNestAndPop) {
  VarRanges outer;
  const VarRef x = make_var("x");
  outer.push(x, {0, 10});
  VarRanges inner(&outer);
  EXPECT_EQ(inner.range(x), (Range{0, 10}));
  {
    RangeScope scope(inner);
    inner.push_fact(Expr(x) < 4);
    EXPECT_EQ(inner.range(x), (Range{0, 3}));
    EXPECT_TRUE(can_prove(Expr(x) * 2 < 7, inner));
    EXPECT_FALSE(can_prove(Expr(x) * 2 < 7, outer));
  }
  EXPECT_EQ(inner.range(x), (Range{0, 10}));
  EXPECT_FALSE(can_prove(Expr(x) < 4, inner));
  EXPECT_EQ(outer.range(make_var("y", int_type(8))), (Range{-128, 127}));
}

TEST(VarRangesTest, LetsStandForTheirValues) {
  Scope s;
  testing::add_common(s);
  s.add_buffer("B", kInt32, {16});
  const VarRef t = make_var("t"), d = make_var("d", kInt32);
  s.ranges().push_let(t, s("x*8 + i"));
  s.ranges().push_let(d, s("B[i]"));
  EXPECT_TRUE(can_prove(Expr(t) < s("x*8 + 8"), s.ranges()));
  EXPECT_EQ(stride_of(t, s("x").as<Var>(), s.ranges()), 8);
  EXPECT_EQ(prove(Expr(d) + 1 > Expr(d), s.ranges()), Tri::kUnknown);  // data wraps
}

TEST(VarRangesTest, ProofsThatNeedEachOtherEnd) {
  // The range of the bound asks which arm of the inner minimum is less; the fact `w < bound`, whose form holds the
  // bound, is asked for that, and its range is the bound's again.
  Scope s;
  s.add("y", {0, 8});
  const Expr bound = s("max(min(25, 205 - y*25) + y*25 - 200, 0)");
  const VarRef w = make_var("w");
  s.ranges().push_loop(w, bound);
  const Range range = range_of(bound, s.ranges());
  EXPECT_LE(range.min, 0);
  EXPECT_GE(range.max, 5);
  EXPECT_TRUE(can_prove(Expr(w) < bound, s.ranges()));
}

TEST(VarRangesTest, ManyVariablesSpillToTheHeap) {
  VarRanges ranges;
  std::vector<VarRef> vars;
  for (int i = 0; i < 100; ++i) {
    vars.push_back(make_var("v"));
    ranges.push(vars.back(), {i, i + 1});
  }
  for (int i = 0; i < 100; ++i) EXPECT_EQ(ranges.range(vars[static_cast<size_t>(i)]), (Range{i, i + 1}));
}

}  // namespace
}  // namespace tensmith
