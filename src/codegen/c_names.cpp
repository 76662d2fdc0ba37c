#include "codegen/c_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "codegen/c_reserved.h"
#include "tensmith/codegen/c_source.h"
#include "tensmith/support/error.h"

namespace tensmith {

namespace {

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

}  // namespace

bool is_c_identifier(std::string_view name) {
  return !name.empty() && is_letter(name.front()) && !is_reserved_in_c(name) &&
         std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || is_digit(c); });
}

void check_function_names(std::span<const Function> functions) {
  std::set<std::string_view> seen;
  for (const Function& function : functions) {
    if (!is_c_identifier(function.name)) {
      throw UserError(fmt::format("function name '{}' is no identifier of C", function.name),
                      "use letters, digits and '_', starting with a letter, and no keyword or name of the C library");
    }
    if (!seen.insert(function.name).second) {
      throw UserError(fmt::format("two functions of one module are named '{}'", function.name), "rename one of them");
    }
    for (const Function& other : functions) {
      if (comes_with_function(function.name, other.name)) {
        throw UserError(fmt::format("function name '{}' belongs to function '{}'", function.name, other.name),
                        "rename one of them");
      }
    }
  }
}

std::string CNames::fresh(std::string_view hint) {
  std::string base;
  for (char c : hint) base += is_letter(c) || is_digit(c) ? c : '_';
  // Prefixes that belong to the compiler and to the helpers; no suffix makes a name of one's own of them.
  if (base.empty() || !is_letter(base.front()) || base.front() == '_' || base.starts_with("ts_") ||
      base.starts_with("TS_") || base.starts_with("TENSMITH_")) {
    base = "v" + base;
  }
  const auto is_free = [&](const std::string& name) {
    return !is_reserved_in_c(name) && name != function_ && !comes_with_function(name, function_) &&
           taken_.insert(name).second;
  };
  std::string name = base;
  for (int i = 1; !is_free(name); ++i) name = fmt::format("{}_{}", base, i);
  return name;
}

void CNames::release(VarRef var) {
  auto it = names_.find(var);
  if (it == names_.end()) return;
  taken_.erase(it->second);
  names_.erase(it);
}

const std::string& CNames::of(const void* node, std::string_view hint) {
  auto it = names_.find(node);
  if (it == names_.end()) it = names_.emplace(node, fresh(hint)).first;
  return it->second;
}

}  // namespace tensmith
