#pragma once

#include <string>

#include "codegen/c_helpers.h"
#include "tensmith/ir/ir.h"

namespace tensmith {

/// "const float* restrict A, float* restrict C"; `restricted` leaves the qualifier out where C++ reads it.
std::string c_parameter_list(const Function& function, bool restricted);

/// Text of one function: those of its parallel loops, itself, and its packed entry. Notes in `helpers` what it needs.
std::string c_function_text(const Function& function, CHelperSet& helpers);

}  // namespace tensmith
