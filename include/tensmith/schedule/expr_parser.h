#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tensmith/schedule/tensor.h"

/// Index expressions as text:
///
///     C[y,x] = sum(k: A[k,y]*B[k,x])
///     P[y,x] = select(y >= 1 and y < 9 and x >= 1 and x < 9, A[y-1,x-1], 0);
///     R[y,x] = max(sum(r,s: P[y+r,x+s]*W[r,s]) + b[0], 0)
///
/// Definitions are separated by `;`. On the left stand index names, on the right numbers, tensors, the operators
/// + - * / % (floor division and modulo for integers), comparisons, `and`, `or`, `not` (also && || !),
/// `select(cond, a, b)` (the arm not chosen is not read), `min(a, b)`, `max(a, b)`, the functions exp log sqrt tanh erf
/// abs floor ceil round pow, casts `float32(x)`, and the reductions sum, max, min over named indices: `sum(k, l:
/// value)`. A reduction inside a larger expression becomes a stage of its own.

namespace tensmith {

/// Shape and type of an input: `A=4x4` or `A=4x4:float16`.
struct NamedShape {
  std::string name;
  std::vector<int64_t> shape;
  DataType type = kFloat32;
};

/// Extent of an index that no dimension gives: `y=3`.
struct NamedExtent {
  std::string name;
  int64_t extent = 0;
};

/// Throws UserError with what is wrong and what the form is.
NamedShape parse_named_shape(std::string_view text);
NamedExtent parse_named_extent(std::string_view text);

/// Makes the program of `text`. Inputs are listed in the order of `shapes`; outputs are the tensors that no other
/// definition reads. An index's extent is that of a dimension which it indexes alone, or is given in `extents`.
/// Throws UserError with line, column, the line itself and a caret: syntax; unknown tensor, function or index; a tensor
/// defined twice; conflicting or missing extents; wrong number of indices; mixed types; a read that can be out of
/// bounds (tensor.h).
Program parse_program(std::string_view text, std::span<const NamedShape> shapes,
                      std::span<const NamedExtent> extents = {});

/// The canonical text of a free expression: records use it as the workload's key. Independent of white space.
std::string canonical_expression(std::string_view text, std::span<const NamedShape> shapes,
                                 std::span<const NamedExtent> extents);

}  // namespace tensmith
