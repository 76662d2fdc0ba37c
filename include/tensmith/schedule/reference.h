#pragma once

#include <span>
#include <vector>

#include "tensmith/schedule/tensor.h"

namespace tensmith {

/// Values of one tensor, row-major, each held as a double.
using DoubleTensor = std::vector<double>;

/// Evaluates a program straight from its definition: no schedule, no passes, no loop AST. The independent oracle that
/// every measured trial's output is compared with. Reductions of floating-point values accumulate in double; each
/// stage's elements are then rounded to its type. `inputs` are raw elements in the order of program.inputs. Returns the
/// outputs. Conv2d and matmul take about a nanosecond a term (sums of products of affine reads have a path of their
/// own); other expressions some tens.
std::vector<DoubleTensor> evaluate_program(const Program& program, std::span<const void* const> inputs);

/// Reads `count` elements of `type` as doubles, and the inverse (rounding, integers saturating).
DoubleTensor to_doubles(DataType type, const void* elements, size_t count);
void from_doubles(DataType type, std::span<const double> values, void* elements);

}  // namespace tensmith
