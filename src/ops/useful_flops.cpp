#include <algorithm>

#include "tensmith/ops/workload.h"

namespace tensmith {
namespace {

/// Pairs of an output position and a kernel position that meet inside the image, along one axis.
double pairs_inside(int64_t outputs, int64_t kernel, int64_t stride, int64_t dilation, int64_t pad, int64_t extent) {
  double pairs = 0;
  for (int64_t tap = 0; tap < kernel; ++tap) {
    // 0 <= y * stride + at < extent
    const int64_t at = tap * dilation - pad;
    const int64_t first = at >= 0 ? 0 : (-at + stride - 1) / stride;
    const int64_t end = at >= extent ? 0 : (extent - at + stride - 1) / stride;
    pairs += static_cast<double>(std::max<int64_t>(0, std::min(end, outputs) - first));
  }
  return pairs;
}

}  // namespace

double useful_flop_count(const Workload& workload) {
  const auto* c = std::get_if<Conv2d>(&workload.op);
  if (c == nullptr) return flop_count(workload);
  return 2.0 * static_cast<double>(c->n) * static_cast<double>(c->k) * static_cast<double>(c->c) *
         pairs_inside(c->out_h(), c->r, c->stride_h, c->dilation_h, c->pad_top, c->h) *
         pairs_inside(c->out_w(), c->s, c->stride_w, c->dilation_w, c->pad_left, c->w);
}

}  // namespace tensmith
