#include <gtest/gtest.h>

#include "schedule/check.h"
#include "schedule/programs.h"

/// Hand-picked schedules of the operators that matter, and the odd shapes, against the definition.

namespace tensmith::testing {
namespace {

/// A convolution as the CPU template does it: register tile, weights packed ahead, sums in registers.
Schedule tiled(const ConvProgram& p, int64_t tile_w, int64_t tile_k, int64_t unroll_c, PackWhen when) {
  Schedule s(p.program);
  s[p.pad].compute_inline();
  if (p.bias) s[p.biased].compute_inline();
  const LayoutDim layout[] = {{0, tile_k, 0}, {1, 1, 0}, {2, 1, 0}, {3, 1, 0}, {0, 1, tile_k}};
  const StageId packed = s.layout_transform(p.weights, layout, when);
  const StageId sums = p.bias ? s.stage_of(p.conv) : s.cache_write(s[p.conv], MemoryScope::kLocal);
  StageRef out = s[p.out];
  const AxisId oh = out.axis(2);
  const auto [ko, ki] = out.split(out.axis(1), tile_k);
  const auto [wo, wi] = out.split(out.axis(3), tile_w);
  out.reorder({ko, oh, wo, wi, ki}).vectorize(ki).unroll(wi);
  s.compute_at(sums, out, wo);
  s.set_scope(sums, MemoryScope::kLocal);
  StageRef c = s[sums];
  const auto [co, ci] = c.split(c.reduce_axis(0), unroll_c);
  c.reorder({co, c.reduce_axis(1), c.reduce_axis(2), ci, c.axis(3), c.axis(1)});
  c.unroll(ci).unroll(c.axis(3)).vectorize(c.axis(1));
  c.prefetch(packed, c.reduce_axis(2), co, 1, 2);
  const AxisId f = out.fuse(out.axis(0), ko);
  out.parallel(f);
  return s;
}

TEST(Semantics, TiledConvolutions) {
  const ConvShape shapes[] = {
      {},
      {.c = 4, .h = 8, .w = 8, .k = 8},
      {.c = 5, .h = 7, .w = 11, .k = 9, .stride_h = 2, .stride_w = 2},
      {.c = 3, .h = 9, .w = 10, .k = 6, .dilation_h = 2, .dilation_w = 2, .top = 1, .left = 2, .bottom = 3, .right = 0},
      {.n = 2, .c = 2, .h = 5, .w = 6, .k = 4, .r = 1, .s = 1, .top = 0, .left = 0, .bottom = 0, .right = 0},
      {.c = 1, .h = 1, .w = 1, .k = 1, .r = 1, .s = 1, .top = 0, .left = 0, .bottom = 0, .right = 0},
      {.c = 2, .h = 3, .w = 3, .k = 4, .r = 5, .s = 5, .top = 2, .left = 2, .bottom = 2, .right = 2},
  };
  for (const ConvShape& shape : shapes) {
    for (const bool epilogue : {false, true}) {
      for (const PackWhen when : {PackWhen::kInside, PackWhen::kAhead}) {
        const auto p = conv2d(shape, epilogue);
        expect_same_as_definition(tiled(p, std::min<int64_t>(3, shape.ow()), std::min<int64_t>(4, shape.k),
                                        std::min<int64_t>(2, shape.c), when));
      }
    }
  }
}

TEST(Semantics, PaddingAsAStageComputedAtARow) {
  const auto p = conv2d({.h = 9, .w = 8, .stride_h = 2, .top = 2, .left = 1, .bottom = 0, .right = 3});
  Schedule s(p.program);
  const auto [ho, hi] = s[p.conv].split(s[p.conv].axis(2), 3);
  s[p.conv].reorder({ho, s[p.conv].axis(1), hi});
  s[p.pad].compute_at(s[p.conv], ho);
  s[p.pad].set_scope(MemoryScope::kLocal);
  expect_same_as_definition(s);
}

TEST(Semantics, BlockedMatmulWithPackingAndTails) {
  for (const int64_t n : {1, 5, 16, 19}) {
    const auto p = matmul(n, n + 3, n + 1);
    Schedule s(p.program);
    const auto [ko, ki] = s[p.c].split(p.k, std::min<int64_t>(4, n));
    const LayoutDim layout[] = {{1, 4, 0}, {0, 1, 0}, {1, 1, 4}};
    const StageId packed = s.layout_transform(p.b, layout, PackWhen::kInside);
    const StageId rf = s.rfactor(ko);
    const auto [y, x] = s[p.c].axes<2>();
    auto [yo, xo, yi, xi] = s[p.c].tile(y, x, std::min<int64_t>(3, n), 4);
    s[p.c].reorder({xo, ko, yo, yi, xi}).vectorize(xi);
    s.compute_at(rf, s[p.c], yo);
    s.compute_at(packed, s[p.c], ko);
    s.set_scope(rf, MemoryScope::kLocal);
    s[rf].reorder({s[rf].reduce_axis(0), s[rf].axis(1), s[rf].axis(2)}).unroll(s[rf].axis(1)).vectorize(s[rf].axis(2));
    expect_same_as_definition(s);
  }
}

TEST(Semantics, ReductionOverNothingIsTheIdentity) {
  const auto p = matmul(3, 4, 0);
  Schedule s(p.program);
  expect_same_as_definition(s);
  const auto [ko, ki] = s[p.c].split(p.k, 1);
  s[p.c].reorder({ko, s[p.c].axis(1)});
  expect_same_as_definition(s);
  const Function f = build_loop_nest(s, "f");
  EXPECT_EQ(to_string(f.body).find("+"), std::string::npos) << to_string(f);
}

TEST(Semantics, OutputsWithoutElementsHaveNoStatements) {
  const auto p = chain(0, 4);
  Schedule s(p.program);
  EXPECT_FALSE(build_loop_nest(s, "f").body);
  expect_same_as_definition(s);
  s[p.c].compute_at(s[p.d], s[p.d].axis(0));
  EXPECT_FALSE(build_loop_nest(s, "f").body);
}

TEST(Semantics, MaximumAndMinimum) {
  for (const ReduceOp op : {ReduceOp::kMax, ReduceOp::kMin}) {
    const Tensor a = placeholder("A", {7, 9});
    const Axis k = reduce_axis("k", 9);
    const Tensor c =
        compute("C", {7}, [&](Axis i) { return op == ReduceOp::kMax ? max(a(i, k), {k}) : min(a(i, k), {k}); });
    const Program program = make_program(std::span(&c, 1));
    Schedule s(program);
    const auto [ko, ki] = s[c].split(k, 4);
    const StageId rf = s.rfactor(ki);
    const auto [io, ii] = s[c].split(s[c].axis(0), 3);
    s.compute_at(rf, s[c], io);
    expect_same_as_definition(s);
  }
}

TEST(Semantics, SeveralOutputsAndReaders) {
  const Tensor a = placeholder("A", {10});
  const Tensor b = compute("B", {10}, [&](Axis i) { return a(i) * a(i); });
  const Tensor c = compute("C", {8}, [&](Axis i) { return b(i) + b(Expr(i) + 2); });
  const Tensor d = compute("D", {10}, [&](Axis i) { return b(i) - a(i); });
  const Tensor outputs[] = {c, d};
  const Program program = make_program(outputs);
  Schedule s(program);
  const StageId reader[] = {s.stage_of(c)};
  const StageId cache = s.cache_read(b, MemoryScope::kLocal, reader);
  const auto [io, ii] = s[c].split(s[c].axis(0), 3);
  s.compute_at(cache, s[c], io);
  expect_same_as_definition(s);
}

TEST(Semantics, AScalarResult) {
  const Tensor a = placeholder("A", {13});
  const Axis k = reduce_axis("k", 13);
  const Tensor c = compute("C", {}, [&](std::span<const Axis>) { return sum(a(k), k); });
  const Program program = make_program(std::span(&c, 1));
  Schedule s(program);
  expect_same_as_definition(s);
  const auto [ko, ki] = s[c].split(k, 4);
  const StageId rf = s.rfactor(ki);
  s[rf].reorder({s[rf].reduce_axis(0), s[rf].axis(0)}).vectorize(s[rf].axis(0));
  expect_same_as_definition(s);
}

TEST(Semantics, RegionsThatBeginBeforeTheTensor) {
  const Tensor a = placeholder("A", {19});
  const Tensor b = compute("B", {19}, [&](Axis i) { return a(i) * a(i); });
  const Tensor c = compute("C", {21}, [&](Axis i) {
    const Expr before = Expr(i) - 2;
    return select(logical_and(before >= 0, before < 19), b(before), make_float(kFloat32, 5));
  });
  const Program program = make_program(std::span(&c, 1));
  Schedule s(program);
  const auto [io, ii] = s[c].split(s[c].axis(0), 4);
  s[b].compute_at(s[c], io);
  expect_same_as_definition(s);
  EXPECT_NE(nest_text(s).find(">= 0"), std::string::npos) << nest_text(s);
}

TEST(Semantics, AConditionThatLoadsStandsInsideTheGuardsOfItsIndices) {
  const Tensor a = placeholder("A", {7});
  const Axis k = reduce_axis("k", 10);
  const Tensor c = compute("C", {3}, [&](Axis i) {
    const Expr zero = make_float(kFloat32, 0);
    const Expr x = a(k);
    return sum(select(Expr(k) < 7, select(x > zero, x * cast(kFloat32, Expr(i) + 1), zero), zero), k);
  });
  const Program program = make_program(std::span(&c, 1));
  Schedule s(program);
  expect_same_as_definition(s);
  s[c].split(k, 4);
  expect_same_as_definition(s);
}

TEST(Semantics, AConditionThatLoadsStandsInsideAllConditionsBeforeIt) {
  const Tensor a = placeholder("A", {7});
  const Axis k = reduce_axis("k", 10), l = reduce_axis("l", 10);
  const Tensor c = compute("C", {2}, [&](Axis) {
    const Expr zero = make_float(kFloat32, 0);
    return sum(select(max(Expr(k), Expr(l)) < 7, select(a(k) > zero, a(k), zero), zero), k, l);
  });
  const Program program = make_program(std::span(&c, 1));
  expect_same_as_definition(Schedule(program));
}

TEST(Semantics, AConditionThatReadsAStageStandsInsideTheStage) {
  const Tensor a = placeholder("A", {3, 10});
  const Tensor b = compute("B", {3, 10}, [&](Axis i, Axis k) { return a(i, k) * make_float(kFloat32, 2); });
  const Axis k = reduce_axis("k", 10);
  const Tensor c = compute("C", {3}, [&](Axis i) {
    const Expr zero = make_float(kFloat32, 0);
    return sum(select(b(i, k) > zero, a(i, k), zero), k);
  });
  const Program program = make_program(std::span(&c, 1));
  for (const int64_t factor : {1, 3}) {
    Schedule s(program);
    const auto [ko, ki] = s[c].split(k, factor);
    s[b].compute_at(s[c], ko);
    expect_same_as_definition(s);
    s[b].compute_at(s[c], ki);
    expect_same_as_definition(s);
  }
}

TEST(Semantics, ADivisionThatAConditionMakesSafeStaysInsideIt) {
  const Tensor a = placeholder("A", {12});
  const Axis k = reduce_axis("k", 4), l = reduce_axis("l", 12);
  const Tensor c = compute("C", {2}, [&](Axis) {
    const Expr zero = make_float(kFloat32, 0);
    return sum(select(Expr(k) > 0, select(Expr(l) / Expr(k) > 2, a(l), zero), zero), l, k);
  });
  const Program program = make_program(std::span(&c, 1));
  Schedule s(program);
  expect_same_as_definition(s);
  s[c].reorder({k, l});
  expect_same_as_definition(s);
}

TEST(Semantics, QuotientsOfDataThatWrapsAreLeftAlone) {
  const Tensor a = placeholder("A", {4});
  const Tensor huge = compute("H", {4}, [&](Axis i) { return cast(kInt64, a(i)) * (int64_t{1} << 61); });
  const Tensor c = compute(
      "C", {4}, [&](Axis i) { return select(huge(i) * 8 / 8 < 5, make_float(kFloat32, 1), make_float(kFloat32, 2)); });
  const Program program = make_program(std::span(&c, 1));
  expect_same_as_definition(Schedule(program));
}

TEST(Semantics, APrototypeCanBeCopied) {
  const auto p = conv2d({});
  Schedule prototype(p.program);
  prototype[p.pad].compute_inline();
  for (const int64_t factor : {2, 3, 4}) {
    Schedule s = prototype;
    s[p.conv].split(s[p.conv].axis(3), factor);
    expect_same_as_definition(s);
  }
  EXPECT_EQ(print_trace(prototype), "compute_inline P\n");
}

}  // namespace
}  // namespace tensmith::testing
