#include "tensmith/ir/ir.h"

#include <fmt/format.h>

#include <limits>

#include "tensmith/ir/fold.h"
#include "tensmith/support/error.h"

namespace tensmith {

namespace {

bool is_supported(DataType type) {
  if (type.lanes == 0) return false;
  switch (type.code) {
    case TypeCode::kInt:
    case TypeCode::kUInt: return type.bits == 8 || type.bits == 16 || type.bits == 32 || type.bits == 64;
    case TypeCode::kBool: return type.bits == 1;
    case TypeCode::kFloat: return type.bits == 16 || type.bits == 32 || type.bits == 64;
    case TypeCode::kBFloat: return type.bits == 16;
  }
  return false;
}

/// Checks the indices and the predicate of an access and returns its lanes.
int check_access(Buffer buffer, std::span<const Expr> indices, Expr predicate) {
  TENSMITH_ICHECK(buffer != nullptr, "an access needs a buffer");
  TENSMITH_ICHECK(indices.size() == buffer->shape.size() || indices.size() == 1,
                  fmt::format("buffer '{}' has {} dimensions and is accessed with {} indices", buffer->name,
                              buffer->shape.size(), indices.size()));
  int lanes = 1;
  for (size_t i = 0; i < indices.size(); ++i) {
    TENSMITH_ICHECK(indices[i] && indices[i].type().is_integral(),
                    fmt::format("index {} of buffer '{}' is not an integer", i, buffer->name));
    const int index_lanes = indices[i].type().lanes;
    TENSMITH_ICHECK(index_lanes == 1 || i + 1 == indices.size(),
                    fmt::format("index {} of buffer '{}' is a vector and not the last one", i, buffer->name));
    lanes = index_lanes;
  }
  TENSMITH_ICHECK(!predicate || predicate.type() == bool_type(lanes),
                  fmt::format("the predicate of an access to '{}' is {}, not {}", buffer->name,
                              to_string(predicate.type()), to_string(bool_type(lanes))));
  return lanes;
}

}  // namespace

// ---- buffers ----------------------------------------------------------------------------------------------------

Buffer make_buffer(std::string_view name, DataType type, std::span<const int64_t> shape, MemoryScope scope,
                   std::span<const int64_t> strides) {
  TENSMITH_ICHECK(is_supported(type) && type.is_scalar(), fmt::format("buffer '{}' of type {}", name, to_string(type)));
  TENSMITH_ICHECK(strides.empty() || strides.size() == shape.size(),
                  fmt::format("buffer '{}' has {} dimensions and {} strides", name, shape.size(), strides.size()));
  for (int64_t extent : shape) {
    TENSMITH_ICHECK(extent >= 0, fmt::format("buffer '{}' has extent {}", name, extent));
  }
  for (int64_t stride : strides) {
    TENSMITH_ICHECK(stride >= 0, fmt::format("buffer '{}' has stride {}", name, stride));
  }
  return make_node<BufferNode>(arena_string(name), type, make_array(shape), scope, make_array(strides));
}

int64_t buffer_stride(Buffer buffer, size_t dim) {
  TENSMITH_ICHECK(dim < buffer->shape.size(), fmt::format("buffer '{}' has no dimension {}", buffer->name, dim));
  if (!buffer->strides.empty()) {
    return buffer->strides[dim];
  }
  int64_t stride = 1;
  for (size_t i = buffer->shape.size(); i-- > dim + 1;) {
    stride = static_cast<int64_t>(static_cast<uint64_t>(stride) * static_cast<uint64_t>(buffer->shape[i]));
  }
  return stride;
}

int64_t buffer_size(Buffer buffer) {
  for (int64_t extent : buffer->shape) {
    if (extent == 0) return 0;
  }
  bool overflow = false;
  int64_t size = 1;
  for (size_t i = 0; i < buffer->shape.size(); ++i) {
    if (buffer->strides.empty()) {
      overflow |= __builtin_mul_overflow(size, buffer->shape[i], &size);
    } else {
      int64_t reach = 0;
      overflow |= __builtin_mul_overflow(buffer->shape[i] - 1, buffer->strides[i], &reach);
      overflow |= __builtin_add_overflow(size, reach, &size);
    }
  }
  if (overflow) {
    std::string shape;
    for (int64_t extent : buffer->shape) shape += (shape.empty() ? "" : ", ") + std::to_string(extent);
    throw UserError(fmt::format("buffer '{}' with shape [{}] has more elements than a 64-bit index can address",
                                buffer->name, shape),
                    "make the shape smaller");
  }
  return size;
}

// ---- expressions ------------------------------------------------------------------------------------------------

Expr make_int(DataType type, int64_t value) {
  if (type == kInt64) return make_node<IntImm>(ExprNode{ExprKind::kIntImm, kInt64}, value);
  TENSMITH_ICHECK(!type.is_float() && is_supported(type), fmt::format("integer constant of type {}", to_string(type)));
  const DataType element = type.element();
  const Expr scalar = make_node<IntImm>(ExprNode{ExprKind::kIntImm, element}, wrap_int(element, value));
  return type.is_scalar() ? scalar : make_broadcast(scalar, type.lanes);
}

Expr make_float(DataType type, double value) {
  TENSMITH_ICHECK(type.is_float() && is_supported(type), fmt::format("float constant of type {}", to_string(type)));
  const DataType element = type.element();
  const Expr scalar = make_node<FloatImm>(ExprNode{ExprKind::kFloatImm, element}, round_float(element, value));
  return type.is_scalar() ? scalar : make_broadcast(scalar, type.lanes);
}

Expr make_const(DataType type, double value) {
  return type.is_float() ? make_float(type, value) : make_int(type, float_to_int(kInt64, value));
}

Expr make_true(int lanes) { return make_int(bool_type(lanes), 1); }
Expr make_false(int lanes) { return make_int(bool_type(lanes), 0); }

VarRef make_var(std::string_view name, DataType type) {
  TENSMITH_ICHECK(is_supported(type) && type.is_scalar(),
                  fmt::format("variable '{}' of type {}", name, to_string(type)));
  return make_node<Var>(ExprNode{ExprKind::kVar, type}, arena_string(name));
}

Expr make_cast(DataType type, Expr value) {
  TENSMITH_ICHECK(value && is_supported(type), fmt::format("cast to {} of nothing", to_string(type)));
  TENSMITH_ICHECK(type.lanes == value.type().lanes,
                  fmt::format("cast from {} to {}", to_string(value.type()), to_string(type)));
  return value.type() == type ? value : make_node<Cast>(ExprNode{ExprKind::kCast, type}, value);
}

Expr make_binary(BinaryOp op, Expr a, Expr b) {
  TENSMITH_ICHECK(a && b, fmt::format("'{}' lacks an operand", to_string(op)));
  const DataType type = a.type();
  TENSMITH_ICHECK(type == b.type(), fmt::format("operands of '{}' have types {} and {}", to_string(op), to_string(type),
                                                to_string(b.type())));
  if (is_comparison(op)) {
    return make_node<Binary>(ExprNode{ExprKind::kBinary, bool_type(type.lanes)}, op, a, b);
  }
  const bool logical = op == BinaryOp::kAnd || op == BinaryOp::kOr;
  TENSMITH_ICHECK(logical == type.is_bool() && (op != BinaryOp::kMod || type.is_integral()),
                  fmt::format("'{}' of {} operands", to_string(op), to_string(type)));
  return make_node<Binary>(ExprNode{ExprKind::kBinary, type}, op, a, b);
}

Expr make_not(Expr value) {
  TENSMITH_ICHECK(value && value.type().is_bool(), "'not' needs a bool");
  return make_node<Not>(ExprNode{ExprKind::kNot, value.type()}, value);
}

Expr make_select(Expr condition, Expr if_true, Expr if_false) {
  TENSMITH_ICHECK(condition && if_true && if_false, "select lacks an operand");
  const DataType type = if_true.type();
  TENSMITH_ICHECK(type == if_false.type(),
                  fmt::format("arms of select have types {} and {}", to_string(type), to_string(if_false.type())));
  TENSMITH_ICHECK(condition.type().is_bool() && (condition.type().is_scalar() || condition.type().lanes == type.lanes),
                  fmt::format("select of {} by {}", to_string(type), to_string(condition.type())));
  return make_node<Select>(ExprNode{ExprKind::kSelect, type}, condition, if_true, if_false);
}

Expr make_load(Buffer buffer, std::span<const Expr> indices, Expr predicate) {
  const int lanes = check_access(buffer, indices, predicate);
  return make_node<Load>(ExprNode{ExprKind::kLoad, buffer->type.with_lanes(lanes)}, buffer, make_array(indices),
                         predicate);
}

Expr make_ramp(Expr base, Expr stride, int lanes) {
  TENSMITH_ICHECK(
      base && stride && base.type().is_integral() && base.type().is_scalar() && base.type() == stride.type(),
      "a ramp needs a scalar integer base and a stride of the same type");
  TENSMITH_ICHECK(lanes >= 1 && lanes <= 65535, fmt::format("a ramp of {} lanes", lanes));
  if (lanes == 1) return base;
  return make_node<Ramp>(ExprNode{ExprKind::kRamp, base.type().with_lanes(lanes)}, base, stride);
}

Expr make_broadcast(Expr value, int lanes) {
  TENSMITH_ICHECK(value, "broadcast of nothing");
  TENSMITH_ICHECK(lanes >= 1 && lanes <= 65535, fmt::format("a broadcast of {} lanes", lanes));
  if (lanes == 1) return value;
  TENSMITH_ICHECK(value.type().is_scalar(), fmt::format("broadcast of {}", to_string(value.type())));
  return make_node<Broadcast>(ExprNode{ExprKind::kBroadcast, value.type().with_lanes(lanes)}, value);
}

int intrinsic_arity(Intrinsic intrinsic) {
  return intrinsic == Intrinsic::kFma ? 3 : intrinsic == Intrinsic::kPow ? 2 : 1;
}

Expr make_call(Intrinsic intrinsic, std::span<const Expr> args) {
  TENSMITH_ICHECK(static_cast<int>(args.size()) == intrinsic_arity(intrinsic),
                  fmt::format("{} of {} arguments", to_string(intrinsic), args.size()));
  for (Expr arg : args) {
    TENSMITH_ICHECK(arg && arg.type().is_float() && arg.type() == args[0].type(),
                    fmt::format("{} needs floating-point arguments of one type", to_string(intrinsic)));
  }
  return make_node<Call>(ExprNode{ExprKind::kCall, args[0].type()}, intrinsic, make_array(args));
}

Expr make_reduce(ReduceOp op, std::span<const ReduceAxis> axes, Expr value) {
  TENSMITH_ICHECK(value && !value.type().is_bool(), "a reduction needs a numeric value");
  for (const ReduceAxis& axis : axes) {
    TENSMITH_ICHECK(axis.var != nullptr && axis.var->type.is_integral() && axis.extent >= 0,
                    fmt::format("axis of a {} needs an integer variable and an extent of at least 0", to_string(op)));
  }
  return make_node<Reduce>(ExprNode{ExprKind::kReduce, value.type()}, op, make_array(axes), value);
}

// ---- statements -------------------------------------------------------------------------------------------------

Stmt make_for(VarRef var, Expr extent, LoopKind kind, Stmt body) {
  TENSMITH_ICHECK(var != nullptr && var->type.is_integral(), "a loop needs an integer variable");
  TENSMITH_ICHECK(
      extent && extent.type() == var->type,
      fmt::format("the extent of loop '{}' has not the variable's type {}", var->name, to_string(var->type)));
  TENSMITH_ICHECK(body, fmt::format("loop '{}' has no body", var->name));
  return make_node<For>(StmtNode{StmtKind::kFor}, var, extent, kind, body);
}

Stmt make_store(Buffer buffer, std::span<const Expr> indices, Expr value, Expr predicate) {
  const int lanes = check_access(buffer, indices, predicate);
  TENSMITH_ICHECK(value && value.type() == buffer->type.with_lanes(lanes),
                  fmt::format("store of {} to {} elements of '{}', which is {}",
                              value ? to_string(value.type()) : std::string("nothing"), lanes, buffer->name,
                              to_string(buffer->type)));
  return make_node<Store>(StmtNode{StmtKind::kStore}, buffer, make_array(indices), value, predicate);
}

Stmt make_seq(std::span<const Stmt> stmts) {
  size_t count = 0;
  bool nested = false;
  Stmt only;
  for (Stmt s : stmts) {
    if (!s) {
      nested = true;
    } else if (const auto* seq = s.as<Seq>()) {
      nested = true;
      count += seq->stmts.size();
      only = s;
    } else {
      ++count;
      only = s;
    }
  }
  if (count == 0) return {};
  if (count == 1) return only;
  if (!nested) return make_node<Seq>(StmtNode{StmtKind::kSeq}, make_array(stmts));
  if (const auto* seq = only.as<Seq>(); seq != nullptr && seq->stmts.size() == count) return only;
  auto* flat = static_cast<Stmt*>(Arena::current().allocate(count * sizeof(Stmt), alignof(Stmt)));
  size_t n = 0;
  for (Stmt s : stmts) {
    if (!s) continue;
    if (const auto* seq = s.as<Seq>()) {
      for (Stmt inner : seq->stmts) new (&flat[n++]) Stmt(inner);
    } else {
      new (&flat[n++]) Stmt(s);
    }
  }
  return make_node<Seq>(StmtNode{StmtKind::kSeq}, Array<Stmt>(flat, static_cast<uint32_t>(count)));
}

Stmt make_if(Expr condition, Stmt then_case, Stmt else_case) {
  TENSMITH_ICHECK(condition && condition.type() == kBool, "the condition of an if is not a scalar bool");
  TENSMITH_ICHECK(then_case, "an if has no then-case");
  return make_node<If>(StmtNode{StmtKind::kIf}, condition, then_case, else_case);
}

Stmt make_let(VarRef var, Expr value, Stmt body) {
  TENSMITH_ICHECK(var != nullptr && value && value.type() == var->type && body,
                  "a let needs a variable, a value of its type, and a body");
  return make_node<Let>(StmtNode{StmtKind::kLet}, var, value, body);
}

Stmt make_allocate(Buffer buffer, Stmt body) {
  TENSMITH_ICHECK(buffer != nullptr && body, "an allocation needs a buffer and a body");
  return make_node<Allocate>(StmtNode{StmtKind::kAllocate}, buffer, body);
}

Stmt make_prefetch(Buffer buffer, std::span<const Expr> indices, int locality) {
  check_access(buffer, indices, {});
  TENSMITH_ICHECK(indices.empty() || indices.back().type().is_scalar(), "a prefetch with a vector index");
  TENSMITH_ICHECK(locality >= 1 && locality <= 3, fmt::format("prefetch with locality {}", locality));
  return make_node<Prefetch>(StmtNode{StmtKind::kPrefetch}, buffer, make_array(indices), locality);
}

// ---- constants and names ----------------------------------------------------------------------------------------

Expr reduce_identity(ReduceOp op, DataType type) {
  if (op == ReduceOp::kSum) return make_const(type, 0.0);
  const bool lowest = op == ReduceOp::kMax;
  if (type.is_float()) {
    const double infinity = std::numeric_limits<double>::infinity();
    return make_float(type, lowest ? -infinity : infinity);
  }
  if (type.is_int()) {
    using Limits = std::numeric_limits<int64_t>;
    return make_int(type, (lowest ? Limits::min() : Limits::max()) >> (64 - type.bits));
  }
  return make_int(type, lowest ? 0 : -1);
}

BinaryOp reduce_combiner(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum: return BinaryOp::kAdd;
    case ReduceOp::kMax: return BinaryOp::kMax;
    case ReduceOp::kMin: return BinaryOp::kMin;
  }
  TENSMITH_UNREACHABLE("unknown reduction");
}

std::optional<int64_t> as_const_int(Expr e) {
  if (const auto* broadcast = e.as<Broadcast>()) e = broadcast->value;
  if (const auto* imm = e.as<IntImm>()) return imm->value;
  return std::nullopt;
}

bool is_const_int(Expr e, int64_t value) {
  if (const auto* broadcast = e.as<Broadcast>()) e = broadcast->value;
  const auto* imm = e.as<IntImm>();
  return imm != nullptr && imm->value == value;
}

std::string_view to_string(BinaryOp op) {
  switch (op) {
    case BinaryOp::kAdd: return "+";
    case BinaryOp::kSub: return "-";
    case BinaryOp::kMul: return "*";
    case BinaryOp::kDiv: return "/";
    case BinaryOp::kMod: return "%";
    case BinaryOp::kMin: return "min";
    case BinaryOp::kMax: return "max";
    case BinaryOp::kEq: return "==";
    case BinaryOp::kNe: return "!=";
    case BinaryOp::kLt: return "<";
    case BinaryOp::kLe: return "<=";
    case BinaryOp::kGt: return ">";
    case BinaryOp::kGe: return ">=";
    case BinaryOp::kAnd: return "and";
    case BinaryOp::kOr: return "or";
  }
  TENSMITH_UNREACHABLE("unknown operation");
}

std::string_view to_string(Intrinsic i) {
  switch (i) {
    case Intrinsic::kExp: return "exp";
    case Intrinsic::kLog: return "log";
    case Intrinsic::kSqrt: return "sqrt";
    case Intrinsic::kTanh: return "tanh";
    case Intrinsic::kErf: return "erf";
    case Intrinsic::kAbs: return "abs";
    case Intrinsic::kFloor: return "floor";
    case Intrinsic::kCeil: return "ceil";
    case Intrinsic::kRound: return "round";
    case Intrinsic::kPow: return "pow";
    case Intrinsic::kFma: return "fma";
  }
  TENSMITH_UNREACHABLE("unknown intrinsic");
}

std::string_view to_string(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum: return "sum";
    case ReduceOp::kMax: return "max";
    case ReduceOp::kMin: return "min";
  }
  TENSMITH_UNREACHABLE("unknown reduction");
}

std::string_view to_string(LoopKind kind) {
  switch (kind) {
    case LoopKind::kSerial: return "for";
    case LoopKind::kUnrolled: return "unrolled";
    case LoopKind::kVectorized: return "vectorized";
    case LoopKind::kParallel: return "parallel";
  }
  TENSMITH_UNREACHABLE("unknown loop kind");
}

std::string_view to_string(MemoryScope scope) {
  switch (scope) {
    case MemoryScope::kGlobal: return "global";
    case MemoryScope::kShared: return "shared";
    case MemoryScope::kLocal: return "local";
  }
  TENSMITH_UNREACHABLE("unknown memory scope");
}

}  // namespace tensmith
