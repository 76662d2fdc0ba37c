#include <fmt/format.h>

#include <algorithm>

#include "codegen/llvm/emitter.h"
#include "tensmith/codegen/storage.h"
#include "tensmith/ir/visit.h"
#include "tensmith/support/error.h"

namespace tensmith {

namespace {

/// Statements and expressions below `s`, counted up to `limit`.
int64_t count_nodes(Stmt s, int64_t limit) {
  int64_t count = 0;
  walk(
      s, [&](Expr) { ++count; }, [&](Stmt) { ++count; });
  return std::min(count, limit);
}

constexpr int64_t kMaxExpandedNodes = 100000;

llvm::StringRef ref(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

void Emitter::emit(Stmt s) {
  match(
      s, [&](const For& n) { emit_for(n); }, [&](const Store& n) { emit_store(n); },
      [&](const Seq& n) {
        for (Stmt child : n.stmts) emit(child);
      },
      [&](const If& n) { emit_if(n); }, [&](const Let& n) { emit_let(n); },
      [&](const Allocate& n) { emit_allocate(n); }, [&](const Prefetch& n) { emit_prefetch(n); });
}

void Emitter::emit_allocate(const Allocate& n) {
  TENSMITH_ICHECK(state_.buffers.contains(n.buffer), fmt::format("buffer '{}' was not prepared", n.buffer->name));
  const int64_t bytes = buffer_bytes(n.buffer);
  const int64_t registers = (bytes + module_.target.vector_bytes - 1) / module_.target.vector_bytes;
  const int before = state_.reloads.capacity();
  // What is as small as a register tile is taken to be one.
  if (state_.on_stack.contains(n.buffer) && registers <= module_.target.vector_registers + 4) {
    state_.reloads.set_capacity(before - static_cast<int>(registers));
  }
  emit(n.body);
  state_.reloads.set_capacity(before);
}

void Emitter::bind_constant(VarRef var, int64_t value) {
  VarBinding binding;
  binding.constant = value;
  binding.range = {value, value};
  state_.vars[var] = std::move(binding);
}

void Emitter::emit_for(const For& loop) {
  const std::optional<int64_t> extent = constant_of(loop.extent);
  if (extent && *extent <= 0) return;
  if (loop.loop_kind == LoopKind::kParallel && !state_.inside_parallel) {
    emit_parallel(loop);
    return;
  }
  if (extent && *extent == 1) {
    bind_constant(loop.var, 0);
    emit(loop.body);
    return;
  }
  if (extent && loop.loop_kind == LoopKind::kUnrolled &&
      *extent <= kMaxExpandedNodes / std::max<int64_t>(count_nodes(loop.body, kMaxExpandedNodes), 1)) {
    emit_expanded(loop, *extent);
    return;
  }
  Value* end = convert(emit(loop.extent), loop.extent.type(), kInt64);
  const IndexRange extents = range_of(loop.extent);
  emit_serial(loop, i64(0), end, !(extents.low > 0), {0, extents.high == INT64_MAX ? INT64_MAX : extents.high - 1});
}

void Emitter::emit_expanded(const For& loop, int64_t extent) {
  for (int64_t i = 0; i < extent; ++i) {
    bind_constant(loop.var, i);
    emit(loop.body);
  }
}

void Emitter::emit_serial(const For& loop, Value* begin, Value* end, bool may_be_empty, IndexRange range) {
  AddressScope scope(state_);
  llvm::BasicBlock* after = new_block("after");
  if (may_be_empty) {
    llvm::BasicBlock* guarded = new_block("guarded");
    builder_.CreateCondBr(builder_.CreateICmpSLT(begin, end), guarded, after);
    builder_.SetInsertPoint(guarded);
  }
  llvm::BasicBlock* preheader = builder_.GetInsertBlock();
  llvm::BasicBlock* body = new_block("loop");
  builder_.CreateBr(body);
  builder_.SetInsertPoint(body);
  llvm::PHINode* index = builder_.CreatePHI(builder_.getInt64Ty(), 2, ref(loop.var->name));
  index->addIncoming(begin, preheader);

  state_.loops.push_back({preheader, index, begin, {}, {}});
  VarBinding binding;
  binding.wide = index;
  binding.value = loop.var->type.bits == 64 ? index : builder_.CreateTrunc(index, value_type(loop.var->type));
  binding.range = range;
  binding.level = level();
  binding.is_loop_index = true;
  state_.vars[loop.var] = binding;
  emit(loop.body);
  for (const SteppedPointer& stepped : state_.loops.back().stepped) {
    Value* next = builder_.CreateGEP(builder_.getInt8Ty(), stepped.pointer, i64(stepped.bytes));
    stepped.pointer->addIncoming(next, builder_.GetInsertBlock());
  }
  state_.loops.pop_back();

  Value* next = builder_.CreateAdd(index, i64(1), "next", /*HasNUW=*/true, /*HasNSW=*/true);
  index->addIncoming(next, builder_.GetInsertBlock());
  llvm::BranchInst* latch = builder_.CreateCondBr(builder_.CreateICmpSLT(next, end), body, after);
  llvm::MDNode* no_unroll = llvm::MDNode::get(context_, llvm::MDString::get(context_, "llvm.loop.unroll.disable"));
  llvm::MDNode* loop_id = llvm::MDNode::getDistinct(context_, {nullptr, no_unroll});
  loop_id->replaceOperandWith(0, loop_id);
  latch->setMetadata(llvm::LLVMContext::MD_loop, loop_id);
  after->moveAfter(builder_.GetInsertBlock());
  builder_.SetInsertPoint(after);
}

void Emitter::emit_parallel(const For& loop) {
  Value* extent = convert(emit(loop.extent), loop.extent.type(), kInt64);
  const IndexRange extents = range_of(loop.extent);

  // Constants stay constants inside; everything else travels through the closure, in this order.
  const Mentioned all = mentioned_in(loop.body);
  std::vector<Buffer> buffers;
  std::vector<VarRef> vars;
  std::vector<Value*> values;
  for (Buffer buffer : all.buffers) {
    if (auto it = state_.buffers.find(buffer); it != state_.buffers.end()) {
      buffers.push_back(buffer);
      values.push_back(it->second);
    }
  }
  std::unordered_map<VarRef, VarBinding> constants;
  for (VarRef var : all.vars) {
    auto it = state_.vars.find(var);
    if (it == state_.vars.end()) continue;
    if (it->second.constant) {
      constants[var] = it->second;
    } else {
      vars.push_back(var);
      values.push_back(it->second.value);
    }
  }

  auto* pointer = builder_.getPtrTy();
  auto* int64 = builder_.getInt64Ty();
  auto* int32 = builder_.getInt32Ty();
  std::vector<llvm::Type*> fields;
  for (Value* value : values) fields.push_back(value->getType());
  auto* closure_type = llvm::StructType::get(context_, fields);
  const std::string name = fmt::format("{}.parallel{}", function_name_, parallel_count_++);

  // The body has its buffers as parameters, not as loads from the closure, so that they are known not to alias.
  std::vector<llvm::Type*> parameters{int64, int64};
  parameters.insert(parameters.end(), fields.begin(), fields.end());
  llvm::Function* body = make_function(name, llvm::FunctionType::get(int32, parameters, false), false);
  body->addFnAttr(llvm::Attribute::NoInline);
  llvm::Function* entry =
      make_function(name + ".entry", llvm::FunctionType::get(int32, {int64, int64, pointer}, false), false);
  {
    llvm::IRBuilder<> b(llvm::BasicBlock::Create(context_, "entry", entry));
    std::vector<Value*> args{entry->getArg(0), entry->getArg(1)};
    for (unsigned i = 0; i < fields.size(); ++i) {
      args.push_back(b.CreateLoad(fields[i], b.CreateStructGEP(closure_type, entry->getArg(2), i)));
    }
    llvm::CallInst* call = b.CreateCall(body, args);
    call->setTailCall();
    b.CreateRet(call);
  }

  llvm::IRBuilder<> at_entry(state_.entry);
  llvm::AllocaInst* closure = at_entry.CreateAlloca(closure_type, nullptr, "closure");
  for (unsigned i = 0; i < values.size(); ++i) {
    builder_.CreateStore(values[i], builder_.CreateStructGEP(closure_type, closure, i));
  }
  llvm::FunctionCallee run =
      runtime_function("tensmith_parallel_for", llvm::FunctionType::get(int32, {int64, pointer, pointer}, false));
  Value* status = builder_.CreateCall(run, {extent, entry, closure});
  llvm::BasicBlock* failed = new_block("parallel_failed");
  llvm::BasicBlock* after = new_block("after");
  builder_.CreateCondBr(builder_.CreateICmpEQ(status, builder_.getInt32(0)), after, failed);
  builder_.SetInsertPoint(failed);
  leave_with(status);

  FunctionState outer = std::move(state_);
  state_ = FunctionState{};
  state_.inside_parallel = true;
  state_.vars = std::move(constants);
  for (size_t i = 0; i < buffers.size(); ++i) {
    llvm::Argument* argument = body->getArg(2 + i);
    state_.buffers[buffers[i]] = argument;
    mark_buffer_parameter(argument, buffers[i], false);
  }
  for (size_t i = 0; i < vars.size(); ++i) {
    VarBinding binding = outer.vars[vars[i]];
    binding.value = body->getArg(2 + buffers.size() + i);
    binding.wide = nullptr;
    binding.affine.reset();
    binding.level = 0;
    binding.is_loop_index = false;
    state_.vars[vars[i]] = binding;
  }
  begin_body(body, loop.body);
  for (VarRef var : vars) {
    if (!var->type.is_float()) state_.vars[var].wide = convert(state_.vars[var].value, var->type, kInt64);
  }
  emit_serial(loop, body->getArg(0), body->getArg(1), true,
              {0, extents.high == INT64_MAX ? INT64_MAX : extents.high - 1});
  end_body();
  state_ = std::move(outer);
  builder_.SetInsertPoint(after);
}

void Emitter::emit_if(const If& branch) {
  if (const std::optional<int64_t> known = constant_of(branch.condition)) {
    if (*known != 0) {
      emit(branch.then_case);
    } else if (branch.else_case) {
      emit(branch.else_case);
    }
    return;
  }
  Value* condition = emit(branch.condition);
  llvm::BasicBlock* then_block = new_block("then");
  llvm::BasicBlock* else_block = branch.else_case ? new_block("else") : nullptr;
  llvm::BasicBlock* after = new_block("after");
  builder_.CreateCondBr(condition, then_block, else_block != nullptr ? else_block : after);
  const auto arm = [&](llvm::BasicBlock* block, Stmt s) {
    AddressScope scope(state_);
    builder_.SetInsertPoint(block);
    emit(s);
    builder_.CreateBr(after);
  };
  arm(then_block, branch.then_case);
  if (else_block != nullptr) arm(else_block, branch.else_case);
  after->moveAfter(builder_.GetInsertBlock());
  builder_.SetInsertPoint(after);
}

void Emitter::emit_let(const Let& let) {
  if (!let.var->type.is_float()) {
    if (const std::optional<int64_t> known = constant_of(let.value)) {
      bind_constant(let.var, *known);
      emit(let.body);
      return;
    }
  }
  VarBinding binding;
  binding.value = emit(let.value);
  binding.level = level();
  if (!let.var->type.is_float()) {
    binding.range = range_of(let.value);
    if (binding.value->hasName() == false) binding.value->setName(ref(let.var->name));
    binding.wide = convert(binding.value, let.var->type, kInt64);
    AffineIndex affine;
    if (let.var->type.is_integral() && can_hoist(let.value)) {
      linearize(let.value, 1, affine);
      binding.affine = std::move(affine);
    }
  }
  state_.vars[let.var] = std::move(binding);
  emit(let.body);
}

void Emitter::emit_prefetch(const Prefetch& prefetch) {
  const size_t count = prefetch.indices.size();
  TENSMITH_ICHECK(count > 0, "a prefetch needs an index");
  AffineIndex base = scalar_offset(prefetch.buffer, prefetch.indices, count - 1);
  linearize(prefetch.indices.back(), last_stride(prefetch.buffer, count), base);
  Value* pointer = pointer_to(locate(prefetch.buffer, base));
  llvm::Function* intrinsic =
      llvm::Intrinsic::getDeclaration(&module_.module, llvm::Intrinsic::prefetch, {builder_.getPtrTy()});
  builder_.CreateCall(
      intrinsic, {pointer, builder_.getInt32(0),
                  builder_.getInt32(static_cast<uint32_t>(std::clamp(prefetch.locality, 0, 3))), builder_.getInt32(1)});
}

}  // namespace tensmith
