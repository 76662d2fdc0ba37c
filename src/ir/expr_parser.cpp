#include "ir/expr_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "tensmith/ir/parse.h"
#include "tensmith/support/error.h"

namespace tensmith {

namespace {

/// Most parentheses and calls around an expression.
constexpr int kDeepestNesting = 200;
/// Deepest tree of an expression: what is parsed is walked by recursion afterwards.
constexpr int kDeepestTree = 2000;

constexpr Intrinsic kIntrinsics[] = {Intrinsic::kExp,   Intrinsic::kLog, Intrinsic::kSqrt,  Intrinsic::kTanh,
                                     Intrinsic::kErf,   Intrinsic::kAbs, Intrinsic::kFloor, Intrinsic::kCeil,
                                     Intrinsic::kRound, Intrinsic::kPow, Intrinsic::kFma};

constexpr BinaryOp kInfix[] = {BinaryOp::kAdd, BinaryOp::kSub, BinaryOp::kMul, BinaryOp::kDiv, BinaryOp::kMod,
                               BinaryOp::kEq,  BinaryOp::kNe,  BinaryOp::kLt,  BinaryOp::kLe,  BinaryOp::kGt,
                               BinaryOp::kGe,  BinaryOp::kAnd, BinaryOp::kOr};

}  // namespace

ExprParser::ExprParser(std::string_view text, std::span<const VarRef> variables, std::span<const Buffer> buffers)
    : text_(text), tokens_(tokenize(text)) {
  for (VarRef var : variables) symbols_[var->name] = {var, nullptr};
  for (Buffer buffer : buffers) symbols_[buffer->name] = {nullptr, buffer};
}

// ---- tokens -----------------------------------------------------------------------------------------------------

const Token& ExprParser::token(size_t ahead) const { return tokens_[std::min(position_ + ahead, tokens_.size() - 1)]; }

std::string_view ExprParser::word(size_t ahead) const {
  const Token& t = token(ahead);
  return text_.substr(t.offset, t.size);
}

bool ExprParser::at(std::string_view text, size_t ahead) const {
  const TokenKind kind = token(ahead).kind;
  return (kind == TokenKind::kName || kind == TokenKind::kSymbol) && word(ahead) == text;
}

bool ExprParser::accept(std::string_view text) {
  if (!at(text)) return false;
  advance();
  return true;
}

void ExprParser::expect(std::string_view text) {
  if (!accept(text)) fail_expected(fmt::format("'{}'", text));
}

void ExprParser::expect_end() {
  while (at_kind(TokenKind::kNewline)) advance();
  if (!at_kind(TokenKind::kEnd)) fail_expected("the end of the text");
}

void ExprParser::fail_expected(const std::string& what) const {
  std::string found;
  switch (token().kind) {
    case TokenKind::kNewline: found = "the end of the line"; break;
    case TokenKind::kIndent: found = "a deeper indentation"; break;
    case TokenKind::kDedent: found = "the end of the block"; break;
    case TokenKind::kEnd: found = "the end of the text"; break;
    default: found = fmt::format("'{}'", word().substr(0, 40)); break;
  }
  fail(offset(), fmt::format("expected {}, found {}", what, found));
}

void ExprParser::fail(size_t offset, const std::string& message, std::string hint) const {
  fail_at(text_, offset, message, std::move(hint));
}

// ---- names ------------------------------------------------------------------------------------------------------

std::string_view ExprParser::new_name(const char* what) {
  if (!at_kind(TokenKind::kName)) fail_expected(what);
  const std::string_view name = word();
  if (is_reserved_word(name)) {
    fail(offset(), fmt::format("expected {}, found the reserved word '{}'", what, name));
  }
  advance();
  return name;
}

void ExprParser::define(std::string_view name, size_t offset, Symbol symbol) {
  if (!symbols_.try_emplace(name, symbol).second) {
    fail(offset, fmt::format("the name '{}' is already in use here", name), "choose another name");
  }
}

VarRef ExprParser::variable_declaration(bool integer_only, std::string_view* name, size_t* offset) {
  *offset = this->offset();
  *name = new_name("the name of a variable");
  DataType type = kInt64;
  if (accept(":")) {
    const size_t type_offset = this->offset();
    if (!at_kind(TokenKind::kName) || !is_type_name(word())) fail_expected("a type");
    try {
      type = parse_type(std::string(word()));
    } catch (const UserError& error) {
      fail(type_offset, error.message(), error.hint());
    }
    advance();
    if (!type.is_scalar()) fail(type_offset, "a variable is a scalar");
    if (integer_only && !type.is_integral()) fail(type_offset, "a loop variable is an integer");
  }
  return make_var(*name, type);
}

int64_t ExprParser::natural(const char* what, int64_t highest) {
  if (!at_kind(TokenKind::kInteger)) fail_expected(what);
  int64_t value = 0;
  const std::string_view digits = word();
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (end != digits.data() + digits.size() || error != std::errc() || value > highest) {
    fail(offset(), fmt::format("expected {} from 0 to {}", what, highest));
  }
  advance();
  return value;
}

// ---- literals ---------------------------------------------------------------------------------------------------

Expr ExprParser::literal(const Literal& literal, DataType type, size_t offset) const {
  const auto misfit = [&]() {
    fail(offset, fmt::format("the number {}{} does not fit in {}", literal.negative ? "-" : "", literal.digits,
                             to_string(type)));
  };
  const char* first = literal.digits.data();
  const char* last = first + literal.digits.size();
  if (type.is_float()) {
    double value = 0.0;
    std::errc error{};
    if (type == kFloat32) {
      float narrow = 0.0F;
      error = std::from_chars(first, last, narrow).ec;
      value = static_cast<double>(narrow);
    } else {
      error = std::from_chars(first, last, value).ec;
    }
    const Expr constant = make_float(type, literal.negative ? -value : value);
    const bool infinite = literal.digits == "inf";
    if (error != std::errc() || (!infinite && std::isinf(constant.as<FloatImm>()->value))) misfit();
    return constant;
  }
  if (!literal.is_integer) {
    fail(offset, fmt::format("expected a number of type {}, found {}", to_string(type), literal.digits));
  }
  uint64_t magnitude = 0;
  if (std::from_chars(first, last, magnitude).ec != std::errc()) misfit();
  uint64_t limit = std::numeric_limits<uint64_t>::max() >> (64 - type.bits);
  if (type.is_int()) limit = (limit >> 1) + (literal.negative ? 1 : 0);
  if (magnitude > limit || (type.is_uint() && literal.negative && magnitude != 0)) misfit();
  return make_int(type, static_cast<int64_t>(literal.negative ? 0 - magnitude : magnitude));
}

Expr ExprParser::settle(const Operand& operand, std::optional<DataType> expected) const {
  if (!operand.literal) return operand.value;
  DataType type = operand.literal->is_integer ? kInt64 : kFloat32;
  if (expected && expected->is_scalar() && !expected->is_bool() &&
      (expected->is_float() || operand.literal->is_integer)) {
    type = *expected;
  }
  return literal(*operand.literal, type, operand.offset);
}

void ExprParser::settle_pair(Operand& a, Operand& b) const {
  const auto type_of = [](const Operand& x) { return x.literal ? std::nullopt : std::optional(x.value.type()); };
  const std::optional<DataType> ta = type_of(a);
  const std::optional<DataType> tb = type_of(b);
  a.value = settle(a, tb);
  b.value = settle(b, ta);
  a.literal.reset();
  b.literal.reset();
}

ExprParser::Operand ExprParser::make(Expr value, size_t offset, std::initializer_list<int> depths) const {
  const int depth = std::max(depths) + 1;
  if (depth > kDeepestTree) fail(offset, fmt::format("the expression is more than {} operations deep", kDeepestTree));
  return {value, std::nullopt, offset, depth};
}

ExprParser::Operand ExprParser::number() {
  Operand result;
  result.offset = offset();
  Literal literal{};
  literal.negative = accept("-");
  std::string_view text = word();
  size_t digits = 0;
  if (at_kind(TokenKind::kName) && is_special_float(text)) {
    digits = 3;
  } else if (at_kind(TokenKind::kInteger) || at_kind(TokenKind::kFloat)) {
    literal.is_integer = at_kind(TokenKind::kInteger);
    while (digits < text.size() && (is_digit(text[digits]) || text[digits] == '.')) ++digits;
    if (digits < text.size() && (text[digits] == 'e' || text[digits] == 'E')) {
      digits += 2;
      while (digits < text.size() && is_digit(text[digits])) ++digits;
    }
  } else {
    fail_expected("a number after '-'");
  }
  const std::string_view suffix = text.substr(digits);
  literal.digits = text.substr(0, digits);
  if (suffix.empty()) {
    result.literal = literal;
  } else {
    const std::optional<DataType> type = type_of_suffix(suffix);
    if (!type) {
      fail(offset() + digits, fmt::format("'{}' is not the suffix of a number", suffix.substr(0, 40)),
           "suffixes are i8 to i64, u8 to u64, f16, bf16, f32 and f64");
    }
    result.value = this->literal(literal, *type, result.offset);
  }
  advance();
  return result;
}

// ---- expressions ------------------------------------------------------------------------------------------------

Expr ExprParser::expression(std::optional<DataType> expected) { return settle(operand(Precedence::kAny), expected); }

std::optional<BinaryOp> ExprParser::binary_operator() const {
  for (BinaryOp op : kInfix) {
    if (at(to_string(op))) return op;
  }
  return std::nullopt;
}

ExprParser::Operand ExprParser::operand(Precedence least) {
  if (++nesting_ > kDeepestNesting) {
    fail(offset(), fmt::format("expressions nest more than {} deep", kDeepestNesting));
  }
  Operand left = prefix(least);
  while (const std::optional<BinaryOp> op = binary_operator()) {
    const Precedence own = precedence_of(*op);
    if (own < least) break;
    const size_t at = offset();
    advance();
    left = combine(*op, left, operand(tighter(own)), at);
    if (is_comparison(*op) && binary_operator() && is_comparison(*binary_operator())) {
      fail(offset(), "comparisons do not chain", "join them with 'and', or use parentheses");
    }
  }
  --nesting_;
  return left;
}

ExprParser::Operand ExprParser::combine(BinaryOp op, Operand a, Operand b, size_t at) {
  settle_pair(a, b);
  const DataType type = a.value.type();
  if (type != b.value.type()) {
    fail(at,
         fmt::format("the operands of '{}' have types {} and {}", to_string(op), to_string(type),
                     to_string(b.value.type())),
         "convert one of them, as in float32(x)");
  }
  const bool logical = op == BinaryOp::kAnd || op == BinaryOp::kOr;
  if (!is_comparison(op) && (logical != type.is_bool() || (op == BinaryOp::kMod && !type.is_integral()))) {
    fail(at, fmt::format("'{}' does not apply to {}", to_string(op), to_string(type)));
  }
  return make(make_binary(op, a.value, b.value), a.offset, {a.depth, b.depth});
}

ExprParser::Operand ExprParser::prefix(Precedence least) {
  const size_t start = offset();
  if (least <= Precedence::kNot && accept("not")) {
    const Operand inner = operand(Precedence::kNot);
    if (inner.literal || !inner.value.type().is_bool()) fail(inner.offset, "expected a bool after 'not'");
    return make(make_not(inner.value), start, {inner.depth});
  }
  return primary();
}

ExprParser::Operand ExprParser::primary() {
  if (at_kind(TokenKind::kInteger) || at_kind(TokenKind::kFloat) || at("-")) return number();
  if (accept("(")) {
    Operand inner = operand(Precedence::kAny);
    expect(")");
    return inner;
  }
  if (at_kind(TokenKind::kName)) return named();
  fail_expected("an expression");
}

ExprParser::Operand ExprParser::named() {
  const std::string_view name = word();
  const size_t start = offset();
  if (is_special_float(name)) return number();
  if (name == "true" || name == "false") {
    advance();
    return make(name == "true" ? make_true() : make_false(), start, {0});
  }
  if (is_type_name(name)) return cast();
  if (name == "select") return select();
  if (name == "ramp") return ramp();
  if (name == "broadcast") return broadcast();
  if (name == "sum") return reduce(ReduceOp::kSum);
  if (name == "min") return reduction_follows() ? reduce(ReduceOp::kMin) : min_or_max(BinaryOp::kMin);
  if (name == "max") return reduction_follows() ? reduce(ReduceOp::kMax) : min_or_max(BinaryOp::kMax);
  for (Intrinsic intrinsic : kIntrinsics) {
    if (name == to_string(intrinsic)) return call(intrinsic);
  }
  if (is_reserved_word(name)) fail_expected("an expression");
  if (at("[", 1)) {
    const Access load = access();
    return make(make_load(load.buffer, load.indices, load.predicate), start, {load.depth});
  }
  const auto it = symbols_.find(name);
  if (it == symbols_.end()) fail(start, fmt::format("unknown name '{}'", name));
  if (it->second.var == nullptr) fail(start, fmt::format("'{}' is a buffer: expected '[' after it", name));
  advance();
  return make(it->second.var, start, {0});
}

ExprParser::Access ExprParser::access() {
  const size_t start = offset();
  if (!at_kind(TokenKind::kName)) fail_expected("the name of a buffer");
  const auto it = symbols_.find(word());
  if (it == symbols_.end() || it->second.buffer == nullptr) {
    fail(start, it == symbols_.end() ? fmt::format("unknown buffer '{}'", word())
                                     : fmt::format("'{}' is not a buffer", word()));
  }
  advance();
  Access result;
  result.buffer = it->second.buffer;
  expect("[");
  while (!at("]") && !at("if")) {
    if (!result.indices.empty()) expect(",");
    const size_t index_offset = offset();
    const Operand index = operand(Precedence::kAny);
    const Expr value = settle(index);
    if (!value.type().is_integral()) {
      fail(index_offset, fmt::format("an index is an integer, this is {}", to_string(value.type())));
    }
    if (result.lanes != 1) fail(index_offset, "only the last index may be a vector");
    result.lanes = value.type().lanes;
    result.depth = std::max(result.depth, index.depth);
    result.indices.push_back(value);
  }
  const size_t dimensions = result.buffer->shape.size();
  if (result.indices.size() != dimensions && result.indices.size() != 1) {
    fail(start, fmt::format("'{}' has {} dimensions and is accessed with {} indices", result.buffer->name, dimensions,
                            result.indices.size()));
  }
  if (accept("if")) {
    const Operand predicate = operand(Precedence::kAny);
    result.predicate = settle(predicate);
    result.depth = std::max(result.depth, predicate.depth);
    if (result.predicate.type() != bool_type(result.lanes)) {
      fail(predicate.offset, fmt::format("the predicate of this access is {}, not {}",
                                         to_string(bool_type(result.lanes)), to_string(result.predicate.type())));
    }
  }
  expect("]");
  return result;
}

int ExprParser::lanes() {
  const size_t start = offset();
  const int64_t lanes = natural("a number of lanes", 65535);
  if (lanes < 2) fail(start, "a vector has at least 2 lanes");
  return static_cast<int>(lanes);
}

ExprParser::Operand ExprParser::cast() {
  const size_t start = offset();
  DataType type;
  try {
    type = parse_type(std::string(word()));
  } catch (const UserError& error) {
    fail(start, error.message(), error.hint());
  }
  advance();
  expect("(");
  Operand inner = operand(Precedence::kAny);
  expect(")");
  inner.value = settle(inner);
  if (inner.value.type().lanes != type.lanes) {
    fail(start, fmt::format("cast from {} to {}: the lanes differ", to_string(inner.value.type()), to_string(type)));
  }
  return make(make_cast(type, inner.value), start, {inner.depth});
}

ExprParser::Operand ExprParser::select() {
  const size_t start = offset();
  advance();
  expect("(");
  const Operand condition = operand(Precedence::kAny);
  expect(",");
  Operand a = operand(Precedence::kAny);
  expect(",");
  Operand b = operand(Precedence::kAny);
  expect(")");
  settle_pair(a, b);
  const DataType type = a.value.type();
  if (type != b.value.type()) {
    fail(start,
         fmt::format("the arms of this select have types {} and {}", to_string(type), to_string(b.value.type())));
  }
  const DataType decider = settle(condition).type();
  if (!decider.is_bool() || (!decider.is_scalar() && decider.lanes != type.lanes)) {
    fail(condition.offset, fmt::format("{} cannot decide a select of {}", to_string(decider), to_string(type)));
  }
  return make(make_select(condition.value, a.value, b.value), start, {condition.depth, a.depth, b.depth});
}

ExprParser::Operand ExprParser::ramp() {
  const size_t start = offset();
  advance();
  expect("(");
  Operand base = operand(Precedence::kAny);
  expect(",");
  Operand stride = operand(Precedence::kAny);
  expect(",");
  const int count = lanes();
  expect(")");
  settle_pair(base, stride);
  const DataType type = base.value.type();
  if (!type.is_integral() || !type.is_scalar() || type != stride.value.type()) {
    fail(start, fmt::format("a ramp needs two scalar integers of one type, these are {} and {}", to_string(type),
                            to_string(stride.value.type())));
  }
  return make(make_ramp(base.value, stride.value, count), start, {base.depth, stride.depth});
}

ExprParser::Operand ExprParser::broadcast() {
  const size_t start = offset();
  advance();
  expect("(");
  const Operand inner = operand(Precedence::kAny);
  expect(",");
  const int count = lanes();
  expect(")");
  const Expr value = settle(inner);
  if (!value.type().is_scalar()) fail(inner.offset, "only a scalar can be broadcast");
  return make(make_broadcast(value, count), start, {inner.depth});
}

ExprParser::Operand ExprParser::call(Intrinsic intrinsic) {
  const size_t start = offset();
  advance();
  expect("(");
  std::vector<Expr> args;
  int depth = 0;
  while (!at(")")) {
    if (!args.empty()) expect(",");
    const Operand arg = operand(Precedence::kAny);
    args.push_back(settle(arg));
    depth = std::max(depth, arg.depth);
    if (!args.back().type().is_float() || args.back().type() != args[0].type()) {
      fail(arg.offset, fmt::format("the arguments of {} are floating-point values of one type", to_string(intrinsic)));
    }
  }
  expect(")");
  const int arity = intrinsic_arity(intrinsic);
  if (static_cast<int>(args.size()) != arity) {
    fail(start, fmt::format("{} takes {} argument{}, not {}", to_string(intrinsic), arity, arity == 1 ? "" : "s",
                            args.size()));
  }
  return make(make_call(intrinsic, args), start, {depth});
}

ExprParser::Operand ExprParser::min_or_max(BinaryOp op) {
  const size_t start = offset();
  advance();
  expect("(");
  Operand a = operand(Precedence::kAny);
  expect(",");
  Operand b = operand(Precedence::kAny);
  expect(")");
  return combine(op, a, b, start);
}

bool ExprParser::reduction_follows() const {
  return at("(", 1) && (at(":", 2) || (at_kind(TokenKind::kName, 2) && (at("in", 3) || at(":", 3))));
}

ExprParser::Operand ExprParser::reduce(ReduceOp op) {
  const size_t start = offset();
  advance();
  expect("(");
  std::vector<ReduceAxis> axes;
  std::vector<std::string_view> names;
  while (!at(":")) {
    if (!axes.empty()) expect(",");
    std::string_view name;
    size_t name_offset = 0;
    const VarRef var = variable_declaration(true, &name, &name_offset);
    for (std::string_view word : {"in", "[", "0", ","}) {
      if (word == "0") {
        natural("0, where every axis starts,", 0);
      } else {
        expect(word);
      }
    }
    const int64_t extent = natural("an extent", std::numeric_limits<int64_t>::max());
    expect(")");
    define(name, name_offset, {var, nullptr});
    names.push_back(name);
    axes.push_back({var, extent});
  }
  expect(":");
  const Operand body = operand(Precedence::kAny);
  const Expr value = settle(body);
  expect(")");
  if (value.type().is_bool()) fail(body.offset, "a bool cannot be reduced");
  for (std::string_view name : names) forget(name);
  return make(make_reduce(op, axes, value), start, {body.depth});
}

Expr parse_expr(std::string_view text, std::span<const VarRef> variables, std::span<const Buffer> buffers) {
  ExprParser parser(text, variables, buffers);
  const Expr e = parser.expression();
  parser.expect_end();
  return e;
}

}  // namespace tensmith
