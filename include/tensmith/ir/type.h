#pragma once

#include <cstdint>
#include <string>

namespace tensmith {

/// What the bits of one lane mean.
enum class TypeCode : uint8_t { kInt, kUInt, kBool, kFloat, kBFloat };

/// Type of a value: a code, the bits of one lane, and the number of lanes (1 = scalar).
/// Supported lanes: int8..int64, uint8..uint64, bool, float16, bfloat16, float32, float64.
struct DataType {
  TypeCode code = TypeCode::kInt;
  uint8_t bits = 32;
  uint16_t lanes = 1;

  constexpr bool operator==(const DataType&) const = default;
  constexpr bool is_int() const { return code == TypeCode::kInt; }
  constexpr bool is_uint() const { return code == TypeCode::kUInt; }
  constexpr bool is_bool() const { return code == TypeCode::kBool; }
  /// float16, bfloat16, float32 or float64.
  constexpr bool is_float() const { return code == TypeCode::kFloat || code == TypeCode::kBFloat; }
  /// int or uint: floor division and modulo apply.
  constexpr bool is_integral() const { return is_int() || is_uint(); }
  constexpr bool is_scalar() const { return lanes == 1; }
  constexpr bool is_vector() const { return lanes > 1; }
  constexpr DataType with_lanes(int n) const { return {code, bits, static_cast<uint16_t>(n)}; }
  constexpr DataType element() const { return with_lanes(1); }
  /// Bytes of one lane in memory (bool takes one byte).
  constexpr int element_bytes() const { return bits < 8 ? 1 : bits / 8; }
  constexpr int bytes() const { return element_bytes() * lanes; }
};

constexpr DataType int_type(int bits, int lanes = 1) {
  return {TypeCode::kInt, static_cast<uint8_t>(bits), static_cast<uint16_t>(lanes)};
}
constexpr DataType uint_type(int bits, int lanes = 1) {
  return {TypeCode::kUInt, static_cast<uint8_t>(bits), static_cast<uint16_t>(lanes)};
}
constexpr DataType float_type(int bits, int lanes = 1) {
  return {TypeCode::kFloat, static_cast<uint8_t>(bits), static_cast<uint16_t>(lanes)};
}
constexpr DataType bfloat_type(int lanes = 1) { return {TypeCode::kBFloat, 16, static_cast<uint16_t>(lanes)}; }
constexpr DataType bool_type(int lanes = 1) { return {TypeCode::kBool, 1, static_cast<uint16_t>(lanes)}; }

inline constexpr DataType kInt32 = int_type(32);
/// Type of loop variables and indices before index narrowing.
inline constexpr DataType kInt64 = int_type(64);
inline constexpr DataType kBool = bool_type();
inline constexpr DataType kFloat32 = float_type(32);
inline constexpr DataType kFloat64 = float_type(64);

/// "float32", "int8x16", "bool", "bfloat16x32".
std::string to_string(DataType type);

/// Inverse of to_string; throws UserError naming the text and the known types.
DataType parse_type(const std::string& text);

}  // namespace tensmith
