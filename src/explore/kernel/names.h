#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "tensmith/explore/kernel/kernel.h"

namespace tensmith {

/// Whether it is an identifier of C.
bool is_identifier(std::string_view text);

/// size_x, size_y and size_z: what stands for the problem's size.
std::span<const ExpressionName> size_names();

/// What expressions over a config may use: the parameters, then the sizes that no parameter hides.
std::vector<ExpressionName> config_names(std::span<const KernelParameter> parameters);

/// "divides by zero", "overflows".
std::string_view fault_text(ExpressionFault fault);

}  // namespace tensmith
