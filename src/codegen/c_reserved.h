#pragma once

#include <string_view>

namespace tensmith {

/// Whether a name of generated C text would mean something else, there or in the user's C++: keywords of C11 to C23 and
/// of C++20 with its alternative tokens, names that begin with '_', what the headers that generated files include
/// (math, stdbool, stddef, stdint, stdio, stdlib, string, the runtime's) declare or define, and our helpers ("ts_...").
bool is_reserved_in_c(std::string_view name);

/// Whether `name` is that of a function that comes with `function`: NAME_packed, NAME_supported, NAME_parallel0, ...
bool comes_with_function(std::string_view name, std::string_view function);

}  // namespace tensmith
