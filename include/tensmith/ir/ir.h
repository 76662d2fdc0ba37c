#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "tensmith/ir/arena.h"
#include "tensmith/ir/type.h"

/// Expressions and loop AST.
///
/// Semantics
/// =========
/// Values. A value has a DataType; a vector value has `lanes` elements and every operation applies lane by lane.
/// Operands of a binary operation have the same type, which is also the type of the result (bool for comparisons).
/// There are no implicit conversions once a node exists; the operators of ops.h convert literals for convenience.
///
/// Integers. Addition, subtraction and multiplication of signed and unsigned integers wrap (two's complement).
/// Division rounds towards minus infinity and modulo has the sign of the divisor (floor semantics):
/// a == floordiv(a, b) * b + floormod(a, b). Division by zero is an error in the interpreter and undefined in
/// generated code; the front end rejects a literal zero divisor. Indices are int64 until the narrowing pass has proved
/// that every intermediate index fits in int32; index arithmetic never wraps (checked when a workload is made).
///
/// Floating point. Operations round to the type they are made in; float16 and bfloat16 are converted to float32,
/// operated on, and rounded back after every operation. A product that is added (a*b + c) may be contracted into one
/// fused multiply-add; nothing else is reassociated, except where a schedule primitive says so (split, reorder,
/// rfactor, vectorize of a reduction re-order a sum). min(a, b) is (a < b ? a : b) and max(a, b) is (a > b ? a : b), so
/// that a NaN in `a` gives `b`. Subnormal results may be flushed to zero: the runtime's threads and the measuring
/// process run that way. Casts: float to integer truncates and saturates, NaN gives 0; integer to narrower integer
/// wraps; to bool is `!= 0`.
///
/// Order. Expressions have no side effects. `Select` is lazy: lane by lane, only the chosen arm is evaluated, so a load
/// in the other arm may be out of bounds. All other operands, those of `and` / `or` included, may be evaluated always.
/// Statements run in program order. A parallel loop's iterations may run in any order and at the same time; the
/// schedule guarantees that they are independent. A reduction whose term is zero may be skipped (padding), so 0 *
/// infinity in a skipped term counts as 0.
///
/// Memory. Buffers do not alias. A load or store has one index per dimension until storage flattening, one index in all
/// after it; an index outside [0, shape) is an error in the interpreter and undefined in generated code. A vector
/// access has a vector index: `ramp` for consecutive or strided lanes, `broadcast` for one element in all lanes. In a
/// multi-dimensional access at most the last index is a vector. Fresh allocations hold undefined values.
///
/// Loops run over [0, extent); an extent that is not positive means no iteration.

namespace tensmith {

enum class ExprKind : uint8_t {
  kIntImm,
  kFloatImm,
  kVar,
  kCast,
  kBinary,
  kNot,
  kSelect,
  kLoad,
  kRamp,
  kBroadcast,
  kCall,
  kReduce,
};

enum class StmtKind : uint8_t {
  kFor,
  kStore,
  kSeq,
  kIf,
  kLet,
  kAllocate,
  kPrefetch,
};

enum class BinaryOp : uint8_t {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMod,
  kMin,
  kMax,  // arithmetic
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,  // comparison: result is bool
  kAnd,
  kOr,  // operands and result are bool
};

/// Elementwise functions of floating-point values.
enum class Intrinsic : uint8_t { kExp, kLog, kSqrt, kTanh, kErf, kAbs, kFloor, kCeil, kRound, kPow, kFma };

enum class ReduceOp : uint8_t { kSum, kMax, kMin };

enum class LoopKind : uint8_t { kSerial, kUnrolled, kVectorized, kParallel };

/// Where a buffer lives: memory of the caller or the heap; memory shared by a block of threads (a GPU's);
/// registers or stack of one thread.
enum class MemoryScope : uint8_t { kGlobal, kShared, kLocal };

/// A region of memory with a type and a constant shape, row-major. Identity is the address of its node; the name is a
/// hint.
struct BufferNode {
  std::string_view name;
  DataType type;
  Array<int64_t> shape;
  MemoryScope scope = MemoryScope::kGlobal;
  /// Distance in elements between neighbours along each dimension; empty means dense row-major.
  Array<int64_t> strides;
};
using Buffer = const BufferNode*;

Buffer make_buffer(std::string_view name, DataType type, std::span<const int64_t> shape,
                   MemoryScope scope = MemoryScope::kGlobal, std::span<const int64_t> strides = {});

/// Distance in elements between neighbours along dimension `dim`.
int64_t buffer_stride(Buffer buffer, size_t dim);
/// Elements from the first to one past the last addressable one. Throws UserError when it does not fit in int64.
int64_t buffer_size(Buffer buffer);

struct ExprNode {
  ExprKind kind;
  DataType type;
};
struct StmtNode {
  StmtKind kind;
};

/// Handle of an immutable expression. Default-constructed it is empty (false).
class Expr {
 public:
  constexpr Expr() = default;
  constexpr Expr(const ExprNode* node) : node_(node) {}  // NOLINT: a handle is its pointer
  const ExprNode* get() const { return node_; }
  const ExprNode& operator*() const { return *node_; }
  const ExprNode* operator->() const { return node_; }
  explicit operator bool() const { return node_ != nullptr; }
  ExprKind kind() const { return node_->kind; }
  DataType type() const { return node_->type; }
  /// The node when it is a T, else nullptr.
  template <typename T>
  const T* as() const {
    return node_ != nullptr && node_->kind == T::kKind ? static_cast<const T*>(node_) : nullptr;
  }
  /// Same node (not structural equality, see structural.h).
  bool same_as(Expr other) const { return node_ == other.node_; }

 private:
  const ExprNode* node_ = nullptr;
};

/// Handle of an immutable statement. Default-constructed it is empty, which means "nothing to do" where documented.
class Stmt {
 public:
  constexpr Stmt() = default;
  constexpr Stmt(const StmtNode* node) : node_(node) {}  // NOLINT: a handle is its pointer
  const StmtNode* get() const { return node_; }
  const StmtNode& operator*() const { return *node_; }
  const StmtNode* operator->() const { return node_; }
  explicit operator bool() const { return node_ != nullptr; }
  StmtKind kind() const { return node_->kind; }
  template <typename T>
  const T* as() const {
    return node_ != nullptr && node_->kind == T::kKind ? static_cast<const T*>(node_) : nullptr;
  }
  bool same_as(Stmt other) const { return node_ == other.node_; }

 private:
  const StmtNode* node_ = nullptr;
};

// ---- expressions ------------------------------------------------------------------------------------------------

/// Integer, unsigned or bool constant. Vector constants are broadcasts.
struct IntImm : ExprNode {
  static constexpr ExprKind kKind = ExprKind::kIntImm;
  int64_t value;
};

/// Floating-point constant, already rounded to its type.
struct FloatImm : ExprNode {
  static constexpr ExprKind kKind = ExprKind::kFloatImm;
  double value;
};

/// Scalar variable; identity is the node's address, the name is a hint.
struct Var : ExprNode {
  static constexpr ExprKind kKind = ExprKind::kVar;
  std::string_view name;
};
using VarRef = const Var*;

struct Cast : ExprNode {
  static constexpr ExprKind kKind = ExprKind::kCast;
  Expr value;
};

struct Binary : ExprNode {
  static constexpr ExprKind kKind = ExprKind::kBinary;
  BinaryOp op;
  Expr a;
  Expr b;
};

struct Not : ExprNode {
  static constexpr ExprKind kKind = ExprKind::kNot;
  Expr value;
};

/// Lazy choice; `condition` has the lanes of the arms, or one.
struct Select : ExprNode {
  static constexpr ExprKind kKind = ExprKind::kSelect;
  Expr condition;
  Expr if_true;
  Expr if_false;
};

/// Reads `buffer` at `indices`. With a predicate (bool, lanes of the access), lanes where it is false are not read and
/// give 0.
struct Load : ExprNode {
  static constexpr ExprKind kKind = ExprKind::kLoad;
  Buffer buffer;
  Array<Expr> indices;
  Expr predicate;  // may be empty
};

/// (base, base + stride, ..., base + (lanes-1)*stride).
struct Ramp : ExprNode {
  static constexpr ExprKind kKind = ExprKind::kRamp;
  Expr base;
  Expr stride;
};

/// `value` (scalar) in every lane.
struct Broadcast : ExprNode {
  static constexpr ExprKind kKind = ExprKind::kBroadcast;
  Expr value;
};

struct Call : ExprNode {
  static constexpr ExprKind kKind = ExprKind::kCall;
  Intrinsic intrinsic;
  Array<Expr> args;
};

/// One dimension of a reduction: `var` runs over [0, extent).
struct ReduceAxis {
  VarRef var;
  int64_t extent;
};

/// Front end only: combines `value` over the axes, starting from the reducer's identity. Only at the root of a stage's
/// body; lowering turns it into loops and the verifier rejects it afterwards.
struct Reduce : ExprNode {
  static constexpr ExprKind kKind = ExprKind::kReduce;
  ReduceOp op;
  Array<ReduceAxis> axes;
  Expr value;
};

// ---- statements -------------------------------------------------------------------------------------------------

/// Runs `body` for var = 0 .. extent-1.
struct For : StmtNode {
  static constexpr StmtKind kKind = StmtKind::kFor;
  VarRef var;
  Expr extent;
  LoopKind loop_kind;
  Stmt body;
};

/// buffer[indices] = value. With a predicate, lanes where it is false are not written.
struct Store : StmtNode {
  static constexpr StmtKind kKind = StmtKind::kStore;
  Buffer buffer;
  Array<Expr> indices;
  Expr value;
  Expr predicate;  // may be empty
};

/// Statements one after the other; at least two, none of them a Seq.
struct Seq : StmtNode {
  static constexpr StmtKind kKind = StmtKind::kSeq;
  Array<Stmt> stmts;
};

/// `condition` is a scalar bool.
struct If : StmtNode {
  static constexpr StmtKind kKind = StmtKind::kIf;
  Expr condition;
  Stmt then_case;
  Stmt else_case;  // may be empty
};

/// `var` names `value` inside `body`.
struct Let : StmtNode {
  static constexpr StmtKind kKind = StmtKind::kLet;
  VarRef var;
  Expr value;
  Stmt body;
};

/// `buffer` exists, with undefined content, while `body` runs.
struct Allocate : StmtNode {
  static constexpr StmtKind kKind = StmtKind::kAllocate;
  Buffer buffer;
  Stmt body;
};

/// Asks for the cache line of buffer[indices], all scalar; `locality` 3 = L1, 2 = L2, 1 = L3. Any address is allowed:
/// no value is read.
struct Prefetch : StmtNode {
  static constexpr StmtKind kKind = StmtKind::kPrefetch;
  Buffer buffer;
  Array<Expr> indices;
  int locality;
};

/// A lowered function: parameters in calling order and a body. Inputs come first, then outputs.
struct Function {
  std::string_view name;
  Array<Buffer> inputs;
  Array<Buffer> outputs;
  Stmt body;
};

// ---- checked factories: an operand of the wrong type is an InternalError ------------------------------------------

/// Wrapped to the bits of `type` (see fold.h); broadcast when `type` is a vector.
Expr make_int(DataType type, int64_t value);
/// Rounded to `type`; broadcast when it is a vector.
Expr make_float(DataType type, double value);
/// Constant of any element type; broadcast when `type` is a vector.
Expr make_const(DataType type, double value);
inline Expr make_index(int64_t value) { return make_int(kInt64, value); }
Expr make_true(int lanes = 1);
Expr make_false(int lanes = 1);
VarRef make_var(std::string_view name, DataType type = kInt64);
Expr make_cast(DataType type, Expr value);  ///< the value itself when it already has that type
Expr make_binary(BinaryOp op, Expr a, Expr b);
Expr make_not(Expr value);
Expr make_select(Expr condition, Expr if_true, Expr if_false);
Expr make_load(Buffer buffer, std::span<const Expr> indices, Expr predicate = {});
Expr make_ramp(Expr base, Expr stride, int lanes);
Expr make_broadcast(Expr value, int lanes);  ///< the value itself when lanes is 1
Expr make_call(Intrinsic intrinsic, std::span<const Expr> args);
int intrinsic_arity(Intrinsic intrinsic);  ///< number of arguments
Expr make_reduce(ReduceOp op, std::span<const ReduceAxis> axes, Expr value);

Stmt make_for(VarRef var, Expr extent, LoopKind kind, Stmt body);
Stmt make_store(Buffer buffer, std::span<const Expr> indices, Expr value, Expr predicate = {});
/// Flattens nested sequences and drops empty statements; one statement is returned as it is, none gives an empty Stmt.
Stmt make_seq(std::span<const Stmt> stmts);
Stmt make_if(Expr condition, Stmt then_case, Stmt else_case = {});
Stmt make_let(VarRef var, Expr value, Stmt body);
Stmt make_allocate(Buffer buffer, Stmt body);
Stmt make_prefetch(Buffer buffer, std::span<const Expr> indices, int locality);

/// 0 for sum, the lowest value for max (-infinity for floats), the highest for min.
Expr reduce_identity(ReduceOp op, DataType type);
/// The combining operation: kAdd, kMax or kMin.
BinaryOp reduce_combiner(ReduceOp op);

/// The value of an integer (or bool) constant, broadcast constants included.
std::optional<int64_t> as_const_int(Expr e);
bool is_const_int(Expr e, int64_t value);
inline bool is_comparison(BinaryOp op) { return op >= BinaryOp::kEq && op <= BinaryOp::kGe; }

std::string_view to_string(BinaryOp op);    ///< "+", "min", "<", "and", ...
std::string_view to_string(Intrinsic i);    ///< "exp", ...
std::string_view to_string(ReduceOp op);    ///< "sum", "max", "min"
std::string_view to_string(LoopKind kind);  ///< "for", "unrolled", "vectorized", "parallel"
std::string_view to_string(MemoryScope scope);

}  // namespace tensmith
