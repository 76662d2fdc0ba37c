#include "ir/passes/guards.h"

namespace tensmith {

namespace {

/// A statement, and the conditions under which it runs.
struct Pulled {
  Conjuncts conjuncts;
  Stmt body;
};

Pulled pull(Stmt s);

Stmt put(const Pulled& p) { return guarded(p.conjuncts, p.body); }

/// Splits off the conditions for which `stays(condition)`.
template <typename F>
Conjuncts take_if(Conjuncts& from, F&& stays) {
  Conjuncts taken;
  for (size_t i = 0; i < from.size();) {
    if (stays(from[i])) {
      taken.push_back(from[i]);
      from.erase(i);
    } else {
      ++i;
    }
  }
  return taken;
}

bool contains(const Conjuncts& list, Expr e) {
  for (Expr other : list) {
    if (same_expr(other, e)) return true;
  }
  return false;
}

Pulled pull_seq(const Seq& n) {
  std::vector<Pulled> parts;
  parts.reserve(n.stmts.size());
  for (Stmt s : n.stmts) parts.push_back(pull(s));
  // A prefetch may run or not: it takes any guard.
  const auto is_prefetch = [](const Pulled& p) { return p.conjuncts.empty() && p.body.kind() == StmtKind::kPrefetch; };
  Conjuncts common;
  bool first = true;
  for (const Pulled& p : parts) {
    if (is_prefetch(p)) continue;
    if (first) {
      common = p.conjuncts;
    } else {
      take_if(common, [&](Expr e) { return !contains(p.conjuncts, e); });
    }
    first = false;
  }
  std::vector<Stmt> stmts;
  stmts.reserve(parts.size());
  for (Pulled& p : parts) {
    take_if(p.conjuncts, [&](Expr e) { return contains(common, e); });
    stmts.push_back(put(p));
  }
  return {common, make_seq(stmts)};
}

Pulled pull(Stmt s) {
  return match(
      s,
      [&](const For& n) {
        Pulled p = pull(n.body);
        const Conjuncts inside = take_if(p.conjuncts, [&](Expr e) { return uses_var(e, n.var); });
        const Stmt body = guarded(inside, p.body);
        return Pulled{p.conjuncts, body.same_as(n.body) ? s : make_for(n.var, n.extent, n.loop_kind, body)};
      },
      [&](const Store&) {
        return Pulled{{}, s};
      },
      [&](const Seq& n) { return pull_seq(n); },
      [&](const If& n) {
        if (n.else_case) return Pulled{{}, make_if(n.condition, put(pull(n.then_case)), put(pull(n.else_case)))};
        if (may_fail(n.condition)) return Pulled{{}, make_if(n.condition, put(pull(n.then_case)))};
        Pulled p = pull(n.then_case);
        Conjuncts all;
        append_conjuncts(n.condition, all);
        for (Expr e : p.conjuncts) {
          if (!contains(all, e)) all.push_back(e);
        }
        return Pulled{all, p.body};
      },
      [&](const Let& n) {
        Pulled p = pull(n.body);
        const Conjuncts inside = take_if(p.conjuncts, [&](Expr e) { return uses_var(e, n.var); });
        const Stmt body = guarded(inside, p.body);
        return Pulled{p.conjuncts, body.same_as(n.body) ? s : make_let(n.var, n.value, body)};
      },
      [&](const Allocate& n) {
        Pulled p = pull(n.body);
        return Pulled{p.conjuncts, p.body.same_as(n.body) ? s : make_allocate(n.buffer, p.body)};
      },
      [&](const Prefetch&) {
        return Pulled{{}, s};
      });
}

}  // namespace

void append_conjuncts(Expr condition, Conjuncts& out) {
  const auto* n = condition.as<Binary>();
  if (n != nullptr && n->op == BinaryOp::kAnd) {
    append_conjuncts(n->a, out);
    append_conjuncts(n->b, out);
  } else {
    out.push_back(condition);
  }
}

Expr conjunction(const Conjuncts& conjuncts) {
  if (conjuncts.empty()) return make_true();
  Expr all = conjuncts[0];
  for (size_t i = 1; i < conjuncts.size(); ++i) all = make_binary(BinaryOp::kAnd, all, conjuncts[i]);
  return all;
}

Stmt guarded(const Conjuncts& conjuncts, Stmt s) { return conjuncts.empty() ? s : make_if(conjunction(conjuncts), s); }

Stmt hoist_guards(Stmt s) { return s ? put(pull(s)) : s; }

}  // namespace tensmith
