#pragma once

#include <array>
#include <utility>
#include <vector>

#include "tensmith/ir/ir.h"
#include "tensmith/support/error.h"

/// Ways to look at and change IR. `match` is exhaustive: a node kind that no callable accepts does not compile.

namespace tensmith {

template <typename... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <typename... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

/// Calls the callable that accepts the node's own type (`const Binary&`, ...). All branches return the same type.
template <typename... Fs>
decltype(auto) match(Expr e, Fs&&... fs) {
  Overloaded f{std::forward<Fs>(fs)...};
  const ExprNode& n = *e;
  switch (n.kind) {
    case ExprKind::kIntImm: return f(static_cast<const IntImm&>(n));
    case ExprKind::kFloatImm: return f(static_cast<const FloatImm&>(n));
    case ExprKind::kVar: return f(static_cast<const Var&>(n));
    case ExprKind::kCast: return f(static_cast<const Cast&>(n));
    case ExprKind::kBinary: return f(static_cast<const Binary&>(n));
    case ExprKind::kNot: return f(static_cast<const Not&>(n));
    case ExprKind::kSelect: return f(static_cast<const Select&>(n));
    case ExprKind::kLoad: return f(static_cast<const Load&>(n));
    case ExprKind::kRamp: return f(static_cast<const Ramp&>(n));
    case ExprKind::kBroadcast: return f(static_cast<const Broadcast&>(n));
    case ExprKind::kCall: return f(static_cast<const Call&>(n));
    case ExprKind::kReduce: return f(static_cast<const Reduce&>(n));
  }
  TENSMITH_UNREACHABLE("unknown expression kind");
}

template <typename... Fs>
decltype(auto) match(Stmt s, Fs&&... fs) {
  Overloaded f{std::forward<Fs>(fs)...};
  const StmtNode& n = *s;
  switch (n.kind) {
    case StmtKind::kFor: return f(static_cast<const For&>(n));
    case StmtKind::kStore: return f(static_cast<const Store&>(n));
    case StmtKind::kSeq: return f(static_cast<const Seq&>(n));
    case StmtKind::kIf: return f(static_cast<const If&>(n));
    case StmtKind::kLet: return f(static_cast<const Let&>(n));
    case StmtKind::kAllocate: return f(static_cast<const Allocate&>(n));
    case StmtKind::kPrefetch: return f(static_cast<const Prefetch&>(n));
  }
  TENSMITH_UNREACHABLE("unknown statement kind");
}

/// Calls `fe(child)` for each direct child expression, in evaluation order.
template <typename FE>
void for_each_child(Expr e, FE&& fe) {
  match(
      e, [](const IntImm&) {}, [](const FloatImm&) {}, [](const Var&) {}, [&](const Cast& n) { fe(n.value); },
      [&](const Binary& n) { fe(n.a), fe(n.b); }, [&](const Not& n) { fe(n.value); },
      [&](const Select& n) { fe(n.condition), fe(n.if_true), fe(n.if_false); },
      [&](const Load& n) {
        for (Expr i : n.indices) fe(i);
        if (n.predicate) fe(n.predicate);
      },
      [&](const Ramp& n) { fe(n.base), fe(n.stride); }, [&](const Broadcast& n) { fe(n.value); },
      [&](const Call& n) {
        for (Expr a : n.args) fe(a);
      },
      [&](const Reduce& n) { fe(n.value); });
}

/// Calls `fe` for each direct child expression and `fs` for each direct child statement.
template <typename FE, typename FS>
void for_each_child(Stmt s, FE&& fe, FS&& fs) {
  match(
      s, [&](const For& n) { fe(n.extent), fs(n.body); },
      [&](const Store& n) {
        for (Expr i : n.indices) fe(i);
        fe(n.value);
        if (n.predicate) fe(n.predicate);
      },
      [&](const Seq& n) {
        for (Stmt c : n.stmts) fs(c);
      },
      [&](const If& n) {
        fe(n.condition), fs(n.then_case);
        if (n.else_case) fs(n.else_case);
      },
      [&](const Let& n) { fe(n.value), fs(n.body); }, [&](const Allocate& n) { fs(n.body); },
      [&](const Prefetch& n) {
        for (Expr i : n.indices) fe(i);
      });
}

/// Visits every expression below and including `e`, parents first.
template <typename F>
void walk(Expr e, F&& f) {
  f(e);
  for_each_child(e, [&](Expr c) { walk(c, f); });
}

/// Visits every statement (`fs`) and expression (`fe`) below and including `s`, parents first.
template <typename FE, typename FS>
void walk(Stmt s, FE&& fe, FS&& fs) {
  fs(s);
  for_each_child(
      s, [&](Expr c) { walk(c, fe); }, [&](Stmt c) { walk(c, fe, fs); });
}

/// Maps an array; returns the same array when no element changed.
template <typename T, typename F>
Array<T> map_array(const Array<T>& items, F&& f) {
  for (size_t i = 0; i < items.size(); ++i) {
    T mapped = f(items[i]);
    if (!mapped.same_as(items[i])) {
      std::vector<T> out(items.begin(), items.begin() + i);
      out.push_back(mapped);
      for (++i; i < items.size(); ++i) out.push_back(f(items[i]));
      return make_array(out);
    }
  }
  return items;
}

/// Rebuilds `e` with its direct children mapped by `fe`; the same pointer comes back when nothing changed.
template <typename FE>
Expr map_children(Expr e, FE&& fe) {
  return match(
      e, [&](const IntImm&) { return e; }, [&](const FloatImm&) { return e; }, [&](const Var&) { return e; },
      [&](const Cast& n) {
        Expr v = fe(n.value);
        return v.same_as(n.value) ? e : make_cast(n.type.with_lanes(v.type().lanes), v);
      },
      [&](const Binary& n) {
        Expr a = fe(n.a), b = fe(n.b);
        return a.same_as(n.a) && b.same_as(n.b) ? e : make_binary(n.op, a, b);
      },
      [&](const Not& n) {
        Expr v = fe(n.value);
        return v.same_as(n.value) ? e : make_not(v);
      },
      [&](const Select& n) {
        Expr c = fe(n.condition), t = fe(n.if_true), f = fe(n.if_false);
        return c.same_as(n.condition) && t.same_as(n.if_true) && f.same_as(n.if_false) ? e : make_select(c, t, f);
      },
      [&](const Load& n) {
        Array<Expr> indices = map_array(n.indices, fe);
        Expr p = n.predicate ? fe(n.predicate) : n.predicate;
        return indices.begin() == n.indices.begin() && p.same_as(n.predicate) ? e : make_load(n.buffer, indices, p);
      },
      [&](const Ramp& n) {
        Expr b = fe(n.base), s = fe(n.stride);
        return b.same_as(n.base) && s.same_as(n.stride) ? e : make_ramp(b, s, n.type.lanes);
      },
      [&](const Broadcast& n) {
        Expr v = fe(n.value);
        return v.same_as(n.value) ? e : make_broadcast(v, n.type.lanes);
      },
      [&](const Call& n) {
        Array<Expr> args = map_array(n.args, fe);
        return args.begin() == n.args.begin() ? e : make_call(n.intrinsic, args);
      },
      [&](const Reduce& n) {
        Expr v = fe(n.value);
        return v.same_as(n.value) ? e : make_reduce(n.op, n.axes, v);
      });
}

/// Rebuilds `s` with its direct children mapped. An empty Stmt from `fs` drops that statement; a loop, branch, let or
/// allocation whose body is gone is dropped too, in which case an empty Stmt comes back.
template <typename FE, typename FS>
Stmt map_children(Stmt s, FE&& fe, FS&& fs) {
  return match(
      s,
      [&](const For& n) {
        Expr x = fe(n.extent);
        Stmt b = fs(n.body);
        if (!b) return Stmt();
        return x.same_as(n.extent) && b.same_as(n.body) ? s : make_for(n.var, x, n.loop_kind, b);
      },
      [&](const Store& n) {
        Array<Expr> indices = map_array(n.indices, fe);
        Expr v = fe(n.value);
        Expr p = n.predicate ? fe(n.predicate) : n.predicate;
        return indices.begin() == n.indices.begin() && v.same_as(n.value) && p.same_as(n.predicate)
                   ? s
                   : make_store(n.buffer, indices, v, p);
      },
      [&](const Seq& n) {
        Array<Stmt> stmts = map_array(n.stmts, fs);
        return stmts.begin() == n.stmts.begin() ? s : make_seq(stmts);
      },
      [&](const If& n) {
        Expr c = fe(n.condition);
        Stmt t = fs(n.then_case);
        Stmt f = n.else_case ? fs(n.else_case) : n.else_case;
        if (!t && !f) return Stmt();
        if (!t) return make_if(make_not(c), f);
        return c.same_as(n.condition) && t.same_as(n.then_case) && f.same_as(n.else_case) ? s : make_if(c, t, f);
      },
      [&](const Let& n) {
        Expr v = fe(n.value);
        Stmt b = fs(n.body);
        if (!b) return Stmt();
        return v.same_as(n.value) && b.same_as(n.body) ? s : make_let(n.var, v, b);
      },
      [&](const Allocate& n) {
        Stmt b = fs(n.body);
        if (!b) return Stmt();
        return b.same_as(n.body) ? s : make_allocate(n.buffer, b);
      },
      [&](const Prefetch& n) {
        Array<Expr> indices = map_array(n.indices, fe);
        return indices.begin() == n.indices.begin() ? s : make_prefetch(n.buffer, indices, n.locality);
      });
}

/// A binding of a variable for `substitute`.
struct Binding {
  VarRef var;
  Expr value;
};

/// Replaces variables, by identity; the same pointer comes back when none occurs.
Expr substitute(Expr e, std::span<const Binding> bindings);
Stmt substitute(Stmt s, std::span<const Binding> bindings);
/// A copy in which every variable and buffer that `s` binds (loops, lets, allocations) is a new one with the same name:
/// what a pass that duplicates code uses, since each is bound once in a function. The same pointer when nothing is
/// bound.
Stmt with_fresh_bindings(Stmt s);
/// Whether `var` occurs in `e`.
bool uses_var(Expr e, VarRef var);
bool uses_var(Stmt s, VarRef var);

}  // namespace tensmith
