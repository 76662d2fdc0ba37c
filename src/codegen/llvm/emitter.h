#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "codegen/llvm/reload_model.h"
#include "tensmith/ir/ir.h"
#include "tensmith/schedule/target.h"

namespace tensmith {

/// Loaded values that may be kept beyond the registers that are free: folding loads into their users and the
/// scheduler's freedom make up for as many.
inline constexpr int kReloadSlack = 2;

/// float16 or bfloat16: carried as their bits, computed with as float32.
inline bool is_half(DataType type) { return type.is_float() && type.bits == 16; }

/// What all functions of a module share.
struct ModuleContext {
  llvm::LLVMContext& context;
  llvm::Module& module;
  const Target& target;
  bool native_f16 = false;  ///< the CPU converts float16 (F16C); otherwise it is done with integer instructions
};

/// Adds target attributes to a function that we define.
void set_target_attributes(llvm::Function& function, const Target& target);

/// Sum of coefficient * atom + constant, in elements or indices (int64). The one form of every index.
struct AffineIndex {
  struct Term {
    llvm::Value* atom;  ///< int64
    int64_t coefficient;
    int level;                   ///< loops of the function inside which the atom is defined; 0 = function entry
    bool is_loop_index = false;  ///< the index of the loop of that level
  };
  std::vector<Term> terms;
  int64_t constant = 0;

  void add(const Term& term);
  void add_scaled(const AffineIndex& other, int64_t scale);
};

/// Inclusive bounds of an integer; the extremes of int64 mean unknown.
struct IndexRange {
  int64_t low = INT64_MIN;
  int64_t high = INT64_MAX;
  bool nonnegative() const { return low >= 0; }
};

/// Turns one Function into LLVM IR.
///
/// Placement. Address arithmetic is emitted at the loop level where its operands are known (in the preheader of the
/// first loop that does not change them), outermost terms first, and what a loop's index contributes becomes a pointer
/// that the loop steps. So no pass has to hoist, reassociate or strength-reduce it, and accesses that differ by a
/// constant share a base register. Registers. Loads that LLVM would merge although registers are short are kept apart,
/// see reload_model.h. Lazy selects. `mask_` holds the lanes whose value is wanted while an arm of a vector select is
/// emitted; loads and divisions then touch these lanes only. A scalar select whose arms could trap becomes a branch.
class Emitter {
 public:
  explicit Emitter(ModuleContext& module);

  /// Emits the function and its packed entry.
  void emit_function(const Function& function);

 private:
  using Value = llvm::Value;

  struct VarBinding {
    Value* value = nullptr;  ///< of the variable's own type; null for a constant
    Value* wide = nullptr;   ///< the same as int64, for integer variables
    std::optional<int64_t> constant;
    std::optional<AffineIndex> affine;  ///< the variable in terms of others
    IndexRange range;
    int level = 0;
    bool is_loop_index = false;
  };
  /// A pointer that a loop steps: `start` before the loop, `bytes` further at every iteration.
  struct SteppedPointer {
    Value* start;
    int64_t bytes;
    llvm::PHINode* pointer;
  };
  /// An address computation that can be used again.
  struct AddressKey {
    Value* base;
    Value* atom;
    int64_t scale;
    bool operator==(const AddressKey&) const = default;
  };
  struct Loop {
    llvm::BasicBlock* preheader;
    llvm::PHINode* index;
    Value* begin;
    std::vector<SteppedPointer> stepped;
    std::vector<std::pair<AddressKey, Value*>> hoisted;  ///< in the preheader, so good for the whole loop
    std::vector<std::pair<Expr, Value*>> atoms;          ///< of indices, as int64; in the preheader too
  };
  struct AddressKeyHash {
    size_t operator()(const AddressKey& key) const;
  };
  /// State of the LLVM function that is being filled.
  struct FunctionState {
    llvm::Function* function = nullptr;
    llvm::BasicBlock* entry = nullptr;  ///< allocas
    llvm::BasicBlock* exit = nullptr;   ///< frees scratch memory and returns
    llvm::PHINode* status = nullptr;
    std::vector<Value*> scratch;  ///< heap buffers that have been allocated, in order
    std::vector<llvm::PHINode*> scratch_at_exit;
    std::vector<Loop> loops;
    std::unordered_map<Buffer, Value*> buffers;
    std::unordered_map<VarRef, VarBinding> vars;
    std::unordered_map<AddressKey, Value*, AddressKeyHash> addresses;
    std::vector<AddressKey> address_log;
    std::unordered_set<Buffer> on_stack;
    ReloadModel reloads;
    bool inside_parallel = false;
  };
  /// Control flow begins. Forgets, at its end, address computations made during it: they stand in blocks that do not
  /// dominate what follows.
  class AddressScope {
   public:
    explicit AddressScope(FunctionState& state) : state_(state), mark_(state.address_log.size()) {
      state_.reloads.clear();
    }
    ~AddressScope();

   private:
    FunctionState& state_;
    size_t mark_;
  };

  // emit_function.cpp
  llvm::Function* make_function(const std::string& name, llvm::FunctionType* type, bool external);
  void begin_body(llvm::Function* function, Stmt body);
  void end_body();
  void leave_with(Value* status);
  void allocate_scratch(Stmt body);
  Value* bind_stack_buffer(Buffer buffer);
  void emit_packed_entry(const Function& function, llvm::Function* callee);
  void mark_buffer_parameter(llvm::Argument* argument, Buffer buffer, bool read_only);

  // emit_stmt.cpp
  void emit(Stmt s);
  void emit_for(const For& loop);
  void emit_expanded(const For& loop, int64_t extent);
  void emit_serial(const For& loop, Value* begin, Value* end, bool may_be_empty, IndexRange range);
  void emit_parallel(const For& loop);
  void emit_if(const If& branch);
  void emit_let(const Let& let);
  void emit_prefetch(const Prefetch& prefetch);
  void emit_allocate(const Allocate& allocate);
  void bind_constant(VarRef var, int64_t value);

  // emit_expr.cpp
  Value* emit(Expr e);
  Value* emit_const_int(DataType type, int64_t value);
  Value* emit_float_imm(const FloatImm& imm);
  Value* emit_var(const Var& var);
  Value* emit_binary(const Binary& n);
  Value* emit_multiply_add(const Binary& n);
  Value* emit_arithmetic(BinaryOp op, DataType type, Value* a, Value* b);
  Value* emit_comparison(BinaryOp op, DataType type, Value* a, Value* b);
  Value* emit_select(const Select& n);
  Value* emit_ramp(const Ramp& n);
  Value* emit_broadcast(const Broadcast& n);
  Value* emit_call(const Call& n);
  Value* call_libm(const char* name, DataType type, std::initializer_list<Value*> args);
  /// The value of `make` where `condition` holds, zero elsewhere, evaluated behind a branch.
  Value* emit_guarded(Value* condition, llvm::function_ref<Value*()> make);

  // emit_division.cpp
  Value* emit_floor(BinaryOp op, DataType type, Expr a, Expr b);
  IndexRange range_of(Expr e) const;

  // emit_convert.cpp
  Value* convert(Value* value, DataType from, DataType to);
  Value* widen_float(Value* value, DataType from);  ///< 16-bit float to float32
  Value* narrow_float(Value* value, DataType from,
                      DataType to);  ///< float32 or float64 to a 16-bit float, one rounding
  Value* float_to_int(Value* value, DataType from, DataType to);

  // emit_memory.cpp
  struct VectorIndex {
    AffineIndex base;
    int64_t stride = 0;
  };
  void linearize(Expr e, int64_t scale, AffineIndex& out);
  bool has_constant_variable(Expr e) const;
  Value* index_atom(Expr e, int where);
  bool linearize_vector(Expr e, int64_t scale, VectorIndex& out);
  std::optional<int64_t> constant_of(Expr e) const;
  AffineIndex scalar_offset(Buffer buffer, Array<Expr> indices, size_t count);
  int64_t last_stride(Buffer buffer, size_t count) const;
  struct Address {
    Value* base;     ///< everything that varies
    int64_t offset;  ///< constant bytes after it
    uint64_t alignment;
  };
  Address locate(Buffer buffer, const AffineIndex& index);
  Value* step_pointer(Loop& loop, Value* start, int64_t bytes);
  Value* add_term(Value* pointer, const AffineIndex::Term& term, int64_t scale);
  Value* pointer_to(const Address& address);
  /// Where to read `bytes` from.
  Value* pointer_to_read(Buffer buffer, const Address& address, int64_t bytes);
  Value* buffer_pointer(Buffer buffer) const;
  Value* emit_load(const Load& n);
  Value* load_lanes(const Load& n, const AffineIndex& base, const std::optional<int64_t>& stride, Value* mask);
  void emit_store(const Store& n);
  void store_lanes(const Store& n, Value* value, const AffineIndex& base, const std::optional<int64_t>& stride,
                   Value* mask);
  Value* lane_pointers(Buffer buffer, const AffineIndex& base, Expr index, const std::optional<int64_t>& stride);
  Value* combined_mask(Expr predicate, int lanes);
  Value* from_memory(Value* value, DataType type);
  Value* to_memory(Value* value, DataType type);

  /// Emits at the end of the preheader of the first loop below `where`, or here when there is none.
  template <typename Make>
  Value* at_level(int where, Make&& make) {
    if (where >= level()) return make();
    llvm::IRBuilder<>::InsertPointGuard guard(builder_);
    builder_.SetInsertPoint(state_.loops[static_cast<size_t>(where)].preheader->getTerminator());
    return make();
  }

  // types and small helpers
  llvm::Type* value_type(DataType type);
  llvm::Type* memory_type(DataType type);
  llvm::Type* float_type_of(DataType type);  ///< what arithmetic on a floating-point type is done in
  int level() const { return static_cast<int>(state_.loops.size()); }
  llvm::ConstantInt* i64(int64_t value) { return builder_.getInt64(static_cast<uint64_t>(value)); }
  int level_of(Expr e) const;
  bool can_hoist(Expr e) const;
  llvm::FunctionCallee runtime_function(const char* name, llvm::FunctionType* type);
  llvm::BasicBlock* new_block(const char* name);

  ModuleContext& module_;
  llvm::LLVMContext& context_;
  llvm::IRBuilder<> builder_;
  FunctionState state_;
  Value* mask_ = nullptr;
  std::unordered_map<llvm::Type*, llvm::Function*> multiply_add_;  ///< declarations: their names take long to make
  std::string function_name_;
  int parallel_count_ = 0;
  bool flat_ = false;  ///< accesses of the function have one index in elements
};

}  // namespace tensmith
