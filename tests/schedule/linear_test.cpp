#include "schedule/linear.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tensmith/ir/fold.h"
#include "tensmith/ir/interpret.h"
#include "tensmith/ir/print.h"
#include "tensmith/support/rng.h"

namespace tensmith {
namespace {

struct Loops {
  LinearPool pool;
  std::vector<VarRef> vars;
  std::vector<int64_t> extents;
  std::vector<int32_t> atoms;

  int32_t add(std::string_view name, int64_t extent) {
    vars.push_back(make_var(name));
    extents.push_back(extent);
    atoms.push_back(pool.add_loop(vars.back(), extent, static_cast<int>(vars.size())));
    return atoms.back();
  }
  std::string text(Linear form) { return to_string(pool.to_expr(form)); }
};

TEST(Linear, DivisionAndModuloOfATileDissolve) {
  Loops l;
  const int32_t ko = l.add("ko", 4), ki = l.add("ki", 32);
  const Linear k = l.pool.add(l.pool.atom(ko, 32), l.pool.atom(ki));
  EXPECT_EQ(l.text(l.pool.div(k, 32)), "ko");
  EXPECT_EQ(l.text(l.pool.mod(k, 32)), "ki");
  EXPECT_EQ(l.text(l.pool.div(k, 16)), "ko*2 + ki/16");
  EXPECT_EQ(l.text(l.pool.mod(k, 16)), "ki%16");
  EXPECT_EQ(l.text(l.pool.div(k, 64)), "ko/2");
  EXPECT_EQ(l.text(l.pool.mod(k, 64)), "ki + ko%2*32");
  EXPECT_EQ(l.text(l.pool.add(k, k, -1)), "0");
}

TEST(Linear, ExpressionsPutNegativeTermsAndTheConstantLast) {
  Loops l;
  const int32_t a = l.add("a", 4), b = l.add("b", 5);
  Linear form = l.pool.add(l.pool.atom(a, -3), l.pool.atom(b, 2));
  form.constant = -1;
  EXPECT_EQ(l.text(form), "b*2 - a*3 - 1");
  EXPECT_EQ(l.text(l.pool.atom(a, -3)), "a*-3");
}

TEST(Linear, TheSameQuotientIsTheSameAtom) {
  Loops l;
  const int32_t f = l.add("f", 35);
  const Linear a = l.pool.div(l.pool.atom(f), 7);
  const Linear b = l.pool.div(l.pool.atom(f), 7);
  EXPECT_EQ(l.pool.add(a, b, -1).count, 0u);
}

/// A random form of the loops, with quotients inside.
Linear random_form(Loops& l, Rng& rng, int depth) {
  Linear out = LinearPool::constant(rng.uniform_int(-9, 9));
  for (size_t i = 0; i < l.atoms.size(); ++i) {
    if (rng.bernoulli(0.6))
      out = l.pool.add(out, l.pool.atom(l.atoms[i]), rng.uniform_int(-2, 3) * (rng.bernoulli(0.4) ? 4 : 1));
  }
  if (depth > 0) {
    const Linear inner = random_form(l, rng, depth - 1);
    const int64_t divisor = rng.uniform_int(1, 12);
    out = l.pool.add(out, rng.bernoulli(0.5) ? l.pool.div(inner, divisor) : l.pool.mod(inner, divisor),
                     rng.uniform_int(-2, 2));
  }
  return out;
}

void for_all_points(std::span<const int64_t> extents, const std::function<void(std::span<const int64_t>)>& f) {
  std::vector<int64_t> point(extents.size(), 0);
  while (true) {
    f(point);
    size_t i = point.size();
    while (i-- > 0) {
      if (++point[i] < extents[i]) break;
      point[i] = 0;
      if (i == 0) return;
    }
    if (i == SIZE_MAX) return;
  }
}

TEST(Linear, QuotientsIntervalsAndRegionsHoldAtEveryPoint) {
  Rng rng(5);
  for (int round = 0; round < 400; ++round) {
    Loops l;
    for (const char* name : {"a", "b", "c"}) l.add(name, rng.uniform_int(1, 6));
    const Linear form = random_form(l, rng, 2);
    const int64_t divisor = rng.uniform_int(1, 9);
    const ExprEvaluator whole(l.pool.to_expr(form), l.vars);
    const ExprEvaluator quotient(l.pool.to_expr(l.pool.div(form, divisor)), l.vars);
    const ExprEvaluator remainder(l.pool.to_expr(l.pool.mod(form, divisor)), l.vars);
    const ExprEvaluator shifted(l.pool.to_expr(l.pool.shift(form, l.atoms[1], 1)), l.vars);
    const Interval values = l.pool.interval(form);
    const int limit = static_cast<int>(rng.uniform_int(0, 3));
    const LinearRegion region = l.pool.region(form, limit);
    ASSERT_LE(l.pool.depth(region.min), limit);
    const ExprEvaluator low(l.pool.to_expr(region.min), l.vars);
    for_all_points(l.extents, [&](std::span<const int64_t> point) {
      const int64_t v = whole.integer(point);
      ASSERT_EQ(quotient.integer(point), floor_div(v, divisor)) << l.text(form) << " / " << divisor;
      ASSERT_EQ(remainder.integer(point), floor_mod(v, divisor)) << l.text(form) << " % " << divisor;
      ASSERT_TRUE(values.lo <= v && v <= values.hi) << l.text(form);
      const int64_t min = low.integer(point);
      ASSERT_TRUE(min <= v && v <= min + region.range)
          << l.text(form) << " from " << l.text(region.min) << ", range " << region.range << ", value " << v;
      if (point[1] + 1 < l.extents[1]) {
        std::vector<int64_t> next(point.begin(), point.end());
        ++next[1];
        ASSERT_EQ(shifted.integer(point), whole.integer(next)) << l.text(form);
      }
    });
  }
}

TEST(Linear, AnAxisIsBoundedByItsExtentWhateverItsLoopsReach) {
  Loops l;
  const int32_t outer = l.add("o", 3), inner = l.add("i", 4);
  const Linear offset = l.pool.add(l.pool.atom(outer, 4), l.pool.atom(inner));
  const int32_t axis = l.pool.add_axis({}, offset, 10, 10);
  EXPECT_EQ(l.pool.region(l.pool.atom(axis), 0).range, 9);
  EXPECT_EQ(l.pool.interval(l.pool.atom(axis)).hi, 9);
  EXPECT_EQ(l.pool.region(l.pool.atom(axis), 1).range, 3);
  EXPECT_EQ(l.text(l.pool.region(l.pool.atom(axis), 1).min), "o*4");
}

}  // namespace
}  // namespace tensmith
