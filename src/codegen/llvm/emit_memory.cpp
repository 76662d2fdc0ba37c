#include <fmt/format.h>

#include <llvm/IR/InlineAsm.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "codegen/llvm/emitter.h"
#include "tensmith/codegen/storage.h"
#include "tensmith/ir/visit.h"
#include "tensmith/support/error.h"

namespace tensmith {

namespace {

/// More pointers than this in one loop cost more registers than the multiplications they save.
constexpr size_t kMaxSteppedPointers = 8;

}  // namespace

/// Elements between neighbours of the last index.
int64_t Emitter::last_stride(Buffer buffer, size_t count) const {
  return flat_ || count != buffer->shape.size() || count == 0 ? 1 : buffer_stride(buffer, count - 1);
}

llvm::Value* Emitter::buffer_pointer(Buffer buffer) const {
  auto it = state_.buffers.find(buffer);
  TENSMITH_ICHECK(it != state_.buffers.end(),
                  fmt::format("buffer '{}' is neither a parameter nor allocated here", buffer->name));
  return it->second;
}

llvm::Value* Emitter::step_pointer(Loop& loop, Value* start, int64_t bytes) {
  for (const SteppedPointer& known : loop.stepped) {
    if (known.start == start && known.bytes == bytes) return known.pointer;
  }
  llvm::IRBuilder<>::InsertPointGuard guard(builder_);
  builder_.SetInsertPoint(loop.preheader->getTerminator());
  Value* first = start;
  if (!llvm::isa<llvm::ConstantInt>(loop.begin)) {
    first = builder_.CreateGEP(builder_.getInt8Ty(), start, builder_.CreateMul(loop.begin, i64(bytes)));
  }
  builder_.SetInsertPoint(loop.index->getParent(), loop.index->getParent()->begin());
  llvm::PHINode* pointer = builder_.CreatePHI(builder_.getPtrTy(), 2);
  pointer->addIncoming(first, loop.preheader);
  loop.stepped.push_back({start, bytes, pointer});
  return pointer;
}

llvm::Value* Emitter::add_term(Value* pointer, const AffineIndex::Term& term, int64_t scale) {
  const AddressKey key{pointer, term.atom, scale};
  const auto make = [&] {
    Value* offset = scale == 1 ? term.atom : builder_.CreateMul(term.atom, i64(scale));
    return builder_.CreateGEP(builder_.getInt8Ty(), pointer, offset);
  };
  if (term.level < level()) {
    auto& hoisted = state_.loops[static_cast<size_t>(term.level)].hoisted;
    for (const auto& [known, value] : hoisted) {
      if (known == key) return value;
    }
    Value* value = at_level(term.level, make);
    // A preheader dominates its whole loop: the end of a branch inside must not forget this.
    hoisted.emplace_back(key, value);
    return value;
  }
  auto it = state_.addresses.find(key);
  if (it == state_.addresses.end()) {
    it = state_.addresses.emplace(key, make()).first;
    state_.address_log.push_back(key);
  }
  return it->second;
}

Emitter::Address Emitter::locate(Buffer buffer, const AffineIndex& index) {
  const int64_t bytes = buffer->type.element_bytes();
  std::vector<AffineIndex::Term> terms = index.terms;
  std::stable_sort(terms.begin(), terms.end(), [](const auto& a, const auto& b) {
    return std::pair(a.level, !a.is_loop_index) < std::pair(b.level, !b.is_loop_index);
  });

  uint64_t grain = static_cast<uint64_t>(index.constant);
  Value* pointer = buffer_pointer(buffer);
  for (const AffineIndex::Term& term : terms) {
    if (term.coefficient == 0) continue;
    grain = std::gcd(grain, static_cast<uint64_t>(term.coefficient));
    const int64_t scale = term.coefficient * bytes;
    if (term.is_loop_index) {
      Loop& loop = state_.loops[static_cast<size_t>(term.level) - 1];
      if (loop.stepped.size() < kMaxSteppedPointers) {
        pointer = step_pointer(loop, pointer, scale);
        continue;
      }
    }
    pointer = add_term(pointer, term, scale);
  }
  return {pointer, index.constant * bytes,
          std::gcd(static_cast<uint64_t>(kBufferAlignment), grain * static_cast<uint64_t>(bytes))};
}

llvm::Value* Emitter::pointer_to(const Address& address) {
  if (address.offset == 0) return address.base;
  return builder_.CreateGEP(builder_.getInt8Ty(), address.base, i64(address.offset));
}

llvm::Value* Emitter::pointer_to_read(Buffer buffer, const Address& address, int64_t bytes) {
  // A stack array must stay visible, or it cannot become registers.
  if (state_.on_stack.contains(buffer)) return pointer_to(address);
  const auto registers = static_cast<int>((bytes + module_.target.vector_bytes - 1) / module_.target.vector_bytes);
  const ReloadModel::Key key{address.base, address.offset};
  Value* base = state_.reloads.use(key, registers);
  if (base == nullptr) {
    auto* type = llvm::FunctionType::get(builder_.getPtrTy(), {builder_.getPtrTy()}, false);
    auto* copy = llvm::InlineAsm::get(type, "", "=r,0", /*hasSideEffects=*/false);
    base = builder_.CreateCall(copy, {address.base});
    state_.reloads.set_copy(key, base);
  }
  return pointer_to({base, address.offset, address.alignment});
}

llvm::Value* Emitter::from_memory(Value* value, DataType type) {
  return type.is_bool() ? convert(value, uint_type(8, type.lanes), type) : value;
}

llvm::Value* Emitter::to_memory(Value* value, DataType type) {
  return type.is_bool() ? convert(value, type, uint_type(8, type.lanes)) : value;
}

llvm::Value* Emitter::combined_mask(Expr predicate, int lanes) {
  Value* mask = mask_;
  if (mask != nullptr && lanes == 1) mask = builder_.CreateOrReduce(mask);
  if (!predicate) return mask;
  if (is_const_int(predicate, 1)) return mask;
  Value* wanted = emit(predicate);
  return mask == nullptr ? wanted : builder_.CreateAnd(mask, wanted);
}

llvm::Value* Emitter::lane_pointers(Buffer buffer, const AffineIndex& base, Expr index,
                                    const std::optional<int64_t>& stride) {
  const int lanes = index.type().lanes;
  const int64_t bytes = buffer->type.element_bytes();
  Value* start = pointer_to(locate(buffer, base));
  Value* offsets = nullptr;
  if (stride) {
    std::vector<llvm::Constant*> steps;
    for (int i = 0; i < lanes; ++i) steps.push_back(i64(i * *stride * bytes));
    offsets = llvm::ConstantVector::get(steps);
  } else {
    Value* wide = convert(emit(index), index.type(), kInt64.with_lanes(lanes));
    offsets = builder_.CreateMul(wide, builder_.CreateVectorSplat(lanes, i64(bytes)));
  }
  return builder_.CreateGEP(builder_.getInt8Ty(), start, offsets);
}

llvm::Value* Emitter::load_lanes(const Load& n, const AffineIndex& base, const std::optional<int64_t>& stride,
                                 Value* mask) {
  const int lanes = n.type.lanes;
  const int64_t bytes = n.type.element_bytes();
  llvm::Type* element = memory_type(n.type.element());
  llvm::Type* vector = memory_type(n.type);
  const auto read_at = [&](int64_t offset, llvm::Type* type, int64_t size) -> Value* {
    AffineIndex index = base;
    index.constant += offset;
    const Address where = locate(n.buffer, index);
    return builder_.CreateAlignedLoad(type, pointer_to_read(n.buffer, where, size), llvm::Align(where.alignment));
  };
  const auto scalar_at = [&](int64_t offset) { return read_at(offset, element, bytes); };
  const auto vector_at = [&](int64_t offset) { return read_at(offset, vector, n.type.bytes()); };
  if (stride && *stride == 0) {
    Value* one =
        mask == nullptr ? scalar_at(0) : emit_guarded(builder_.CreateOrReduce(mask), [&] { return scalar_at(0); });
    Value* all = builder_.CreateVectorSplat(lanes, one);
    return mask == nullptr ? all : builder_.CreateSelect(mask, all, llvm::Constant::getNullValue(vector));
  }
  if (stride && *stride == 1) {
    if (mask == nullptr) return vector_at(0);
    const Address where = locate(n.buffer, base);
    return builder_.CreateMaskedLoad(vector, pointer_to(where), llvm::Align(where.alignment), mask,
                                     llvm::Constant::getNullValue(vector));
  }
  if (stride && mask == nullptr) {
    if (*stride == 2 && lanes >= 4) {
      // The second load ends at the last element wanted, so nothing beyond it is touched.
      Value* low = vector_at(0);
      Value* high = vector_at(lanes - 1);
      std::vector<int> picks;
      for (int i = 0; i < lanes; ++i) picks.push_back(2 * i < lanes ? 2 * i : lanes + 2 * i - (lanes - 1));
      return builder_.CreateShuffleVector(low, high, picks);
    }
    Value* result = llvm::PoisonValue::get(vector);
    for (int i = 0; i < lanes; ++i) {
      result = builder_.CreateInsertElement(result, scalar_at(i * *stride), static_cast<uint64_t>(i));
    }
    return result;
  }
  Value* pointers = lane_pointers(n.buffer, base, n.indices.back(), stride);
  if (mask == nullptr) mask = builder_.getInt1(true), mask = builder_.CreateVectorSplat(lanes, mask);
  return builder_.CreateMaskedGather(vector, pointers, llvm::Align(static_cast<uint64_t>(bytes)), mask,
                                     llvm::Constant::getNullValue(vector));
}

llvm::Value* Emitter::emit_load(const Load& n) {
  const size_t count = n.indices.size();
  AffineIndex base = scalar_offset(n.buffer, n.indices, count == 0 ? 0 : count - 1);
  Value* mask = combined_mask(n.predicate, n.type.lanes);
  if (n.type.is_scalar()) {
    const auto read = [&]() -> Value* {
      if (count > 0) linearize(n.indices.back(), last_stride(n.buffer, count), base);
      const Address where = locate(n.buffer, base);
      Value* pointer = pointer_to_read(n.buffer, where, n.type.bytes());
      return from_memory(builder_.CreateAlignedLoad(memory_type(n.type), pointer, llvm::Align(where.alignment)),
                         n.type);
    };
    if (mask == nullptr) return read();
    Value* saved = std::exchange(mask_, nullptr);
    Value* value = emit_guarded(mask, read);
    mask_ = saved;
    return value;
  }
  VectorIndex index;
  std::optional<int64_t> stride;
  if (linearize_vector(n.indices.back(), last_stride(n.buffer, count), index)) {
    base.add_scaled(index.base, 1);
    stride = index.stride;
  } else {
    TENSMITH_ICHECK(last_stride(n.buffer, count) == 1,
                    fmt::format("a general vector index into the strided buffer '{}'", n.buffer->name));
  }
  return from_memory(load_lanes(n, base, stride, mask), n.type);
}

void Emitter::store_lanes(const Store& n, Value* value, const AffineIndex& base, const std::optional<int64_t>& stride,
                          Value* mask) {
  const DataType type = n.value.type();
  const int lanes = type.lanes;
  if (stride && *stride == 1) {
    const Address where = locate(n.buffer, base);
    if (mask == nullptr) {
      builder_.CreateAlignedStore(value, pointer_to(where), llvm::Align(where.alignment));
    } else {
      builder_.CreateMaskedStore(value, pointer_to(where), llvm::Align(where.alignment), mask);
    }
    return;
  }
  if (stride && mask == nullptr) {
    for (int i = 0; i < lanes; ++i) {
      AffineIndex index = base;
      index.constant += i * *stride;
      const Address where = locate(n.buffer, index);
      builder_.CreateAlignedStore(builder_.CreateExtractElement(value, static_cast<uint64_t>(i)), pointer_to(where),
                                  llvm::Align(where.alignment));
    }
    return;
  }
  Value* pointers = lane_pointers(n.buffer, base, n.indices.back(), stride);
  if (mask == nullptr) mask = builder_.CreateVectorSplat(lanes, builder_.getInt1(true));
  builder_.CreateMaskedScatter(value, pointers, llvm::Align(static_cast<uint64_t>(type.element_bytes())), mask);
}

void Emitter::emit_store(const Store& n) {
  const DataType type = n.value.type();
  const size_t count = n.indices.size();
  Value* value = nullptr;
  const auto write = [&](Value* mask) {
    AffineIndex base = scalar_offset(n.buffer, n.indices, count == 0 ? 0 : count - 1);
    if (type.is_scalar()) {
      if (count > 0) linearize(n.indices.back(), last_stride(n.buffer, count), base);
      const Address where = locate(n.buffer, base);
      builder_.CreateAlignedStore(value, pointer_to(where), llvm::Align(where.alignment));
      return;
    }
    VectorIndex index;
    std::optional<int64_t> stride;
    if (linearize_vector(n.indices.back(), last_stride(n.buffer, count), index)) {
      base.add_scaled(index.base, 1);
      stride = index.stride;
    } else {
      TENSMITH_ICHECK(last_stride(n.buffer, count) == 1,
                      fmt::format("a general vector index into the strided buffer '{}'", n.buffer->name));
    }
    store_lanes(n, value, base, stride, mask);
  };
  if (type.is_scalar() && n.predicate && !is_const_int(n.predicate, 1)) {
    // The value may only be readable where the predicate holds.
    llvm::BasicBlock* wanted = new_block("store");
    llvm::BasicBlock* after = new_block("after");
    builder_.CreateCondBr(emit(n.predicate), wanted, after);
    builder_.SetInsertPoint(wanted);
    {
      AddressScope scope(state_);
      value = to_memory(emit(n.value), type);
      write(nullptr);
    }
    builder_.CreateBr(after);
    after->moveAfter(builder_.GetInsertBlock());
    builder_.SetInsertPoint(after);
    return;
  }
  Value* mask = combined_mask(n.predicate, type.lanes);
  value = to_memory(emit(n.value), type);
  write(mask);
}

}  // namespace tensmith
