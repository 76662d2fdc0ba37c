#include <gtest/gtest.h>

#include <functional>

#include "schedule/check.h"
#include "schedule/programs.h"

/// Illegal primitives: what they say, and that they leave the schedule as it was.

namespace tensmith::testing {
namespace {

std::string refused(Schedule& s, const std::function<void()>& primitive) {
  const std::string before = s.describe() + print_trace(s);
  const std::string message = error_of(primitive);
  EXPECT_EQ(s.describe() + print_trace(s), before);
  return message;
}

struct Errors : ::testing::Test {
  MatmulProgram p = matmul(8, 6, 4);
  Schedule s{p.program};
  StageRef c = s[p.c];
  AxisId y = c.axis(0), x = c.axis(1), k = c.reduce_axis(0);
};

TEST_F(Errors, Split) {
  EXPECT_EQ(refused(s, [&] { c.split(y, 0); }),
            "split 'C.y': factor 0 is below 1 (loops of C: y (8), x (6), k (4) reduction)");
  EXPECT_EQ(refused(s, [&] { c.split(y, 9); }),
            "split 'C.y': factor 9 is larger than the loop's extent 8 (loops of C: y (8), x (6), k (4) reduction)");
  EXPECT_EQ(
      refused(s, [&] { c.split_nparts(y, 9); }),
      "split 'C.y': number of parts 9 is larger than the loop's extent 8 (loops of C: y (8), x (6), k (4) reduction)");
  const auto [yo, yi] = c.split(y, 4);
  EXPECT_EQ(refused(s, [&] { c.split(y, 2); }),
            "split 'C.y': it was split and is no loop any more (loops of C: y.0 (2), y.1 (4), x (6), k (4) reduction)");
  c.unroll(yi);
  EXPECT_EQ(refused(s, [&] { c.split(yi, 2); }),
            "split 'C.y.1': it is unrolled already (loops of C: y.0 (2), y.1 (4) unrolled, x (6), k (4) reduction)");
  EXPECT_EQ(refused(s,
                    [&] {
                      s.split({c.id(), 77}, 2);
                    }),
            "split 'C': it has no axis with number 77 (loops of C: y.0 (2), y.1 (4) unrolled, x (6), k (4) reduction)");
  EXPECT_EQ(refused(s, [&] { s.split({s.stage_of(p.a), 0}, 2); }), "split 'A': it is an input and has no loops");
}

TEST_F(Errors, TileTouchesNothingWhenItFails) {
  EXPECT_EQ(refused(s, [&] { c.tile(y, x, 4, 7); }),
            "split 'C.x': factor 7 is larger than the loop's extent 6 (loops of C: y (8), x (6), k (4) reduction)");
  EXPECT_EQ(refused(s, [&] { c.tile(y, y, 4, 4); }),
            "split 'C.y': tile names it twice (loops of C: y (8), x (6), k (4) reduction)");
}

TEST_F(Errors, Fuse) {
  EXPECT_EQ(refused(s, [&] { c.fuse(x, y); }),
            "fuse 'C.x': 'y' is not the loop directly inside it (loops of C: y (8), x (6), k (4) reduction)");
  EXPECT_EQ(refused(s, [&] { c.fuse(x, k); }),
            "fuse 'C.x': a dimension and a reduction axis ('k') cannot be one loop (loops of C: y (8), x (6), k (4) "
            "reduction)");
  const AxisId f = c.fuse(y, x);
  EXPECT_EQ(refused(s, [&] { c.unroll(y); }),
            "unroll 'C.y': it was fused and is no loop any more (loops of C: (y*x) (48), k (4) reduction)");
  EXPECT_EQ(s.axis_name(f), "(y*x)");
}

TEST_F(Errors, Reorder) {
  EXPECT_EQ(refused(s,
                    [&] {
                      c.reorder({y, y});
                    }),
            "reorder 'C.y': it is named twice (loops of C: y (8), x (6), k (4) reduction)");
  c.reorder({k, y, x}).vectorize(x);
  EXPECT_EQ(refused(s,
                    [&] {
                      c.reorder({x, y});
                    }),
            "reorder 'C.x': it is vectorized and must stay the innermost loop (loops of C: k (4) reduction, y (8), x "
            "(6) vectorized)");
}

TEST_F(Errors, Annotations) {
  EXPECT_EQ(refused(s, [&] { c.vectorize(k); }),
            "vectorize 'C.k': it is a reduction axis, whose iterations depend on each other (loops of C: y (8), x (6), "
            "k (4) reduction)");
  EXPECT_EQ(refused(s, [&] { c.vectorize(x); }),
            "vectorize 'C.x': it is not the innermost loop (loops of C: y (8), x (6), k (4) reduction)");
  EXPECT_EQ(refused(s, [&] { c.parallel(k); }),
            "parallel 'C.k': it is a reduction axis, whose iterations depend on each other (loops of C: y (8), x (6), "
            "k (4) reduction)");
  c.parallel(y);
  EXPECT_EQ(refused(s, [&] { c.parallel(x); }),
            "parallel 'C.x': 'C' would have parallel loops inside each other (loops of C: y (8) parallel, x (6), k (4) "
            "reduction)");
}

TEST(ErrorsOfPlaces, ParallelInsideParallel) {
  const auto p = chain(8, 8);
  Schedule s(p.program);
  s[p.c].parallel(s[p.c].axis(0));
  s[p.b].parallel(s[p.b].axis(0));
  EXPECT_EQ(refused(s, [&] { s[p.b].compute_at(s[p.c], s[p.c].axis(1)); }),
            "compute_at 'B': the parallel loop of 'B' would be inside the parallel loop C.y (loops of B: y (9) "
            "parallel, x (9))");
  const auto q = chain(8, 8);
  Schedule t(q.program);
  t[q.b].compute_at(t[q.c], t[q.c].axis(1));
  t[q.b].parallel(t[q.b].axis(0));
  EXPECT_EQ(
      refused(t, [&] { t[q.c].parallel(t[q.c].axis(0)); }),
      "parallel 'C.y': the parallel loop of 'B' would be inside the parallel loop C.y (loops of C: y (8), x (8))");
}

TEST(ErrorsOfPlaces, ComputeAt) {
  const auto p = chain(8, 8);
  Schedule s(p.program);
  StageRef b = s[p.b], c = s[p.c], d = s[p.d];
  EXPECT_EQ(refused(s, [&] { d.compute_at(c, c.axis(0)); }),
            "compute_at 'D': it is an output, all of which is stored (loops of D: y (8), x (8))");
  EXPECT_EQ(refused(s, [&] { b.compute_at(d, d.axis(0)); }),
            "compute_at 'B': its reader 'C' is computed outside loop D.y (loops of B: y (9), x (9))");
  EXPECT_EQ(refused(s, [&] { c.compute_at(c, c.axis(0)); }),
            "compute_at 'C': it cannot be computed inside itself (loops of C: y (8), x (8))");
  EXPECT_EQ(refused(s, [&] { c.compute_at(b, b.axis(0)); }),
            "compute_at 'C': its reader 'D' is computed outside loop B.y (loops of C: y (8), x (8))");
  b.compute_at(c, c.axis(0));
  EXPECT_EQ(refused(s, [&] { c.compute_at(b, b.axis(0)); }),
            "compute_at 'C': it cannot be computed inside itself (loops of C: y (8), x (8))");
  b.compute_root();
  EXPECT_EQ(refused(s, [&] { b.compute_at(d, c.axis(0)); }),
            "compute_at 'B': the loop 'y' belongs to stage 'C', not to 'D' (loops of B: y (9), x (9))");
  c.compute_at(d, d.axis(1));
  b.compute_at(d, d.axis(1));
  EXPECT_EQ(refused(s, [&] { c.compute_at(d, d.axis(0)); }),
            "compute_at 'C': stage 'B' could not stay at its place: its reader 'C' is computed outside loop D.x (loops "
            "of C: y (8), x (8))");
  EXPECT_EQ(refused(s, [&] { c.compute_root(); }),
            "compute_root 'C': stage 'B' could not stay at its place: its reader 'C' is computed outside loop D.x "
            "(loops of C: y (8), x (8))");
  EXPECT_EQ(refused(s, [&] { d.split(d.axis(1), 4); }),
            "split 'D.x': stage 'B' is computed at it (loops of D: y (8), x (8))");
  EXPECT_EQ(refused(s, [&] { d.vectorize(d.axis(1)); }),
            "vectorize 'D.x': stage 'B' is computed at it (loops of D: y (8), x (8))");
}

TEST(ErrorsOfPlaces, VectorizedLoopsHoldNothing) {
  const auto p = chain(8, 8);
  Schedule s(p.program);
  s[p.d].vectorize(s[p.d].axis(1));
  EXPECT_EQ(refused(s, [&] { s[p.c].compute_at(s[p.d], s[p.d].axis(1)); }),
            "compute_at 'C': loop D.x is vectorized: nothing can be placed inside it (loops of C: y (8), x (8))");
}

TEST(ErrorsOfPlaces, ReorderThatWouldMoveAReaderOut) {
  const auto p = chain(8, 8);
  Schedule s(p.program);
  StageRef b = s[p.b], c = s[p.c], d = s[p.d];
  b.compute_at(c, c.axis(0));
  b.compute_root();
  c.compute_at(d, d.axis(1));
  b.compute_at(d, d.axis(0));
  EXPECT_EQ(refused(s,
                    [&] {
                      d.reorder({d.axis(1), d.axis(0)});
                    }),
            "reorder 'D.x': stage 'B' could not stay at its place: its reader 'C' is computed outside loop D.y (loops "
            "of D: y (8), x (8))");
}

TEST(ErrorsOfPlaces, ComputeInline) {
  const auto p = conv2d({});
  Schedule s(p.program);
  EXPECT_EQ(refused(s, [&] { s[p.conv].compute_inline(); }).substr(0, 62),
            "compute_inline 'O': it is an output, all of which is stored (l");
  const auto q = conv2d({}, true);
  Schedule t(q.program);
  EXPECT_EQ(
      refused(t, [&] { t[q.conv].compute_inline(); }),
      "compute_inline 'O': it is a reduction, which is no expression of its readers (loops of O: n (1), k (4), oh (7), "
      "ow (9), c (3) reduction, r (3) reduction, s (3) reduction)");
  t[q.pad].compute_inline();
  EXPECT_EQ(refused(t, [&] { t[q.pad].unroll(t[q.pad].axis(0)); }),
            "unroll 'P': it was inlined into its readers (loops of P: n (1), c (3), h (9), w (11))");
}

TEST_F(Errors, Caches) {
  EXPECT_EQ(refused(s, [&] { s.cache_read(p.c, MemoryScope::kLocal); }),
            "cache_read 'C': no stage reads it (loops of C: y (8), x (6), k (4) reduction)");
  const StageId not_a_reader[] = {c.id()};
  EXPECT_EQ(refused(s, [&] { s.cache_read(p.c, MemoryScope::kLocal, not_a_reader); }),
            "cache_read 'C': stage 'C' does not read it (loops of C: y (8), x (6), k (4) reduction)");
  c.split(k, 2);
  EXPECT_EQ(
      refused(s, [&] { s.cache_write(c, MemoryScope::kLocal); }),
      "cache_write 'C.k': a reduction axis was split, fused, annotated or moved already (loops of C: y (8), x (6), "
      "k.0 (2) reduction, k.1 (2) reduction)");
  EXPECT_EQ(refused(s, [&] { s.set_scope(c, MemoryScope::kLocal); }),
            "set_scope 'C': it is an output: its memory is the caller's (loops of C: y (8), x (6), k.0 (2) reduction, "
            "k.1 (2) reduction)");
}

TEST_F(Errors, Rfactor) {
  EXPECT_EQ(refused(s, [&] { s.rfactor(y); }),
            "rfactor 'C.y': it is a dimension, not a reduction axis (loops of C: y (8), x (6), k (4) reduction)");
  EXPECT_EQ(refused(s, [&] { s.rfactor(k, 3); }),
            "rfactor 'C.k': position 3 is outside [0, 2], the dimensions of the new stage (loops of C: y (8), x (6), k "
            "(4) reduction)");
}

TEST_F(Errors, AxesThatMovedAway) {
  const StageId sums = s.cache_write(c, MemoryScope::kLocal);
  EXPECT_EQ(refused(s, [&] { c.unroll(k); }),
            "unroll 'C.gone2': this reduction axis moved to another stage (loops of C: y (8), x (6))");
  EXPECT_EQ(refused(s, [&] { s[sums].unroll(y); }), "axis C.y is used with stage 'C_local'");
}

TEST_F(Errors, LayoutTransform) {
  auto refuse = [&](std::initializer_list<LayoutDim> layout, PackWhen when = PackWhen::kInside) {
    return refused(s, [&] { s.layout_transform(p.b, std::span(layout.begin(), layout.size()), when); });
  };
  EXPECT_EQ(refuse({{0, 1, 0}}), "layout_transform 'B': dimension 1 of the operand is left out");
  EXPECT_EQ(refuse({{0, 1, 0}, {2, 1, 0}}), "layout_transform 'B': the operand has no dimension 2");
  EXPECT_EQ(
      refuse({{0, 1, 0}, {1, 4, 0}, {1, 1, 2}}),
      "layout_transform 'B': the parts of dimension 1 do not follow each other: divisor 1 times modulus 2 is not 4");
  EXPECT_EQ(refuse({{0, 1, 0}, {1, 4, 0}}), "layout_transform 'B': no part of dimension 1 has divisor 1");
  EXPECT_EQ(refuse({{1, 1, 0}, {0, INT64_MAX - 3, 0}, {0, 1, INT64_MAX - 3}}),
            "layout_transform 'B': the packed shape [6, 1, 9223372036854775804] is too large to be addressed");
  EXPECT_EQ(refuse({{1, 1, 0}, {0, int64_t{1} << 33, 0}, {0, 1, (int64_t{1} << 33) + (int64_t{1} << 32)}}),
            "layout_transform 'B': the parts of dimension 0 do not follow each other: divisor 1 times modulus "
            "12884901888 is not 8589934592");
  EXPECT_EQ(refuse({{1, 1, 0}, {0, int64_t{1} << 32, 0}, {0, int64_t{1} << 31, int64_t{1} << 33}, {0, 1, 1}}),
            "layout_transform 'B': the parts of dimension 0 do not follow each other: divisor 2147483648 times modulus "
            "8589934592 is not 4294967296");
  EXPECT_EQ(refuse({{0, 1, 0}, {1, 1, 6}}), "layout_transform 'B': the outermost part of dimension 1 has a modulus");
  EXPECT_EQ(refuse({{0, 1, 0}, {1, 0, 0}}),
            "layout_transform 'B': divisor 0 or modulus 0 of dimension 1 is out of range");
  const LayoutDim plain[] = {{0, 1, 0}, {1, 1, 0}};
  EXPECT_EQ(refused(s, [&] { s.layout_transform(p.c, plain, PackWhen::kInside); }),
            "layout_transform 'C': it is an output, whose layout is the caller's (loops of C: y (8), x (6), k (4) "
            "reduction)");
  const auto q = chain(8, 8);
  Schedule t(q.program);
  EXPECT_EQ(refused(t, [&] { t.layout_transform(q.b, plain, PackWhen::kAhead); }),
            "layout_transform 'B': only an input can be packed ahead (loops of B: y (9), x (9))");
  const StageId packed = s.layout_transform(p.b, plain, PackWhen::kAhead);
  EXPECT_EQ(refused(s, [&] { s.compute_at(packed, y); }),
            "compute_at 'B_packed': it is packed ahead by a function of its own (loops of B_packed: d0 (4), d1 (6))");
}

TEST(ErrorsOfHardware, Tensorize) {
  const auto p = matmul(12, 32, 6);
  Schedule s(p.program);
  const AxisId y = s[p.c].axis(0), x = s[p.c].axis(1), k = s[p.c].reduce_axis(0);
  s[p.c].reorder({k, y, x});
  const std::string loops = " (loops of C: k (6) reduction, y (12), x (32))";
  EXPECT_EQ(
      refused(s, [&] { s[p.c].tensorize(y, TensorIntrinsic::kOuterProduct16F32); }),
      "tensorize 'C.y': its nest is not outer_product_16_f32: loop x has 32 iterations where it is computed, not 16" +
          loops);
  EXPECT_EQ(
      refused(s, [&] { s[p.c].tensorize(k, TensorIntrinsic::kOuterProduct16F32); }),
      "tensorize 'C.k': its nest is not outer_product_16_f32: 3 loops from there inwards, not one or two" + loops);
  const auto [yo, yi] = s[p.c].split(y, 4);
  s[p.c].reorder({x, yi});
  EXPECT_EQ(refused(s, [&] { s[p.c].tensorize(x, TensorIntrinsic::kOuterProduct16F32); }).substr(0, 100),
            "tensorize 'C.x': its nest is not outer_product_16_f32: loop y.1 has 4 iterations where it is compute");
}

TEST(ErrorsOfHardware, TensorizeOfTheWrongStrides) {
  const Tensor a = placeholder("A", {8, 16});
  const Tensor b = placeholder("B", {16, 8});
  const Axis k = reduce_axis("k", 8);
  const Tensor c = compute("C", {16, 16}, [&](Axis i, Axis j) { return sum(a(k, i) * b(j, k), k); });
  const Program program = make_program(std::span(&c, 1));
  Schedule s(program);
  s[c].reorder({k, s[c].axis(0), s[c].axis(1)});
  EXPECT_EQ(
      refused(s, [&] { s[c].tensorize(s[c].axis(0), TensorIntrinsic::kOuterProduct16F32); }),
      "tensorize 'C.i': its nest is not outer_product_16_f32: no factor is contiguous along j and the same for each i "
      "('B' has stride 0) (loops of C: k (8) reduction, i (16), j (16))");
}

TEST(ErrorsOfHardware, Prefetch) {
  const auto p = matmul(8, 16, 6);
  Schedule s(p.program);
  StageRef c = s[p.c];
  const AxisId y = c.axis(0), k = c.reduce_axis(0);
  const std::string loops = " (loops of C: y (8), x (16), k (6) reduction)";
  EXPECT_EQ(refused(s, [&] { c.prefetch(s.stage_of(p.b), y, k, 1); }),
            "prefetch 'C.y': loop C.k, which is to be ahead, is not around it" + loops);
  EXPECT_EQ(refused(s, [&] { c.prefetch(s.stage_of(p.b), k, k, 1, 4); }),
            "prefetch 'C.k': locality 4 is none of 1 (L3), 2 (L2), 3 (L1)" + loops);
  EXPECT_EQ(refused(s, [&] { c.prefetch(s.stage_of(p.b), k, k, -1); }),
            "prefetch 'C.k': distance -1 is out of range" + loops);
  const auto q = chain(4, 4);
  Schedule t(q.program);
  EXPECT_EQ(refused(t, [&] { t[q.d].prefetch(t.stage_of(q.a), t[q.d].axis(0), t[q.d].axis(0), 1); }),
            "prefetch 'D.y': the stage does not read 'A' (loops of D: y (4), x (4))");
}

TEST_F(Errors, Names) {
  const Tensor other = placeholder("Z", {4});
  EXPECT_EQ(error_of([&] { s[other]; }), "tensor 'Z' is no stage of this schedule");
  EXPECT_EQ(error_of([&] { c.axis(2); }), "stage 'C' has 2 dimensions, none with number 2");
  EXPECT_EQ(error_of([&] { c.reduce_axis(1); }), "stage 'C' reduces over 1 axes, none with number 1");
  EXPECT_EQ(error_of([&] { c.unroll(reduce_axis("q", 3)); }),
            "'q' is no axis of stage 'C' (its loops: y (8), x (6), k (4) reduction)");
}

}  // namespace
}  // namespace tensmith::testing
