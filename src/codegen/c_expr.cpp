#include "codegen/c_expr.h"

#include <fmt/format.h>

#include <cmath>

#include "tensmith/ir/half.h"
#include "tensmith/ir/visit.h"
#include "tensmith/support/error.h"

namespace tensmith {

namespace {

// Precedences of C, higher binds tighter.
constexpr int kTernary = 3;
constexpr int kOr = 4;
constexpr int kAnd = 5;
constexpr int kEquality = 9;
constexpr int kRelation = 10;
constexpr int kSum = 12;
constexpr int kProduct = 13;
constexpr int kUnary = 15;
constexpr int kPrimary = 16;

bool is_half(DataType type) { return type.is_float() && type.bits == 16; }
bool is_literal(Expr e) {
  const auto* broadcast = e.as<Broadcast>();
  return e.kind() == ExprKind::kIntImm || (broadcast != nullptr && broadcast->value.kind() == ExprKind::kIntImm);
}

std::string enclose(std::string text, int own, int wanted) { return own < wanted ? "(" + text + ")" : text; }

}  // namespace

std::string_view c_value_type(DataType type) {
  if (type.is_bool()) return "bool";
  if (type.is_float()) return type.bits == 64 ? "double" : type.bits == 32 ? "float" : "uint16_t";
  switch (type.bits) {
    case 8: return type.is_int() ? "int8_t" : "uint8_t";
    case 16: return type.is_int() ? "int16_t" : "uint16_t";
    case 32: return type.is_int() ? "int32_t" : "uint32_t";
    default: return type.is_int() ? "int64_t" : "uint64_t";
  }
}

std::string_view c_memory_type(DataType type) { return type.is_bool() ? "uint8_t" : c_value_type(type); }

bool CExprPrinter::is_index(Expr e) const {
  const DataType type = e.type();
  if (!type.is_int() || type.bits < 32 || e.kind() == ExprKind::kLoad || e.kind() == ExprKind::kCall) return false;
  if (const auto* var = e.as<Var>()) return !data_.contains(var);
  if (const auto* select = e.as<Select>()) return is_index(select->if_true) && is_index(select->if_false);
  bool ok = true;
  for_each_child(e, [&](Expr child) { ok = ok && is_index(child); });
  return ok;
}

std::string CExprPrinter::print_int(DataType type, int64_t value, bool plain) const {
  if (type.is_bool()) return value != 0 ? "true" : "false";
  if (type.is_uint()) {
    const auto bits = static_cast<uint64_t>(value);
    if (type.bits < 32) return fmt::format("{}", bits);
    return type.bits == 32 ? fmt::format("{}u", bits) : fmt::format("UINT64_C({})", bits);
  }
  if (type.bits == 64) {
    if (value == INT64_MIN) return "INT64_MIN";
    if (!plain || value > INT32_MAX || value < -INT32_MAX) return fmt::format("INT64_C({})", value);
  }
  return value == INT32_MIN ? "INT32_MIN" : fmt::format("{}", value);
}

std::string CExprPrinter::print_float(DataType type, double value) {
  if (type.code == TypeCode::kBFloat) return fmt::format("0x{:04x} /* {} */", bfloat16_bits(value), value);
  if (type.bits == 16) return fmt::format("0x{:04x} /* {} */", float16_bits(value), value);
  const bool narrow = type.bits == 32;
  if (!std::isfinite(value)) {
    helpers_.use_math();
    const std::string_view text = std::isnan(value) ? "NAN" : value > 0 ? "INFINITY" : "-INFINITY";
    return narrow ? std::string(text) : fmt::format("(double){}", text);
  }
  std::string text = narrow ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + (narrow ? "f" : "");
}

std::string CExprPrinter::print(Expr e, int precedence, bool plain_literals) {
  return match(
      e,
      [&](const IntImm& n) {
        std::string text = print_int(n.type, n.value, plain_literals);
        return text.front() == '-' ? enclose(text, kUnary, precedence) : text;
      },
      [&](const FloatImm& n) {
        std::string text = print_float(n.type, n.value);
        return text.front() == '-' || text.front() == '(' ? enclose(text, kUnary, precedence) : text;
      },
      [&](const Var& n) { return names_.of(&n); }, [&](const Cast& n) { return print_cast(n, precedence); },
      [&](const Binary& n) { return print_binary(n, precedence); },
      [&](const Not& n) { return enclose("!" + print(n.value, kUnary), kUnary, precedence); },
      [&](const Select& n) { return print_select(n, precedence); },
      [&](const Load& n) { return print_load(n, precedence); },
      [&](const Ramp& n) { return print_ramp(n, precedence); },
      [&](const Broadcast& n) { return print(n.value, precedence, plain_literals); },
      [&](const Call& n) { return print_call(n); },
      [&](const Reduce&) -> std::string { TENSMITH_UNREACHABLE("a reduction reached code generation"); });
}

std::string CExprPrinter::widened(Expr e, int precedence) {
  if (!is_half(e.type())) return print(e, precedence);
  const CHelper helper = e.type().code == TypeCode::kBFloat ? CHelper::kBfloatToFloat : CHelper::kHalfToFloat;
  return fmt::format("{}({})", helpers_.use(helper), print(e));
}

std::string CExprPrinter::narrowed(DataType type, const std::string& text) {
  const CHelper helper = type.code == TypeCode::kBFloat ? CHelper::kFloatToBfloat : CHelper::kFloatToHalf;
  return fmt::format("{}({})", helpers_.use(helper), text);
}

std::string CExprPrinter::infix(std::string_view op, int own, Expr a, Expr b, int precedence) {
  return enclose(fmt::format("{} {} {}", print(a, own, !is_literal(b)), op, print(b, own + 1)), own, precedence);
}

std::string CExprPrinter::print_cast(const Cast& n, int precedence) {
  const DataType from = n.value.type();
  const DataType to = n.type;
  if (to.is_bool()) {
    const std::string_view zero = from.is_float() ? (from.bits == 64 ? "0.0" : "0.0f") : "0";
    return enclose(fmt::format("{} != {}", widened(n.value, kEquality + 1), zero), kEquality, precedence);
  }
  if (from.is_float() && !to.is_float()) {
    const std::string value = widened(n.value, 0);
    if (to.is_uint()) {
      const uint64_t high = UINT64_MAX >> (64 - to.bits);
      const std::string call = fmt::format("{}({}, UINT64_C({}))", helpers_.use(CHelper::kToUint), value, high);
      return to.bits == 64 ? call : enclose(fmt::format("({}){}", c_value_type(to), call), kUnary, precedence);
    }
    const int64_t high = INT64_MAX >> (64 - to.bits);
    const std::string low = to.bits == 64 ? "INT64_MIN" : fmt::format("INT64_C({})", -high - 1);
    const std::string call = fmt::format("{}({}, {}, INT64_C({}))", helpers_.use(CHelper::kToInt), value, low, high);
    return to.bits == 64 ? call : enclose(fmt::format("({}){}", c_value_type(to), call), kUnary, precedence);
  }
  if (is_half(to)) {
    if (from.is_float()) return narrowed(to, widened(n.value, 0));
    if (from.bits != 64) return narrowed(to, "(double)" + print(n.value, kUnary));
    const char* sticky = helpers_.use(from.is_int() ? CHelper::kStickyI64 : CHelper::kStickyU64);
    return narrowed(to, fmt::format("{}({})", sticky, print(n.value)));
  }
  if (is_half(from) && to.bits == 32) return widened(n.value, precedence);
  return enclose(fmt::format("({}){}", c_value_type(to), widened(n.value, kUnary)), kUnary, precedence);
}

std::string CExprPrinter::print_binary(const Binary& n, int precedence) {
  const DataType type = n.a.type();
  const auto compare = [&](int own) {
    // A comparison inside another gets parentheses, which compilers ask for.
    const std::string a = is_half(type) ? widened(n.a, kSum) : print(n.a, kSum, !is_literal(n.b));
    const std::string b = is_half(type) ? widened(n.b, kSum) : print(n.b, kSum);
    return enclose(fmt::format("{} {} {}", a, to_string(n.op), b), own, precedence);
  };
  switch (n.op) {
    case BinaryOp::kEq:
    case BinaryOp::kNe: return compare(kEquality);
    case BinaryOp::kLt:
    case BinaryOp::kLe:
    case BinaryOp::kGt:
    case BinaryOp::kGe: return compare(kRelation);
    case BinaryOp::kAnd: return infix("&&", kAnd, n.a, n.b, precedence);
    // Compilers warn about && inside || without parentheses.
    case BinaryOp::kOr: {
      const auto part = [&](Expr e) {
        const auto* binary = e.as<Binary>();
        return print(e, binary != nullptr && binary->op == BinaryOp::kAnd ? kPrimary : kOr);
      };
      return enclose(part(n.a) + " || " + part(n.b), kOr, precedence);
    }
    default: break;
  }
  if (!type.is_float()) return print_integer_binary(n, precedence);
  if (n.op == BinaryOp::kMin || n.op == BinaryOp::kMax) {
    const bool low = n.op == BinaryOp::kMin;
    const CHelper helper = type.bits == 64 ? (low ? CHelper::kMinF64 : CHelper::kMaxF64)
                           : low           ? CHelper::kMinF32
                                           : CHelper::kMaxF32;
    const std::string call = fmt::format("{}({}, {})", helpers_.use(helper), widened(n.a, 0), widened(n.b, 0));
    return is_half(type) ? narrowed(type, call) : call;
  }
  const int own = n.op == BinaryOp::kAdd || n.op == BinaryOp::kSub ? kSum : kProduct;
  const std::string_view sign = own == kProduct && n.op == BinaryOp::kMul ? "*" : to_string(n.op);
  const std::string text = fmt::format("{} {} {}", widened(n.a, own), sign, widened(n.b, own + 1));
  return is_half(type) ? narrowed(type, text) : enclose(text, own, precedence);
}

std::string CExprPrinter::print_integer_binary(const Binary& n, int precedence) {
  const DataType type = n.type;
  const std::string_view c_type = c_value_type(type);
  if (n.op == BinaryOp::kDiv || n.op == BinaryOp::kMod) return print_division(n, precedence);
  if (n.op == BinaryOp::kMin || n.op == BinaryOp::kMax) {
    const bool low = n.op == BinaryOp::kMin;
    const CHelper helper = type.is_uint() ? (low ? CHelper::kMinU64 : CHelper::kMaxU64)
                           : low          ? CHelper::kMinI64
                                          : CHelper::kMaxI64;
    const std::string call = fmt::format("{}({}, {})", helpers_.use(helper), print(n.a), print(n.b));
    return type.bits == 64 || is_index(&n) ? call : enclose(fmt::format("({}){}", c_type, call), kUnary, precedence);
  }
  const int own = n.op == BinaryOp::kMul ? kProduct : kSum;
  const std::string_view sign = to_string(n.op);
  if (is_index(&n)) {
    // Products tight, sums wide, negative terms subtracted, as people write indices.
    if (const std::optional<int64_t> term = as_const_int(n.b);
        n.op == BinaryOp::kAdd && term && *term < 0 && *term > -INT32_MAX) {
      return enclose(fmt::format("{} - {}", print(n.a, own), -*term), own, precedence);
    }
    const std::string a = print(n.a, own, !is_literal(n.b));
    const std::string b = print(n.b, own + 1);
    const std::string_view gap = own == kProduct ? "" : " ";
    return enclose(fmt::format("{}{}{}{}{}", a, gap, sign, gap, b), own, precedence);
  }
  if (type.is_uint() && type.bits >= 32) return infix(sign, own, n.a, n.b, precedence);
  if (type.bits < 32) {
    // Promoted to int, where only a product of two uint16 could overflow.
    const std::string_view promote = type.is_uint() && type.bits == 16 && n.op == BinaryOp::kMul ? "(uint32_t)" : "";
    const std::string a = print(n.a, promote.empty() ? own : kUnary);
    return enclose(fmt::format("({})({}{} {} {})", c_type, promote, a, sign, print(n.b, own + 1)), kUnary, precedence);
  }
  // Wraps: computed without sign, where C defines it.
  const std::string_view bits = type.bits == 64 ? "uint64_t" : "uint32_t";
  return enclose(
      fmt::format("({})(({}){} {} ({}){})", c_type, bits, print(n.a, kUnary), sign, bits, print(n.b, kUnary)), kUnary,
      precedence);
}

std::string CExprPrinter::print_division(const Binary& n, int precedence) {
  const DataType type = n.type;
  const bool divide = n.op == BinaryOp::kDiv;
  const bool plain = type.is_uint() || (range_of(n.a, ranges_).min >= 0 && range_of(n.b, ranges_).min > 0);
  if (plain) {
    const std::string text =
        fmt::format("{} {} {}", print(n.a, kProduct, !is_literal(n.b)), divide ? "/" : "%", print(n.b, kProduct + 1));
    if (type.bits >= 32) return enclose(text, kProduct, precedence);
    return enclose(fmt::format("({})({})", c_value_type(type), text), kUnary, precedence);
  }
  const char* helper = helpers_.use(divide ? CHelper::kFloorDiv : CHelper::kFloorMod);
  const std::string call = fmt::format("{}({}, {})", helper, print(n.a), print(n.b));
  return type.bits == 64 || is_index(&n) ? call
                                         : enclose(fmt::format("({}){}", c_value_type(type), call), kUnary, precedence);
}

std::string CExprPrinter::print_select(const Select& n, int precedence) {
  return enclose(fmt::format("{} ? {} : {}", print(n.condition, kTernary + 1), print(n.if_true, kTernary + 1, false),
                             print(n.if_false, kTernary + 1, false)),
                 kTernary, precedence);
}

std::string CExprPrinter::element(Buffer buffer, Array<Expr> indices) {
  const std::string& name = names_.of(buffer);
  if (indices.empty()) return name + "[0]";
  std::string index;
  for (size_t i = 0; i < indices.size(); ++i) {
    const int64_t stride = flat_ || indices.size() != buffer->shape.size() ? 1 : buffer_stride(buffer, i);
    const bool last = i + 1 == indices.size();
    if (is_const_int(indices[i], 0) && !(last && index.empty())) continue;
    const std::optional<int64_t> constant = as_const_int(indices[i]);
    // Strides may take a 32-bit index beyond 32 bits.
    const std::string_view widen = indices[i].type().bits < 64 ? "(int64_t)" : "";
    const std::string part =
        stride == 1 ? print(indices[i], kSum)
        : constant  ? fmt::format("{}", *constant * stride)
                    : fmt::format("{}{}*{}", widen, print(indices[i], widen.empty() ? kProduct : kUnary), stride);
    index += (index.empty() ? "" : " + ") + part;
  }
  return fmt::format("{}[{}]", name, index);
}

std::string CExprPrinter::print_load(const Load& n, int precedence) {
  std::string text = element(n.buffer, n.indices);
  int own = kPrimary;
  if (n.type.is_bool()) {
    text += " != 0";
    own = kEquality;
  }
  if (!n.predicate || is_const_int(n.predicate, 1)) return enclose(text, own, precedence);
  return enclose(fmt::format("{} ? {} : 0", print(n.predicate, kTernary + 1), text), kTernary, precedence);
}

std::string CExprPrinter::print_ramp(const Ramp& n, int precedence) {
  TENSMITH_ICHECK(!lane_.empty(), "a ramp outside a vector statement");
  const bool negative = is_const_int(n.stride, -1);
  const std::string step =
      is_const_int(n.stride, 1) || negative ? lane_ : fmt::format("{}*{}", lane_, print(n.stride, kProduct + 1));
  const std::string text = is_const_int(n.base, 0) && !negative
                               ? step
                               : fmt::format("{} {} {}", print(n.base, kSum), negative ? "-" : "+", step);
  if (is_index(&n)) return enclose(text, text == lane_ ? kPrimary : kSum, precedence);
  return enclose(fmt::format("({})({})", c_value_type(n.type), text), kUnary, precedence);
}

std::string CExprPrinter::print_call(const Call& n) {
  static constexpr const char* kNames[] = {"exp",   "log",  "sqrt",  "tanh", "erf", "fabs",
                                           "floor", "ceil", "round", "pow",  "fma"};
  helpers_.use_math();
  std::string args;
  for (Expr arg : n.args) args += (args.empty() ? "" : ", ") + widened(arg, 0);
  const std::string call =
      fmt::format("{}{}({})", kNames[static_cast<size_t>(n.intrinsic)], n.type.bits == 64 ? "" : "f", args);
  return is_half(n.type) ? narrowed(n.type, call) : call;
}

}  // namespace tensmith
