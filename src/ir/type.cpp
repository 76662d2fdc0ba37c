#include "tensmith/ir/type.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "tensmith/support/error.h"

namespace tensmith {

namespace {

constexpr std::pair<const char*, DataType> kElementTypes[] = {
    {"int8", int_type(8)},       {"int16", int_type(16)},     {"int32", int_type(32)},     {"int64", int_type(64)},
    {"uint8", uint_type(8)},     {"uint16", uint_type(16)},   {"uint32", uint_type(32)},   {"uint64", uint_type(64)},
    {"bool", bool_type()},       {"float16", float_type(16)}, {"bfloat16", bfloat_type()}, {"float32", float_type(32)},
    {"float64", float_type(64)},
};

[[noreturn]] void fail(const std::string& text, const std::string& why) {
  std::string names;
  for (const auto& [name, type] : kElementTypes) {
    names += names.empty() ? name : std::string(", ") + name;
  }
  throw UserError(fmt::format("unknown type '{}': {}", text, why),
                  fmt::format("use one of {}, with x<lanes> appended for a vector (float32x16)", names));
}

}  // namespace

std::string to_string(DataType type) {
  std::string_view name = type.is_float()  ? (type.code == TypeCode::kBFloat ? "bfloat" : "float")
                          : type.is_uint() ? "uint"
                          : type.is_bool() ? "bool"
                                           : "int";
  std::string out(name);
  if (!type.is_bool()) {
    out += std::to_string(type.bits);
  }
  if (type.is_vector()) {
    out += 'x';
    out += std::to_string(type.lanes);
  }
  return out;
}

DataType parse_type(const std::string& text) {
  const size_t x = text.find('x');
  const std::string element = text.substr(0, x);
  int lanes = 1;
  if (x != std::string::npos) {
    const char* first = text.data() + x + 1;
    const char* last = text.data() + text.size();
    const auto [end, error] = std::from_chars(first, last, lanes);
    if (error != std::errc() || end != last || *first == '-' || *first == '0' || lanes < 2 || lanes > 65535) {
      fail(text, "the lanes after 'x' are a number from 2 to 65535");
    }
  }
  for (const auto& [name, type] : kElementTypes) {
    if (element == name) {
      return type.with_lanes(lanes);
    }
  }
  fail(text, fmt::format("'{}' is not an element type", element));
}

}  // namespace tensmith
