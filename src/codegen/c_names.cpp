#include "codegen/c_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "tensmith/codegen/c_source.h"
#include "tensmith/support/error.h"

namespace tensmith {

namespace {

/// Keywords of C11 and C++, so that a header can be included from both, and names of the standard headers used.
constexpr std::array kReserved{
    "alignas", "alignof", "and",      "asm",       "auto",     "bool",      "break",     "case",     "catch",
    "char",    "class",   "const",    "constexpr", "continue", "default",   "delete",    "do",       "double",
    "else",    "enum",    "explicit", "export",    "extern",   "false",     "float",     "for",      "friend",
    "goto",    "if",      "inline",   "int",       "long",     "mutable",   "namespace", "new",      "noexcept",
    "not",     "nullptr", "operator", "or",        "private",  "protected", "public",    "register", "restrict",
    "return",  "short",   "signed",   "sizeof",    "static",   "struct",    "switch",    "template", "this",
    "throw",   "true",    "try",      "typedef",   "typeid",   "typename",  "union",     "unsigned", "using",
    "virtual", "void",    "volatile", "while",     "xor",      "INFINITY",  "NAN",       "NULL",     "main",
    "memcpy",  "exp",     "expf",     "log",       "logf",     "sqrt",      "sqrtf",     "tanh",     "tanhf",
    "erf",     "erff",    "pow",      "powf",      "fma",      "fmaf",      "floor",     "floorf",   "ceil",
    "ceilf",   "round",   "roundf",   "fabs",      "fabsf",    "j0",        "j1",        "jn",       "y0",
    "y1",      "yn",      "gamma"};

bool is_reserved(std::string_view name) {
  return std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end();
}

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

}  // namespace

bool is_c_identifier(std::string_view name) {
  return !name.empty() && is_letter(name.front()) && !is_reserved(name) &&
         std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || is_digit(c); });
}

void check_function_names(std::span<const Function> functions) {
  std::set<std::string_view> seen;
  for (const Function& function : functions) {
    if (!is_c_identifier(function.name)) {
      throw UserError(fmt::format("function name '{}' is no identifier of C", function.name),
                      "use letters, digits and '_', not starting with a digit, and no keyword");
    }
    if (!seen.insert(function.name).second) {
      throw UserError(fmt::format("two functions of one module are named '{}'", function.name), "rename one of them");
    }
  }
}

CNames::CNames() { taken_.insert(kReserved.begin(), kReserved.end()); }

std::string CNames::fresh(std::string_view hint) {
  std::string base;
  for (char c : hint) base += is_letter(c) || is_digit(c) ? c : '_';
  // Identifiers that start with '_' or 'ts_' belong to the compiler and to the helpers.
  if (base.empty() || !is_letter(base.front()) || base.front() == '_' || base.starts_with("ts_")) base = "v" + base;
  std::string name = base;
  for (int i = 1; !taken_.insert(name).second; ++i) name = fmt::format("{}_{}", base, i);
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
