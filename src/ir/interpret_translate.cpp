#include <fmt/format.h>

#include <algorithm>

#include "ir/interpret_program.h"
#include "tensmith/ir/print.h"
#include "tensmith/ir/visit.h"

namespace tensmith::interpreter {

Element element_of(DataType type) {
  switch (type.code) {
    case TypeCode::kBool: return Element::kBool;
    case TypeCode::kBFloat: return Element::kBF16;
    case TypeCode::kFloat: return type.bits == 16 ? Element::kF16 : type.bits == 32 ? Element::kF32 : Element::kF64;
    case TypeCode::kInt:
    case TypeCode::kUInt: break;
  }
  const bool is_signed = type.is_int();
  switch (type.bits) {
    case 8: return is_signed ? Element::kI8 : Element::kU8;
    case 16: return is_signed ? Element::kI16 : Element::kU16;
    case 32: return is_signed ? Element::kI32 : Element::kU32;
    default: return is_signed ? Element::kI64 : Element::kU64;
  }
}

uint32_t Translator::add_variable(VarRef var) {
  scope_.emplace_back(var, variables_);
  return variables_++;
}

uint32_t Translator::add_buffer(Buffer buffer) {
  buffers_.push_back(buffer);
  const auto slot = static_cast<uint32_t>(buffers_.size() - 1);
  scope_.emplace_back(buffer, slot);
  return slot;
}

uint32_t Translator::slot_of(VarRef var) const {
  const auto it = std::find_if(scope_.rbegin(), scope_.rend(), [&](const auto& entry) { return entry.first == var; });
  TENSMITH_ICHECK(it != scope_.rend(), fmt::format("variable '{}' is not defined where it is used", var->name));
  return it->second;
}

void Translator::choose_access_form(Stmt s) {
  if (options_.flat) flat_ = *options_.flat;
  if (!s || options_.flat) return;
  bool some_flat = false;
  bool some_dimensional = false;
  const auto look = [&](Buffer buffer, const Array<Expr>& indices) {
    const size_t rank = buffer->shape.size();
    if (rank == 1) return;
    (indices.size() == rank ? some_dimensional : some_flat) = true;
  };
  walk(
      s,
      [&](Expr e) {
        if (const auto* load = e.as<Load>()) look(load->buffer, load->indices);
      },
      [&](Stmt c) {
        if (const auto* store = c.as<Store>()) look(store->buffer, store->indices);
      });
  TENSMITH_ICHECK(!some_flat || !some_dimensional, "some accesses are flattened and some are not");
  flat_ = some_flat;
}

const Place* Translator::place(Buffer buffer, const Array<Expr>& indices, Expr predicate) {
  const auto it =
      std::find_if(scope_.rbegin(), scope_.rend(), [&](const auto& entry) { return entry.first == buffer; });
  TENSMITH_ICHECK(it != scope_.rend(), fmt::format("buffer '{}' does not exist where it is used", buffer->name));
  std::vector<const Operation*> translated;
  for (Expr index : indices) translated.push_back(translate(index));
  Place result;
  result.buffer = it->second;
  result.flat = flat_ || indices.size() != buffer->shape.size();
  result.lanes = indices.empty() ? uint16_t{1} : indices.back().type().lanes;
  result.indices = make_array(translated);
  if (predicate) result.predicate = translate(predicate);
  most_lanes_ = std::max<int>(most_lanes_, result.lanes);
  return make_node<Place>(result);
}

const Operation* Translator::binary(const Binary& n) {
  Operation op{};
  op.op = n.op;
  op.type = n.a.type().element();
  op.a = translate(n.a);
  op.b = translate(n.b);
  const bool compares = is_comparison(n.op);
  if (op.type.is_float()) {
    op.keeps_float = !compares;
    op.code = compares ? Code::kFloatCompare : Code::kFloatBinary;
    if (n.op == BinaryOp::kAdd && options_.contract) {
      const auto* right = n.b.as<Binary>();
      const auto* left = n.a.as<Binary>();
      const bool right_product = right != nullptr && right->op == BinaryOp::kMul;
      const bool left_product = left != nullptr && left->op == BinaryOp::kMul;
      if (right_product || left_product) {
        const Operation* product = right_product ? op.b : op.a;
        op.c = right_product ? op.a : op.b;
        op.code = Code::kFma;
        op.a = product->a;
        op.b = product->b;
        return make_node<Operation>(op);
      }
    }
    if (op.type == kFloat32 && n.op == BinaryOp::kAdd) op.code = Code::kAddF32;
    if (op.type == kFloat32 && n.op == BinaryOp::kMul) op.code = Code::kMulF32;
    return make_node<Operation>(op);
  }
  op.code = Code::kIntBinary;
  if (n.op == BinaryOp::kAdd) op.code = Code::kAddInt;
  if (n.op == BinaryOp::kSub) op.code = Code::kSubInt;
  if (n.op == BinaryOp::kMul) op.code = Code::kMulInt;
  if (op.type.is_int() && n.op == BinaryOp::kDiv) op.code = Code::kDivInt;
  if (op.type.is_int() && n.op == BinaryOp::kMod) op.code = Code::kModInt;
  return make_node<Operation>(op);
}

const Operation* Translator::cast(const Cast& n) {
  Operation op{};
  op.type = n.type.element();
  op.from = n.value.type().element();
  op.a = translate(n.value);
  op.keeps_float = op.type.is_float();
  if (op.from.is_float()) {
    op.code = op.type.is_float() ? Code::kFloatToFloat : op.type.is_bool() ? Code::kFloatToBool : Code::kFloatToInt;
  } else {
    op.code = op.type.is_float() ? Code::kIntToFloat : Code::kIntToInt;
  }
  return make_node<Operation>(op);
}

const Operation* Translator::translate(Expr e) {
  TENSMITH_ICHECK(e, "an expression lacks an operand");
  Operation op{};
  op.type = e.type().element();
  op.keeps_float = op.type.is_float();
  most_lanes_ = std::max<int>(most_lanes_, e.type().lanes);
  return match(
      e,
      [&](const IntImm& n) {
        op.code = Code::kConst;
        op.value.i = n.value;
        return make_node<Operation>(op);
      },
      [&](const FloatImm& n) {
        op.code = Code::kConst;
        op.value.f = n.value;
        return make_node<Operation>(op);
      },
      [&](const Var& n) {
        op.code = Code::kSlot;
        op.slot = slot_of(&n);
        return make_node<Operation>(op);
      },
      [&](const Cast& n) { return cast(n); }, [&](const Binary& n) { return binary(n); },
      [&](const Not& n) {
        op.code = Code::kNot;
        op.a = translate(n.value);
        return make_node<Operation>(op);
      },
      [&](const Select& n) {
        op.code = Code::kSelect;
        op.scalar_condition = n.condition.type().is_scalar();
        op.a = translate(n.condition);
        op.b = translate(n.if_true);
        op.c = translate(n.if_false);
        return make_node<Operation>(op);
      },
      [&](const Load& n) {
        op.code = Code::kLoad;
        op.place = place(n.buffer, n.indices, n.predicate);
        return make_node<Operation>(op);
      },
      [&](const Ramp& n) {
        op.code = Code::kRamp;
        op.a = translate(n.base);
        op.b = translate(n.stride);
        return make_node<Operation>(op);
      },
      [&](const Broadcast& n) {
        op.code = Code::kBroadcast;
        op.a = translate(n.value);
        return make_node<Operation>(op);
      },
      [&](const Call& n) {
        op.code = Code::kCall;
        op.intrinsic = n.intrinsic;
        op.a = translate(n.args[0]);
        if (n.args.size() > 1) op.b = translate(n.args[1]);
        if (n.args.size() > 2) op.c = translate(n.args[2]);
        return make_node<Operation>(op);
      },
      [&](const Reduce& n) {
        const size_t outer = scope_.size();
        std::vector<Axis> axes;
        for (const ReduceAxis& axis : n.axes) axes.push_back({add_variable(axis.var), axis.extent});
        op.code = Code::kReduce;
        op.op = reduce_combiner(n.op);
        op.axes = make_array(axes);
        op.a = translate(n.value);
        op.b = translate(reduce_identity(n.op, op.type));
        scope_.resize(outer);
        return make_node<Operation>(op);
      });
}

const Step* Translator::translate(Stmt s) {
  TENSMITH_ICHECK(s, "a statement is missing");
  Step step{};
  step.kind = s.kind();
  step.source = s;
  const size_t outer = scope_.size();
  match(
      s,
      [&](const For& n) {
        step.independent = n.loop_kind == LoopKind::kParallel || n.loop_kind == LoopKind::kVectorized;
        step.value = translate(n.extent);
        step.slot = add_variable(n.var);
        step.first = translate(n.body);
      },
      [&](const Store& n) {
        step.place = place(n.buffer, n.indices, n.predicate);
        step.value = translate(n.value);
      },
      [&](const Seq& n) {
        std::vector<const Step*> steps;
        for (Stmt child : n.stmts) steps.push_back(translate(child));
        step.steps = make_array(steps);
      },
      [&](const If& n) {
        step.value = translate(n.condition);
        step.first = translate(n.then_case);
        if (n.else_case) step.second = translate(n.else_case);
      },
      [&](const Let& n) {
        step.value = translate(n.value);
        step.slot = add_variable(n.var);
        step.first = translate(n.body);
      },
      [&](const Allocate& n) {
        step.slot = add_buffer(n.buffer);
        step.first = translate(n.body);
      },
      [](const Prefetch&) {});
  scope_.resize(outer);
  return make_node<Step>(step);
}

}  // namespace tensmith::interpreter
