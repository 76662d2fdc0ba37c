#include "tensmith/ir/passes/vectorize.h"

#include <algorithm>

#include "tensmith/ir/arith/affine.h"
#include "tensmith/ir/ops.h"
#include "tensmith/ir/visit.h"

namespace tensmith {
namespace {

bool uses_any(Expr e, std::span<const VarRef> vars) {
  bool used = false;
  walk(e, [&](Expr x) {
    if (const auto* var = x.as<Var>()) {
      used = used || std::find(vars.begin(), vars.end(), var) != vars.end();
    }
  });
  return used;
}

bool uses_any(const Array<Expr>& exprs, std::span<const VarRef> vars) {
  return std::any_of(exprs.begin(), exprs.end(), [&](Expr e) { return uses_any(e, vars); });
}

/// Whether every statement has a vector form that computes the same.
class VectorForm {
 public:
  explicit VectorForm(VarRef lane) : lane_vars_{lane} {}

  /// `masked`: under a condition that depends on the lane, where loads get a lane mask too.
  bool exists(Stmt s, bool masked = false) {
    bool scalar = true;
    for_each_child(
        s,
        [&](Expr e) {
          // Lanes of what is a vector already have no room for ours.
          walk(e, [&](Expr x) { scalar = scalar && !(x.type().is_vector() && uses_any(x, lane_vars_)); });
        },
        [](Stmt) {});
    if (!scalar) return false;
    const auto by_lane = [&](Expr e) { return uses_any(e, lane_vars_) || (masked && reads_data(e)); };
    return match(
        s, [&](const For& n) { return !by_lane(n.extent) && exists(n.body, masked); },
        // A store to one element from all lanes depends on their order.
        [&](const Store& n) { return uses_any(n.indices, lane_vars_); },
        [&](const Seq& n) {
          return std::all_of(n.stmts.begin(), n.stmts.end(), [&](Stmt c) { return exists(c, masked); });
        },
        [&](const If& n) {
          const bool mask = by_lane(n.condition);
          // The mask is evaluated at each access below.
          if (mask && (stores_what(n.condition, n.then_case) || stores_what(n.condition, n.else_case))) return false;
          return exists(n.then_case, masked || mask) && (!n.else_case || exists(n.else_case, masked || mask));
        },
        [&](const Let& n) {
          if (by_lane(n.value)) {
            // It is replaced by its value, which a store in between may change.
            if (reads_data(n.value)) return false;
            lane_vars_.push_back(n.var);
          }
          return exists(n.body, masked);
        },
        [&](const Allocate&) { return false; },
        // The first lane stands for all; it must not read where the mask is false.
        [&](const Prefetch& n) { return !masked || std::none_of(n.indices.begin(), n.indices.end(), may_fail); });
  }

 private:
  /// Whether `s` stores to a buffer that `condition` reads.
  static bool stores_what(Expr condition, Stmt s) {
    bool found = false;
    if (!s) return found;
    walk(condition, [&](Expr e) {
      const auto* load = e.as<Load>();
      if (load == nullptr) return;
      walk(
          s, [](Expr) {},
          [&](Stmt child) {
            const auto* store = child.as<Store>();
            found = found || (store != nullptr && store->buffer == load->buffer);
          });
    });
    return found;
  }

  std::vector<VarRef> lane_vars_;  ///< the loop variable and the lets that depend on it
};

class Vectorizer {
 public:
  Vectorizer(VarRef var, int lanes)
      : var_(var),
        lanes_(lanes),
        lane_index_(make_ramp(make_int(var->type, 0), make_int(var->type, 1), lanes)),
        first_lane_{{var, make_int(var->type, 0)}} {}

  Stmt stmt(Stmt s) {
    return match(
        s, [&](const For& n) { return make_for(n.var, expr(n.extent), n.loop_kind, stmt(n.body)); },
        [&](const Store& n) {
          Expr index = widen(expr(n.indices[0]));
          Expr predicate = combine(mask_, n.predicate ? expr(n.predicate) : Expr());
          return make_store(n.buffer, {&index, 1}, widen(expr(n.value)), predicate);
        },
        [&](const Seq& n) { return make_seq(map_array(n.stmts, [&](Stmt c) { return stmt(c); })); },
        [&](const If& n) { return branch(n); },
        [&](const Let& n) {
          const Expr value = expr(n.value);
          if (value.type().is_scalar()) {
            return make_let(n.var, value, stmt(n.body));
          }
          // Variables are scalar, so a let with one value per lane is replaced by its value.
          lets_.push_back({n.var, value});
          first_lane_.push_back({n.var, substitute(n.value, first_lane_)});
          Stmt body = stmt(n.body);
          lets_.pop_back();
          first_lane_.pop_back();
          return body;
        },
        [&](const Allocate& n) { return make_allocate(n.buffer, stmt(n.body)); },
        [&](const Prefetch& n) {
          const Expr index = substitute(n.indices[0], first_lane_);
          return make_prefetch(n.buffer, {&index, 1}, n.locality);
        });
  }

 private:
  Expr expr(Expr e) {
    if (const auto* var = e.as<Var>()) {
      if (var == var_) {
        return lane_index_;
      }
      for (const Binding& let : lets_) {
        if (let.var == var) {
          return let.value;
        }
      }
      return e;
    }
    if (const auto* binary = e.as<Binary>()) {
      Expr a = expr(binary->a);
      Expr b = expr(binary->b);
      if (a.same_as(binary->a) && b.same_as(binary->b)) {
        return e;
      }
      align(a, b);
      return combine_ramp(binary->op, a, b);
    }
    if (const auto* choice = e.as<Select>()) {
      Expr condition = expr(choice->condition);
      Expr if_true = expr(choice->if_true);
      Expr if_false = expr(choice->if_false);
      if (condition.type().is_vector()) {
        if_true = widen(if_true);
        if_false = widen(if_false);
      }
      align(if_true, if_false);
      return make_select(condition, if_true, if_false);
    }
    if (const auto* load = e.as<Load>()) {
      Expr index = expr(load->indices[0]);
      Expr predicate = load->predicate ? expr(load->predicate) : Expr();
      if (index.type().is_scalar() && !mask_ && (!predicate || predicate.type().is_scalar())) {
        return index.same_as(load->indices[0]) && predicate.same_as(load->predicate)
                   ? e
                   : make_load(load->buffer, {&index, 1}, predicate);
      }
      index = widen(index);
      return make_load(load->buffer, {&index, 1}, combine(mask_, predicate));
    }
    if (const auto* call = e.as<Call>()) {
      std::vector<Expr> args;
      for (Expr arg : call->args) {
        args.push_back(expr(arg));
      }
      if (std::any_of(args.begin(), args.end(), [](Expr a) { return a.type().is_vector(); })) {
        std::transform(args.begin(), args.end(), args.begin(), [&](Expr a) { return widen(a); });
      }
      return make_call(call->intrinsic, args);
    }
    return map_children(e, [&](Expr c) { return expr(c); });
  }

  /// Keeps `base + constant * lane` in the ramp form that codegen turns into one consecutive access.
  static Expr combine_ramp(BinaryOp op, Expr a, Expr b) {
    const auto* ramp_a = a.as<Ramp>();
    const auto* ramp_b = b.as<Ramp>();
    const auto* splat_a = a.as<Broadcast>();
    const auto* splat_b = b.as<Broadcast>();
    const int lanes = a.type().lanes;
    if (op == BinaryOp::kAdd || op == BinaryOp::kSub) {
      const auto apply = [&](Expr x, Expr y) { return op == BinaryOp::kAdd ? x + y : x - y; };
      if (ramp_a != nullptr && ramp_b != nullptr) {
        return make_ramp(apply(ramp_a->base, ramp_b->base), apply(ramp_a->stride, ramp_b->stride), lanes);
      }
      if (ramp_a != nullptr && splat_b != nullptr) {
        return make_ramp(apply(ramp_a->base, splat_b->value), ramp_a->stride, lanes);
      }
      if (op == BinaryOp::kAdd && splat_a != nullptr && ramp_b != nullptr) {
        return make_ramp(splat_a->value + ramp_b->base, ramp_b->stride, lanes);
      }
    }
    if (op == BinaryOp::kMul) {
      if (ramp_a != nullptr && splat_b != nullptr) {
        return make_ramp(ramp_a->base * splat_b->value, ramp_a->stride * splat_b->value, lanes);
      }
      if (splat_a != nullptr && ramp_b != nullptr) {
        return make_ramp(splat_a->value * ramp_b->base, splat_a->value * ramp_b->stride, lanes);
      }
    }
    return make_binary(op, a, b);
  }

  Stmt branch(const If& n) {
    const Expr condition = expr(n.condition);
    if (condition.type().is_scalar()) {
      return make_if(condition, stmt(n.then_case), n.else_case ? stmt(n.else_case) : Stmt());
    }
    const Expr outer = mask_;
    mask_ = combine(outer, condition);
    Stmt then_case = stmt(n.then_case);
    Stmt else_case;
    if (n.else_case) {
      mask_ = combine(outer, make_not(condition));
      else_case = stmt(n.else_case);
    }
    mask_ = outer;
    const Stmt both[] = {then_case, else_case};
    return make_seq(both);
  }

  Expr combine(Expr a, Expr b) const {
    if (!a || !b) {
      return a ? widen(a) : b ? widen(b) : Expr();
    }
    return logical_and(widen(a), widen(b));
  }

  Expr widen(Expr e) const { return e.type().is_scalar() ? make_broadcast(e, lanes_) : e; }

  void align(Expr& a, Expr& b) const {
    if (a.type().is_vector() || b.type().is_vector()) {
      a = widen(a);
      b = widen(b);
    }
  }

  VarRef var_;
  int lanes_;
  Expr lane_index_;
  Expr mask_;
  std::vector<Binding> lets_;
  std::vector<Binding> first_lane_;  ///< scalars of lane 0: the loop variable and the lets that are replaced
};

}  // namespace

Stmt vectorize_loops(Stmt body) {
  if (!body) {
    return body;
  }
  const auto* loop = body.as<For>();
  if (loop == nullptr || loop->loop_kind != LoopKind::kVectorized) {
    return map_children(
        body, [](Expr e) { return e; }, [](Stmt s) { return vectorize_loops(s); });
  }
  constexpr int64_t kMaxLanes = 1024;
  const std::optional<int64_t> extent = as_const_int(loop->extent);
  if (extent == 1) {
    const Binding binding{loop->var, make_int(loop->var->type, 0)};
    return vectorize_loops(substitute(loop->body, {&binding, 1}));
  }
  const Stmt inner = vectorize_loops(loop->body);
  if (!extent || *extent < 1 || *extent > kMaxLanes || !inner || !VectorForm(loop->var).exists(inner)) {
    return inner ? make_for(loop->var, loop->extent, LoopKind::kSerial, inner) : Stmt();
  }
  return Vectorizer(loop->var, static_cast<int>(*extent)).stmt(inner);
}

}  // namespace tensmith
