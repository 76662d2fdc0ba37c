#include "tensmith/schedule/reference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tensmith/ir/half.h"

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
