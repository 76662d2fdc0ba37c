#pragma once

#include "tensmith/schedule/target.h"

namespace tensmith::cli {

/// Multiply-adds a second that this machine really does, in GFLOP/s of float32: a loop of independent vector
/// multiply-adds made by our own back end, on `threads` threads. Takes about a tenth of a second; measured once a
/// process.
double measured_peak_gflops(const Target& target, int threads);

}  // namespace tensmith::cli
