#pragma once

#include <string>
#include <string_view>

#include "tensmith/ir/ir.h"

/// What printer and parser share about the textual form.

namespace tensmith {

/// How tightly an operator binds; an operand that binds less tightly than its place asks for gets parentheses.
enum class Precedence : int { kAny, kOr, kAnd, kNot, kCompare, kAdd, kMul, kPrimary };

constexpr Precedence tighter(Precedence p) { return static_cast<Precedence>(static_cast<int>(p) + 1); }

/// kPrimary for min and max, which are written as calls.
Precedence precedence_of(BinaryOp op);

/// "i32", "bf16", ...; empty for int64 and float32, the types of a literal without suffix, and for bool.
std::string_view literal_suffix(DataType type);

/// The type a literal's suffix names; nothing when no type has it. The two default types have suffixes here too.
std::optional<DataType> type_of_suffix(std::string_view suffix);

/// Whether `word` means something in the textual form and cannot name a variable.
bool is_reserved_word(std::string_view word);

/// Whether `word` reads as a data type ("float32", "int8x16").
bool is_type_name(std::string_view word);

/// Whether `word` is "inf" or "nan", alone or with the suffix of a floating-point type.
bool is_special_float(std::string_view word);

/// An identifier as close to `hint` as can be.
std::string to_identifier(std::string_view hint);

constexpr bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_name_part(char c) { return is_name_start(c) || is_digit(c) || c == '.'; }

}  // namespace tensmith
