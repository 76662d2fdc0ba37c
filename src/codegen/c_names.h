#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "tensmith/ir/ir.h"

namespace tensmith::c {

/// Gives each variable and buffer of a function a C identifier of its own, close to its name.
class Names {
 public:
  const std::string& of(const void* node, std::string_view hint);
  const std::string& of(VarRef var) { return of(var, var->name); }
  const std::string& of(Buffer buffer) { return of(buffer, buffer->name); }
  /// An identifier that nothing else has.
  std::string fresh(std::string_view hint);

 private:
  std::unordered_map<const void*, std::string> names_;
  std::unordered_set<std::string> used_;
};

/// Whether `name` can be a function of C.
bool is_identifier(std::string_view name);

/// Type of a value in an expression ("float" for the 16-bit floats) and of an element in memory ("uint16_t").
std::string_view value_type(DataType type);
std::string_view memory_type(DataType type);
/// "f32", "i8", "bf16": in the names of helper functions.
std::string suffix(DataType type);

}  // namespace tensmith::c
