#include "ir/arith/simplifier.h"

namespace tensmith {

Stmt Simplifier::visit(Stmt s) {
  const auto expr = [&](Expr e) { return visit(e); };
  const auto stmt = [&](Stmt child) { return visit(child); };
  return match(
      s, [&](const For& n) { return visit_for(n); }, [&](const Store& n) { return visit_store(n); },
      [&](const Seq&) { return map_children(s, expr, stmt); }, [&](const If& n) { return visit_if(n); },
      [&](const Let& n) { return visit_let(n); }, [&](const Allocate&) { return map_children(s, expr, stmt); },
      [&](const Prefetch&) { return map_children(s, expr, stmt); });
}

Stmt Simplifier::visit_for(const For& n) {
  const Expr extent = visit(n.extent);
  const Range trips = range_of(extent, ranges_);
  if (trips.max <= 0) return {};
  RangeScope scope(ranges_);
  const bool once = is_const_int(extent, 1);
  if (once) {
    ranges_.push(n.var, Range::point(0));
  } else {
    ranges_.push_loop(n.var, extent);
  }
  const Stmt body = visit(n.body);
  if (!body || (once && !options_.keep_unit_loops)) return body;
  return extent.same_as(n.extent) && body.same_as(n.body) ? Stmt(&n) : make_for(n.var, extent, n.loop_kind, body);
}

Stmt Simplifier::visit_if(const If& n) {
  const Expr c = visit(n.condition);
  if (const std::optional<int64_t> known = as_const_int(c)) {
    if (*known != 0) return visit(n.then_case);
    return n.else_case ? visit(n.else_case) : n.else_case;
  }
  Stmt then_case, else_case;
  {
    RangeScope scope(ranges_);
    ranges_.push_branch(c, true);
    then_case = visit(n.then_case);
  }
  if (n.else_case) {
    RangeScope scope(ranges_);
    ranges_.push_branch(c, false);
    else_case = visit(n.else_case);
  }
  if (!then_case && !else_case) return {};
  if (!then_case) return make_if(visit(make_not(c)), else_case);
  // if (a) if (b) s: one condition, unless b may only be looked at when a holds.
  const auto* inner = then_case.as<If>();
  if (inner != nullptr && !else_case && !inner->else_case && !may_fail(inner->condition)) {
    return make_if(visit(make_binary(BinaryOp::kAnd, c, inner->condition)), inner->then_case);
  }
  return c.same_as(n.condition) && then_case.same_as(n.then_case) && else_case.same_as(n.else_case)
             ? Stmt(&n)
             : make_if(c, then_case, else_case);
}

Stmt Simplifier::visit_let(const Let& n) {
  const Expr value = visit(n.value);
  const ExprKind kind = value.kind();
  const bool trivial = kind == ExprKind::kIntImm || kind == ExprKind::kFloatImm || kind == ExprKind::kVar;
  if (trivial || (options_.inline_index_lets && is_index_type(value.type()) && !reads_data(value))) {
    const Binding binding{n.var, value};
    return visit(substitute(n.body, std::span<const Binding>(&binding, 1)));
  }
  RangeScope scope(ranges_);
  ranges_.push_let(n.var, value);
  const Stmt body = visit(n.body);
  if (!body || !uses_var(body, n.var)) return body;
  return value.same_as(n.value) && body.same_as(n.body) ? Stmt(&n) : make_let(n.var, value, body);
}

Stmt Simplifier::visit_store(const Store& n) {
  const Array<Expr> indices = map_array(n.indices, [&](Expr i) { return visit(i); });
  const Expr value = visit(n.value);
  Expr predicate = n.predicate ? visit(n.predicate) : n.predicate;
  if (predicate) {
    if (is_const_int(predicate, 0)) return {};
    if (is_const_int(predicate, 1)) predicate = {};
  }
  return indices.begin() == n.indices.begin() && value.same_as(n.value) && predicate.same_as(n.predicate)
             ? Stmt(&n)
             : make_store(n.buffer, indices, value, predicate);
}

}  // namespace tensmith
