#pragma once

#include "ir/arith/linearize.h"
#include "tensmith/ir/arith/simplify.h"
#include "tensmith/ir/visit.h"

namespace tensmith {

/// One simplification run. The rules are grouped by file: sums, quotients, min and max go through linear forms
/// (simplify.cpp), comparisons and logic (simplify_logic.cpp), other scalars and vectors (simplify_rules.cpp),
/// statements (simplify_stmt.cpp).
class Simplifier {
 public:
  Simplifier(const VarRanges* scope, const SimplifyOptions& options) : ranges_(scope), options_(options) {}

  Expr visit(Expr e);
  Stmt visit(Stmt s);

 private:
  static Expr visit_atom(void* self, Expr e) { return static_cast<Simplifier*>(self)->visit_node(e); }
  Linearizer linearizer() { return Linearizer(ranges_, &Simplifier::visit_atom, this); }

  /// Everything but sums, products, quotients and remainders of index types.
  Expr visit_node(Expr e);
  Expr visit_var(const Var& n);
  Expr visit_cast(const Cast& n);
  Expr visit_sum(const Binary& n);
  Expr visit_min_max(const Binary& n);
  Expr visit_arithmetic(const Binary& n);
  Expr visit_select(const Select& n);
  Expr visit_not(const Not& n);
  Expr visit_comparison(const Binary& n);
  Expr visit_index_comparison(const Binary& n);
  Expr visit_logic(const Binary& n);
  Expr visit_ramp(const Ramp& n);
  Expr visit_broadcast(const Broadcast& n);
  Expr visit_load(const Load& n);

  Expr integer_rules(BinaryOp op, Expr a, Expr b);
  Expr float_rules(BinaryOp op, Expr a, Expr b);
  Expr vector_rules(BinaryOp op, Expr a, Expr b);
  Expr binary(BinaryOp op, Expr a, Expr b) { return visit(make_binary(op, a, b)); }

  Stmt visit_for(const For& n);
  Stmt visit_if(const If& n);
  Stmt visit_let(const Let& n);
  Stmt visit_store(const Store& n);

  VarRanges ranges_;
  SimplifyOptions options_;
};

}  // namespace tensmith
