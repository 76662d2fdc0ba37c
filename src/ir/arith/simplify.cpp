#include "tensmith/ir/arith/simplify.h"

#include "ir/arith/simplifier.h"
#include "tensmith/ir/fold.h"

namespace tensmith {

namespace {

/// One run is nearly always enough; a rule that makes another one possible upstream needs a second.
Expr to_fixed_point(Expr e, const VarRanges* ranges) {
  constexpr int kMaxRuns = 8;
  for (int run = 0; run < kMaxRuns; ++run) {
    const Expr simpler = Simplifier(ranges, {}).visit(e);
    if (simpler.same_as(e)) break;
    e = simpler;
  }
  return e;
}

}  // namespace

Expr simplify(Expr e, const VarRanges& ranges) { return to_fixed_point(e, &ranges); }
Expr simplify(Expr e) { return to_fixed_point(e, nullptr); }
Stmt simplify(Stmt s, const SimplifyOptions& options) { return s ? Simplifier(nullptr, options).visit(s) : s; }
Stmt simplify(Stmt s, const VarRanges& scope, const SimplifyOptions& options) {
  return s ? Simplifier(&scope, options).visit(s) : s;
}

namespace {

bool is_index_scalar(Expr e) { return is_index_type(e.type()) && e.type().is_scalar(); }

/// The old node when the new one says the same.
Expr reuse(Expr old, Expr made) { return same_expr(old, made) ? old : made; }

}  // namespace

Expr Simplifier::visit(Expr e) {
  const auto* n = e.as<Binary>();
  if (n != nullptr && n->op <= BinaryOp::kMod && is_index_scalar(e)) return visit_sum(*n);
  return visit_node(e);
}

Expr Simplifier::visit_node(Expr e) {
  return match(
      e, [&](const IntImm&) { return e; }, [&](const FloatImm&) { return e; },
      [&](const Var& n) { return visit_var(n); }, [&](const Cast& n) { return visit_cast(n); },
      [&](const Binary& n) {
        if (is_comparison(n.op)) return visit_comparison(n);
        if (n.op == BinaryOp::kAnd || n.op == BinaryOp::kOr) return visit_logic(n);
        if (!is_index_scalar(e)) return visit_arithmetic(n);
        return n.op == BinaryOp::kMin || n.op == BinaryOp::kMax ? visit_min_max(n) : visit_sum(n);
      },
      [&](const Not& n) { return visit_not(n); }, [&](const Select& n) { return visit_select(n); },
      [&](const Load& n) { return visit_load(n); }, [&](const Ramp& n) { return visit_ramp(n); },
      [&](const Broadcast& n) { return visit_broadcast(n); },
      [&](const Call&) { return map_children(e, [&](Expr c) { return visit(c); }); },
      [&](const Reduce&) { return map_children(e, [&](Expr c) { return visit(c); }); });
}

Expr Simplifier::visit_var(const Var& n) {
  if (n.type.is_float()) return &n;
  const Range r = ranges_.range(&n);
  return r.is_point() ? make_int(n.type, r.min) : Expr(&n);
}

/// Sums, products, quotients and remainders of index types: the canonical form of the linear form.
Expr Simplifier::visit_sum(const Binary& n) {
  const Affine form = linearizer().run(&n);
  if (form.valid()) return reuse(&n, to_expr(form));
  const Expr a = visit(n.a);
  const Expr b = visit(n.b);
  if (Expr folded = fold_binary(n.op, a, b)) return folded;
  if (Expr simpler = integer_rules(n.op, a, b)) return simpler;
  return a.same_as(n.a) && b.same_as(n.b) ? Expr(&n) : make_binary(n.op, a, b);
}

Expr Simplifier::visit_min_max(const Binary& n) {
  Linearizer lin = linearizer();
  const Affine a = lin.run(n.a);
  const Affine b = lin.run(n.b);
  if (!a.valid() || !b.valid() || a.wraps() || b.wraps()) return visit_arithmetic(n);
  return reuse(&n, min_max_expr(n.op, a, b, ranges_));
}

}  // namespace tensmith
