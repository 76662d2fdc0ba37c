#include "codegen/c_expr.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include <fmt/format.h>

#include "tensmith/ir/arith/affine.h"
#include "tensmith/ir/visit.h"
#include "tensmith/support/error.h"

namespace tensmith::c {
namespace {

std::string integer_literal(DataType type, int64_t value) {
  if (type.is_uint() && type.bits == 64) {
    return fmt::format("{}u", static_cast<uint64_t>(value));
  }
  if (value == std::numeric_limits<int64_t>::min()) {
    return "INT64_MIN";
  }
  if (value == std::numeric_limits<int32_t>::min()) {
    return "(-2147483647 - 1)";
  }
  return value < 0 ? fmt::format("({})", value) : fmt::format("{}", value);
}

std::string float_literal(DataType type, double value) {
  if (std::isnan(value)) return "NAN";
  if (std::isinf(value)) return value > 0 ? "INFINITY" : "(-INFINITY)";
  std::string text = type.bits == 64 ? fmt::format("{}", value) : fmt::format("{}", static_cast<float>(value));
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  if (type.bits != 64) text += "f";
  return std::signbit(value) ? "(" + text + ")" : text;
}

constexpr std::string_view kHalfHelpers =
    "static inline float ts_f16_value(uint16_t b) {\n"
    "  uint32_t sign = (uint32_t)(b & 0x8000) << 16, exponent = (b >> 10) & 31, fraction = b & 1023, bits;\n"
    "  float value;\n"
    "  if (exponent == 0) { value = (float)fraction * 0x1p-24f; return sign ? -value : value; }\n"
    "  bits = sign | ((exponent == 31 ? 255 : exponent + 112) << 23) | (fraction << 13);\n"
    "  memcpy(&value, &bits, 4);\n"
    "  return value;\n"
    "}\n"
    "static inline uint16_t ts_f16_bits(float x) {\n"
    "  uint32_t bits, sign, kept, rest, half;\n"
    "  int exponent, shift;\n"
    "  memcpy(&bits, &x, 4);\n"
    "  sign = (bits >> 16) & 0x8000;\n"
    "  exponent = (int)((bits >> 23) & 255) - 127;\n"
    "  if (exponent == 128) return (uint16_t)(sign | 0x7c00 | ((bits & 0x7fffff) ? 0x200 : 0));\n"
    "  if (exponent > 15) return (uint16_t)(sign | 0x7c00);\n"
    "  shift = exponent < -14 ? 13 + (-14 - exponent) : 13;\n"
    "  if (exponent == -127 || shift > 24) return (uint16_t)sign;\n"
    "  bits = (bits & 0x7fffff) | 0x800000;\n"
    "  kept = bits >> shift; rest = bits & ((1u << shift) - 1); half = 1u << (shift - 1);\n"
    "  if (rest > half || (rest == half && (kept & 1))) ++kept;\n"
    "  return (uint16_t)(sign | ((exponent < -14 ? 0 : (uint32_t)(exponent + 14) << 10) + kept));\n"
    "}\n"
    "static inline float ts_f16_round(float x) { return ts_f16_value(ts_f16_bits(x)); }\n";

constexpr std::string_view kBfloatHelpers =
    "static inline float ts_bf16_value(uint16_t b) {\n"
    "  uint32_t bits = (uint32_t)b << 16;\n"
    "  float value;\n"
    "  memcpy(&value, &bits, 4);\n"
    "  return value;\n"
    "}\n"
    "static inline uint16_t ts_bf16_bits(float x) {\n"
    "  uint32_t bits;\n"
    "  memcpy(&bits, &x, 4);\n"
    "  if ((bits & 0x7fffffff) > 0x7f800000) return (uint16_t)((bits >> 16 & 0x8000) | 0x7fc0);\n"
    "  return (uint16_t)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);\n"
    "}\n"
    "static inline float ts_bf16_round(float x) { return ts_bf16_value(ts_bf16_bits(x)); }\n";

bool is_half(DataType type) { return type.is_float() && type.bits == 16; }

std::string_view half_helpers(DataType type) { return type.code == TypeCode::kBFloat ? kBfloatHelpers : kHalfHelpers; }

}  // namespace

std::string ExprWriter::helper(const std::string& name, const std::string& definition) const {
  helpers_.emplace(name, definition);
  return name;
}

std::string ExprWriter::helpers() const {
  std::string out;
  for (const auto& [name, definition] : helpers_) {
    out += definition;
  }
  return out;
}

std::string ExprWriter::rounded(DataType type, const std::string& value) const {
  if (!is_half(type)) {
    return value;
  }
  helper("ts_" + suffix(type), std::string(half_helpers(type)));
  return fmt::format("ts_{}_round({})", suffix(type), value);
}

std::string ExprWriter::to_memory(DataType type, const std::string& value) const {
  if (!is_half(type)) {
    return value;
  }
  helper("ts_" + suffix(type), std::string(half_helpers(type)));
  return fmt::format("ts_{}_bits({})", suffix(type), value);
}

std::string ExprWriter::write(Expr e, const std::string& lane) const {
  return match(
      e, [](const IntImm& n) { return integer_literal(n.type, n.value); },
      [](const FloatImm& n) { return float_literal(n.type, n.value); }, [&](const Var& n) { return names_.of(&n); },
      [&](const Cast& n) { return cast(n, lane); }, [&](const Binary& n) { return binary(n, lane); },
      [&](const Not& n) { return fmt::format("!{}", write(n.value, lane)); },
      [&](const Select& n) {
        return fmt::format("({} ? {} : {})", write(n.condition, lane), write(n.if_true, lane), write(n.if_false, lane));
      },
      [&](const Load& n) { return load(n, lane); },
      [&](const Ramp& n) {
        TENSMITH_ICHECK(!lane.empty(), "a ramp stands in a scalar place");
        const std::string step = is_const_int(n.stride, 1) ? lane : fmt::format("{}*{}", lane, write(n.stride));
        return is_const_int(n.base, 0) ? step : fmt::format("({} + {})", write(n.base), step);
      },
      [&](const Broadcast& n) { return write(n.value, {}); }, [&](const Call& n) { return call(n, lane); },
      [](const Reduce&) -> std::string { TENSMITH_UNREACHABLE("a reduction that is not lowered"); });
}

std::string ExprWriter::binary(const Binary& n, const std::string& lane) const {
  const std::string a = write(n.a, lane), b = write(n.b, lane);
  const DataType type = n.a.type();
  if (is_comparison(n.op)) {
    return fmt::format("({} {} {})", a, to_string(n.op), b);
  }
  if (n.op == BinaryOp::kAnd) return fmt::format("({} && {})", a, b);
  if (n.op == BinaryOp::kOr) return fmt::format("({} || {})", a, b);
  if (n.op == BinaryOp::kMin || n.op == BinaryOp::kMax) {
    const std::string name = fmt::format("ts_{}_{}", n.op == BinaryOp::kMin ? "min" : "max", suffix(type));
    const std::string_view t = value_type(type);
    return fmt::format("{}({}, {})",
                       helper(name, fmt::format("static inline {0} {1}({0} a, {0} b) {{ return a {2} b ? a : b; }}\n", t, name,
                                                n.op == BinaryOp::kMin ? "<" : ">")),
                       a, b);
  }
  if (type.is_float()) {
    return rounded(type, fmt::format("({} {} {})", a, to_string(n.op), b));
  }
  return integer_binary(n, a, b);
}

std::string ExprWriter::integer_binary(const Binary& n, const std::string& a, const std::string& b) const {
  const DataType type = n.type.element();
  const std::string_view t = value_type(type);
  if (n.op == BinaryOp::kDiv || n.op == BinaryOp::kMod) {
    const char* op = n.op == BinaryOp::kDiv ? "/" : "%";
    const bool plain = type.is_uint() || (range_of(n.a, ranges_).min >= 0 && range_of(n.b, ranges_).min > 0);
    if (plain) {
      return fmt::format("({} {} {})", a, op, b);
    }
    const std::string name = fmt::format("ts_floor{}_{}", n.op == BinaryOp::kDiv ? "div" : "mod", suffix(type));
    const std::string body = n.op == BinaryOp::kDiv ? "if (b == -1) return ({0})(0 - (u{0})a); {0} q = ({0})(a / b); return ({0})(q - (q * b != a && (a < 0) != (b < 0)));"
                                                    : "if (b == -1) return 0; {0} r = ({0})(a % b); return ({0})(r + (r != 0 && (r < 0) != (b < 0) ? b : 0));";
    return fmt::format("{}({}, {})",
                       helper(name, fmt::format("static inline {} {}({} a, {} b) {{ {} }}\n", t, name, t, t, fmt::format(fmt::runtime(body), t))), a, b);
  }
  // Index arithmetic never overflows; data wraps, which C defines for unsigned types only.
  if (is_index_type(type) && !may_wrap(Expr(&n))) {
    return fmt::format("({} {} {})", a, to_string(n.op), b);
  }
  const std::string_view u = type.bits <= 32 ? "uint32_t" : "uint64_t";
  return fmt::format("({})(({}){} {} ({}){})", t, u, a, to_string(n.op), u, b);
}

std::string ExprWriter::cast(const Cast& n, const std::string& lane) const {
  const DataType from = n.value.type().element(), to = n.type.element();
  const std::string value = write(n.value, lane);
  if (to.is_bool()) {
    return fmt::format("({} != 0)", value);
  }
  if (to.is_float()) {
    return rounded(to, fmt::format("({}){}", value_type(to), value));
  }
  if (!from.is_float()) {
    return fmt::format("({}){}", value_type(to), value);
  }
  const std::string name = fmt::format("ts_{}_from_float", suffix(to));
  const double low = to.is_uint() ? 0 : -std::ldexp(1.0, to.bits - 1);
  const double high = std::ldexp(1.0, to.is_uint() ? to.bits : to.bits - 1);
  const std::string limit = fmt::format("{}_{}", to.is_uint() ? fmt::format("UINT{}", to.bits) : fmt::format("INT{}", to.bits), "MAX");
  const std::string lowest = to.is_uint() ? "0" : fmt::format("INT{}_MIN", to.bits);
  return fmt::format("{}({})",
                     helper(name, fmt::format("static inline {0} {1}(double x) {{ return x != x ? 0 : x >= {2:.1f} ? {3} : x <= {4:.1f} ? {5} : ({0})x; }}\n",
                                              value_type(to), name, high, limit, low, lowest)),
                     value);
}

std::string ExprWriter::index(Buffer buffer, const Array<Expr>& indices, const std::string& lane) const {
  if (indices.size() == 1 && (buffer->shape.size() != 1 || buffer_stride(buffer, 0) == 1)) {
    return write(indices[0], lane);
  }
  std::string out;
  for (size_t d = 0; d < indices.size(); ++d) {
    const int64_t stride = buffer_stride(buffer, d);
    out += fmt::format("{}{}{}", d == 0 ? "" : " + ", write(indices[d], lane), stride == 1 ? "" : fmt::format("*{}", stride));
  }
  return out;
}

std::string ExprWriter::load(const Load& n, const std::string& lane) const {
  const DataType type = n.buffer->type;
  std::string text = fmt::format("{}[{}]", names_.of(n.buffer), index(n.buffer, n.indices, lane));
  if (is_half(type)) {
    helper("ts_" + suffix(type), std::string(half_helpers(type)));
    text = fmt::format("ts_{}_value({})", suffix(type), text);
  }
  return n.predicate ? fmt::format("({} ? {} : 0)", write(n.predicate, lane), text) : text;
}

std::string ExprWriter::call(const Call& n, const std::string& lane) const {
  std::string args;
  for (size_t i = 0; i < n.args.size(); ++i) {
    args += (i == 0 ? "" : ", ") + write(n.args[i], lane);
  }
  const std::string_view name = n.intrinsic == Intrinsic::kAbs ? std::string_view("fabs") : to_string(n.intrinsic);
  return rounded(n.type.element(), fmt::format("{}{}({})", name, n.type.bits == 64 ? "" : "f", args));
}

}  // namespace tensmith::c
