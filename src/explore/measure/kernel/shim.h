#pragma once

#include <string>

#include "tensmith/explore/kernel/kernel.h"

namespace tensmith {

/// A kernel in C is compiled together with a function that calls it: whatever its signature, the runner hands over an
/// array with the address of each argument's elements or value.
using KernelShim = void(void** arguments);
inline constexpr const char* kKernelShimName = "tensmith_kernel_shim";

/// The C source of that function, which includes the kernel's source. The compiler checks the arguments against the
/// kernel's parameter list; what is wrong is told as being in "--args", whose second line is the first argument.
std::string kernel_shim_source(const KernelSpec& spec);

/// A compiler's message about the function, told of the user's own text instead: of an argument, of --args as a whole,
/// or of a source that ends too early. All other messages are as they were.
std::string told_of_arguments(const KernelSpec& spec, const std::string& message);

}  // namespace tensmith
