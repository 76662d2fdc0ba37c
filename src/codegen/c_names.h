#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "tensmith/ir/ir.h"

namespace tensmith {

/// Names of variables and buffers in the C text of a function: identifiers that mean nothing else there, made from the
/// hints, each used once at a time.
class CNames {
 public:
  explicit CNames(std::string_view function) : function_(function) {}
  const std::string& of(VarRef var) { return of(var, var->name); }
  const std::string& of(Buffer buffer) { return of(buffer, buffer->name); }
  /// A name like `hint` that nothing else has.
  std::string fresh(std::string_view hint);
  /// The variable's scope has ended: another may have its name.
  void release(VarRef var);

 private:
  const std::string& of(const void* node, std::string_view hint);

  std::string function_;
  std::unordered_map<const void*, std::string> names_;
  std::unordered_set<std::string> taken_;
};

}  // namespace tensmith
