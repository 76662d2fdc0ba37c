#pragma once

#include <string_view>

#include "tensmith/ir/parse.h"

namespace tensmith::test {

/// Figure 3 of the paper.
inline constexpr std::string_view kMatmul8 = R"(
func matmul(A: float32[8, 8] global, B: float32[8, 8] global, out C: float32[8, 8] global):
  for y in [0, 8):
    for x in [0, 8):
      C[y, x] = 0.0
      for k in [0, 8):
        C[y, x] = C[y, x] + A[k, y]*B[k, x]
)";

/// A matmul with a register tile, a packed operand, an accumulator and a copy out.
inline constexpr std::string_view kTiledMatmul = R"(
func matmul(A: float32[96, 64] global, B: float32[64, 128] global, out C: float32[96, 128] global):
  alloc P: float32[8, 64, 16] global:
    for po in [0, 8):
      for pk in [0, 64):
        vectorized pv in [0, 16):
          P[po, pk, pv] = B[pk, po*16 + pv]
    parallel yo in [0, 24):
      for xo in [0, 8):
        alloc acc: float32[4, 16] local:
          unrolled yi0 in [0, 4):
            vectorized xv0 in [0, 16):
              acc[yi0, xv0] = 0.0
          for k in [0, 64):
            prefetch P[xo, k + 8, 0] into L1
            unrolled yi in [0, 4):
              vectorized xv in [0, 16):
                acc[yi, xv] = acc[yi, xv] + A[yo*4 + yi, k]*P[xo, k, xv]
          unrolled yi1 in [0, 4):
            vectorized xv1 in [0, 16):
              C[yo*4 + yi1, xo*16 + xv1] = acc[yi1, xv1]
)";

/// Nothing is read.
inline constexpr std::string_view kFill = R"(
func fill(out C: float32[4, 16] global):
  for i in [0, 4):
    for j in [0, 16):
      C[i, j] = 1.0
)";

}  // namespace tensmith::test
