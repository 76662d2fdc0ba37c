#pragma once

#include "tensmith/ops/workload.h"
#include "tensmith/schedule/tensor.h"

namespace tensmith {

/// The stages of a conv2d. Templates schedule exactly these; definition() is made of the same.
struct Conv2dStages {
  Tensor data;     ///< [n, c/16, h, w, 16] or [n, c, h, w]
  Tensor weights;  ///< [k, c, r, s]
  Tensor bias;     ///< [k], or empty
  Tensor pad;      ///< zero-padded data; empty when there is no padding
  Tensor conv;     ///< [n, oh, ow, k]: sums, channels last so that a register tile is contiguous
  Tensor out;      ///< conv in the output's layout, after the epilogue
  Program program;
};

/// The stages of a matmul.
struct MatmulStages {
  Tensor a, b;
  Tensor bias;     ///< [n], or empty
  Tensor product;  ///< [m, n]: sums
  Tensor out;      ///< [m, n], after the epilogue; the product itself when there is none
  Program program;
};

Conv2dStages make_conv2d(const Conv2d& conv);
MatmulStages make_matmul(const Matmul& matmul);

}  // namespace tensmith
