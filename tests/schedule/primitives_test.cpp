#include <gtest/gtest.h>

#include "schedule/check.h"
#include "schedule/programs.h"
#include "support/golden.h"

/// Every primitive: the loops before and after as golden texts, and the same values as the definition.

namespace tensmith::testing {
namespace {

void check(const std::string& name, const Schedule& schedule) {
  expect_golden("schedule/" + name + ".txt", nest_text(schedule));
  expect_same_as_definition(schedule);
}

TEST(Primitives, NoneGivesTheLoopsOfTheDefinition) {
  const auto p = matmul(4, 6, 5);
  check("none", Schedule(p.program));
}

TEST(Primitives, SplitThatDividesHasNoGuard) {
  const auto p = matmul(8, 6, 5);
  Schedule s(p.program);
  s[p.c].split(s[p.c].axis(0), 4);
  check("split_divides", s);
}

TEST(Primitives, SplitThatDoesNotDivideIsGuardedOutsideTheLoopsInside) {
  const auto p = matmul(10, 6, 5);
  Schedule s(p.program);
  s[p.c].split(s[p.c].axis(0), 4);
  s[p.c].split(p.k, 2);
  check("split_guarded", s);
}

TEST(Primitives, SplitOfASplitNeedsOneGuardWhereOneIsEnough) {
  const auto p = matmul(37, 6, 5);
  Schedule s(p.program);
  const auto [yo, yi] = s[p.c].split(s[p.c].axis(0), 8);
  s[p.c].split(yo, 2);
  s[p.c].split(yi, 3);
  check("split_nested", s);
}

TEST(Primitives, SplitIntoParts) {
  const auto p = matmul(10, 6, 5);
  Schedule s(p.program);
  s[p.c].split_nparts(s[p.c].axis(0), 4);
  check("split_parts", s);
}

TEST(Primitives, TileAsInFigure1) {
  const auto p = matmul(16, 12, 5);
  Schedule s(p.program);
  const auto [y, x] = s[p.c].axes<2>();
  auto [yo, xo, yi, xi] = s[p.c].tile(y, x, 4, 4);
  s[p.c].reorder({yo, xo, p.k, yi, xi});
  check("tile", s);
}

TEST(Primitives, Fuse) {
  const auto p = matmul(4, 6, 5);
  Schedule s(p.program);
  s[p.c].fuse(s[p.c].axis(0), s[p.c].axis(1));
  check("fuse", s);
}

TEST(Primitives, FuseThenSplit) {
  const auto p = matmul(6, 8, 5);
  Schedule s(p.program);
  const AxisId f = s[p.c].fuse(s[p.c].axis(0), s[p.c].axis(1));
  s[p.c].split(f, 4);
  check("fuse_split", s);
}

TEST(Primitives, Reorder) {
  const auto p = matmul(4, 6, 5);
  Schedule s(p.program);
  s[p.c].reorder({p.k, s[p.c].axis(1)});
  check("reorder", s);
}

TEST(Primitives, AnnotationsAreOnTheInitialisationToo) {
  const auto p = matmul(16, 12, 5);
  Schedule s(p.program);
  const auto [y, x] = s[p.c].axes<2>();
  auto [yo, xo, yi, xi] = s[p.c].tile(y, x, 4, 4);
  s[p.c].reorder({yo, xo, p.k, yi, xi}).vectorize(xi).unroll(yi).parallel(yo);
  check("annotations", s);
}

TEST(Primitives, VectorizedLoopOfANonDivisibleSplitKeepsItsGuardInside) {
  const auto p = chain(4, 10);
  Schedule s(p.program);
  s[p.b].compute_inline();
  s[p.c].compute_inline();
  s[p.d].vectorize(s[p.d].split(s[p.d].axis(1), 4).second);
  check("vectorize_guarded", s);
}

TEST(Primitives, ComputeAtShrinksTheBufferToTheRegion) {
  const auto p = chain(16, 12);
  Schedule s(p.program);
  const auto [yo, yi] = s[p.c].split(s[p.c].axis(0), 4);
  s[p.b].compute_at(s[p.c], yo);
  check("compute_at", s);
}

TEST(Primitives, ComputeAtInsideComputeAt) {
  const auto p = chain(16, 12);
  Schedule s(p.program);
  const auto [y, x] = s[p.d].axes<2>();
  auto [yo, xo, yi, xi] = s[p.d].tile(y, x, 4, 6);
  s[p.c].compute_at(s[p.d], xo);
  s[p.b].compute_at(s[p.c], s[p.c].axis(0));
  s[p.b].set_scope(MemoryScope::kLocal);
  check("compute_at_nested", s);
}

TEST(Primitives, ComputeAtWithATailIsGuardedWhereTheProducerIsComputed) {
  const auto p = chain(10, 12);
  Schedule s(p.program);
  const auto [yo, yi] = s[p.c].split(s[p.c].axis(0), 4);
  s[p.b].compute_at(s[p.c], yo);
  check("compute_at_tail", s);
}

TEST(Primitives, ComputeAtThroughFusedAndSplitAxes) {
  const auto p = chain(12, 8);
  Schedule s(p.program);
  const AxisId f = s[p.d].fuse(s[p.d].axis(0), s[p.d].axis(1));
  const auto [fo, fi] = s[p.d].split(f, 4);
  s[p.c].compute_at(s[p.d], fo);
  check("compute_at_fused_split", s);
}

TEST(Primitives, ComputeAtThroughFusedAndUnevenlySplitAxes) {
  const auto p = chain(12, 7);
  Schedule s(p.program);
  const AxisId f = s[p.d].fuse(s[p.d].axis(0), s[p.d].axis(1));
  const auto [fo, fi] = s[p.d].split(f, 5);
  s[p.c].compute_at(s[p.d], fo);
  s[p.b].compute_at(s[p.c], s[p.c].axis(0));
  check("compute_at_fused_uneven", s);
}

TEST(Primitives, ComputeInline) {
  const auto p = chain(4, 6);
  Schedule s(p.program);
  s[p.b].compute_inline();
  s[p.c].compute_inline();
  check("compute_inline", s);
}

TEST(Primitives, ComputeRootUndoesComputeAt) {
  const auto p = chain(4, 6);
  Schedule s(p.program);
  s[p.b].compute_at(s[p.c], s[p.c].axis(0));
  s[p.b].compute_root();
  EXPECT_EQ(nest_text(s), nest_text(Schedule(p.program)));
  expect_same_as_definition(s);
}

TEST(Primitives, ComputeRoot) {
  const auto p = chain(4, 6);
  Schedule s(p.program);
  s[p.b].compute_at(s[p.c], s[p.c].axis(0));
  s[p.c].compute_at(s[p.d], s[p.d].axis(0));
  s[p.c].compute_root();
  check("compute_root", s);
}

TEST(Primitives, Unroll) {
  const auto p = matmul(4, 6, 5);
  Schedule s(p.program);
  s[p.c].unroll(s[p.c].axis(1)).unroll(p.k);
  check("unroll", s);
}

TEST(Primitives, Parallel) {
  const auto p = chain(4, 6);
  Schedule s(p.program);
  s[p.b].compute_at(s[p.c], s[p.c].axis(0));
  s[p.c].parallel(s[p.c].axis(0));
  check("parallel", s);
}

TEST(Primitives, Vectorize) {
  const auto p = matmul(4, 8, 5);
  Schedule s(p.program);
  s[p.c].reorder({p.k, s[p.c].axis(1)}).vectorize(s[p.c].axis(1));
  check("vectorize", s);
}

TEST(Primitives, CacheReadWithChosenReaders) {
  const Tensor a = placeholder("A", {8});
  const Tensor b = compute("B", {8}, [&](Axis i) { return a(i) * a(i); });
  const Tensor c = compute("C", {6}, [&](Axis i) { return b(i) + b(Expr(i) + 2); });
  const Tensor d = compute("D", {8}, [&](Axis i) { return b(i) - a(i); });
  const Tensor outputs[] = {c, d};
  const Program program = make_program(outputs);
  Schedule s(program);
  const StageId readers[] = {s.stage_of(c)};
  const StageId cache = s.cache_read(b, MemoryScope::kLocal, readers);
  s.compute_at(cache, s[c], s[c].axis(0));
  check("cache_read_readers", s);
}

TEST(Primitives, TensorizeOfOneRow) {
  const auto p = matmul(3, 32, 6);
  Schedule s(p.program);
  const auto [y, x] = s[p.c].axes<2>();
  const auto [xo, xi] = s[p.c].split(x, 16);
  s[p.c].reorder({y, xo, p.k, xi});
  s[p.c].tensorize(xi, TensorIntrinsic::kOuterProduct16F32);
  check("tensorize_row", s);
}

TEST(Primitives, PrefetchOfEachPartThatIsRead) {
  const Tensor a = placeholder("A", {64, 64});
  const Tensor c = compute("C", {32, 32}, [&](Axis i, Axis j) { return a(i, j) + a(Expr(i) * 2, Expr(j) + 16); });
  const Program program = make_program(std::span(&c, 1));
  Schedule s(program);
  s[c].prefetch(s.stage_of(a), s[c].axis(0), s[c].axis(0), 1);
  check("prefetch_parts", s);
}

TEST(Primitives, InlinedPaddingIsSkippedNotMultiplied) {
  const auto p = conv2d({});
  Schedule s(p.program);
  s[p.pad].compute_inline();
  check("padding_skipped", s);
}

TEST(Primitives, CacheRead) {
  const auto p = matmul(8, 8, 6);
  Schedule s(p.program);
  const auto [xo, xi] = s[p.c].split(s[p.c].axis(1), 4);
  s[p.c].reorder({xo, s[p.c].axis(0)});
  const StageId cache = s.cache_read(p.b, MemoryScope::kLocal);
  s.compute_at(cache, s[p.c], xo);
  check("cache_read", s);
}

TEST(Primitives, CacheWriteAccumulatesInATile) {
  const auto p = matmul(8, 12, 6);
  Schedule s(p.program);
  const StageId sums = s.cache_write(s[p.c], MemoryScope::kLocal);
  const auto [y, x] = s[p.c].axes<2>();
  auto [yo, xo, yi, xi] = s[p.c].tile(y, x, 4, 4);
  s[p.c].vectorize(xi);
  s.compute_at(sums, s[p.c], xo);
  s[sums].reorder({s[sums].reduce_axis(0), s[sums].axis(0), s[sums].axis(1)});
  s[sums].unroll(s[sums].axis(0)).vectorize(s[sums].axis(1));
  check("cache_write", s);
}

TEST(Primitives, CacheWriteWithTails) {
  const auto p = matmul(7, 10, 6);
  Schedule s(p.program);
  const StageId sums = s.cache_write(s[p.c], MemoryScope::kLocal);
  const auto [y, x] = s[p.c].axes<2>();
  auto [yo, xo, yi, xi] = s[p.c].tile(y, x, 4, 4);
  s.compute_at(sums, s[p.c], xo);
  s[sums].reorder({s[sums].reduce_axis(0), s[sums].axis(0), s[sums].axis(1)});
  check("cache_write_tails", s);
}

TEST(Primitives, EpilogueThatConsumesTheConvolutionTileByTile) {
  const auto p = conv2d({}, true);
  Schedule s(p.program);
  s[p.pad].compute_inline();
  s[p.biased].compute_inline();
  const auto [wo, wi] = s[p.out].split(s[p.out].axis(3), 3);
  s[p.conv].compute_at(s[p.out], wo);
  s[p.conv].set_scope(MemoryScope::kLocal);
  s[p.conv].reorder({p.c, p.r, p.s, s[p.conv].axis(3)});
  check("epilogue", s);
}

TEST(Primitives, SetScope) {
  const auto p = chain(4, 6);
  Schedule s(p.program);
  s[p.b].set_scope(MemoryScope::kShared);
  check("set_scope", s);
}

TEST(Primitives, Rfactor) {
  const auto p = matmul(4, 6, 8);
  Schedule s(p.program);
  const auto [ko, ki] = s[p.c].split(p.k, 4);
  s.rfactor(ko);
  check("rfactor", s);
}

TEST(Primitives, RfactorOfTheInnerPartOfAnUnevenSplit) {
  const auto p = matmul(4, 6, 7);
  Schedule s(p.program);
  const auto [ko, ki] = s[p.c].split(p.k, 4);
  const StageId rf = s.rfactor(ki, 2);
  const auto [ko_outer, lane] = s[rf].split(s[rf].axis(2), 4);
  s[rf].reorder({s[rf].reduce_axis(0), ko_outer, lane}).vectorize(lane);
  EXPECT_EQ(error_of([&] { s[rf].unroll(s[rf].axis(2)); }),
            "unroll 'C_rf.k.1': it was split and is no loop any more (loops of C_rf: y (4), x (6), k.0 (2) reduction, "
            "k.1.0 (1), k.1.1 (4) vectorized)");
  expect_same_as_definition(s);
}

TEST(Primitives, RfactorInsideItsReductionLoopBlocksTheReduction) {
  const auto p = matmul(8, 12, 10);
  Schedule s(p.program);
  const auto [ko, ki] = s[p.c].split(p.k, 4);
  const auto [y, x] = s[p.c].axes<2>();
  const StageId rf = s.rfactor(ko);
  auto [yo, xo, yi, xi] = s[p.c].tile(y, x, 4, 4);
  s[p.c].reorder({yo, xo, ko, yi, xi});
  s.compute_at(rf, s[p.c], ko);
  s.set_scope(rf, MemoryScope::kLocal);
  s[rf].reorder({s[rf].reduce_axis(0), s[rf].axis(1), s[rf].axis(2)});
  check("rfactor_blocked", s);
}

TEST(Primitives, LayoutTransformInside) {
  const auto p = matmul(8, 10, 6);
  Schedule s(p.program);
  const LayoutDim layout[] = {{1, 4, 0}, {0, 1, 0}, {1, 1, 4}};
  const StageId packed = s.layout_transform(p.b, layout, PackWhen::kInside);
  const auto [xo, xi] = s[p.c].split(s[p.c].axis(1), 4);
  s[p.c].reorder({s[p.c].axis(0), xo, p.k, xi});
  s[packed].vectorize(s[packed].axis(2));
  check("layout_inside", s);
}

TEST(Primitives, LayoutTransformAheadMakesAPackFunction) {
  const auto p = conv2d({.c = 5, .k = 6});
  Schedule s(p.program);
  s[p.pad].compute_inline();
  const LayoutDim layout[] = {{0, 4, 0}, {1, 2, 0}, {2, 1, 0}, {3, 1, 0}, {1, 1, 2}, {0, 1, 4}};
  const StageId packed = s.layout_transform(p.weights, layout, PackWhen::kAhead);
  s[packed].parallel(s[packed].axis(0));
  s[p.conv].split(s[p.conv].axis(1), 4);
  s[p.conv].split(p.c, 2);
  check("layout_ahead", s);
}

TEST(Primitives, Tensorize) {
  const auto p = matmul(12, 32, 6);
  Schedule s(p.program);
  const StageId sums = s.cache_write(s[p.c], MemoryScope::kLocal);
  const auto [y, x] = s[p.c].axes<2>();
  auto [yo, xo, yi, xi] = s[p.c].tile(y, x, 6, 16);
  s.compute_at(sums, s[p.c], xo);
  s[sums].reorder({s[sums].reduce_axis(0), s[sums].axis(0), s[sums].axis(1)});
  s[sums].tensorize(s[sums].axis(0), TensorIntrinsic::kOuterProduct16F32);
  check("tensorize", s);
}

TEST(Primitives, PrefetchOfTheNextRowsOfAnOperand) {
  const auto p = matmul(8, 64, 6);
  Schedule s(p.program);
  const auto [y, x] = s[p.c].axes<2>();
  auto [yo, xo, yi, xi] = s[p.c].tile(y, x, 4, 32);
  s[p.c].reorder({yo, xo, p.k, yi, xi});
  s[p.c].prefetch(s.stage_of(p.b), p.k, p.k, 2);
  s[p.c].prefetch(s[p.c], xo, xo, 1, 2);
  check("prefetch", s);
}

TEST(Primitives, PrefetchAheadOfAnEnclosingStagesLoop) {
  const auto p = conv2d({.c = 16, .k = 32});
  Schedule s(p.program);
  s[p.pad].compute_inline();
  const LayoutDim layout[] = {{0, 16, 0}, {1, 1, 0}, {2, 1, 0}, {3, 1, 0}, {0, 1, 16}};
  const StageId packed = s.layout_transform(p.weights, layout, PackWhen::kAhead);
  const StageId sums = s.cache_write(s[p.conv], MemoryScope::kLocal);
  const auto [ko, ki] = s[p.conv].split(s[p.conv].axis(1), 16);
  s[p.conv].reorder({ko, s[p.conv].axis(2), s[p.conv].axis(3), ki});
  s.compute_at(sums, s[p.conv], s[p.conv].axis(2));
  s[sums].reorder(
      {s[sums].reduce_axis(0), s[sums].reduce_axis(1), s[sums].reduce_axis(2), s[sums].axis(3), s[sums].axis(1)});
  s[sums].prefetch(packed, s[sums].reduce_axis(2), ko, 1, 2);
  check("prefetch_enclosing", s);
}

TEST(Primitives, UnitLoopsCanBeLeftOut) {
  const auto p = conv2d({.c = 1, .r = 1, .s = 1, .top = 0, .left = 0, .bottom = 0, .right = 0});
  Schedule s(p.program);
  s[p.pad].compute_inline();
  expect_golden("schedule/unit_loops_dropped.txt", nest_text(s, {.drop_unit_loops = true}));
  expect_same_as_definition(s, {.drop_unit_loops = true});
}

}  // namespace
}  // namespace tensmith::testing
