#include "tensmith/schedule/expr_parser.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "schedule/expr_names.h"
#include "schedule/expr_syntax.h"
#include "tensmith/support/error.h"

namespace tensmith {
namespace {

using syntax::Definition;
using syntax::fail_at;
using syntax::Node;
using syntax::NodeKind;

std::optional<int64_t> parse_integer(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// A value under construction. A literal has no type of its own yet.
struct Value {
  Expr expr;
  bool literal = false;
};

class Builder {
 public:
  Builder(std::string_view text, std::span<const NamedShape> shapes, std::span<const NamedExtent> extents)
      : text_(text) {
    for (const NamedShape& shape : shapes) {
      if (!tensors_.emplace(shape.name, placeholder(shape.name, shape.shape, shape.type)).second) {
        throw UserError(fmt::format("the shape of '{}' is given twice", shape.name), "give it once");
      }
      inputs_.push_back(tensors_.at(shape.name));
    }
    for (const NamedExtent& extent : extents) {
      if (extent.extent < 0) {
        throw UserError(fmt::format("the extent of '{}' is {}", extent.name, extent.extent), "extents are at least 0");
      }
      if (!given_extents_.emplace(extent.name, extent.extent).second) {
        throw UserError(fmt::format("the extent of '{}' is given twice", extent.name), "give it once");
      }
    }
  }

  Program program() {
    const std::vector<Definition> definitions = syntax::parse_definitions(text_);
    std::vector<Tensor> outputs;
    for (const Definition& d : definitions) {
      if (tensors_.contains(d.name)) {
        fail_at(text_, d.position, fmt::format("'{}' is defined already", d.name), "choose another name");
      }
      tensors_.emplace(d.name, define(d));
    }
    for (const auto& [name, extent] : given_extents_) {
      if (!used_names_.contains(name)) {
        throw UserError(fmt::format("an extent is given for '{}', which is no index of the expression", name),
                        "remove it or correct the name");
      }
    }
    for (const Definition& d : definitions) {
      if (!read_.contains(d.name)) {
        outputs.push_back(tensors_.at(d.name));
      }
    }
    for (const Tensor& input : inputs_) {
      if (!read_.contains(std::string(input->buffer->name))) {
        throw UserError(fmt::format("input '{}' has a shape but is never read", input->buffer->name),
                        "remove its shape or correct the name in the expression");
      }
    }
    return make_program(outputs, inputs_);
  }

 private:
  Tensor define(const Definition& d) {
    indices_.clear();
    std::set<std::string> seen;
    for (size_t i = 0; i < d.indices.size(); ++i) {
      if (!seen.insert(d.indices[i]).second) {
        fail_at(text_, d.index_positions[i], fmt::format("index '{}' stands twice on the left side", d.indices[i]),
                "use distinct names");
      }
    }
    std::map<std::string, int64_t> extents;
    collect_extents(d.value, extents);
    std::vector<int64_t> shape;
    for (size_t i = 0; i < d.indices.size(); ++i) {
      shape.push_back(extent_of(d.indices[i], d.index_positions[i], extents));
    }
    current_ = &d;
    std::vector<std::string_view> names(d.indices.begin(), d.indices.end());
    try {
      return compute(
          d.name, shape,
          [&](std::span<const Axis> axes) {
            for (size_t i = 0; i < axes.size(); ++i) {
              indices_[d.indices[i]] = axes[i];
            }
            shape_ = shape;
            return finish(root(d.value, extents));
          },
          names);
    } catch (const UserError& e) {
      if (e.message().starts_with("expression, line")) {
        throw;
      }
      fail_at(text_, d.position, e.message(), e.hint());
    }
  }

  /// Learns extents from every index that stands alone in a dimension of a tensor.
  void collect_extents(const Node& node, std::map<std::string, int64_t>& extents) {
    if (node.kind == NodeKind::kIndexed) {
      const Tensor tensor = tensor_of(node);
      for (size_t i = 0; i < node.children.size(); ++i) {
        const Node& index = node.children[i];
        if (index.kind != NodeKind::kName) {
          continue;
        }
        const int64_t dimension = tensor->buffer->shape[i];
        const auto [it, is_new] = extents.emplace(index.text, dimension);
        if (!is_new && it->second != dimension && !given_extents_.contains(index.text)) {
          fail_at(text_, index.position,
                  fmt::format("index '{}' runs over {} elsewhere and over {} in dimension {} of '{}'", index.text,
                              it->second, dimension, i, node.text),
                  fmt::format("correct a shape, or give the extent: --extent {}=...", index.text));
        }
      }
    }
    for (const Node& child : node.children) {
      collect_extents(child, extents);
    }
  }

  int64_t extent_of(const std::string& name, size_t position, const std::map<std::string, int64_t>& extents) {
    used_names_.insert(name);
    if (const auto it = given_extents_.find(name); it != given_extents_.end()) {
      return it->second;
    }
    if (const auto it = extents.find(name); it != extents.end()) {
      return it->second;
    }
    fail_at(text_, position,
            fmt::format("the extent of index '{}' is unknown: no dimension is indexed by it alone", name),
            fmt::format("give it: --extent {}=N", name));
  }

  Tensor tensor_of(const Node& node) {
    const auto it = tensors_.find(node.text);
    if (it == tensors_.end()) {
      fail_at(text_, node.position, fmt::format("unknown tensor '{}'", node.text),
              fmt::format("give its shape: --shape {}=..., or define it earlier", node.text));
    }
    if (node.children.size() != it->second->buffer->shape.size()) {
      fail_at(text_, node.position,
              fmt::format("'{}' has {} dimensions and is read with {} indices", node.text,
                          it->second->buffer->shape.size(), node.children.size()));
    }
    read_.insert(node.text);
    return it->second;
  }

  /// The value of a definition: a reduction may stand at its root.
  Value root(const Node& node, const std::map<std::string, int64_t>& extents) {
    extents_ = &extents;
    return node.kind == NodeKind::kReduce ? Value{reduction(node)} : value(node);
  }

  Expr reduction(const Node& node) {
    if (node.children.size() != 1) {
      fail_at(text_, node.position, fmt::format("{} takes one value after the ':'", node.text));
    }
    std::vector<ReduceAxis> axes;
    for (size_t i = 0; i < node.names.size(); ++i) {
      const std::string& name = node.names[i];
      if (indices_.contains(name)) {
        fail_at(text_, node.name_positions[i], fmt::format("index '{}' is in use already", name), "use another name");
      }
      const Axis axis = reduce_axis(name, extent_of(name, node.name_positions[i], *extents_));
      indices_[name] = axis;
      axes.push_back({axis.var, axis.extent});
    }
    const Expr inner = finish(value(node.children[0]));
    for (const std::string& name : node.names) {
      indices_.erase(name);
    }
    if (inner.type().is_bool()) {
      fail_at(text_, node.position, fmt::format("{} of conditions", node.text), "use select(cond, 1, 0)");
    }
    const ReduceOp op = node.text == "sum" ? ReduceOp::kSum : node.text == "max" ? ReduceOp::kMax : ReduceOp::kMin;
    return make_reduce(op, axes, inner);
  }

  /// A reduction inside an expression becomes a stage over the same indices.
  Value nested_reduction(const Node& node) {
    const std::string name = fmt::format("{}_{}{}", current_->name, node.text, ++nested_);
    const std::map<std::string, Axis> outer = indices_;
    std::vector<std::string_view> names;
    std::vector<Expr> point;
    for (const std::string& index : current_->indices) {
      names.push_back(index);
      point.push_back(Expr(outer.at(index).var));
    }
    const Tensor stage = compute(
        name, shape_,
        [&](std::span<const Axis> axes) {
          for (size_t i = 0; i < axes.size(); ++i) {
            indices_[current_->indices[i]] = axes[i];
          }
          return reduction(node);
        },
        names);
    indices_ = outer;
    return {stage.at(point)};
  }

  Value value(const Node& node) {
    switch (node.kind) {
      case NodeKind::kNumber: return number(node);
      case NodeKind::kName: {
        const auto it = indices_.find(node.text);
        if (it == indices_.end() && (node.text == "inf" || node.text == "nan")) {
          using Limits = std::numeric_limits<double>;
          return {make_float(kFloat64, node.text == "inf" ? Limits::infinity() : Limits::quiet_NaN()), true};
        }
        if (it == indices_.end()) {
          fail_at(text_, node.position, fmt::format("unknown index '{}'", node.text),
                  "it must stand on the left side or in an enclosing reduction; tensors are written with [..]");
        }
        return {Expr(it->second.var)};
      }
      case NodeKind::kIndexed: {
        const Tensor tensor = tensor_of(node);
        std::vector<Expr> indices;
        for (const Node& child : node.children) {
          const Value index = value(child);
          if (!index.expr.type().is_integral()) {
            fail_at(text_, child.position,
                    fmt::format("an index of '{}' is {}", node.text, to_string(index.expr.type())),
                    "indices are integers");
          }
          indices.push_back(make_cast(kInt64, index.expr));
        }
        return {tensor.at(indices)};
      }
      case NodeKind::kReduce: return nested_reduction(node);
      case NodeKind::kUnary: {
        const Value operand = value(node.children[0]);
        if (node.text == "not") {
          need_bool(operand, node.children[0]);
          return {logical_not(operand.expr)};
        }
        need_number(operand, node.children[0]);
        return {-operand.expr, operand.literal};
      }
      case NodeKind::kBinary: return binary(node);
      case NodeKind::kCall: return call(node);
    }
    TENSMITH_UNREACHABLE("unknown syntax node");
  }

  Value number(const Node& node) {
    if (const std::optional<int64_t> integer = parse_integer(node.text)) {
      return {make_index(*integer), true};
    }
    double value = 0;
    const auto [end, error] = std::from_chars(node.text.data(), node.text.data() + node.text.size(), value);
    if (error != std::errc() || end != node.text.data() + node.text.size()) {
      fail_at(text_, node.position, fmt::format("'{}' is not a number", node.text));
    }
    return {make_float(kFloat64, value), true};
  }

  Value binary(const Node& node) {
    Value a = value(node.children[0]);
    Value b = value(node.children[1]);
    const auto it = std::find_if(std::begin(kOperators), std::end(kOperators),
                                 [&](const OperatorName& o) { return o.name == node.text; });
    if (it->op == BinaryOp::kAnd || it->op == BinaryOp::kOr) {
      need_bool(a, node.children[0]);
      need_bool(b, node.children[1]);
      return {it->op == BinaryOp::kAnd ? logical_and(a.expr, b.expr) : logical_or(a.expr, b.expr)};
    }
    need_number(a, node.children[0]);
    need_number(b, node.children[1]);
    unify(a, b, node);
    if ((it->op == BinaryOp::kDiv || it->op == BinaryOp::kMod) && is_const_int(b.expr, 0)) {
      fail_at(text_, node.children[1].position, "division by zero");
    }
    if (it->op == BinaryOp::kMod && !a.expr.type().is_integral()) {
      fail_at(text_, node.position, "'%' needs integers");
    }
    return {make_binary(it->op, a.expr, b.expr), a.literal && b.literal && !is_comparison(it->op)};
  }

  Value call(const Node& node) {
    const auto need_arguments = [&](size_t count) {
      if (node.children.size() != count) {
        fail_at(text_, node.position,
                fmt::format("{} takes {} argument{}, not {}", node.text, count, count == 1 ? "" : "s",
                            node.children.size()));
      }
    };
    if (node.text == "select") {
      need_arguments(3);
      const Value condition = value(node.children[0]);
      need_bool(condition, node.children[0]);
      Value a = value(node.children[1]);
      Value b = value(node.children[2]);
      unify(a, b, node);
      return {make_select(condition.expr, a.expr, b.expr), a.literal && b.literal};
    }
    if (node.text == "min" || node.text == "max") {
      need_arguments(2);
      Value a = value(node.children[0]);
      Value b = value(node.children[1]);
      unify(a, b, node);
      return {make_binary(node.text == "min" ? BinaryOp::kMin : BinaryOp::kMax, a.expr, b.expr),
              a.literal && b.literal};
    }
    for (const IntrinsicName& entry : kIntrinsics) {
      if (entry.name == node.text) {
        need_arguments(entry.intrinsic == Intrinsic::kFma ? 3 : entry.intrinsic == Intrinsic::kPow ? 2 : 1);
        return intrinsic(node, entry.intrinsic);
      }
    }
    DataType type;
    try {
      type = parse_type(node.text);
    } catch (const UserError&) {
      fail_at(text_, node.position, fmt::format("unknown function '{}'", node.text),
              "there are select, min, max, exp, log, sqrt, tanh, erf, abs, floor, ceil, round, pow, fma, casts such as "
              "float32(x), and the reductions sum(k: ...), max(k: ...), min(k: ...)");
    }
    need_arguments(1);
    return cast(type, value(node.children[0]));
  }

  /// A number in a cast is a number of that type, where it has one.
  static Value cast(DataType type, const Value& v) {
    const std::optional<int64_t> integer = as_const_int(v.expr);
    const bool fits = type.is_float() || (integer && is_const_int(make_int(type, *integer), *integer));
    return {v.literal && fits ? convert_literal(v.expr, type) : make_cast(type, v.expr)};
  }

  Value intrinsic(const Node& node, Intrinsic intrinsic) {
    std::vector<Expr> args;
    DataType type = kFloat32;
    std::vector<Value> values;
    for (const Node& child : node.children) {
      values.push_back(value(child));
      if (!values.back().literal) {
        type = values.back().expr.type();
      }
    }
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i].literal) {
        values[i].expr = convert_literal(values[i].expr, type);
      }
      if (values[i].expr.type() != type || !type.is_float()) {
        fail_at(text_, node.children[i].position,
                fmt::format("{} of a value of type {}", node.text, to_string(values[i].expr.type())),
                "cast it: float32(x)");
      }
      args.push_back(values[i].expr);
    }
    return {make_call(intrinsic, args)};
  }

  static Expr convert_literal(Expr e, DataType type) {
    if (const auto* imm = e.as<FloatImm>()) {
      return make_const(type, imm->value);
    }
    if (const std::optional<int64_t> value = as_const_int(e)) {
      return type.is_float() ? make_float(type, static_cast<double>(*value)) : make_int(type, *value);
    }
    return make_cast(type, e);
  }

  void unify(Value& a, Value& b, const Node& node) {
    const auto adopt = [&](Value& literal, DataType type) {
      if (literal.expr.type().is_float() && type.is_integral()) {
        fail_at(text_, node.position,
                fmt::format("a fractional number stands with a value of type {}", to_string(type)),
                "cast one side: float32(x)");
      }
      literal.expr = convert_literal(literal.expr, type);
    };
    if (a.literal && b.literal) {
      const DataType type = a.expr.type().is_float() || b.expr.type().is_float() ? kFloat64 : kInt64;
      a.expr = convert_literal(a.expr, type);
      b.expr = convert_literal(b.expr, type);
    } else if (a.literal) {
      adopt(a, b.expr.type());
    } else if (b.literal) {
      adopt(b, a.expr.type());
    }
    if (a.expr.type() != b.expr.type()) {
      fail_at(text_, node.position,
              fmt::format("'{}' of {} and {}", node.text, to_string(a.expr.type()), to_string(b.expr.type())),
              fmt::format("cast one side: {}(x)", to_string(a.expr.type())));
    }
  }

  /// A value that is only a literal becomes float32.
  static Expr finish(const Value& v) { return v.literal ? convert_literal(v.expr, kFloat32) : v.expr; }

  void need_bool(const Value& v, const Node& node) {
    if (!v.expr.type().is_bool()) {
      fail_at(text_, node.position,
              fmt::format("expected a condition, found a value of type {}", to_string(v.expr.type())),
              "write a comparison such as y >= 1");
    }
  }

  void need_number(const Value& v, const Node& node) {
    if (v.expr.type().is_bool()) {
      fail_at(text_, node.position, "expected a number, found a condition", "use select(cond, a, b)");
    }
  }

  std::string_view text_;
  std::map<std::string, Tensor, std::less<>> tensors_;
  std::vector<Tensor> inputs_;
  std::map<std::string, int64_t> given_extents_;
  std::set<std::string> used_names_;
  std::set<std::string> read_;

  const Definition* current_ = nullptr;
  const std::map<std::string, int64_t>* extents_ = nullptr;
  std::map<std::string, Axis> indices_;
  std::vector<int64_t> shape_;
  int nested_ = 0;
};

}  // namespace

bool is_expression_name(std::string_view text) {
  return !text.empty() && !std::isdigit(static_cast<unsigned char>(text[0])) &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; }) &&
         text != "and" && text != "or" && text != "not";
}

NamedShape parse_named_shape(std::string_view text) {
  const std::string hint = "write NAME=AxBxC, optionally with a type: A=4x4:float16";
  const size_t equals = text.find('=');
  NamedShape shape;
  shape.name = std::string(text.substr(0, equals));
  if (equals == std::string_view::npos || !is_expression_name(shape.name)) {
    throw UserError(fmt::format("shape '{}' has no tensor name", text), hint);
  }
  std::string_view rest = text.substr(equals + 1);
  if (const size_t colon = rest.find(':'); colon != std::string_view::npos) {
    shape.type = parse_type(std::string(rest.substr(colon + 1)));
    if (!shape.type.is_scalar()) {
      throw UserError(fmt::format("shape '{}': elements cannot be vectors", text), "use a scalar type such as float32");
    }
    rest = rest.substr(0, colon);
    if (rest.empty()) return shape;
  }
  while (true) {
    const size_t x = rest.find('x');
    const std::string_view part = rest.substr(0, x);
    const std::optional<int64_t> extent = parse_integer(part);
    if (!extent || *extent < 0) {
      throw UserError(fmt::format("shape '{}': '{}' is no extent", text, part), hint);
    }
    shape.shape.push_back(*extent);
    if (x == std::string_view::npos) {
      return shape;
    }
    rest = rest.substr(x + 1);
  }
}

NamedExtent parse_named_extent(std::string_view text) {
  const size_t equals = text.find('=');
  const std::optional<int64_t> extent =
      equals == std::string_view::npos ? std::nullopt : parse_integer(text.substr(equals + 1));
  if (!extent || *extent < 0 || !is_expression_name(text.substr(0, equals))) {
    throw UserError(fmt::format("extent '{}' is not understood", text), "write INDEX=N, for example y=3");
  }
  return {std::string(text.substr(0, equals)), *extent};
}

Program parse_program(std::string_view text, std::span<const NamedShape> shapes, std::span<const NamedExtent> extents) {
  return Builder(text, shapes, extents).program();
}

std::string canonical_expression(std::string_view text, std::span<const NamedShape> shapes,
                                 std::span<const NamedExtent> extents) {
  std::string canonical = "expr:";
  for (const Definition& d : syntax::parse_definitions(text)) {
    canonical += syntax::to_text(d) + ";";
  }
  for (const NamedShape& shape : shapes) {
    canonical += fmt::format(" {}={}:{}", shape.name, fmt::join(shape.shape, "x"), to_string(shape.type));
  }
  for (const NamedExtent& extent : extents) {
    canonical += fmt::format(" {}={}", extent.name, extent.extent);
  }
  return canonical;
}

}  // namespace tensmith
