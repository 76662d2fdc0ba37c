#pragma once

#include "tensmith/ir/arith/interval.h"
#include "tensmith/ir/ir.h"
#include "tensmith/ir/visit.h"

/// Conditions around statements, as lists of operands of `and`.

namespace tensmith {

using Conjuncts = InlineVector<Expr, 8>;

void append_conjuncts(Expr condition, Conjuncts& out);
/// Their conjunction; true when there are none.
Expr conjunction(const Conjuncts& conjuncts);
/// `s`, when all hold.
Stmt guarded(const Conjuncts& conjuncts, Stmt s);

/// Moves each guard out as far as the variables it needs, and in front of sequences that share it. Guards that
/// may fail (may_fail) stay.
Stmt hoist_guards(Stmt s);

/// Rewrites the conditions below a statement: `fn(condition, scope)` gets every operand of the `and`s of ifs and scalar
/// selects, in program order, with the variables in scope, and says what to put there.
template <typename F>
class ConditionRewriter {
 public:
  ConditionRewriter(VarRanges& scope, F& fn) : scope_(scope), fn_(fn) {}

  Stmt operator()(Stmt s) {
    if (const auto* loop = s.as<For>()) {
      RangeScope inner(scope_);
      scope_.push_loop(loop->var, loop->extent);
      fn_.enter(*loop);
      const Stmt body = (*this)(loop->body);
      fn_.leave(*loop);
      return body.same_as(loop->body) ? s : make_for(loop->var, loop->extent, loop->loop_kind, body);
    }
    if (const auto* let = s.as<Let>()) {
      RangeScope inner(scope_);
      scope_.push_let(let->var, let->value);
      return map_children(s, *this, *this);
    }
    if (const auto* branch = s.as<If>()) {
      const Expr c = condition(branch->condition);
      const Stmt then_case = (*this)(branch->then_case);
      const Stmt else_case = branch->else_case ? (*this)(branch->else_case) : branch->else_case;
      return c.same_as(branch->condition) && then_case.same_as(branch->then_case) &&
                     else_case.same_as(branch->else_case)
                 ? s
                 : make_if(c, then_case, else_case);
    }
    return map_children(s, *this, *this);
  }

  Expr operator()(Expr e) {
    const auto* select = e.as<Select>();
    if (select == nullptr || !select->condition.type().is_scalar()) return map_children(e, *this);
    const Expr c = condition(select->condition);
    const Expr t = (*this)(select->if_true), f = (*this)(select->if_false);
    return c.same_as(select->condition) && t.same_as(select->if_true) && f.same_as(select->if_false)
               ? e
               : make_select(c, t, f);
  }

 private:
  Expr condition(Expr c) {
    const auto* n = c.as<Binary>();
    if (n == nullptr || n->op != BinaryOp::kAnd) return fn_.condition(c, scope_);
    const Expr a = condition(n->a), b = condition(n->b);
    return a.same_as(n->a) && b.same_as(n->b) ? c : make_binary(BinaryOp::kAnd, a, b);
  }

  VarRanges& scope_;
  F& fn_;
};

}  // namespace tensmith
