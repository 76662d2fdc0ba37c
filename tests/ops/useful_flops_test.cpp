#include <gtest/gtest.h>

#include "tensmith/ops/workload.h"

namespace tensmith {
namespace {

/// Tap by tap.
double counted(const Conv2d& c) {
  double taps = 0;
  for (int64_t y = 0; y < c.out_h(); ++y) {
    for (int64_t x = 0; x < c.out_w(); ++x) {
      for (int64_t i = 0; i < c.r; ++i) {
        for (int64_t j = 0; j < c.s; ++j) {
          const int64_t row = y * c.stride_h + i * c.dilation_h - c.pad_top;
          const int64_t column = x * c.stride_w + j * c.dilation_w - c.pad_left;
          taps += row >= 0 && row < c.h && column >= 0 && column < c.w ? 1 : 0;
        }
      }
    }
  }
  return 2 * taps * static_cast<double>(c.n * c.k * c.c);
}

TEST(UsefulFlops, AreThoseInsideTheImage) {
  for (const char* text : {"conv2d:c=3,h=6,w=6,k=4,r=5,s=5,pad=2",
                           "conv2d:n=2,c=3,h=7,w=9,k=4,r=3,s=2,pad=1:0:2:5,stride=2:3,dilation=1:2",
                           "conv2d:c=1,h=2,w=1,k=1,r=3,s=5,pad=4,stride=3,dilation=2:1",
                           "conv2d:c=8,h=6,w=6,k=4,r=3,s=3", "conv2d:c=1,h=1,w=1,k=1,r=1,s=1,pad=3"}) {
    const Workload workload = parse_workload(text);
    EXPECT_EQ(useful_flop_count(workload), counted(std::get<Conv2d>(workload.op))) << text;
    EXPECT_LE(useful_flop_count(workload), flop_count(workload)) << text;
  }
  const Workload plain = parse_workload("conv2d:c=8,h=6,w=6,k=4,r=3,s=3"), product = parse_workload("matmul-256");
  EXPECT_EQ(useful_flop_count(plain), flop_count(plain));
  EXPECT_EQ(useful_flop_count(product), flop_count(product));
}

}  // namespace
}  // namespace tensmith
