#include <fmt/format.h>
#include <llvm/ADT/APFloat.h>
#include <llvm/IR/Intrinsics.h>

#include "codegen/llvm/emitter.h"
#include "tensmith/ir/fold.h"
#include "tensmith/ir/half.h"
#include "tensmith/ir/visit.h"
#include "tensmith/support/error.h"

namespace tensmith {

namespace {

/// Whether evaluating `e` where it is not wanted could trap: it reads memory or divides by something unknown.
bool may_trap(Expr e) {
  if (e.kind() == ExprKind::kLoad) return true;
  if (const auto* n = e.as<Binary>()) {
    if ((n->op == BinaryOp::kDiv || n->op == BinaryOp::kMod) && n->type.is_integral() && !as_const_int(n->b))
      return true;
  }
  bool found = false;
  for_each_child(e, [&](Expr child) { found = found || may_trap(child); });
  return found;
}

}  // namespace

llvm::Type* Emitter::value_type(DataType type) {
  llvm::Type* element = nullptr;
  if (type.is_bool()) {
    element = builder_.getInt1Ty();
  } else if (type.is_float() && type.bits == 32) {
    element = builder_.getFloatTy();
  } else if (type.is_float() && type.bits == 64) {
    element = builder_.getDoubleTy();
  } else {
    element = builder_.getIntNTy(type.bits);  // 16-bit floats are carried as their bits
  }
  return type.is_scalar() ? element : llvm::FixedVectorType::get(element, type.lanes);
}

llvm::Type* Emitter::memory_type(DataType type) { return value_type(type.is_bool() ? uint_type(8, type.lanes) : type); }

llvm::Type* Emitter::float_type_of(DataType type) {
  return value_type(float_type(type.bits == 64 ? 64 : 32, type.lanes));
}

llvm::Value* Emitter::emit(Expr e) {
  return match(
      e, [&](const IntImm& n) { return emit_const_int(n.type, n.value); },
      [&](const FloatImm& n) { return emit_float_imm(n); }, [&](const Var& n) { return emit_var(n); },
      [&](const Cast& n) { return convert(emit(n.value), n.value.type(), n.type); },
      [&](const Binary& n) { return emit_binary(n); }, [&](const Not& n) { return builder_.CreateNot(emit(n.value)); },
      [&](const Select& n) { return emit_select(n); }, [&](const Load& n) { return emit_load(n); },
      [&](const Ramp& n) { return emit_ramp(n); }, [&](const Broadcast& n) { return emit_broadcast(n); },
      [&](const Call& n) { return emit_call(n); },
      [&](const Reduce&) -> Value* { TENSMITH_UNREACHABLE("a reduction reached code generation"); });
}

llvm::Value* Emitter::emit_const_int(DataType type, int64_t value) {
  return llvm::ConstantInt::get(value_type(type), static_cast<uint64_t>(value), type.is_int());
}

llvm::Value* Emitter::emit_float_imm(const FloatImm& imm) {
  if (!is_half(imm.type)) return llvm::ConstantFP::get(value_type(imm.type), imm.value);
  const uint16_t bits = imm.type.code == TypeCode::kBFloat ? bfloat16_bits(imm.value) : float16_bits(imm.value);
  return llvm::ConstantInt::get(value_type(imm.type), bits);
}

llvm::Value* Emitter::emit_var(const Var& var) {
  auto it = state_.vars.find(&var);
  TENSMITH_ICHECK(it != state_.vars.end(), fmt::format("variable '{}' is used outside its scope", var.name));
  const VarBinding& binding = it->second;
  return binding.constant ? emit_const_int(var.type, *binding.constant) : binding.value;
}

llvm::Value* Emitter::emit_binary(const Binary& n) {
  const DataType type = n.a.type();
  if (type.is_integral()) {
    if (type.is_scalar()) {
      if (const std::optional<int64_t> known = constant_of(&n)) return emit_const_int(n.type, *known);
    }
    if (n.op == BinaryOp::kDiv || n.op == BinaryOp::kMod) return emit_floor(n.op, type, n.a, n.b);
  }
  if (Value* fused = emit_multiply_add(n)) return fused;
  Value* a = emit(n.a);
  Value* b = emit(n.b);
  return is_comparison(n.op) ? emit_comparison(n.op, type, a, b) : emit_arithmetic(n.op, type, a, b);
}

/// a*b + c as one instruction where the target has it, else nothing. LLVM would contract the two by itself, at the
/// price of twice the instructions on the way there.
llvm::Value* Emitter::emit_multiply_add(const Binary& n) {
  if (!module_.target.fma || n.op != BinaryOp::kAdd || !n.type.is_float() || is_half(n.type)) return nullptr;
  const auto product = [](Expr e) -> const Binary* {
    const auto* binary = e.as<Binary>();
    return binary != nullptr && binary->op == BinaryOp::kMul ? binary : nullptr;
  };
  const Binary* multiply = product(n.b);
  const Expr other = multiply != nullptr ? n.a : n.b;
  if (multiply == nullptr) multiply = product(n.a);
  if (multiply == nullptr) return nullptr;
  Value* addend = emit(other);
  Value* a = emit(multiply->a);
  Value* b = emit(multiply->b);
  llvm::Function*& declaration = multiply_add_[addend->getType()];
  if (declaration == nullptr) {
    declaration = llvm::Intrinsic::getDeclaration(&module_.module, llvm::Intrinsic::fmuladd, {addend->getType()});
  }
  return builder_.CreateCall(declaration, {a, b, addend});
}

llvm::Value* Emitter::emit_arithmetic(BinaryOp op, DataType type, Value* a, Value* b) {
  if (is_half(type)) {
    const DataType wide = float_type(32, type.lanes);
    Value* result = emit_arithmetic(op, wide, widen_float(a, type), widen_float(b, type));
    return narrow_float(result, wide, type);
  }
  const bool real = type.is_float();
  switch (op) {
    case BinaryOp::kAdd: return real ? builder_.CreateFAdd(a, b) : builder_.CreateAdd(a, b);
    case BinaryOp::kSub: return real ? builder_.CreateFSub(a, b) : builder_.CreateSub(a, b);
    case BinaryOp::kMul: return real ? builder_.CreateFMul(a, b) : builder_.CreateMul(a, b);
    case BinaryOp::kDiv: return builder_.CreateFDiv(a, b);
    case BinaryOp::kMin: return builder_.CreateSelect(emit_comparison(BinaryOp::kLt, type, a, b), a, b);
    case BinaryOp::kMax: return builder_.CreateSelect(emit_comparison(BinaryOp::kGt, type, a, b), a, b);
    case BinaryOp::kAnd: return builder_.CreateAnd(a, b);
    case BinaryOp::kOr: return builder_.CreateOr(a, b);
    default: TENSMITH_UNREACHABLE("not arithmetic: " + std::string(to_string(op)));
  }
}

llvm::Value* Emitter::emit_comparison(BinaryOp op, DataType type, Value* a, Value* b) {
  using P = llvm::CmpInst::Predicate;
  if (type.is_float()) {
    if (is_half(type)) {
      a = widen_float(a, type);
      b = widen_float(b, type);
    }
    switch (op) {
      case BinaryOp::kEq: return builder_.CreateFCmp(P::FCMP_OEQ, a, b);
      case BinaryOp::kNe: return builder_.CreateFCmp(P::FCMP_UNE, a, b);
      case BinaryOp::kLt: return builder_.CreateFCmp(P::FCMP_OLT, a, b);
      case BinaryOp::kLe: return builder_.CreateFCmp(P::FCMP_OLE, a, b);
      case BinaryOp::kGt: return builder_.CreateFCmp(P::FCMP_OGT, a, b);
      case BinaryOp::kGe: return builder_.CreateFCmp(P::FCMP_OGE, a, b);
      default: TENSMITH_UNREACHABLE("not a comparison");
    }
  }
  const bool is_signed = type.is_int();
  switch (op) {
    case BinaryOp::kEq: return builder_.CreateICmp(P::ICMP_EQ, a, b);
    case BinaryOp::kNe: return builder_.CreateICmp(P::ICMP_NE, a, b);
    case BinaryOp::kLt: return builder_.CreateICmp(is_signed ? P::ICMP_SLT : P::ICMP_ULT, a, b);
    case BinaryOp::kLe: return builder_.CreateICmp(is_signed ? P::ICMP_SLE : P::ICMP_ULE, a, b);
    case BinaryOp::kGt: return builder_.CreateICmp(is_signed ? P::ICMP_SGT : P::ICMP_UGT, a, b);
    case BinaryOp::kGe: return builder_.CreateICmp(is_signed ? P::ICMP_SGE : P::ICMP_UGE, a, b);
    default: TENSMITH_UNREACHABLE("not a comparison");
  }
}

llvm::Value* Emitter::emit_guarded(Value* condition, llvm::function_ref<Value*()> make) {
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  llvm::BasicBlock* wanted = new_block("wanted");
  llvm::BasicBlock* after = new_block("after");
  builder_.CreateCondBr(condition, wanted, after);
  builder_.SetInsertPoint(wanted);
  Value* value = nullptr;
  {
    AddressScope scope(state_);
    value = make();
  }
  llvm::BasicBlock* last = builder_.GetInsertBlock();
  builder_.CreateBr(after);
  after->moveAfter(last);
  builder_.SetInsertPoint(after);
  llvm::PHINode* result = builder_.CreatePHI(value->getType(), 2);
  result->addIncoming(value, last);
  result->addIncoming(llvm::Constant::getNullValue(value->getType()), before);
  return result;
}

llvm::Value* Emitter::emit_select(const Select& n) {
  Expr condition = n.condition;
  if (const auto* broadcast = condition.as<Broadcast>()) condition = broadcast->value;
  if (condition.type().is_scalar()) {
    if (const std::optional<int64_t> known = constant_of(condition)) return emit(*known != 0 ? n.if_true : n.if_false);
  }
  const bool lazy = may_trap(n.if_true) || may_trap(n.if_false);
  if (!lazy) {
    Value* c = emit(condition);
    Value* t = emit(n.if_true);
    Value* f = emit(n.if_false);
    return builder_.CreateSelect(c, t, f);
  }
  if (condition.type().is_scalar()) {
    Value* c = emit(condition);
    llvm::BasicBlock* blocks[2] = {new_block("if_true"), new_block("if_false")};
    llvm::BasicBlock* after = new_block("selected");
    builder_.CreateCondBr(c, blocks[0], blocks[1]);
    Value* values[2];
    for (int i = 0; i < 2; ++i) {
      AddressScope scope(state_);
      builder_.SetInsertPoint(blocks[i]);
      values[i] = emit(i == 0 ? n.if_true : n.if_false);
      blocks[i] = builder_.GetInsertBlock();
      builder_.CreateBr(after);
    }
    after->moveAfter(blocks[1]);
    builder_.SetInsertPoint(after);
    llvm::PHINode* result = builder_.CreatePHI(value_type(n.type), 2);
    result->addIncoming(values[0], blocks[0]);
    result->addIncoming(values[1], blocks[1]);
    return result;
  }
  Value* c = emit(condition);
  Value* outer = mask_;
  const auto arm = [&](Value* lanes, Expr value) {
    mask_ = outer != nullptr ? builder_.CreateAnd(outer, lanes) : lanes;
    return emit(value);
  };
  Value* t = arm(c, n.if_true);
  Value* f = arm(builder_.CreateNot(c), n.if_false);
  mask_ = outer;
  return builder_.CreateSelect(c, t, f);
}

llvm::Value* Emitter::emit_ramp(const Ramp& n) {
  llvm::Type* element = value_type(n.type.element());
  Value* base = builder_.CreateVectorSplat(n.type.lanes, emit(n.base));
  Value* stride = builder_.CreateVectorSplat(n.type.lanes, emit(n.stride));
  std::vector<llvm::Constant*> steps;
  for (int i = 0; i < n.type.lanes; ++i) steps.push_back(llvm::ConstantInt::get(element, static_cast<uint64_t>(i)));
  return builder_.CreateAdd(base, builder_.CreateMul(stride, llvm::ConstantVector::get(steps)));
}

llvm::Value* Emitter::emit_broadcast(const Broadcast& n) {
  Value* scalar = nullptr;
  if (mask_ != nullptr && may_trap(n.value)) {
    Value* lanes = mask_;
    mask_ = nullptr;
    scalar = emit_guarded(builder_.CreateOrReduce(lanes), [&] { return emit(n.value); });
    mask_ = lanes;
  } else {
    scalar = emit(n.value);
  }
  return builder_.CreateVectorSplat(n.type.lanes, scalar);
}

llvm::Value* Emitter::call_libm(const char* name, DataType type, std::initializer_list<Value*> args) {
  const DataType element = type.element();
  llvm::Type* scalar = value_type(element);
  const std::string symbol = std::string(name) + (element.bits == 32 ? "f" : "");
  const std::vector<llvm::Type*> parameters(args.size(), scalar);
  llvm::FunctionCallee callee = runtime_function(symbol.c_str(), llvm::FunctionType::get(scalar, parameters, false));
  if (auto* declaration = llvm::dyn_cast<llvm::Function>(callee.getCallee())) {
    declaration->setDoesNotThrow();
    declaration->setDoesNotAccessMemory();
    declaration->setWillReturn();
  }
  if (type.is_scalar()) return builder_.CreateCall(callee, llvm::ArrayRef<Value*>(args.begin(), args.size()));
  Value* result = llvm::PoisonValue::get(value_type(type));
  for (int lane = 0; lane < type.lanes; ++lane) {
    std::vector<Value*> scalars;
    for (Value* arg : args) scalars.push_back(builder_.CreateExtractElement(arg, static_cast<uint64_t>(lane)));
    result = builder_.CreateInsertElement(result, builder_.CreateCall(callee, scalars), static_cast<uint64_t>(lane));
  }
  return result;
}

llvm::Value* Emitter::emit_call(const Call& n) {
  namespace I = llvm::Intrinsic;
  const DataType type = n.type;
  const DataType wide = float_type(type.bits == 64 ? 64 : 32, type.lanes);
  std::vector<Value*> args;
  for (Expr arg : n.args) args.push_back(convert(emit(arg), type, wide));
  const auto unary = [&](I::ID id) -> Value* { return builder_.CreateUnaryIntrinsic(id, args[0]); };
  const auto compute = [&]() -> Value* {
    switch (n.intrinsic) {
      case Intrinsic::kExp: return call_libm("exp", wide, {args[0]});
      case Intrinsic::kLog: return call_libm("log", wide, {args[0]});
      case Intrinsic::kTanh: return call_libm("tanh", wide, {args[0]});
      case Intrinsic::kErf: return call_libm("erf", wide, {args[0]});
      case Intrinsic::kPow: return call_libm("pow", wide, {args[0], args[1]});
      case Intrinsic::kSqrt: return unary(I::sqrt);
      case Intrinsic::kAbs: return unary(I::fabs);
      case Intrinsic::kFloor: return unary(I::floor);
      case Intrinsic::kCeil: return unary(I::ceil);
      case Intrinsic::kRound: return unary(I::round);
      case Intrinsic::kFma: return builder_.CreateIntrinsic(value_type(wide), I::fma, {args[0], args[1], args[2]});
    }
    TENSMITH_UNREACHABLE("unknown intrinsic");
  };
  return convert(compute(), wide, type);
}

}  // namespace tensmith
