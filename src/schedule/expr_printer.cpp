#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "schedule/expr_names.h"
#include "tensmith/ir/visit.h"
#include "tensmith/schedule/expr_parser.h"
#include "tensmith/support/error.h"

namespace tensmith {
namespace {

bool is_literal(Expr e) { return e.kind() == ExprKind::kIntImm || e.kind() == ExprKind::kFloatImm; }

/// Digits that the parser turns into `value` where its type is wanted. Parenthesized when negative.
std::string digits(DataType type, double value) {
  std::string text;
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) {
    text = "inf";
  } else {
    text = fmt::format("{}", std::abs(value));
    if (type == kFloat32) {
      const std::string shorter = fmt::format("{}", static_cast<float>(std::abs(value)));
      if (static_cast<float>(std::strtod(shorter.c_str(), nullptr)) == std::abs(value)) text = shorter;
    }
    // An integer has no negative zero.
    if (value == 0 && std::signbit(value)) text = "0.0";
  }
  return std::signbit(value) ? fmt::format("(-{})", text) : text;
}

/// A number whose type its neighbour decides.
std::string bare(Expr e) {
  if (const auto* imm = e.as<FloatImm>()) return digits(e.type(), imm->value);
  const int64_t value = e.as<IntImm>()->value;
  return value < 0 ? fmt::format("(-{})", fmt::format("{}", value).substr(1)) : fmt::format("{}", value);
}

/// The same with its type written out.
std::string typed(Expr e) { return fmt::format("{}({})", to_string(e.type()), bare(e)); }

class Printer {
 public:
  explicit Printer(const Program& program) : program_(program) {}

  FreeExpression print() {
    FreeExpression result;
    for (const Tensor& input : program_.inputs) {
      const Buffer buffer = input->buffer;
      check_name(buffer->name);
      result.shapes.push_back({std::string(buffer->name), {buffer->shape.begin(), buffer->shape.end()}, buffer->type});
    }
    for (const Tensor& stage : program_.stages) {
      if (!result.text.empty()) result.text += "; ";
      result.text += definition(stage);
    }
    for (const auto& [name, extent] : given_) result.extents.push_back({name, extent});
    return result;
  }

 private:
  static void check_name(std::string_view name) {
    if (!is_expression_name(name)) {
      throw UserError(fmt::format("the tensor name '{}' cannot stand in an expression", name),
                      "use letters, digits and underscores, and no digit first");
    }
  }

  std::string definition(const Tensor& stage) {
    check_name(stage->buffer->name);
    names_.clear();
    std::set<std::string> taken;
    std::vector<std::string> axes, reduced;
    for (const Axis& axis : stage->axes) axes.push_back(name_index(axis.var, axis.extent, taken));
    for (const ReduceAxis& axis : stage->reduce) reduced.push_back(name_index(axis.var, axis.extent, taken));
    give_extents(stage);
    const auto* reduce = stage->body.as<Reduce>();
    std::string value;
    if (reduce == nullptr) {
      value = text(stage->body);
    } else {
      const std::string_view kind = reduce->op == ReduceOp::kSum ? "sum" : reduce->op == ReduceOp::kMax ? "max" : "min";
      value = fmt::format("{}({}: {})", kind, fmt::join(reduced, ","), text(reduce->value));
    }
    return fmt::format("{}[{}] = {}", stage->buffer->name, fmt::join(axes, ","), value);
  }

  /// One name has one extent in all definitions, since extents are given for names.
  std::string name_index(VarRef var, int64_t extent, std::set<std::string>& taken) {
    const std::string base =
        is_expression_name(var->name) && var->name != "inf" && var->name != "nan" ? std::string(var->name) : "i";
    std::string name = base;
    for (int number = 1; taken.contains(name) || (extents_.contains(name) && extents_.at(name) != extent); ++number) {
      name = fmt::format("{}_{}", base, number);
    }
    taken.insert(name);
    extents_[name] = extent;
    names_[var] = name;
    return name;
  }

  /// Gives the extents that the parser would not find out from the dimensions which an index has alone.
  void give_extents(const Tensor& stage) {
    std::map<std::string, std::set<int64_t>> seen;
    walk(stage->body, [&](Expr e) {
      const auto* load = e.as<Load>();
      if (load == nullptr) return;
      for (size_t i = 0; i < load->indices.size(); ++i) {
        if (const auto* var = load->indices[i].as<Var>()) seen[names_.at(var)].insert(load->buffer->shape[i]);
      }
    });
    for (const auto& [var, name] : names_) {
      const int64_t extent = extents_.at(name);
      if (seen[name] != std::set<int64_t>{extent}) given_[name] = extent;
    }
  }

  /// Two operands, of which at most one is a bare number.
  std::pair<std::string, std::string> operands(Expr a, Expr b) {
    if (is_literal(a) && is_literal(b)) return {typed(a), typed(b)};
    return {is_literal(a) ? bare(a) : text(a), is_literal(b) ? bare(b) : text(b)};
  }

  std::string text(Expr e) {
    return match(
        e, [&](const IntImm&) { return typed(e); }, [&](const FloatImm&) { return typed(e); },
        [&](const Var& var) { return names_.at(&var); },
        [&](const Cast& cast) { return fmt::format("{}({})", to_string(e.type()), text(cast.value)); },
        [&](const Binary& binary) {
          const auto [a, b] = operands(binary.a, binary.b);
          if (binary.op == BinaryOp::kMin || binary.op == BinaryOp::kMax) {
            return fmt::format("{}({}, {})", binary.op == BinaryOp::kMin ? "min" : "max", a, b);
          }
          const auto* it = std::find_if(std::begin(kOperators), std::end(kOperators),
                                        [&](const OperatorName& o) { return o.op == binary.op; });
          return fmt::format("({} {} {})", a, it->name, b);
        },
        [&](const Not& n) { return fmt::format("(not {})", text(n.value)); },
        [&](const Select& select) {
          const auto [a, b] = operands(select.if_true, select.if_false);
          return fmt::format("select({}, {}, {})", text(select.condition), a, b);
        },
        [&](const Load& load) {
          std::vector<std::string> indices;
          for (Expr index : load.indices) indices.push_back(is_literal(index) ? bare(index) : text(index));
          return fmt::format("{}[{}]", load.buffer->name, fmt::join(indices, ","));
        },
        [&](const Call& call) {
          std::vector<std::string> args;
          for (Expr arg : call.args) args.push_back(text(arg));
          const auto* it = std::find_if(std::begin(kIntrinsics), std::end(kIntrinsics),
                                        [&](const IntrinsicName& n) { return n.intrinsic == call.intrinsic; });
          return fmt::format("{}({})", it->name, fmt::join(args, ", "));
        },
        [&](const Ramp&) { return no_form("a vector"); }, [&](const Broadcast&) { return no_form("a vector"); },
        [&](const Reduce&) { return no_form("a nested reduction"); });
  }

  static std::string no_form(std::string_view what) {
    throw UserError(fmt::format("{} cannot stand in an expression", what), "define it with scalars");
  }

  const Program& program_;
  std::map<VarRef, std::string> names_;     ///< of the definition at hand
  std::map<std::string, int64_t> extents_;  ///< of all indices so far
  std::map<std::string, int64_t> given_;
};

/// Which output is read by another stage, if one is.
std::optional<std::string_view> output_that_is_read(const Program& program) {
  for (const Tensor& stage : program.stages) {
    for (const Tensor& read : stage->inputs) {
      if (std::find(program.outputs.begin(), program.outputs.end(), read) != program.outputs.end()) {
        return read->buffer->name;
      }
    }
  }
  return std::nullopt;
}

bool same_tensors(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Tensor& x, const Tensor& y) {
    return x->buffer->name == y->buffer->name && x->buffer->type == y->buffer->type &&
           std::equal(x->buffer->shape.begin(), x->buffer->shape.end(), y->buffer->shape.begin(),
                      y->buffer->shape.end());
  });
}

}  // namespace

FreeExpression to_expression(const Program& program) {
  if (const std::optional<std::string_view> name = output_that_is_read(program)) {
    throw UserError(fmt::format("output '{}' is read by another stage, which an expression cannot say", *name),
                    "make a copy of it the output");
  }
  FreeExpression expression = Printer(program).print();
  Arena arena;
  ArenaScope scope(arena);
  const Program again = parse_program(expression.text, expression.shapes, expression.extents);
  // Names, types and shapes, and with a second text the bodies too.
  if (!same_tensors(program.inputs, again.inputs) || !same_tensors(program.outputs, again.outputs) ||
      !same_tensors(program.stages, again.stages) || Printer(again).print().text != expression.text) {
    throw UserError("the program has no form as an expression: '" + expression.text + "' means another one",
                    "write it with the operators of docs/expressions.md");
  }
  return expression;
}

}  // namespace tensmith
