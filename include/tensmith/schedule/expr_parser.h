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
///
///     P[v,u] = select(v >= 1 and v < 9 and u >= 1 and u < 9, A[v-1,u-1], 0);
///     R[y,x] = max(sum(r,s: P[y+r,x+s]*W[r,s]) + b[0], 0)
///         with A=8x8, W=3x3, b=1 and the extents v=10, u=10, y=8, x=8
///
/// docs/expressions.md describes the language for users. Definitions are separated by `;`. On the left stand index
/// names, on the right numbers, tensors, the operators
/// + - * / % (floor division and modulo for integers), comparisons, `and`, `or`, `not` (also && || !),
/// `select(cond, a, b)` (the arm not chosen is not read), the numbers inf and nan, `min(a, b)`, `max(a, b)`, the
/// functions exp log sqrt tanh erf abs floor ceil round pow, casts `float32(x)`, and the reductions sum, max, min over
/// named indices: `sum(k, l: value)`. A reduction inside a larger expression becomes a stage of its own.

namespace tensmith {

/// Shape and type of an input: `A=4x4`, `A=4x4:float16`, or `A=:float32` for a tensor without dimensions.
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

/// Definitions with all that they need.
struct FreeExpression {
  std::string text;
  std::vector<NamedShape> shapes;
  std::vector<NamedExtent> extents;
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

/// The text of a program that was made in C++: parse_program makes an equal one from it. Indices get other names where
/// theirs are taken. Throws UserError for what has no text: a tensor's name that is no name there, an output that
/// another stage reads, an input that is never read, or an expression nested more than 400 levels deep.
FreeExpression to_expression(const Program& program);

/// The canonical text of a free expression: records use it as the workload's key. Independent of white space.
std::string canonical_expression(std::string_view text, std::span<const NamedShape> shapes,
                                 std::span<const NamedExtent> extents);

}  // namespace tensmith
