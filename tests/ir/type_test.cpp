#include "tensmith/ir/type.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "ir/random_ir.h"
#include "tensmith/ir/half.h"
#include "tensmith/support/error.h"

namespace tensmith {
namespace {

TEST(Type, TextRoundTrips) {
  for (DataType type : testing::kAllTypes) {
    for (int lanes : {1, 2, 16, 65535}) {
      EXPECT_EQ(parse_type(to_string(type.with_lanes(lanes))), type.with_lanes(lanes));
    }
  }
  EXPECT_EQ(to_string(float_type(32)), "float32");
  EXPECT_EQ(to_string(int_type(8, 16)), "int8x16");
  EXPECT_EQ(to_string(bool_type()), "bool");
  EXPECT_EQ(to_string(bool_type(4)), "boolx4");
  EXPECT_EQ(to_string(bfloat_type(32)), "bfloat16x32");
}

TEST(Type, BadTextIsRejected) {
  for (const char* text : {"", "float", "int7", "float32x", "float32x1", "float32x0", "float32x-2", "float32x02",
                           "float32x65536", "float32x99999999999", "x4", "Float32", "float32 ", "float32x4x4"}) {
    EXPECT_THROW(parse_type(text), UserError) << text;
  }
  try {
    parse_type("int7");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.message(), "unknown type 'int7': 'int7' is not an element type");
    EXPECT_NE(error.hint().find("bfloat16"), std::string::npos);
  }
}

TEST(Type, Bytes) {
  EXPECT_EQ(bool_type(8).bytes(), 8);
  EXPECT_EQ(float_type(32, 16).bytes(), 64);
  EXPECT_EQ(bfloat_type().element_bytes(), 2);
}

template <typename ToBits, typename FromBits>
void check_half(ToBits to_bits, FromBits from_bits, int infinity_bits) {
  for (int bits = 0; bits < 0x10000; ++bits) {
    const auto pattern = static_cast<uint16_t>(bits);
    const float value = from_bits(pattern);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(from_bits(to_bits(static_cast<double>(value)))));
      continue;
    }
    ASSERT_EQ(to_bits(static_cast<double>(value)), pattern);
    // Between two neighbours of the same sign, values go to the nearer one and the middle to the even one.
    const auto next = static_cast<uint16_t>(bits + 1);
    if ((bits & 0x7fff) + 1 >= infinity_bits) continue;
    const double low = static_cast<double>(value);
    const double high = static_cast<double>(from_bits(next));
    const double middle = low + (high - low) / 2;
    ASSERT_EQ(to_bits(middle), (bits & 1) == 0 ? pattern : next) << bits;
    ASSERT_EQ(to_bits(std::nextafter(middle, low)), pattern) << bits;
    ASSERT_EQ(to_bits(std::nextafter(middle, high)), next) << bits;
  }
}

TEST(Half, Float16) {
  check_half(float16_bits, float16_value, 0x7c00);
  EXPECT_EQ(float16_bits(65504.0), 0x7bff);
  EXPECT_EQ(float16_bits(65519.0), 0x7bff);
  EXPECT_EQ(float16_bits(65520.0), 0x7c00);
  EXPECT_EQ(float16_bits(-1e300), 0xfc00);
  EXPECT_EQ(float16_bits(-0.0), 0x8000);
  EXPECT_EQ(float16_bits(0x1p-25), 0x0000);
  EXPECT_EQ(float16_bits(0x1.0001p-25), 0x0001);
  EXPECT_EQ(float16_bits(1e-300), 0x0000);
  EXPECT_EQ(float16_bits(std::numeric_limits<double>::denorm_min()), 0x0000);
  EXPECT_EQ(float16_value(0x3c00), 1.0F);
  EXPECT_EQ(float16_value(0x0001), 0x1p-24F);
}

TEST(Half, BFloat16) {
  check_half(bfloat16_bits, bfloat16_value, 0x7f80);
  EXPECT_EQ(bfloat16_value(0x3f80), 1.0F);
  EXPECT_EQ(bfloat16_bits(3.4e38), 0x7f80);
  // Rounding to float first would land on the tie and give the even neighbour below.
  EXPECT_EQ(bfloat16_bits(1.0 + 0x1p-8 + 0x1p-40), 0x3f81);
}

}  // namespace
}  // namespace tensmith
