#pragma once

#include <string_view>

#include "tensmith/ir/type.h"

namespace tensmith {

/// Whether an argument fits a parameter whose type OpenCL names so ("float*", "uint"). Signs do not matter, nor do
/// vectors ("float4*"); 16 bits of a floating-point type fit all that has 16 bits, for programs have several words for
/// them. A type that the source made itself fits.
bool fits_opencl_parameter(std::string_view parameter, DataType type, bool buffer);

}  // namespace tensmith
