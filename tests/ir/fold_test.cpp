#include "tensmith/ir/fold.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tensmith/ir/half.h"

namespace tensmith {
namespace {

constexpr int64_t kMin64 = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax64 = std::numeric_limits<int64_t>::max();

TEST(Fold, FloorDivisionHoldsItsEquation) {
  for (int64_t a = -30; a <= 30; ++a) {
    for (int64_t b = -7; b <= 7; ++b) {
      if (b == 0) continue;
      const int64_t q = floor_div(a, b);
      const int64_t r = floor_mod(a, b);
      EXPECT_EQ(q * b + r, a);
      EXPECT_TRUE(r == 0 || (r < 0) == (b < 0));
      EXPECT_LT(std::abs(r), std::abs(b));
      EXPECT_EQ(q, static_cast<int64_t>(std::floor(static_cast<double>(a) / static_cast<double>(b))));
    }
  }
  EXPECT_EQ(floor_div(kMin64, -1), kMin64);
  EXPECT_EQ(floor_mod(kMin64, -1), 0);
}

TEST(Fold, IntegersWrap) {
  EXPECT_EQ(fold_int(BinaryOp::kAdd, int_type(8), 127, 1), -128);
  EXPECT_EQ(fold_int(BinaryOp::kSub, uint_type(8), 0, 1), 255);
  EXPECT_EQ(fold_int(BinaryOp::kMul, int_type(16), 300, 300), 90000 - 65536);
  EXPECT_EQ(fold_int(BinaryOp::kAdd, kInt64, kMax64, 1), kMin64);
  EXPECT_EQ(fold_int(BinaryOp::kDiv, int_type(8), -128, -1), -128);
  EXPECT_EQ(fold_int(BinaryOp::kDiv, kInt64, 1, 0), std::nullopt);
  EXPECT_EQ(fold_int(BinaryOp::kMod, uint_type(8), 1, 0), std::nullopt);
}

TEST(Fold, UnsignedComparesAndDividesAsUnsigned) {
  const DataType u64 = uint_type(64);
  EXPECT_EQ(fold_int(BinaryOp::kLt, u64, -1, 1), 0);
  EXPECT_EQ(fold_int(BinaryOp::kLt, kInt64, -1, 1), 1);
  EXPECT_EQ(fold_int(BinaryOp::kMin, u64, -1, 1), 1);
  EXPECT_EQ(fold_int(BinaryOp::kMax, u64, -1, 1), -1);
  EXPECT_EQ(fold_int(BinaryOp::kDiv, u64, -1, 2), kMax64);
  EXPECT_EQ(fold_int(BinaryOp::kMod, u64, -1, 10), 5);
}

TEST(Fold, MinAndMaxOfNaNGiveTheSecond) {
  const double nan = std::nan("");
  EXPECT_EQ(fold_float(BinaryOp::kMin, kFloat32, nan, 1.0), 1.0);
  EXPECT_EQ(fold_float(BinaryOp::kMax, kFloat64, nan, 1.0), 1.0);
  EXPECT_TRUE(std::isnan(fold_float(BinaryOp::kMax, kFloat64, 1.0, nan)));
}

TEST(Fold, FloatsRoundInTheirType) {
  EXPECT_EQ(fold_float(BinaryOp::kAdd, kFloat32, 1.0, 0x1p-24), 1.0);
  EXPECT_EQ(fold_float(BinaryOp::kAdd, kFloat64, 1.0, 0x1p-24), 1.0 + 0x1p-24);
  EXPECT_EQ(fold_float(BinaryOp::kAdd, float_type(16), 2048.0, 1.0), 2048.0);
  EXPECT_EQ(fold_float(BinaryOp::kAdd, bfloat_type(), 256.0, 1.0), 256.0);
  EXPECT_EQ(fold_float(BinaryOp::kMul, float_type(16), 300.0, 300.0), INFINITY);
}

TEST(Fold, FloatsConvertToIntegersByTruncatingAndSaturating) {
  EXPECT_EQ(float_to_int(kInt32, -1.9), -1);
  EXPECT_EQ(float_to_int(int_type(8), 127.9), 127);
  EXPECT_EQ(float_to_int(int_type(8), 128.0), 127);
  EXPECT_EQ(float_to_int(int_type(8), -128.9), -128);
  EXPECT_EQ(float_to_int(int_type(8), -1000.0), -128);
  EXPECT_EQ(float_to_int(uint_type(8), -3.0), 0);
  EXPECT_EQ(float_to_int(uint_type(8), 300.0), 255);
  EXPECT_EQ(float_to_int(kInt64, 1e30), kMax64);
  EXPECT_EQ(float_to_int(kInt64, -INFINITY), kMin64);
  EXPECT_EQ(float_to_int(uint_type(64), 1e30), -1);
  EXPECT_EQ(float_to_int(uint_type(64), 0x1p63), kMin64);
  EXPECT_EQ(float_to_int(kInt32, std::nan("")), 0);
  EXPECT_EQ(float_to_int(kBool, std::nan("")), 1) << "NaN != 0";
  EXPECT_EQ(float_to_int(kBool, 0.5), 1);
  EXPECT_EQ(float_to_int(kBool, -0.0), 0);
}

TEST(Fold, IntegersConvertToFloatsRoundingOnce) {
  for (int64_t value :
       {int64_t{0}, int64_t{1}, int64_t{-1}, kMin64, kMax64, int64_t{0x7fffff4000000001}, int64_t{0x7fffffbfffffffff},
        int64_t{-0x7fffff4000000001}, int64_t{16777217}, int64_t{16777219}}) {
    EXPECT_EQ(int_to_float(kInt64, kFloat32, value), static_cast<double>(static_cast<float>(value))) << value;
    EXPECT_EQ(int_to_float(kInt64, kFloat64, value), static_cast<double>(value)) << value;
    const auto as_unsigned = static_cast<uint64_t>(value);
    EXPECT_EQ(int_to_float(uint_type(64), kFloat32, value), static_cast<double>(static_cast<float>(as_unsigned)));
    EXPECT_EQ(int_to_float(uint_type(64), kFloat64, value), static_cast<double>(as_unsigned));
  }
  EXPECT_EQ(int_to_float(kInt32, float_type(16), 2049), 2048.0);
  EXPECT_EQ(int_to_float(kInt32, float_type(16), 2051), 2052.0);
  EXPECT_EQ(int_to_float(kInt32, float_type(16), 70000), INFINITY);
  // 2^60 + 2^52 is the middle of two bfloat16 values; one more unit, lost in a double, decides upwards.
  const int64_t middle = (int64_t{1} << 60) + (int64_t{1} << 52);
  EXPECT_EQ(int_to_float(kInt64, bfloat_type(), middle), 0x1p60);
  EXPECT_EQ(int_to_float(kInt64, bfloat_type(), middle + 1), 0x1p60 + 0x1p53);
}

TEST(Fold, Expressions) {
  const Expr three = make_int(int_type(32, 4), 3);
  const Expr product = fold_binary(BinaryOp::kMul, three, three);
  EXPECT_EQ(product.type(), int_type(32, 4));
  EXPECT_EQ(as_const_int(product), 9);
  EXPECT_EQ(fold_binary(BinaryOp::kLt, three, three).type(), bool_type(4));
  EXPECT_FALSE(fold_binary(BinaryOp::kAdd, make_var("x"), make_index(1)));
  EXPECT_EQ(as_const_int(fold_cast(int_type(8, 4), make_int(int_type(32, 4), 300))), 44);
  EXPECT_EQ(as_const_int(fold_cast(int_type(8), make_float(kFloat32, 300.0))), 127);
  EXPECT_FALSE(fold_cast(kInt32, make_var("x")));
}

}  // namespace
}  // namespace tensmith
