#pragma once

#include <string>

namespace tensmith {

struct ModuleContext;

/// Adds `int NAME_supported(void)`: 1 when the CPU and the operating system that run it have every feature of the
/// target. Itself it needs nothing beyond the CPU family's first member. Always 1 on families other than x86-64.
void emit_supported_entry(ModuleContext& module, const std::string& function_name);

}  // namespace tensmith
