#include "explore/measure/output_check.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace tensmith {
namespace {

TEST(OutputCheck, CountsWhatIsOffByMoreThanTheTolerance) {
  std::vector<float> got(10000, 1.0F);
  const std::vector<double> expected(10000, 1.0);
  EXPECT_EQ(check_output(kFloat32, got.data(), expected.data(), got.size(), 1e-6).wrong, 0u);
  got[7] = 1.5F;
  got[9000] = NAN;
  const OutputCheck check = check_output(kFloat32, got.data(), expected.data(), got.size(), 1e-6);
  EXPECT_EQ(check.wrong, 2u);
  EXPECT_EQ(check.first_wrong, 7u);
  EXPECT_TRUE(std::isinf(check.max_error)) << "a NaN is infinitely wrong";
  EXPECT_EQ(describe(check, got.size(), 1e-6),
            "2 of 10000 elements are wrong; the first is element 7: 1.5 instead of 1 (tolerance 1e-06)");
}

TEST(OutputCheck, EqualNansAndInfinitiesAreRight) {
  const float got[] = {NAN, INFINITY};
  const double expected[] = {NAN, INFINITY};
  EXPECT_EQ(check_output(kFloat32, got, expected, 2, 0).wrong, 0u);
}

TEST(OutputCheck, IntegersMustBeEqual) {
  const int8_t got[] = {1, -5};
  const double expected[] = {1, -4};
  EXPECT_EQ(check_output(int_type(8), got, expected, 2, 0).wrong, 1u);
}

}  // namespace
}  // namespace tensmith
