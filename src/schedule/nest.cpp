#include <algorithm>
#include <string>

#include "schedule/nest_builder.h"
#include "tensmith/ir/arith/affine.h"
#include "tensmith/ir/visit.h"

/// Statements from a plan.

namespace tensmith {

using Where = ScheduleStage::Where;

Function build_loop_nest(const Schedule& schedule, std::string_view name, const NestOptions& options) {
  NestBuilder& builder = nest_builder();
  builder.plan(schedule, options);
  return builder.main_function(name);
}

std::vector<Function> build_pack_functions(const Schedule& schedule) {
  std::vector<Function> out;
  for (StageId input : schedule.inputs()) {
    if (!schedule.stage(input).ahead) continue;
    NestBuilder& builder = nest_builder();
    builder.plan(schedule, {}, input);
    out.push_back(builder.pack_function(input));
  }
  return out;
}

Function NestBuilder::main_function(std::string_view name) {
  Function out;
  out.name = arena_string(name);
  InlineVector<Buffer, 8> buffers;
  for (StageId id : schedule_->inputs()) buffers.push_back(schedule_->tensor(id)->buffer);
  out.inputs = make_array(std::span<const Buffer>(buffers));
  buffers.clear();
  for (StageId id : schedule_->outputs()) buffers.push_back(schedule_->tensor(id)->buffer);
  out.outputs = make_array(std::span<const Buffer>(buffers));
  const auto order = schedule_->order();
  for (size_t i = order.size(); i-- > 0;) {
    const ScheduleStage& s = schedule_->stage(order[i]);
    const StagePlan& p = plans_[index_of(order[i])];
    if (!p.live || s.where == Where::kAt) continue;
    const Stmt parts[] = {emit_stage(order[i]), out.body};
    out.body = make_seq(parts);
    if (!s.output && out.body) out.body = make_allocate(p.buffer, out.body);
  }
  return out;
}

Function NestBuilder::pack_function(StageId id) {
  const ScheduleStage& s = schedule_->stage(id);
  const Buffer plain = schedule_->tensor(static_cast<StageId>(s.packed_from))->buffer;
  Function out;
  out.name = arena_string("pack_" + std::string(plain->name));
  out.inputs = make_array({plain});
  out.outputs = make_array({s.tensor->buffer});
  out.body = emit_stage(id);
  return out;
}

// ---- a stage
// ----------------------------------------------------------------------------------------------------------

Stmt NestBuilder::emit_stage(StageId id) {
  const ScheduleStage& s = schedule_->stage(id);
  StagePlan& p = plans_[index_of(id)];
  for (const Dim& dim : p.region) {
    if (dim.extent == 0) return {};
  }
  const int loops = static_cast<int>(s.leaves.size());
  int first_reduce = loops;
  bool empty_reduction = false;
  for (int i = loops; i-- > 0;) {
    if (!s.axes[s.leaves[i]].reduce) continue;
    first_reduce = i;
    empty_reduction |= p.extents[s.leaves[i]] == 0;
  }
  const auto* reduce = s.tensor->body.as<Reduce>();

  Conditions conditions;
  for (const Guard& guard : p.guards) {
    conditions.push_back(guard_condition(guard, p));
  }
  int position = loops;
  Stmt body;
  if (empty_reduction) {
    position = first_reduce + 1;
  } else {
    current_ = id;
    std::string problem;
    if (s.tensorized >= 0) {
      position = schedule_->loop_position({id, s.tensorized});
    }
    const std::optional<Stmt> update = update_of(id, first_reduce, conditions, &problem);
    if (!problem.empty()) {
      throw ScheduleError("tensorize '" + std::string(schedule_->name(id)) + "." +
                          schedule_->axis_name({id, s.tensorized}) + "': " + problem);
    }
    if (update) body = *update;
    if (!body) position = first_reduce + 1;
  }
  for (int i = position; i-- > 0;) {
    if (body) {
      body = guarded(conditions, i, emit_inside(id, i, guarded_by_data(conditions, i, body)));
      if (p.loop_atoms[i] >= 0) {
        const int16_t leaf = s.leaves[i];
        body = make_for(p.vars[i], make_index(p.extents[leaf]), s.axes[leaf].kind, body);
      }
    }
    if (i == first_reduce) {
      const Stmt parts[] = {emit_init(id, first_reduce, reduce->op), body};
      body = make_seq(parts);
    }
  }
  return guarded(conditions, -1, body);
}

/// The statement inside all loops. Appends the conditions under which a sum's term is not zero. Empty when it never
/// runs.
std::optional<Stmt> NestBuilder::update_of(StageId id, int first_reduce, Conditions& conditions, std::string* problem) {
  const ScheduleStage& s = schedule_->stage(id);
  const StagePlan& p = plans_[index_of(id)];
  const int loops = static_cast<int>(s.leaves.size());
  const auto* reduce = s.tensor->body.as<Reduce>();
  const bool combine = reduce != nullptr && first_reduce < loops;
  Expr term = reduce != nullptr ? reduce->value : s.tensor->body;
  if (combine && reduce->op == ReduceOp::kSum) {
    ArenaVector<Expr> terms_not_zero;
    term = strip_selects(term, terms_not_zero);
    for (Expr condition : terms_not_zero) {
      seen_depth_ = 0;
      const Expr mapped = value(condition);
      if (is_const_int(mapped, 1)) continue;
      if (is_const_int(mapped, 0)) return std::nullopt;
      int position = std::max(std::min(seen_depth_ - p.depth - 1, loops - 1), first_reduce);
      const bool needs_others = may_fail(mapped);
      for (const Condition& other : conditions) {
        if (needs_others) position = std::max(position, other.position);
      }
      conditions.push_back({mapped, position, needs_others});
    }
  }
  if (s.tensorized >= 0) {
    const int position = schedule_->loop_position({id, s.tensorized});
    for (const Condition& condition : conditions) {
      if (condition.position >= position) {
        *problem = "its loops are guarded: the extents are no multiples of the factors, or padding is inside them";
        return std::nullopt;
      }
    }
    if (!combine) {
      *problem = "the stage is no reduction";
      return std::nullopt;
    }
    return emit_tensorized(id, position, reduce->op, term, *problem);
  }
  Indices indices;
  for (const Linear& offset : p.offsets) indices.push_back(pool_.to_expr(offset));
  Expr result = value(term);
  if (combine) result = make_binary(reduce_combiner(reduce->op), make_load(p.buffer, indices), result);
  return make_store(p.buffer, indices, result);
}

Stmt NestBuilder::emit_init(StageId id, int first_reduce, ReduceOp op) {
  const ScheduleStage& s = schedule_->stage(id);
  const StagePlan& p = plans_[index_of(id)];
  const int loops = static_cast<int>(s.leaves.size());
  // Loops inside get variables of their own; reduction loops are not there.
  std::vector<int32_t>& atoms = init_atoms_;
  std::vector<VarRef>& vars = init_vars_;
  std::vector<Guard>& guards = init_guards_;
  atoms.assign(p.loop_atoms.begin(), p.loop_atoms.end());
  vars.assign(loops, nullptr);
  guards.clear();
  for (int i = first_reduce; i < loops; ++i) {
    const int16_t leaf = s.leaves[i];
    if (s.axes[leaf].reduce || p.loop_atoms[i] < 0) {
      atoms[i] = -1;
      continue;
    }
    vars[i] = loop_var(s, leaf);
    atoms[i] = pool_.add_loop(vars[i], p.extents[leaf], p.depth + i + 1);
  }
  axis_values(s, p, atoms, guards);
  Indices indices;
  for (size_t d = 0; d < p.region.size(); ++d) indices.push_back(pool_.to_expr(values_[d]));
  // Writing a row outside the tensor is harmless here: the buffer has room for the whole region.
  Conditions conditions;
  for (const Guard& guard : guards) {
    if (guard.reduce) continue;
    const Condition condition = guard_condition(guard, p);
    if (condition.position > first_reduce) conditions.push_back(condition);
  }
  Stmt body = make_store(p.buffer, indices, reduce_identity(op, p.buffer->type));
  for (int i = loops; i-- > first_reduce;) {
    if (vars[i] == nullptr) continue;
    const int16_t leaf = s.leaves[i];
    body = make_for(vars[i], make_index(p.extents[leaf]), s.axes[leaf].kind, guarded(conditions, i, body));
  }
  return body;
}

NestBuilder::Condition NestBuilder::guard_condition(const Guard& guard, const StagePlan& p) {
  const Expr value = pool_.to_expr(guard.value);
  const Expr condition = make_binary(guard.lower ? BinaryOp::kGe : BinaryOp::kLt, value, make_index(guard.bound));
  return {condition, pool_.depth(guard.value) - p.depth - 1};
}

Stmt NestBuilder::guarded(std::span<const Condition> conditions, int position, Stmt body) const {
  Expr all;
  for (const Condition& condition : conditions) {
    if (condition.needs_others || std::max(condition.position, -1) != position) continue;
    all = all ? make_binary(BinaryOp::kAnd, all, condition.expr) : condition.expr;
  }
  return all && body ? make_if(all, body) : body;
}

/// The conditions that need others to hold stand inside those, one by one (`and` may evaluate both operands), and
/// inside the stages of their loop, which they may read.
Stmt NestBuilder::guarded_by_data(std::span<const Condition> conditions, int position, Stmt body) const {
  for (size_t i = conditions.size(); i-- > 0;) {
    if (conditions[i].needs_others && conditions[i].position == position) body = make_if(conditions[i].expr, body);
  }
  return body;
}

/// The body of a stage's loop, with the prefetches and the stages that stand at its start.
Stmt NestBuilder::emit_inside(StageId id, int position, Stmt body) {
  const ScheduleStage& s = schedule_->stage(id);
  const int16_t leaf = s.leaves[position];
  const auto order = schedule_->order();
  for (size_t i = order.size(); i-- > 0;) {
    const ScheduleStage& other = schedule_->stage(order[i]);
    if (other.where != Where::kAt || !(other.at == AxisId{id, leaf}) || !plans_[index_of(order[i])].live) continue;
    const Stmt parts[] = {emit_stage(order[i]), body};
    body = make_allocate(plans_[index_of(order[i])].buffer, make_seq(parts));
  }
  current_ = id;
  for (size_t i = s.prefetches.size(); i-- > 0;) {
    if (s.prefetches[i].at != leaf) continue;
    const Stmt parts[] = {emit_prefetch(id, s.prefetches[i], position), body};
    body = make_seq(parts);
  }
  return body;
}

// ---- expressions
// --------------------------------------------------------------------------------------------------------

namespace {

bool is_zero(Expr e) {
  if (const auto* f = e.as<FloatImm>()) return f->value == 0.0;
  return is_const_int(e, 0);
}

void split_conjunction(Expr condition, ArenaVector<Expr>& out) {
  const auto* both = condition.as<Binary>();
  if (both != nullptr && both->op == BinaryOp::kAnd) {
    split_conjunction(both->a, out);
    split_conjunction(both->b, out);
  } else {
    out.push_back(condition);
  }
}

}  // namespace

Expr NestBuilder::strip_selects(Expr e, ArenaVector<Expr>& conditions) {
  if (const auto* select = e.as<Select>(); select != nullptr && is_zero(select->if_false)) {
    split_conjunction(select->condition, conditions);
    return strip_selects(select->if_true, conditions);
  }
  if (const auto* product = e.as<Binary>(); product != nullptr && product->op == BinaryOp::kMul) {
    const Expr a = strip_selects(product->a, conditions);
    const Expr b = strip_selects(product->b, conditions);
    return a.same_as(product->a) && b.same_as(product->b) ? e : make_binary(BinaryOp::kMul, a, b);
  }
  if (const auto* cast = e.as<Cast>()) {
    const Expr inner = strip_selects(cast->value, conditions);
    return inner.same_as(cast->value) ? e : make_cast(cast->type, inner);
  }
  return e;
}

Expr NestBuilder::index_expr(Linear form) {
  seen_depth_ = std::max(seen_depth_, pool_.depth(form));
  return pool_.to_expr(form);
}

Expr NestBuilder::comparison(BinaryOp op, Expr a, Expr b) {
  const Linear left = linear(a);
  const Linear right = linear(b);
  // Of two axes only the loops tell how they are related; of one axis its domain is known exactly.
  const Interval apart = pool_.interval(pool_.add(left, right, -1));
  auto known = [&](bool always, bool never) { return always ? 1 : never ? 0 : -1; };
  int result = -1;
  switch (op) {
    case BinaryOp::kLt: result = known(apart.hi < 0, apart.lo >= 0); break;
    case BinaryOp::kLe: result = known(apart.hi <= 0, apart.lo > 0); break;
    case BinaryOp::kGt: result = known(apart.lo > 0, apart.hi <= 0); break;
    case BinaryOp::kGe: result = known(apart.lo >= 0, apart.hi < 0); break;
    case BinaryOp::kEq: result = known(apart.lo == 0 && apart.hi == 0, apart.lo > 0 || apart.hi < 0); break;
    case BinaryOp::kNe: result = known(apart.lo > 0 || apart.hi < 0, apart.lo == 0 && apart.hi == 0); break;
    default: TENSMITH_UNREACHABLE("not a comparison");
  }
  if (result >= 0) return result == 1 ? make_true() : make_false();
  return make_binary(op, index_expr(left), index_expr(right));
}

Expr NestBuilder::value(Expr e) {
  switch (e.kind()) {
    case ExprKind::kIntImm:
    case ExprKind::kFloatImm: return e;
    case ExprKind::kVar: return index_expr(linear(e));
    case ExprKind::kLoad: {
      const auto& load = *e.as<Load>();
      return read(stage_of(load.buffer), load.indices);
    }
    case ExprKind::kBinary: {
      const auto& n = *e.as<Binary>();
      if (is_comparison(n.op) && n.a.type() == kInt64) return comparison(n.op, n.a, n.b);
      if (n.op == BinaryOp::kAnd) return logical_and(value(n.a), value(n.b));
      if (n.op == BinaryOp::kOr) return logical_or(value(n.a), value(n.b));
      if (n.type == kInt64) return index_expr(linear(e));
      break;
    }
    case ExprKind::kSelect: {
      const auto& n = *e.as<Select>();
      const Expr condition = value(n.condition);
      if (is_const_int(condition, 1)) return value(n.if_true);
      if (is_const_int(condition, 0)) return value(n.if_false);
      return make_select(condition, value(n.if_true), value(n.if_false));
    }
    default: break;
  }
  return map_children(e, [&](Expr c) { return value(c); });
}

Expr NestBuilder::read(StageId id, std::span<const Expr> indices) {
  const StagePlan& p = plans_[index_of(id)];
  const bool folded = schedule_->stage(id).where == Where::kAt;
  if (folded) seen_depth_ = std::max(seen_depth_, p.depth);
  Indices mapped;
  for (size_t d = 0; d < indices.size(); ++d) {
    Linear form = linear(indices[d]);
    if (folded) form = pool_.add(form, p.region[d].min, -1);
    mapped.push_back(index_expr(form));
  }
  return make_load(p.buffer, mapped);
}

}  // namespace tensmith
