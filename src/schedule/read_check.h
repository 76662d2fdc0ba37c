#pragma once

#include <span>
#include <string_view>

#include "tensmith/schedule/tensor.h"

namespace tensmith {

/// Throws UserError when a read inside `value` can be out of bounds for some point of `domain`. Conditions of enclosing
/// selects count. What cannot be proved is refused, with the index and the range that analysis gives it.
/// So is arithmetic on axes, in indices and elsewhere, whose values reach 2^60: what a schedule makes of it would not
/// fit.
void check_reads(std::string_view tensor, Expr value, std::span<const Axis> domain);

}  // namespace tensmith
