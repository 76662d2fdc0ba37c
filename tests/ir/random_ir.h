#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "tensmith/ir/ir.h"
#include "tensmith/support/rng.h"

/// Seeded random programs for property tests: the same seed gives the same program on every machine.

namespace tensmith::testing {

inline constexpr std::array<DataType, 13> kAllTypes = {
    int_type(8),   int_type(16), int_type(32),   int_type(64),  uint_type(8),   uint_type(16),  uint_type(32),
    uint_type(64), bool_type(),  float_type(16), bfloat_type(), float_type(32), float_type(64),
};

class RandomIr {
 public:
  explicit RandomIr(uint64_t seed) : rng_(seed) {}

  Rng& rng() { return rng_; }
  template <typename T>
  T pick(std::span<const T> items) {
    return items[rng_.uniform_int(uint64_t{items.size()})];
  }
  template <typename T>
  T pick(std::initializer_list<T> items) {
    return items.begin()[rng_.uniform_int(uint64_t{items.size()})];
  }

  /// An int64 expression of the kind that indices are made of: sums, products with small constants, floor division and
  /// modulo by positive or negative constants, min, max, select. For |variables| < 1000 and depth <= 6 nothing wraps.
  Expr index(std::span<const VarRef> variables, int depth) {
    if (depth == 0 || rng_.bernoulli(0.15)) {
      if (variables.empty() || rng_.bernoulli(0.3)) return make_index(rng_.uniform_int(int64_t{-8}, int64_t{16}));
      return pick(variables);
    }
    const Expr a = index(variables, depth - 1);
    switch (rng_.uniform_int(uint64_t{10})) {
      case 0:
      case 1: return make_binary(BinaryOp::kAdd, a, index(variables, depth - 1));
      case 2: return make_binary(BinaryOp::kSub, a, index(variables, depth - 1));
      case 3: return make_binary(BinaryOp::kMul, a, make_index(rng_.uniform_int(int64_t{-4}, int64_t{8})));
      case 4:
      case 5: return make_binary(BinaryOp::kDiv, a, make_index(divisor()));
      case 6:
      case 7: return make_binary(BinaryOp::kMod, a, make_index(divisor()));
      case 8: {
        const BinaryOp op = pick({BinaryOp::kMin, BinaryOp::kMax});
        return make_binary(op, a, index(variables, depth - 1));
      }
      default: {
        const Expr decider = condition(variables, depth - 1);
        return make_select(decider, a, index(variables, depth - 1));
      }
    }
  }

  /// A scalar bool expression of index expressions.
  Expr condition(std::span<const VarRef> variables, int depth) {
    if (depth > 0 && rng_.bernoulli(0.3)) {
      const Expr a = condition(variables, depth - 1);
      if (rng_.bernoulli(0.3)) return make_not(a);
      const BinaryOp op = pick({BinaryOp::kAnd, BinaryOp::kOr});
      return make_binary(op, a, condition(variables, depth - 1));
    }
    const BinaryOp op =
        pick({BinaryOp::kEq, BinaryOp::kNe, BinaryOp::kLt, BinaryOp::kLe, BinaryOp::kGt, BinaryOp::kGe});
    const Expr a = index(variables, std::max(depth - 1, 0));
    return make_binary(op, a, index(variables, std::max(depth - 1, 0)));
  }

  /// A constant of the element type, among them extremes, fractions, infinities and NaN.
  Expr constant(DataType type) {
    if (type.is_bool()) return make_int(type, rng_.bernoulli(0.5) ? 1 : 0);
    if (!type.is_float()) {
      if (rng_.bernoulli(0.1)) return make_int(type, static_cast<int64_t>(rng_.next()));
      if (rng_.bernoulli(0.05)) return reduce_identity(pick({ReduceOp::kMax, ReduceOp::kMin}), type);
      return make_int(type, rng_.uniform_int(int64_t{type.is_int() ? -20 : 0}, int64_t{100}));
    }
    const double special[] = {0.0,    -0.0, 1.0, 0.1, 1e30, -1e-30, INFINITY, -INFINITY, static_cast<double>(NAN),
                              65504.0};
    if (rng_.bernoulli(0.2)) return make_float(type, special[rng_.uniform_int(uint64_t{10})]);
    return make_float(type, rng_.normal() * 10.0);
  }

  /// An expression of any type over what is in scope; it loads only within bounds and divides by nothing that is zero.
  Expr value(DataType type, int depth) {
    if (type.is_vector() && (depth == 0 || rng_.bernoulli(0.3))) {
      if (type.is_integral() && rng_.bernoulli(0.5)) {
        const Expr base = value(type.element(), 0);
        return make_ramp(base, value(type.element(), 0), type.lanes);
      }
      return make_broadcast(value(type.element(), std::max(depth - 1, 0)), type.lanes);
    }
    if (depth == 0 || rng_.bernoulli(0.1)) return leaf(type);
    switch (rng_.uniform_int(uint64_t{8})) {
      case 0: {
        const DataType from = pick<DataType>(kAllTypes).with_lanes(type.lanes);
        return make_cast(type, value(from, depth - 1));
      }
      case 1: {
        const int condition_lanes = rng_.bernoulli(0.5) ? 1 : type.lanes;
        const Expr decider = value(bool_type(condition_lanes), depth - 1);
        const Expr if_true = value(type, depth - 1);
        return make_select(decider, if_true, value(type, depth - 1));
      }
      case 2:
      case 3: return load(type, depth - 1);
      case 4:
        if (type.is_float()) return call(type, depth - 1);
        [[fallthrough]];
      default: return operation(type, depth - 1);
    }
  }

  /// A program that passes the verifier's loop-nest stage and that the interpreter runs without an error.
  Function function() {
    std::vector<Buffer> inputs;
    std::vector<Buffer> outputs;
    for (int i = 0; i < 3; ++i) inputs.push_back(random_buffer("A" + std::to_string(i)));
    for (int i = 0; i < 2; ++i) outputs.push_back(random_buffer("out" + std::to_string(i)));
    readable_ = inputs;
    writable_ = outputs;
    readable_.insert(readable_.end(), outputs.begin(), outputs.end());
    variables_.clear();
    const Stmt body = statement(5);
    return {"random", make_array(inputs), make_array(outputs), body};
  }

  /// What expressions of `value` may use.
  void set_scope(std::vector<VarRef> variables, std::vector<Buffer> readable) {
    variables_ = std::move(variables);
    readable_ = std::move(readable);
  }

  Buffer random_buffer(const std::string& name) {
    std::vector<int64_t> shape;
    for (int64_t rank = rng_.uniform_int(int64_t{0}, int64_t{3}); rank > 0; --rank) {
      shape.push_back(rng_.uniform_int(int64_t{1}, int64_t{9}));
    }
    std::vector<int64_t> strides;
    if (shape.size() > 1 && rng_.bernoulli(0.3)) {
      int64_t stride = 1;
      for (size_t i = shape.size(); i-- > 0;) {
        strides.insert(strides.begin(), stride);
        stride *= shape[i] + rng_.uniform_int(int64_t{0}, int64_t{2});
      }
    }
    const MemoryScope scope = pick({MemoryScope::kGlobal, MemoryScope::kShared, MemoryScope::kLocal});
    return make_buffer(name, pick<DataType>(kAllTypes), shape, scope, strides);
  }

 private:
  int64_t divisor() {
    const int64_t d = rng_.uniform_int(int64_t{1}, int64_t{9});
    return rng_.bernoulli(0.1) ? -d : d;
  }

  Expr leaf(DataType type) {
    std::vector<VarRef> fitting;
    for (VarRef v : variables_) {
      if (v->type == type) fitting.push_back(v);
    }
    if (!fitting.empty() && rng_.bernoulli(0.7)) return pick<VarRef>(fitting);
    return constant(type);
  }

  Expr operation(DataType type, int depth) {
    if (type.is_bool()) {
      if (rng_.bernoulli(0.2)) return make_not(value(type, depth));
      if (rng_.bernoulli(0.4)) {
        const BinaryOp op = pick({BinaryOp::kAnd, BinaryOp::kOr});
        return pair(op, type, depth);
      }
      const DataType operands = pick<DataType>(kAllTypes).with_lanes(type.lanes);
      const BinaryOp op =
          pick({BinaryOp::kEq, BinaryOp::kNe, BinaryOp::kLt, BinaryOp::kLe, BinaryOp::kGt, BinaryOp::kGe});
      return pair(op, operands, depth);
    }
    const BinaryOp op = pick({BinaryOp::kAdd, BinaryOp::kAdd, BinaryOp::kSub, BinaryOp::kMul, BinaryOp::kDiv,
                              BinaryOp::kMod, BinaryOp::kMin, BinaryOp::kMax});
    if (type.is_float()) {
      return pair(op == BinaryOp::kMod ? BinaryOp::kMul : op, type, depth);
    }
    if (op == BinaryOp::kDiv || op == BinaryOp::kMod) {
      const Expr dividend = value(type, depth);
      return make_binary(op, dividend,
                         make_int(type, type.is_int() ? divisor() : rng_.uniform_int(int64_t{1}, int64_t{9})));
    }
    return pair(op, type, depth);
  }

  // Arguments of a call are evaluated in an order of the compiler's choice, which must not decide what is drawn.
  Expr pair(BinaryOp op, DataType type, int depth) {
    const Expr a = value(type, depth);
    return make_binary(op, a, value(type, depth));
  }

  Expr call(DataType type, int depth) {
    const auto which = static_cast<Intrinsic>(rng_.uniform_int(uint64_t{static_cast<uint64_t>(Intrinsic::kFma) + 1}));
    std::vector<Expr> args;
    for (int i = 0; i < intrinsic_arity(which); ++i) args.push_back(value(type, depth));
    return make_call(which, args);
  }

  /// Indices within the bounds of `buffer`; with lanes > 1 the last one is a vector. Empty when it cannot be.
  std::vector<Expr> indices(Buffer buffer, int lanes, int depth) {
    std::vector<Expr> result;
    for (size_t i = 0; i < buffer->shape.size(); ++i) {
      const bool last = i + 1 == buffer->shape.size();
      const int64_t room = buffer->shape[i] - (last ? lanes - 1 : 0);
      const Expr base =
          make_binary(BinaryOp::kMod, value(kInt64, std::min(depth, 2)), make_index(std::max<int64_t>(room, 1)));
      result.push_back(last ? make_ramp(base, make_index(1), lanes) : base);
    }
    return result;
  }

  Expr load(DataType type, int depth) {
    std::vector<Buffer> fitting;
    for (Buffer b : readable_) {
      const bool room = type.is_scalar() || (!b->shape.empty() && b->shape.back() >= type.lanes);
      if (b->type == type.element() && room) fitting.push_back(b);
    }
    if (fitting.empty()) return leaf_or_broadcast(type);
    const Buffer b = pick<Buffer>(fitting);
    const Expr predicate = rng_.bernoulli(0.2) ? value(bool_type(type.lanes), depth) : Expr();
    const std::vector<Expr> at = indices(b, type.lanes, depth);
    return make_load(b, at, predicate);
  }

  Expr leaf_or_broadcast(DataType type) { return make_broadcast(leaf(type.element()), type.lanes); }

  Stmt store() {
    const Buffer b = pick<Buffer>(writable_);
    int lanes = 1;
    if (!b->shape.empty() && b->shape.back() >= 2 && rng_.bernoulli(0.4)) {
      lanes = static_cast<int>(rng_.uniform_int(int64_t{2}, b->shape.back()));
    }
    const Expr predicate = rng_.bernoulli(0.2) ? value(bool_type(lanes), 2) : Expr();
    const std::vector<Expr> at = indices(b, lanes, 2);
    return make_store(b, at, value(b->type.with_lanes(lanes), 4), predicate);
  }

  Stmt statement(int depth) {
    if (depth == 0) return store();
    switch (rng_.uniform_int(uint64_t{8})) {
      case 0:
      case 1: {
        const auto kind = static_cast<LoopKind>(rng_.uniform_int(uint64_t{4}));
        const std::string hint = name("i");
        const VarRef var = make_var(hint, rng_.bernoulli(0.8) ? kInt64 : int_type(32));
        const Expr extent = make_int(var->type, rng_.uniform_int(int64_t{0}, int64_t{4}));
        return make_for(var, extent, kind, with(var, depth));
      }
      case 2: {
        const std::string hint = name("t");
        const VarRef var = make_var(hint, pick<DataType>(kAllTypes));
        const Expr bound = value(var->type, 3);
        return make_let(var, bound, with(var, depth));
      }
      case 3: {
        const Buffer b = random_buffer(name("acc"));
        readable_.push_back(b);
        writable_.push_back(b);
        const Stmt body = statement(depth - 1);
        std::erase(readable_, b);
        std::erase(writable_, b);
        return make_allocate(b, body);
      }
      case 4: {
        const Expr condition = value(kBool, 3);
        const Stmt then_case = statement(depth - 1);
        return make_if(condition, then_case, rng_.bernoulli(0.5) ? statement(depth - 1) : Stmt());
      }
      case 5: {
        const Buffer b = pick<Buffer>(readable_);
        const int locality = static_cast<int>(rng_.uniform_int(int64_t{1}, int64_t{3}));
        const std::vector<Stmt> stmts = {make_prefetch(b, indices(b, 1, 2), locality), statement(depth - 1)};
        return make_seq(stmts);
      }
      default: {
        std::vector<Stmt> stmts;
        for (int64_t n = rng_.uniform_int(int64_t{1}, int64_t{3}); n > 0; --n) stmts.push_back(statement(depth - 1));
        return make_seq(stmts);
      }
    }
  }

  Stmt with(VarRef var, int depth) {
    variables_.push_back(var);
    const Stmt body = statement(depth - 1);
    variables_.pop_back();
    return body;
  }

  /// Names repeat on purpose, and some hold characters that no identifier may.
  std::string name(const char* stem) { return stem + pick<std::string>({"", ".outer", "0", " 1", "_1", "for"}); }

  Rng rng_;
  std::vector<VarRef> variables_;
  std::vector<Buffer> readable_;
  std::vector<Buffer> writable_;
};

}  // namespace tensmith::testing
