#include "explore/measure/kernel/opencl_types.h"

#include <gtest/gtest.h>

namespace tensmith {
namespace {

bool fits(const char* parameter, const char* type, bool buffer) {
  return fits_opencl_parameter(parameter, parse_type(type), buffer);
}

TEST(OpenClTypesTest, KindAndWidthMatter) {
  EXPECT_TRUE(fits("float*", "float32", true));
  EXPECT_FALSE(fits("float*", "float64", true));
  EXPECT_FALSE(fits("float*", "int32", true));
  EXPECT_FALSE(fits("int", "float32", false));
  EXPECT_TRUE(fits("int", "int32", false));
  EXPECT_FALSE(fits("long", "int32", false));
}

TEST(OpenClTypesTest, BuffersAreForPointers) {
  EXPECT_FALSE(fits("float*", "float32", false));
  EXPECT_FALSE(fits("ulong", "int64", true)) << "a handle would be taken for a number";
  EXPECT_FALSE(fits("mine*", "int64", false));
}

TEST(OpenClTypesTest, WhatTheNameDoesNotTellIsLeftAlone) {
  EXPECT_TRUE(fits("uint*", "int32", true)) << "a sign";
  EXPECT_TRUE(fits("float4*", "float32", true)) << "a vector";
  EXPECT_FALSE(fits("double2*", "float32", true));
  EXPECT_TRUE(fits("half*", "float16", true));
  EXPECT_TRUE(fits("ushort*", "bfloat16", true));
  EXPECT_TRUE(fits("char*", "bool", true));
  EXPECT_TRUE(fits("void*", "float32", true));
  EXPECT_TRUE(fits("mine*", "float32", true));
  EXPECT_TRUE(fits("mine", "float32", true)) << "may be a pointer";
  EXPECT_TRUE(fits("", "float32", true)) << "the driver tells nothing";
}

}  // namespace
}  // namespace tensmith
