#pragma once

#include <string>

#include "tensmith/ir/ir.h"

/// Readable text of expressions and programs, in the manner of the paper's Figure 3a:
///
///     func conv(A: float32[4, 8] global, W: float32[8, 16] global, out C: float32[4, 16] global):
///       parallel y in [0, 4):
///         for k in [0, 8):
///           vectorized x in [0, 16):
///             C[y, x] = C[y, x] + A[y, k]*W[k, x]
///
/// The text is exact: parse.h gives the same program back. Names are made unique with a suffix (`y_1`) where two
/// variables or buffers in scope at the same time share a hint, and characters that no identifier may hold become `_`.
///
/// A literal without suffix has the type of the operand or target beside it; where there is none it is int64 or
/// float32. Other types carry a suffix: `3i32`, `7u8`, `1.5f64`, `0.5bf16`. Floats are printed with the fewest digits
/// that give the same value back; `inf` and `nan` are literals too. Loop and let variables are int64 unless annotated
/// (`for k: int32 in [0, 8):`), a predicate stands inside the brackets of an access (`A[ramp(i, 1, 8) if p]`), buffers
/// that are not dense carry `strides [...]`, and an empty body prints as `pass`.

namespace tensmith {

std::string to_string(Expr e);
/// One line per statement, each ending in a newline.
std::string to_string(Stmt s);
std::string to_string(const Function& function);
/// The buffer's declaration: `A: float32[4, 8] global`.
std::string to_string(Buffer buffer);

}  // namespace tensmith
