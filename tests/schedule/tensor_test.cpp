#include "tensmith/schedule/tensor.h"

#include <gtest/gtest.h>

#include "tensmith/support/error.h"

namespace tensmith {
namespace {

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const UserError& e) {
    return e.message();
  }
  return "no error";
}

TEST(Tensor, ReadsLikeTheFirstFigureOfThePaper) {
  Tensor A = placeholder("A", {1024, 1024});
  Tensor B = placeholder("B", {1024, 1024});
  Axis k = reduce_axis("k", 1024);
  Tensor C = compute("C", {1024, 1024}, [&](Axis y, Axis x) { return sum(A(k, y) * B(k, x), k); });
  EXPECT_EQ(C->inputs.size(), 2u);
  EXPECT_EQ(C->reduce.size(), 1u);
  EXPECT_EQ(C->buffer->type, kFloat32);
  const Program program = make_program({&C, 1});
  EXPECT_EQ(program.inputs, (std::vector<Tensor>{A, B}));
  EXPECT_EQ(program.stages, (std::vector<Tensor>{C}));
}

TEST(Tensor, ReadsOutOfBoundsAreRefused) {
  Tensor A = placeholder("A", {8});
  EXPECT_EQ(error_of([&] { compute("C", {8}, [&](Axis i) { return A(Expr(i) - 1); }); }),
            "tensor 'C' reads 'A' out of bounds: index i - 1 of dimension 0 takes values in [-1, 6], the dimension "
            "holds [0, 8)");
  EXPECT_EQ(error_of([&] {
              compute("C", {8}, [&](Axis i) { return select(Expr(i) >= 1, A(Expr(i) - 1), make_float(kFloat32, 0)); });
            }),
            "no error");
  EXPECT_EQ(error_of([&] { compute("C", {0}, [&](Axis i) { return A(Expr(i) + 100); }); }), "no error")
      << "nothing is read";
}

TEST(Tensor, ArmsThatConditionsRuleOutAreNotLookedAt) {
  Tensor A = placeholder("A", {1});
  EXPECT_EQ(error_of([&] {
              compute("C", {2}, [&](Axis i) {
                const Expr x = Expr(i) * 3 - 2;
                return select(logical_and(x >= 0, x < 1), A(make_index(2) - Expr(i) * 3), make_float(kFloat32, 0));
              });
            }),
            "no error");
}

TEST(Tensor, IndexArithmeticThatDoesNotFitIsRefused) {
  Tensor A = placeholder("A", {8});
  const auto refuse = [&](const std::function<Expr(Axis)>& condition) {
    return error_of(
        [&] { compute("B", {8}, [&](Axis i) { return select(condition(i), A(i), make_float(kFloat32, 0)); }); });
  };
  const int64_t large = int64_t{1} << 62;
  EXPECT_EQ(refuse([&](Axis i) { return Expr(i) * large < 5; }),
            "tensor 'B': i*4611686018427387904 takes values in [0, inf], more than index arithmetic can hold");
  EXPECT_EQ(refuse([&](Axis i) { return Expr(i) < large; }),
            "tensor 'B': 4611686018427387904 takes values in [4611686018427387904, 4611686018427387904], more than "
            "index arithmetic can hold");
  EXPECT_NE(refuse([&](Axis i) { return Expr(i) * large / large < 5; }), "no error");
  EXPECT_NE(refuse([&](Axis i) { return Expr(i) * (int64_t{1} << 58) < 5; }), "no error");
  EXPECT_EQ(refuse([&](Axis i) { return Expr(i) * (int64_t{1} << 56) < 5; }), "no error");
  Tensor data = placeholder("D", {8}, kInt64);
  EXPECT_EQ(error_of([&] { compute("C", {8}, [&](Axis i) { return data(i) * large + large; }); }), "no error")
      << "data wraps";
}

TEST(Tensor, GuardsOfCompoundIndicesCount) {
  Tensor A = placeholder("A", {6, 6});
  const Axis r = reduce_axis("r", 3), s = reduce_axis("s", 3);
  EXPECT_EQ(error_of([&] {
              compute("C", {6, 6}, [&](Axis y, Axis x) {
                const Expr h = Expr(y) + Expr(r) - 1, w = Expr(x) + Expr(s) - 1;
                const Expr inside = logical_and(logical_and(h >= 0, h < 6), logical_and(w >= 0, w < 6));
                return sum(select(inside, A(h, w), make_float(kFloat32, 0)), {r, s});
              });
            }),
            "no error");
}

TEST(Tensor, MisuseIsTold) {
  Tensor A = placeholder("A", {8});
  const Axis k = reduce_axis("k", 8);
  EXPECT_EQ(error_of([&] { A(make_index(0), make_index(0)); }),
            "tensor 'A' has 1 dimensions and is read with 2 indices");
  EXPECT_EQ(error_of([&] { Tensor()(make_index(0)); }), "an empty tensor is read");
  EXPECT_EQ(error_of([&] { placeholder("B", {4, -1}); }), "tensor 'B' has a negative extent in its shape [4, -1]");
  EXPECT_EQ(error_of([&] {
              placeholder("B", {1ll << 31, 1ll << 31});
            }),
            "tensor 'B' with shape [2147483648, 2147483648] is larger than a 64-bit index can address");
  EXPECT_EQ(error_of([&] { reduce_axis("k", -1); }), "reduction axis 'k' has extent -1");
  const Axis huge = reduce_axis("h", 1ll << 62), few = reduce_axis("f", 8);
  EXPECT_EQ(error_of([&] { compute("C", {4}, [&](Axis i) { return sum(A(i), huge, few); }); }),
            "tensor 'C' takes more steps than a 64-bit number can count: its axes have the extents "
            "[4, 4611686018427387904, 8]");
  EXPECT_EQ(error_of([&] { compute("C", {8}, [&](Axis i) { return A(i) + A(k); }); }),
            "tensor 'C' uses the variable 'k', which is none of its axes");
  EXPECT_EQ(error_of([&] { compute("C", {8}, [&](Axis i) { return sum(A(k), k) + A(i); }); }),
            "tensor 'C': a reduction stands inside a larger expression");
  EXPECT_EQ(error_of([&] {
              compute("C", {8, 8}, [&](Axis i) { return A(i); });
            }),
            "tensor 'C' has 2 dimensions and a function of 1 axes");
  EXPECT_EQ(error_of([&] { make_program({&A, 1}); }), "output 'A' is a placeholder");
  Tensor first = compute("C", {8}, [&](Axis i) { return A(i); });
  Tensor second = compute("C", {8}, [&](Axis i) { return first(i); });
  EXPECT_EQ(error_of([&] { make_program({&second, 1}); }), "two tensors are named 'C'");
}

}  // namespace
}  // namespace tensmith
