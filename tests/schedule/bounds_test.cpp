#include "tensmith/schedule/bounds.h"

#include <gtest/gtest.h>

#include "schedule/check.h"
#include "schedule/programs.h"

namespace tensmith::testing {
namespace {

TEST(Bounds, RegionIsTheUnionOfTheReadsOfOneIteration) {
  const auto p = chain(16, 12);
  Schedule s(p.program);
  const auto [yo, yi] = s[p.c].split(s[p.c].axis(0), 4);
  s[p.b].compute_at(s[p.c], yo);
  EXPECT_EQ(to_string(s, infer_bounds(s)), "B[y_0*4 : 5, 0 : 13]\nC[0 : 16, 0 : 12]\nD[0 : 16, 0 : 12]\n");
}

TEST(Bounds, StridesAndTapsOfAConvolution) {
  const auto p = conv2d({.h = 20, .w = 20, .stride_h = 2, .dilation_w = 2});
  Schedule s(p.program);
  const auto [ho, hi] = s[p.conv].split(s[p.conv].axis(2), 2);
  const auto [wo, wi] = s[p.conv].split(s[p.conv].axis(3), 6);
  s[p.conv].reorder({ho, wo, p.c, p.r, p.s, hi, wi});
  s[p.pad].compute_at(s[p.conv], p.c);
  EXPECT_EQ(to_string(s, infer_bounds(s)),
            "P[0 : 1, c : 1, oh_0*4 : 5, ow_0*6 : 10]\nO[0 : 1, 0 : 4, 0 : 10, 0 : 18]\n");
}

TEST(Bounds, FusedAndSplitAxes) {
  const auto p = chain(12, 8);
  Schedule s(p.program);
  const AxisId f = s[p.d].fuse(s[p.d].axis(0), s[p.d].axis(1));
  const auto [fo, fi] = s[p.d].split(f, 4);
  s[p.c].compute_at(s[p.d], fo);
  s[p.b].compute_at(s[p.d], fo);
  EXPECT_EQ(to_string(s, infer_bounds(s)),
            "B[y_x_0/2 : 2, y_x_0%2*4 : 5]\nC[y_x_0/2 : 1, y_x_0%2*4 : 4]\nD[0 : 12, 0 : 8]\n");
}

TEST(Bounds, FusedAndUnevenlySplitAxesTouchTwoRows) {
  const auto p = chain(12, 7);
  Schedule s(p.program);
  const AxisId f = s[p.d].fuse(s[p.d].axis(0), s[p.d].axis(1));
  const auto [fo, fi] = s[p.d].split(f, 5);
  s[p.c].compute_at(s[p.d], fo);
  EXPECT_EQ(to_string(s, infer_bounds(s)), "B[0 : 13, 0 : 8]\nC[y_x_0*5/7 : 2, 0 : 7]\nD[0 : 12, 0 : 7]\n");
}

TEST(Bounds, FactorsShrinkWithTheRegion) {
  const auto p = matmul(64, 64, 8);
  Schedule s(p.program);
  const StageId sums = s.cache_write(s[p.c], MemoryScope::kLocal);
  const auto [yo, yi] = s[p.c].split(s[p.c].axis(0), 6);
  s.compute_at(sums, s[p.c], yo);
  s[sums].split(s[sums].axis(0), 16);
  s[sums].split(s[sums].axis(1), 16);
  const auto bounds = infer_bounds(s);
  EXPECT_EQ(bounds[index_of(sums)].loop_extents, (std::vector<int64_t>{1, 6, 4, 16, 8}));
  expect_same_as_definition(s);
}

TEST(Bounds, ReadsThatAreNoConstantApartNeedTheWholeDimension) {
  const Tensor a = placeholder("A", {64});
  const Tensor b = compute("B", {64}, [&](Axis i) { return a(i) + make_float(kFloat32, 1); });
  const Tensor c = compute("C", {32}, [&](Axis i) { return b(i) + b(Expr(i) * 2); });
  const Program program = make_program(std::span(&c, 1));
  Schedule s(program);
  const auto [io, ii] = s[c].split(s[c].axis(0), 4);
  s[b].compute_at(s[c], io);
  EXPECT_EQ(to_string(s, infer_bounds(s)), "B[0 : 64]\nC[0 : 32]\n");
  expect_same_as_definition(s);
}

TEST(Bounds, UnknownIndicesNeedTheWholeDimension) {
  const Tensor a = placeholder("A", {16});
  const Tensor b = compute("B", {16}, [&](Axis i) { return a(i) + make_float(kFloat32, 1); });
  const Tensor c = compute("C", {20}, [&](Axis i) { return b(min(Expr(i), make_index(15))); });
  const Program program = make_program(std::span(&c, 1));
  Schedule s(program);
  const auto [io, ii] = s[c].split(s[c].axis(0), 4);
  s[b].compute_at(s[c], io);
  EXPECT_EQ(to_string(s, infer_bounds(s)), "B[0 : 16]\nC[0 : 20]\n");
  expect_same_as_definition(s);
}

TEST(Bounds, StagesThatNothingReadsAreNotComputed) {
  const auto p = chain(4, 4);
  Schedule s(p.program);
  s[p.b].compute_inline();
  const auto bounds = infer_bounds(s);
  EXPECT_FALSE(bounds[index_of(s.stage_of(p.a))].computed);
  EXPECT_FALSE(bounds[index_of(s.stage_of(p.b))].computed);
  EXPECT_TRUE(bounds[index_of(s.stage_of(p.c))].computed);
}

}  // namespace
}  // namespace tensmith::testing
