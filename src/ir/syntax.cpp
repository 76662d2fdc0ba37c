#include "ir/syntax.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tensmith {

namespace {

constexpr auto kReserved = std::to_array<std::string_view>({
    "abs",   "alloc",  "and",    "broadcast", "ceil",    "else",     "erf",  "exp",  "false",    "floor",
    "fma",   "for",    "func",   "global",    "if",      "in",       "into", "let",  "local",    "log",
    "max",   "min",    "not",    "or",        "out",     "parallel", "pass", "pow",  "prefetch", "ramp",
    "round", "select", "shared", "sqrt",      "strides", "sum",      "tanh", "true", "unrolled", "vectorized",
});

constexpr auto kSuffixes = std::to_array<std::pair<std::string_view, DataType>>({
    {"i8", int_type(8)},
    {"i16", int_type(16)},
    {"i32", int_type(32)},
    {"i64", int_type(64)},
    {"u8", uint_type(8)},
    {"u16", uint_type(16)},
    {"u32", uint_type(32)},
    {"u64", uint_type(64)},
    {"f16", float_type(16)},
    {"bf16", bfloat_type()},
    {"f32", float_type(32)},
    {"f64", float_type(64)},
});

}  // namespace

Precedence precedence_of(BinaryOp op) {
  switch (op) {
    case BinaryOp::kOr: return Precedence::kOr;
    case BinaryOp::kAnd: return Precedence::kAnd;
    case BinaryOp::kAdd:
    case BinaryOp::kSub: return Precedence::kAdd;
    case BinaryOp::kMul:
    case BinaryOp::kDiv:
    case BinaryOp::kMod: return Precedence::kMul;
    case BinaryOp::kMin:
    case BinaryOp::kMax: return Precedence::kPrimary;
    default: return Precedence::kCompare;
  }
}

std::string_view literal_suffix(DataType type) {
  if (type == kInt64 || type == kFloat32) return {};
  for (const auto& [suffix, suffix_type] : kSuffixes) {
    if (suffix_type == type) return suffix;
  }
  return {};
}

std::optional<DataType> type_of_suffix(std::string_view suffix) {
  for (const auto& [known, type] : kSuffixes) {
    if (known == suffix) return type;
  }
  return std::nullopt;
}

bool is_special_float(std::string_view word) {
  if (!word.starts_with("inf") && !word.starts_with("nan")) return false;
  const std::string_view suffix = word.substr(3);
  if (suffix.empty()) return true;
  const std::optional<DataType> type = type_of_suffix(suffix);
  return type && type->is_float();
}

bool is_type_name(std::string_view word) {
  for (std::string_view element : {"int", "uint", "bool", "float", "bfloat"}) {
    if (!word.starts_with(element)) continue;
    const std::string_view rest = word.substr(element.size());
    const bool numeric = std::all_of(rest.begin(), rest.end(), [](char c) { return is_digit(c) || c == 'x'; });
    if (numeric && (element == "bool" || !rest.empty())) return true;
  }
  return false;
}

bool is_reserved_word(std::string_view word) {
  return std::find(kReserved.begin(), kReserved.end(), word) != kReserved.end() || is_special_float(word) ||
         is_type_name(word);
}

std::string to_identifier(std::string_view hint) {
  std::string name(hint.empty() ? std::string_view("v") : hint);
  for (char& c : name) {
    if (!is_name_part(c)) c = '_';
  }
  if (!is_name_start(name[0])) name.insert(name.begin(), '_');
  if (is_reserved_word(name)) name += '_';
  return name;
}

}  // namespace tensmith
