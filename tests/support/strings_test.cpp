#include "tensmith/support/strings.h"

#include <gtest/gtest.h>

namespace tensmith {
namespace {

using Parts = std::vector<std::string_view>;

TEST(Strings, SplitKeepsEmptyParts) {
  EXPECT_EQ(split_string("a,,b", ','), (Parts{"a", "", "b"}));
  EXPECT_EQ(split_string("a,", ','), (Parts{"a", ""}));
  EXPECT_EQ(split_string("", ','), (Parts{""}));
}

TEST(Strings, Trim) {
  EXPECT_EQ(trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(trim(" \n "), "");
  EXPECT_EQ(trim(""), "");
}

TEST(Strings, ParseInt64TakesTheWholeTextOrNothing) {
  EXPECT_EQ(parse_int64("42"), 42);
  EXPECT_EQ(parse_int64("-7"), -7);
  EXPECT_EQ(parse_int64("+7"), 7);
  EXPECT_EQ(parse_int64("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(parse_int64("-9223372036854775808"), INT64_MIN);
  for (const char* bad : {"", "+", "-", "--1", "+-1", "++1", "1 ", " 1", "1.5", "0x10", "9223372036854775808", "12a"}) {
    EXPECT_FALSE(parse_int64(bad)) << bad;
  }
}

TEST(Strings, ParseDoubleTakesFiniteNumbers) {
  EXPECT_EQ(parse_double("1.5e3"), 1500.0);
  EXPECT_EQ(parse_double("-2"), -2.0);
  EXPECT_EQ(parse_double("+0.25"), 0.25);
  for (const char* bad : {"", "inf", "nan", "1e999", "1.5x", "+-1", " 1"}) EXPECT_FALSE(parse_double(bad)) << bad;
}

TEST(Strings, ClosestMatchIsForSlipsOnly) {
  const std::vector<std::string> fields{"stride", "pad", "dilation", "n", "c"};
  EXPECT_EQ(closest_match("strid", fields), "stride");
  EXPECT_EQ(closest_match("dilatoin", fields), "dilation");
  EXPECT_EQ(closest_match("padd", fields), "pad");
  EXPECT_FALSE(closest_match("banana", fields));
  EXPECT_FALSE(closest_match("x", fields));
  EXPECT_FALSE(closest_match("", fields));
  EXPECT_FALSE(closest_match("pad", {}));
}

}  // namespace
}  // namespace tensmith
