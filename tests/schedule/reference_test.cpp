#include "tensmith/schedule/reference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tensmith/ir/half.h"
#include "tensmith/support/error.h"

namespace tensmith {
namespace {

TEST(Reference, ElementsConvertExactly) {
  const std::vector<double> values{-3, 0, 1.5, 200};
  const auto round_trip = [&](DataType type) {
    std::vector<std::byte> memory(values.size() * 8);
    from_doubles(type, values, memory.data());
    return to_doubles(type, memory.data(), values.size());
  };
  EXPECT_EQ(round_trip(kFloat32), values);
  EXPECT_EQ(round_trip(kFloat64), values);
  EXPECT_EQ(round_trip(float_type(16)), values);
  EXPECT_EQ(round_trip(bfloat_type()), values);
  EXPECT_EQ(round_trip(int_type(8)), (std::vector<double>{-3, 0, 1, 127})) << "truncated and saturated";
  EXPECT_EQ(round_trip(uint_type(8)), (std::vector<double>{0, 0, 1, 200}));
  EXPECT_EQ(round_trip(kInt64), (std::vector<double>{-3, 0, 1, 200}));
}

TEST(Reference, SumsOfProductsAndGeneralReductionsAgree) {
  Tensor A = placeholder("A", {3, 5}), B = placeholder("B", {5, 4});
  const Axis k = reduce_axis("k", 5), l = reduce_axis("l", 5);
  // The second form is no plain product of two reads, so it takes the general path.
  Tensor fast = compute("fast", {3, 4}, [&](Axis y, Axis x) { return sum(A(y, k) * B(k, x), k); });
  Tensor slow = compute("slow", {3, 4},
                        [&](Axis y, Axis x) { return sum(A(y, l) * B(l, x) + A(y, l) * make_float(kFloat32, 0), l); });
  const Tensor outputs[] = {fast, slow};
  const Program program = make_program(outputs, std::vector<Tensor>{A, B});
  std::vector<float> a(15), b(20);
  std::iota(a.begin(), a.end(), -4.0F);
  std::iota(b.begin(), b.end(), 1.0F);
  const void* inputs[] = {a.data(), b.data()};
  const auto result = evaluate_program(program, inputs);
  ASSERT_EQ(result.size(), 2u);
  EXPECT_EQ(result[0], result[1]);
  double expected = 0;
  for (int i = 0; i < 5; ++i) expected += static_cast<double>(a[5 + i]) * b[4 * i + 2];
  EXPECT_EQ(result[0][4 + 2], expected);
}

/// Small integers, of which sums are exact in any order.
std::vector<float> small_integers(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i * 7 % 11) - 5;
  return values;
}

/// sum(a * b) over two axes: products of reads have blocks, rests of blocks, axes that both operands follow, and terms
/// beyond those that are copied at once.
TEST(Reference, SumsOfProductsOfEveryShape) {
  Tensor A = placeholder("A", {3, 70, 9, 40}), B = placeholder("B", {3, 70, 9, 40});
  const Axis k = reduce_axis("k", 9), l = reduce_axis("l", 40);
  const std::vector<float> a = small_integers(3 * 70 * 9 * 40), b(a.rbegin(), a.rend());
  const auto at = [](const std::vector<float>& v, int64_t n, int64_t i, int64_t k_, int64_t l_) {
    return static_cast<double>(v[static_cast<size_t>(((n * 70 + i) * 9 + k_) * 40 + l_)]);
  };
  const auto dot = [&](int64_t na, int64_t ia, int64_t nb, int64_t ib) {
    double total = 0;
    for (int64_t i = 0; i < 9; ++i) {
      for (int64_t j = 0; j < 40; ++j) total += at(a, na, ia, i, j) * at(b, nb, ib, i, j);
    }
    return total;
  };
  Tensor product =
      compute("product", {3, 67, 70}, [&](Axis n, Axis y, Axis x) { return sum(A(n, y, k, l) * B(n, x, k, l), k, l); });
  const Axis k2 = reduce_axis("k2", 9), l2 = reduce_axis("l2", 40);
  Tensor both =
      compute("both", {3, 70}, [&](Axis n, Axis y) { return sum(A(n, y, k2, l2) * B(n, y, k2, l2), k2, l2); });
  const Axis k3 = reduce_axis("k3", 9), l3 = reduce_axis("l3", 40);
  Tensor crossed = compute("crossed", {70, 70}, [&](Axis y, Axis x) {
    return sum(A(make_index(1), x, k3, l3) * B(make_index(2), make_index(69) - Expr(y), k3, l3), k3, l3);
  });
  const Tensor outputs[] = {product, both, crossed};
  const Program program = make_program(outputs, std::vector<Tensor>{A, B});
  const void* inputs[] = {a.data(), b.data()};
  for (int threads : {1, 3}) {
    const auto result = evaluate_program(program, inputs, {threads, {}});
    ASSERT_EQ(result.size(), 3u);
    for (int64_t n = 0; n < 3; ++n) {
      for (int64_t y = 0; y < 70; ++y) {
        ASSERT_EQ(result[1][static_cast<size_t>(n * 70 + y)], dot(n, y, n, y));
        for (int64_t x = 0; x < 70; ++x) {
          if (y < 67) {
            ASSERT_EQ(result[0][static_cast<size_t>((n * 67 + y) * 70 + x)], dot(n, y, n, x));
          }
          if (n == 0) {
            ASSERT_EQ(result[2][static_cast<size_t>(y * 70 + x)], dot(1, x, 2, 69 - y));
          }
        }
      }
    }
  }
}

TEST(Reference, EveryThreadGetsItsPartOfAnyExpression) {
  Tensor A = placeholder("A", {300, 700});
  Tensor P = compute("P", {300, 700}, [&](Axis y, Axis x) { return A(y, x) + cast(kFloat32, Expr(x)); });
  const std::vector<float> a = small_integers(300 * 700);
  const void* inputs[] = {a.data()};
  const DoubleTensor result = evaluate_program(make_program({&P, 1}), inputs, {3, {}}).at(0);
  for (size_t i = 0; i < a.size(); ++i) ASSERT_EQ(result[i], static_cast<double>(a[i]) + static_cast<double>(i % 700));
}

TEST(Reference, StopsWhenItIsToldTo) {
  Tensor A = placeholder("A", {400, 400}), B = placeholder("B", {400, 400});
  const Axis k = reduce_axis("k", 400);
  Tensor C = compute("C", {400, 400}, [&](Axis y, Axis x) { return sum(A(y, k) * B(k, x), k); });
  Tensor D = compute("D", {400, 400}, [&](Axis y, Axis x) { return C(y, x) / make_float(kFloat32, 3); });
  const std::vector<float> a = small_integers(400 * 400);
  const void* inputs[] = {a.data(), a.data()};
  std::vector<double> told;
  const auto go_on = [&](double done) {
    told.push_back(done);
    return false;
  };
  EXPECT_TRUE(evaluate_program(make_program({&D, 1}), inputs, {2, go_on}).empty());
  EXPECT_EQ(told.size(), 1u);
  told.clear();
  const auto to_the_end = [&](double done) {
    told.push_back(done);
    return true;
  };
  EXPECT_EQ(evaluate_program(make_program({&D, 1}), inputs, {1, to_the_end}).size(), 1u);
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  EXPECT_DOUBLE_EQ(told.back(), 1.0);
}

TEST(Reference, WhatGoesWrongInAThreadIsToldToTheCaller) {
  Tensor A = placeholder("A", {2000, 1000}, kInt32);
  Tensor q = compute("q", {2000, 1000}, [&](Axis y, Axis x) { return make_int(kInt32, 7) / A(y, x); });
  std::vector<int32_t> a(2000 * 1000, 1);
  a[1'500'000] = 0;
  const void* inputs[] = {a.data()};
  EXPECT_THROW(evaluate_program(make_program({&q, 1}), inputs, {4, {}}), UserError);
}

TEST(Reference, EmptyReductionsGiveTheIdentity) {
  Tensor A = placeholder("A", {2, 0});
  const Axis k = reduce_axis("k", 0), l = reduce_axis("l", 0);
  Tensor s = compute("s", {2}, [&](Axis y) { return sum(A(y, k), k); });
  Tensor m = compute("m", {2}, [&](Axis y) { return max(A(y, l), {l}); });
  const Tensor outputs[] = {s, m};
  const Program program = make_program(outputs);
  float nothing = 0;
  const void* inputs[] = {&nothing};
  const auto result = evaluate_program(program, inputs);
  EXPECT_EQ(result[0], (std::vector<double>{0, 0}));
  EXPECT_EQ(result[1], (std::vector<double>{-INFINITY, -INFINITY}));
}

TEST(Reference, IntegersWrapAndDivideTowardsMinusInfinity) {
  Tensor A = placeholder("A", {4}, int_type(8));
  Tensor d = compute("d", {4}, [&](Axis i) { return A(i) / make_int(int_type(8), 3); });
  Tensor r = compute("r", {4}, [&](Axis i) { return A(i) % make_int(int_type(8), 3); });
  Tensor w = compute("w", {4}, [&](Axis i) { return A(i) * make_int(int_type(8), 2); });
  const Tensor outputs[] = {d, r, w};
  const int8_t a[] = {-7, 7, 100, -128};
  const void* inputs[] = {a};
  const auto result = evaluate_program(make_program(outputs), inputs);
  EXPECT_EQ(result[0], (std::vector<double>{-3, 2, 33, -43}));
  EXPECT_EQ(result[1], (std::vector<double>{2, 1, 1, 1}));
  EXPECT_EQ(result[2], (std::vector<double>{-14, 14, -56, 0}));
}

TEST(Reference, SelectReadsOnlyTheChosenArm) {
  Tensor A = placeholder("A", {3});
  Tensor P = compute("P", {5}, [&](Axis i) {
    const Expr x = Expr(i) - 1;
    return select(logical_and(x >= 0, x < 3), A(x), make_float(kFloat32, -1));
  });
  const float a[] = {5, 6, 7};
  const void* inputs[] = {a};
  EXPECT_EQ(evaluate_program(make_program({&P, 1}), inputs)[0], (std::vector<double>{-1, 5, 6, 7, -1}));
}

}  // namespace
}  // namespace tensmith
