#include "codegen/c_names.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "tensmith/support/error.h"

namespace tensmith::c {
namespace {

constexpr std::array<std::string_view, 44> kKeywords = {
    "auto",   "break",  "case",     "char",   "const",   "continue", "default",  "do",     "double", "else",   "enum",
    "extern", "float",  "for",      "goto",   "if",      "inline",   "int",      "long",   "register", "restrict", "return",
    "short",  "signed", "sizeof",   "static", "struct",  "switch",   "typedef",  "union",  "unsigned", "void", "volatile",
    "while",  "bool",   "true",     "false",  "NULL",    "INFINITY", "NAN",      "args",   "closure",  "begin",  "end"};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

}  // namespace

bool is_identifier(std::string_view name) {
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 && std::all_of(name.begin(), name.end(), is_word) &&
         std::find(kKeywords.begin(), kKeywords.end(), name) == kKeywords.end();
}

const std::string& Names::of(const void* node, std::string_view hint) {
  const auto it = names_.find(node);
  return it != names_.end() ? it->second : names_.emplace(node, fresh(hint)).first->second;
}

std::string Names::fresh(std::string_view hint) {
  std::string base;
  for (char c : hint) {
    base += is_word(c) ? c : '_';
  }
  if (!is_identifier(base) || base.starts_with("ts_")) {
    base = "v_" + base;
  }
  std::string name = base;
  for (int i = 1; !used_.insert(name).second; ++i) {
    name = fmt::format("{}_{}", base, i);
  }
  return name;
}

std::string_view memory_type(DataType type) {
  switch (type.code) {
    case TypeCode::kBool: return "uint8_t";
    case TypeCode::kBFloat: return "uint16_t";
    case TypeCode::kFloat: return type.bits == 16 ? "uint16_t" : type.bits == 32 ? "float" : "double";
    case TypeCode::kInt: return type.bits == 8 ? "int8_t" : type.bits == 16 ? "int16_t" : type.bits == 32 ? "int32_t" : "int64_t";
    case TypeCode::kUInt:
      return type.bits == 8 ? "uint8_t" : type.bits == 16 ? "uint16_t" : type.bits == 32 ? "uint32_t" : "uint64_t";
  }
  TENSMITH_UNREACHABLE("unknown type");
}

std::string_view value_type(DataType type) { return type.is_float() && type.bits == 16 ? "float" : memory_type(type); }

std::string suffix(DataType type) {
  const std::string_view letter = type.code == TypeCode::kFloat    ? "f"
                                  : type.code == TypeCode::kBFloat ? "bf"
                                  : type.is_bool()                 ? "b"
                                  : type.is_int()                  ? "i"
                                                                   : "u";
  return fmt::format("{}{}", letter, static_cast<int>(type.bits));
}

}  // namespace tensmith::c
