#pragma once

#include <functional>
#include <span>
#include <vector>

#include "tensmith/schedule/tensor.h"

namespace tensmith {

/// Values of one tensor, row-major, each held as a double.
using DoubleTensor = std::vector<double>;

struct EvaluateOptions {
  int threads = 1;
  /// Asked now and then with the part that is done, by the thread that called; the rest is left undone when it says
  /// false.
  std::function<bool(double done)> go_on;
};

/// Evaluates a program straight from its definition: no schedule, no passes, no loop AST. The independent oracle that
/// every measured trial's output is compared with. Reductions of floating-point values accumulate in double, from the
/// first term to the last; each stage's elements are then rounded to its type. `inputs` are raw elements in the order
/// of program.inputs. Returns the outputs; none when it was told to stop. A thread takes less than a nanosecond for a
/// term of conv2d or matmul (sums of products of affine reads have a path of their own, sum_of_products.h); for a term
/// of another expression some tens.
std::vector<DoubleTensor> evaluate_program(const Program& program, std::span<const void* const> inputs,
                                           const EvaluateOptions& options = {});

/// Reads `count` elements of `type` as doubles, and the inverse (rounding, integers saturating).
DoubleTensor to_doubles(DataType type, const void* elements, size_t count);
void from_doubles(DataType type, std::span<const double> values, void* elements);

}  // namespace tensmith
