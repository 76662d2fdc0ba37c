#include <fmt/format.h>

#include "codegen/llvm/emitter.h"
#include "tensmith/codegen/storage.h"
#include "tensmith/support/error.h"

namespace tensmith {

void set_target_attributes(llvm::Function& function, const Target& target) {
  function.addFnAttr(llvm::Attribute::NoUnwind);
  function.addFnAttr("target-cpu", target.cpu);
  std::string features;
  for (const std::string& f : target.features) features += (features.empty() ? "" : ",") + f;
  function.addFnAttr("target-features", features);
  // Without these LLVM splits 512-bit vectors on CPUs that it thinks prefer 256 bits; the schedule has chosen.
  function.addFnAttr("prefer-vector-width", std::to_string(target.vector_bytes * 8));
  function.addFnAttr("min-legal-vector-width", std::to_string(target.vector_bytes * 8));
  function.addFnAttr("frame-pointer", "none");
}

Emitter::Emitter(ModuleContext& module) : module_(module), context_(module.context), builder_(module.context) {
  llvm::FastMathFlags flags;
  flags.setAllowContract();
  builder_.setFastMathFlags(flags);
}

size_t Emitter::AddressKeyHash::operator()(const AddressKey& key) const {
  const auto a = reinterpret_cast<uintptr_t>(key.base);
  const auto b = reinterpret_cast<uintptr_t>(key.atom);
  return (a >> 4) * 0x9e3779b97f4a7c15u ^ (b >> 4) * 0xc2b2ae3d27d4eb4fu ^
         static_cast<uint64_t>(key.scale) * 0x165667b19e3779f9u;
}

Emitter::AddressScope::~AddressScope() {
  while (state_.address_log.size() > mark_) {
    state_.addresses.erase(state_.address_log.back());
    state_.address_log.pop_back();
  }
  state_.reloads.clear();
}

llvm::BasicBlock* Emitter::new_block(const char* name) {
  return llvm::BasicBlock::Create(context_, name, state_.function);
}

llvm::FunctionCallee Emitter::runtime_function(const char* name, llvm::FunctionType* type) {
  return module_.module.getOrInsertFunction(name, type);
}

llvm::Function* Emitter::make_function(const std::string& name, llvm::FunctionType* type, bool external) {
  auto* function = llvm::Function::Create(
      type, external ? llvm::GlobalValue::ExternalLinkage : llvm::GlobalValue::InternalLinkage, name, module_.module);
  set_target_attributes(*function, module_.target);
  return function;
}

void Emitter::mark_buffer_parameter(llvm::Argument* argument, Buffer buffer, bool read_only) {
  argument->addAttr(llvm::Attribute::NoAlias);
  argument->addAttr(llvm::Attribute::NoCapture);
  argument->addAttr(llvm::Attribute::getWithAlignment(context_, llvm::Align(kBufferAlignment)));
  if (read_only) argument->addAttr(llvm::Attribute::ReadOnly);
  argument->setName(llvm::StringRef(buffer->name.data(), buffer->name.size()));
}

void Emitter::begin_body(llvm::Function* function, Stmt body) {
  state_.function = function;
  state_.entry = llvm::BasicBlock::Create(context_, "entry", function);
  state_.exit = llvm::BasicBlock::Create(context_, "exit", function);
  auto* start = llvm::BasicBlock::Create(context_, "start", function, state_.exit);
  builder_.SetInsertPoint(state_.exit);
  state_.status = builder_.CreatePHI(builder_.getInt32Ty(), 2, "status");
  builder_.SetInsertPoint(start);
  state_.reloads.set_capacity(module_.target.vector_registers + kReloadSlack);
  if (body) allocate_scratch(body);
}

void Emitter::allocate_scratch(Stmt body) {
  const StoragePlan plan = plan_storage(body, state_.inside_parallel);
  for (Buffer buffer : plan.stack) {
    state_.buffers[buffer] = bind_stack_buffer(buffer);
    state_.on_stack.insert(buffer);
  }
  const std::vector<Buffer>& heap = plan.heap;
  if (heap.empty()) return;

  auto* pointer = builder_.getPtrTy();
  llvm::IRBuilder<> at_exit(state_.exit);
  for (size_t i = 0; i < heap.size(); ++i) {
    state_.scratch_at_exit.push_back(at_exit.CreatePHI(pointer, 2, "scratch"));
  }
  llvm::FunctionCallee alloc =
      runtime_function("tensmith_alloc", llvm::FunctionType::get(pointer, {builder_.getInt64Ty()}, false));
  if (auto* declaration = llvm::dyn_cast<llvm::Function>(alloc.getCallee())) {
    declaration->addRetAttr(llvm::Attribute::NoAlias);
    declaration->addRetAttr(llvm::Attribute::getWithAlignment(context_, llvm::Align(kBufferAlignment)));
    declaration->addFnAttr(llvm::Attribute::NoUnwind);
  }
  for (Buffer buffer : heap) {
    llvm::CallInst* memory = builder_.CreateCall(alloc, {i64(buffer_bytes(buffer))},
                                                 llvm::StringRef(buffer->name.data(), buffer->name.size()));
    llvm::BasicBlock* ok = new_block("allocated");
    llvm::BasicBlock* failed = new_block("out_of_memory");
    builder_.CreateCondBr(builder_.CreateIsNotNull(memory), ok, failed);
    builder_.SetInsertPoint(failed);
    leave_with(builder_.getInt32(kOutOfMemoryStatus));
    builder_.SetInsertPoint(ok);
    state_.buffers[buffer] = memory;
    state_.scratch.push_back(memory);
  }
}

llvm::Value* Emitter::bind_stack_buffer(Buffer buffer) {
  const int64_t elements = std::max<int64_t>(buffer_size(buffer), 1);
  llvm::IRBuilder<> at_entry(state_.entry);
  auto* slot = at_entry.CreateAlloca(llvm::ArrayType::get(memory_type(buffer->type), static_cast<uint64_t>(elements)),
                                     nullptr, llvm::StringRef(buffer->name.data(), buffer->name.size()));
  slot->setAlignment(llvm::Align(kBufferAlignment));
  return slot;
}

void Emitter::leave_with(Value* status) {
  state_.status->addIncoming(status, builder_.GetInsertBlock());
  for (size_t i = 0; i < state_.scratch_at_exit.size(); ++i) {
    Value* memory = i < state_.scratch.size() ? state_.scratch[i] : llvm::ConstantPointerNull::get(builder_.getPtrTy());
    state_.scratch_at_exit[i]->addIncoming(memory, builder_.GetInsertBlock());
  }
  builder_.CreateBr(state_.exit);
}

void Emitter::end_body() {
  leave_with(builder_.getInt32(0));
  builder_.SetInsertPoint(state_.entry);
  builder_.CreateBr(state_.entry->getNextNode());
  state_.exit->moveAfter(&state_.function->back());
  builder_.SetInsertPoint(state_.exit);
  if (!state_.scratch_at_exit.empty()) {
    llvm::FunctionCallee free =
        runtime_function("tensmith_free", llvm::FunctionType::get(builder_.getVoidTy(), {builder_.getPtrTy()}, false));
    for (size_t i = state_.scratch_at_exit.size(); i-- > 0;) builder_.CreateCall(free, {state_.scratch_at_exit[i]});
  }
  builder_.CreateRet(state_.status);
}

void Emitter::emit_function(const Function& function) {
  std::vector<Buffer> parameters(function.inputs.begin(), function.inputs.end());
  parameters.insert(parameters.end(), function.outputs.begin(), function.outputs.end());
  function_name_ = std::string(function.name);
  parallel_count_ = 0;
  state_ = FunctionState{};
  mask_ = nullptr;
  flat_ = accesses_are_flat(function.body);

  const std::vector<llvm::Type*> types(parameters.size(), builder_.getPtrTy());
  llvm::Function* entry =
      make_function(function_name_, llvm::FunctionType::get(builder_.getInt32Ty(), types, false), true);
  for (size_t i = 0; i < parameters.size(); ++i) {
    state_.buffers[parameters[i]] = entry->getArg(i);
    mark_buffer_parameter(entry->getArg(i), parameters[i], i < function.inputs.size());
  }
  begin_body(entry, function.body);
  if (function.body) emit(function.body);
  end_body();
  emit_packed_entry(function, entry);
}

void Emitter::emit_packed_entry(const Function& function, llvm::Function* callee) {
  llvm::Function* packed = make_function(
      function_name_ + "_packed", llvm::FunctionType::get(builder_.getInt32Ty(), {builder_.getPtrTy()}, false), true);
  builder_.SetInsertPoint(llvm::BasicBlock::Create(context_, "entry", packed));
  std::vector<Value*> args;
  const size_t count = function.inputs.size() + function.outputs.size();
  for (size_t i = 0; i < count; ++i) {
    Value* slot = builder_.CreateConstGEP1_64(builder_.getPtrTy(), packed->getArg(0), i);
    args.push_back(builder_.CreateLoad(builder_.getPtrTy(), slot));
  }
  llvm::CallInst* call = builder_.CreateCall(callee, args);
  call->setTailCall();
  builder_.CreateRet(call);
}

}  // namespace tensmith
