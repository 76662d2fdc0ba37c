#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "ir/random_ir.h"
#include "tensmith/ir/arith/bounds.h"
#include "tensmith/ir/arith/simplify.h"
#include "tensmith/ir/fold.h"
#include "tensmith/ir/interpret.h"
#include "tensmith/ir/print.h"
#include "tensmith/ir/visit.h"
#include "tensmith/support/rng.h"

namespace tensmith {
namespace {

constexpr size_t kVars = 4;

/// Random index expressions over variables with random ranges, and points inside them.
struct RandomCase {
  explicit RandomCase(uint64_t seed) : random(seed) {
    for (size_t i = 0; i < kVars; ++i) {
      vars[i] = make_var(std::string(1, static_cast<char>('a' + i)));
      Rng& rng = random.rng();
      const int64_t low = rng.bernoulli(0.7) ? 0 : rng.uniform_int(int64_t{-20}, int64_t{20});
      bounds[i] = {low, low + rng.uniform_int(int64_t{0}, int64_t{17})};
      ranges.push(vars[i], bounds[i]);
    }
  }
  std::array<int64_t, kVars> point() {
    std::array<int64_t, kVars> p;
    for (size_t i = 0; i < kVars; ++i) p[i] = random.rng().uniform_int(bounds[i].min, bounds[i].max);
    return p;
  }

  Arena arena;
  ArenaScope scope{arena};
  testing::RandomIr random;
  std::array<VarRef, kVars> vars;
  std::array<Range, kVars> bounds;
  VarRanges ranges;
};

void check_same_value(RandomCase& c, Expr before, Expr after, int points) {
  const ExprEvaluator want(before, c.vars), got(after, c.vars);
  for (int i = 0; i < points; ++i) {
    const auto p = c.point();
    ASSERT_EQ(got.integer(p), want.integer(p)) << to_string(before) << "\nbecame " << to_string(after)
                                               << "\nat a=" << p[0] << " b=" << p[1] << " c=" << p[2] << " d=" << p[3];
  }
}

class RandomExpr : public ::testing::TestWithParam<int> {};

TEST_P(RandomExpr, SimplifyKeepsTheValueAndIsStable) {
  for (uint64_t seed = 0; seed < 400; ++seed) {
    RandomCase c(seed * 7 + static_cast<uint64_t>(GetParam()) * 1000003);
    const Expr e = seed % 2 == 0 ? c.random.index(c.vars, GetParam()) : c.random.condition(c.vars, GetParam());
    const Expr once = simplify(e, c.ranges);
    check_same_value(c, e, once, 20);
    const Expr twice = simplify(once, c.ranges);
    ASSERT_TRUE(same_expr(once, twice)) << to_string(e) << "\nthen " << to_string(once) << "\nthen "
                                        << to_string(twice);
    ASSERT_TRUE(once.same_as(twice)) << "a stable expression is not built again: " << to_string(once);
    if (HasFatalFailure()) return;
  }
}

TEST_P(RandomExpr, RangesAndResiduesHold) {
  for (uint64_t seed = 0; seed < 400; ++seed) {
    RandomCase c(seed * 13 + static_cast<uint64_t>(GetParam()) * 2000003);
    const Expr e = c.random.index(c.vars, GetParam());
    const Range r = range_of(e, c.ranges);
    const Modular m = modular_of(e, c.ranges);
    const ExprEvaluator value(e, c.vars);
    for (int i = 0; i < 20; ++i) {
      const int64_t v = value.integer(c.point());
      ASSERT_TRUE(r.contains(v)) << to_string(e) << " = " << v << " not in " << r.min << ".." << r.max;
      ASSERT_EQ(m.coef == 0 ? v : floor_mod(v, m.coef), m.base) << to_string(e) << " = " << v << " mod " << m.coef;
    }
  }
}

TEST_P(RandomExpr, ProofsHold) {
  for (uint64_t seed = 0; seed < 400; ++seed) {
    RandomCase c(seed * 17 + static_cast<uint64_t>(GetParam()) * 3000017);
    const Expr e = c.random.condition(c.vars, GetParam());
    const Tri t = prove(e, c.ranges);
    if (t == Tri::kUnknown) continue;
    const ExprEvaluator value(e, c.vars);
    for (int i = 0; i < 20; ++i) ASSERT_EQ(value.integer(c.point()) != 0, t == Tri::kTrue) << to_string(e);
  }
}

TEST_P(RandomExpr, BoundsHoldForAllInnerValues) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    RandomCase c(seed * 19 + static_cast<uint64_t>(GetParam()) * 5000011);
    const VarExtent inner[] = {{c.vars[0], c.random.rng().uniform_int(int64_t{1}, int64_t{9})},
                               {c.vars[1], c.random.rng().uniform_int(int64_t{1}, int64_t{9})}};
    const Expr e = c.random.index(c.vars, GetParam());
    const SymbolicInterval interval = bounds_over(e, inner, c.ranges);
    ASSERT_TRUE(interval.bounded()) << to_string(e);
    ASSERT_FALSE(uses_var(interval.min, c.vars[0]) || uses_var(interval.min, c.vars[1])) << to_string(interval.min);
    const ExprEvaluator value(e, c.vars), least(interval.min, c.vars);
    for (int i = 0; i < 10; ++i) {
      auto p = c.point();
      for (p[0] = 0; p[0] < inner[0].extent; ++p[0]) {
        for (p[1] = 0; p[1] < inner[1].extent; ++p[1]) {
          const int64_t v = value.integer(p), low = least.integer(p);
          ASSERT_TRUE(low <= v && v < low + interval.extent)
              << to_string(e) << " = " << v << " not in [" << to_string(interval.min) << " = " << low << ", +"
              << interval.extent << ")";
        }
      }
    }
  }
}

TEST_P(RandomExpr, SolvedRangesHold) {
  int solved = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    RandomCase c(seed * 23 + static_cast<uint64_t>(GetParam()) * 7000003);
    Rng& rng = c.random.rng();
    const VarExtent inner[] = {{c.vars[0], rng.uniform_int(int64_t{1}, int64_t{6})}};
    const VarRef v = c.vars[1];
    const Expr rest = c.random.index(std::span<const VarRef>(c.vars).subspan(2), GetParam() - 1);
    const auto at = [&](VarRef var) {
      return make_binary(BinaryOp::kMul, var, make_index(c.random.pick({-3, -2, -1, 1, 2, 4})));
    };
    const BinaryOp op = c.random.pick({BinaryOp::kLt, BinaryOp::kLe, BinaryOp::kGt, BinaryOp::kGe, BinaryOp::kEq});
    Expr condition = make_binary(op, make_binary(BinaryOp::kAdd, at(v), at(c.vars[0])), rest);
    if (rng.bernoulli(0.4)) {
      condition = make_binary(BinaryOp::kAnd, condition,
                              make_binary(BinaryOp::kGe, make_binary(BinaryOp::kAdd, v, at(c.vars[0])), make_index(0)));
    }
    const std::optional<SolvedRange> range = solve(condition, v, inner, c.ranges);
    if (!range) continue;
    ++solved;
    const ExprEvaluator value(condition, c.vars);
    for (int i = 0; i < 5; ++i) {
      auto p = c.point();
      const auto limit = [&](Expr side, int64_t fallback) {
        return side ? ExprEvaluator(side, c.vars).integer(p) : fallback;
      };
      const int64_t all_min = limit(range->all_min, -1000), all_end = limit(range->all_end, 1000);
      const int64_t any_min = limit(range->any_min, -1000), any_end = limit(range->any_end, 1000);
      for (p[1] = -40; p[1] < 60; ++p[1]) {
        bool all = true, any = false;
        for (p[0] = 0; p[0] < inner[0].extent; ++p[0]) {
          const bool holds = value.integer(p) != 0;
          all = all && holds;
          any = any || holds;
        }
        if (all_min <= p[1] && p[1] < all_end) {
          ASSERT_TRUE(all) << to_string(condition) << " at " << p[1];
        }
        if (p[1] < any_min || p[1] >= any_end) {
          ASSERT_FALSE(any) << to_string(condition) << " at " << p[1];
        }
        // One comparison of a linear form is solved exactly; Eq over an inner variable never holds for all its values.
        if (condition.as<Binary>()->op == BinaryOp::kLt && all) {
          ASSERT_TRUE(all_min <= p[1] && p[1] < all_end) << to_string(condition) << " at " << p[1];
        }
      }
    }
  }
  EXPECT_GT(solved, 200);
}

INSTANTIATE_TEST_SUITE_P(Depth, RandomExpr, ::testing::Values(2, 3, 4));

}  // namespace
}  // namespace tensmith
