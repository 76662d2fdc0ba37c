#include <algorithm>

#include "schedule/nest_builder.h"
#include "tensmith/ir/visit.h"

/// Bound inference: regions, extents, loop variables and guards, readers first.

namespace tensmith {

using From = ScheduleAxis::From;
using Into = ScheduleAxis::Into;
using Where = ScheduleStage::Where;

NestBuilder& nest_builder() {
  thread_local NestBuilder builder;
  return builder;
}

StageId NestBuilder::stage_of(Buffer buffer) const {
  for (size_t i = 0; i < schedule_->stage_count(); ++i) {
    if (schedule_->stage(static_cast<StageId>(i)).tensor->buffer == buffer) return static_cast<StageId>(i);
  }
  TENSMITH_UNREACHABLE("a stage reads a buffer that is no stage");
}

void NestBuilder::plan(const Schedule& schedule, const NestOptions& options, std::optional<StageId> only) {
  schedule_ = &schedule;
  options_ = options;
  pool_.clear();
  if (plans_.size() < schedule.stage_count()) plans_.resize(schedule.stage_count());
  find_live(only);
  planning_ = true;
  const auto order = schedule.order();
  for (size_t i = order.size(); i-- > 0;) {
    if (plans_[index_of(order[i])].live) plan_stage(order[i]);
  }
  planning_ = false;
}

void NestBuilder::find_live(std::optional<StageId> only) {
  const auto order = schedule_->order();
  for (size_t i = 0; i < schedule_->stage_count(); ++i) {
    const ScheduleStage& s = schedule_->stage(static_cast<StageId>(i));
    StagePlan& p = plans_[i];
    const Array<int64_t> shape = s.tensor->buffer->shape;
    const bool empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
    p.live = only ? index_of(*only) == i : s.output && !empty;
    p.needed = false;
    p.depth = 0;
    p.buffer = s.tensor->buffer;
    p.region.clear();
  }
  if (only) return;
  for (size_t i = order.size(); i-- > 0;) {
    const ScheduleStage& s = schedule_->stage(order[i]);
    StagePlan& p = plans_[index_of(order[i])];
    if (!p.live) continue;
    if (s.where == Where::kAt) {
      p.depth = plans_[index_of(s.at.stage)].depth + schedule_->loop_position(s.at) + 1;
    }
    for (StageId read : s.reads) {
      const ScheduleStage& r = schedule_->stage(read);
      if (!r.input && !r.ahead) plans_[index_of(read)].live = true;
    }
  }
}

void NestBuilder::plan_stage(StageId id) {
  const ScheduleStage& s = schedule_->stage(id);
  StagePlan& p = plans_[index_of(id)];
  const TensorNode& node = *s.tensor.get();
  const size_t rank = node.axes.size();
  if (s.where != Where::kAt) {
    p.region.clear();
    for (size_t d = 0; d < rank; ++d) p.region.push_back({{}, node.axes[d].extent});
  }
  TENSMITH_ICHECK(p.region.size() == rank, "no reader asked for a region of a stage computed inside it");
  make_buffer_of(id);
  axis_extents(s, p);

  p.loop_atoms.clear();
  p.vars.clear();
  for (size_t i = 0; i < s.leaves.size(); ++i) {
    const int64_t extent = p.extents[s.leaves[i]];
    const bool dropped = options_.drop_unit_loops && extent == 1;
    p.vars.push_back(dropped ? nullptr : loop_var(s, s.leaves[i]));
    p.loop_atoms.push_back(dropped ? -1 : pool_.add_loop(p.vars.back(), extent, p.depth + static_cast<int>(i) + 1));
  }
  p.guards.clear();
  axis_values(s, p, p.loop_atoms, p.guards);
  p.dims.clear();
  p.offsets.clear();
  p.reduces.assign(node.reduce.size(), -1);
  for (size_t d = 0; d < rank; ++d) {
    const int64_t domain = node.axes[d].extent;
    const Dim region = p.region[d];
    p.offsets.push_back(values_[d]);
    p.dims.push_back(pool_.add_axis(region.min, values_[d], region.extent, domain));
    const Interval low = pool_.interval(region.min);
    const Linear whole = pool_.add(region.min, values_[d]);
    if (low.hi + region.extent > domain) p.guards.push_back({whole, domain, false, true, false});
    if (low.lo < 0) p.guards.push_back({whole, 0, true, true, false});
  }
  for (size_t i = rank; i < s.axes.size(); ++i) {
    const ScheduleAxis& axis = s.axes[i];
    if (axis.from == From::kDomain && axis.into != Into::kGone) {
      const int64_t extent = node.reduce[axis.a].extent;
      p.reduces[axis.a] = pool_.add_axis({}, values_[i], extent, extent);
    }
  }
  current_ = id;
  if (!s.reads.empty()) need_reads(id, node.body);
}

void NestBuilder::make_buffer_of(StageId id) {
  const ScheduleStage& s = schedule_->stage(id);
  StagePlan& p = plans_[index_of(id)];
  const Buffer whole = s.tensor->buffer;
  if (s.where != Where::kAt && s.scope == whole->scope) return;
  BufferNode buffer = *whole;
  buffer.scope = s.scope;
  if (s.where == Where::kAt) {
    auto* shape = static_cast<int64_t*>(
        Arena::current().allocate(std::max<size_t>(p.region.size(), 1) * sizeof(int64_t), alignof(int64_t)));
    for (size_t d = 0; d < p.region.size(); ++d) shape[d] = p.region[d].extent;
    buffer.shape = Array<int64_t>(shape, static_cast<uint32_t>(p.region.size()));
  }
  p.buffer = make_node<BufferNode>(buffer);
}

void NestBuilder::axis_extents(const ScheduleStage& s, StagePlan& p) const {
  p.extents.resize(s.axes.size());
  for (size_t i = 0; i < s.axes.size(); ++i) {
    const ScheduleAxis& axis = s.axes[i];
    switch (axis.from) {
      case From::kDomain: p.extents[i] = axis.reduce ? axis.extent : p.region[axis.a].extent; break;
      case From::kSplitOuter: {
        const ScheduleAxis& parent = s.axes[axis.a];
        const int64_t extent = p.extents[axis.a];
        const int64_t inner = parent.by_parts ? std::max<int64_t>((extent + parent.factor - 1) / parent.factor, 1)
                                              : std::min(parent.factor, std::max<int64_t>(extent, 1));
        p.extents[i] = (extent + inner - 1) / inner;
        p.extents[i + 1] = inner;
        break;
      }
      case From::kSplitInner: break;
      case From::kFuse: p.extents[i] = p.extents[axis.a] * p.extents[axis.b]; break;
    }
  }
}

namespace {

/// Writes the axis's name into [out, end), parts of splits as _0 and _1; returns where it stops.
char* write_name(const ScheduleStage& s, int16_t index, char* out, char* end) {
  const ScheduleAxis& axis = s.axes[index];
  auto put = [&](std::string_view text) {
    for (char c : text) {
      if (out != end) *out++ = c;
    }
  };
  switch (axis.from) {
    case From::kDomain:
      if (axis.into == Into::kGone) break;
      put(axis.reduce ? s.tensor->reduce[axis.a].var->name : s.tensor->axes[axis.a].var->name);
      break;
    case From::kSplitOuter:
      out = write_name(s, axis.a, out, end);
      put("_0");
      break;
    case From::kSplitInner:
      out = write_name(s, axis.a, out, end);
      put("_1");
      break;
    case From::kFuse:
      out = write_name(s, axis.a, out, end);
      put("_");
      out = write_name(s, axis.b, out, end);
      break;
  }
  return out;
}

}  // namespace

VarRef NestBuilder::loop_var(const ScheduleStage& s, int16_t axis) const {
  char name[64];
  const char* end = write_name(s, axis, name, name + sizeof(name));
  return make_var({name, static_cast<size_t>(end - name)});
}

void NestBuilder::axis_values(const ScheduleStage& s, const StagePlan& p, std::span<const int32_t> loop_atoms,
                              std::vector<Guard>& guards) {
  const size_t count = s.axes.size();
  values_.assign(count, Linear{});
  reach_.assign(count, 0);
  for (size_t i = 0; i < s.leaves.size(); ++i) {
    const int16_t leaf = s.leaves[i];
    if (loop_atoms[i] >= 0) values_[leaf] = pool_.atom(loop_atoms[i]);
    reach_[leaf] = p.extents[leaf] - 1;
  }
  // Axes made later are parts of earlier ones: their values come first. `reach_` is the highest value that an axis
  // takes under the guards made so far. Too high an outer part is caught where the whole is compared with its extent.
  for (size_t i = count; i-- > 0;) {
    const ScheduleAxis& axis = s.axes[i];
    switch (axis.into) {
      case Into::kLeaf:
      case Into::kGone: break;
      case Into::kSplit: {
        const size_t outer = axis.to;
        const size_t inner = outer + 1;
        const int64_t factor = p.extents[inner];
        if (reach_[inner] >= factor) {
          guards.push_back({values_[inner], factor, false, false, axis.reduce});
          reach_[inner] = factor - 1;
        }
        values_[i] = pool_.add(values_[inner], values_[outer], factor);
        reach_[i] = reach_[outer] * factor + reach_[inner];
        break;
      }
      case Into::kFuseOuter:
        values_[i] = pool_.div(values_[axis.to], std::max<int64_t>(p.extents[s.axes[axis.to].b], 1));
        reach_[i] = p.extents[i] - 1;
        break;
      case Into::kFuseInner:
        values_[i] = pool_.mod(values_[axis.to], std::max<int64_t>(p.extents[i], 1));
        reach_[i] = p.extents[i] - 1;
        break;
    }
    if ((axis.from == From::kDomain || axis.from == From::kFuse) && axis.into == Into::kSplit &&
        reach_[i] >= p.extents[i]) {
      guards.push_back({values_[i], p.extents[i], false, false, axis.reduce});
    }
  }
}

// ---- what readers need ----------------------------------------------------------------------------------------------

void NestBuilder::need_reads(StageId id, Expr e) {
  walk(e, [&](Expr x) {
    const auto* load = x.as<Load>();
    if (load == nullptr) return;
    const StageId producer = stage_of(load->buffer);
    const ScheduleStage& s = schedule_->stage(producer);
    if (s.where != Where::kAt) return;
    // The reader is inside the loop that the producer is computed at, whatever was changed since compute_at.
    for (StageId at = id; at != s.at.stage; at = schedule_->stage(at).at.stage) {
      if (schedule_->stage(at).where != Where::kAt) {
        throw ScheduleError("stage '" + std::string(schedule_->name(producer)) + "' is computed inside '" +
                            std::string(schedule_->name(s.at.stage)) + "' but read outside it by '" +
                            std::string(schedule_->name(id)) + "'");
      }
    }
    need(plans_[index_of(producer)], load->buffer, load->indices);
  });
}

void NestBuilder::need(StagePlan& p, Buffer whole, std::span<const Expr> indices) {
  const bool first = !p.needed;
  p.needed = true;
  if (first) p.region.assign(indices.size(), Dim{});
  for (size_t d = 0; d < indices.size(); ++d) {
    const int64_t extent = whole->shape[d];
    const LinearRegion read = pool_.region(linear(indices[d]), p.depth);
    Dim& dim = p.region[d];
    if (first) {
      dim = {read.min, std::min(read.range, extent) + 1};
    } else {
      const Linear apart = pool_.add(read.min, dim.min, -1);
      if (apart.count != 0) {
        dim.extent = extent;
      } else if (apart.constant < 0) {
        dim = {read.min, std::max(read.range + 1, dim.extent - apart.constant)};
      } else {
        dim.extent = std::max(dim.extent, apart.constant + read.range + 1);
      }
    }
    if (dim.extent >= extent) dim = {{}, extent};
  }
}

Linear NestBuilder::linear(Expr e) {
  switch (e.kind()) {
    case ExprKind::kIntImm: return LinearPool::constant(e.as<IntImm>()->value);
    case ExprKind::kVar: {
      const TensorNode& node = *schedule_->stage(current_).tensor.get();
      const StagePlan& p = plans_[index_of(current_)];
      for (size_t i = 0; i < node.axes.size(); ++i) {
        if (node.axes[i].var == e.get()) return pool_.atom(p.dims[i]);
      }
      for (size_t i = 0; i < node.reduce.size(); ++i) {
        if (node.reduce[i].var == e.get()) return pool_.atom(p.reduces[i]);
      }
      TENSMITH_UNREACHABLE("a definition uses a variable that is none of its axes");
    }
    case ExprKind::kBinary: {
      const auto& n = *e.as<Binary>();
      if (e.type() != kInt64) break;
      if (n.op == BinaryOp::kAdd || n.op == BinaryOp::kSub) {
        const Linear a = linear(n.a);
        return pool_.add(a, linear(n.b), n.op == BinaryOp::kAdd ? 1 : -1);
      }
      const auto* b = n.b.as<IntImm>();
      const auto* a = n.a.as<IntImm>();
      if (n.op == BinaryOp::kMul && b != nullptr) return pool_.scale(linear(n.a), b->value);
      if (n.op == BinaryOp::kMul && a != nullptr) return pool_.scale(linear(n.b), a->value);
      if ((n.op == BinaryOp::kDiv || n.op == BinaryOp::kMod) && b != nullptr && b->value > 0) {
        const Linear dividend = linear(n.a);
        if (pool_.is_opaque(dividend)) break;  // of data that may wrap nothing can be taken out
        return n.op == BinaryOp::kDiv ? pool_.div(dividend, b->value) : pool_.mod(dividend, b->value);
      }
      break;
    }
    default: break;
  }
  if (planning_) return pool_.atom(pool_.add_opaque({}));
  // Subexpressions are rewritten; the whole stays what it is.
  const Expr mapped = e.kind() == ExprKind::kLoad ? value(e) : map_children(e, [&](Expr c) { return value(c); });
  return pool_.atom(pool_.add_opaque(mapped));
}

// ---- public view
// ------------------------------------------------------------------------------------------------------

std::vector<StageBounds> NestBuilder::bounds() {
  std::vector<StageBounds> out(schedule_->stage_count());
  for (size_t i = 0; i < out.size(); ++i) {
    const StagePlan& p = plans_[i];
    if (!p.live) continue;
    out[i].computed = true;
    for (const Dim& dim : p.region) out[i].region.push_back({pool_.to_expr(dim.min), dim.extent});
    out[i].loop_vars = p.vars;
    for (int16_t leaf : schedule_->stage(static_cast<StageId>(i)).leaves)
      out[i].loop_extents.push_back(p.extents[leaf]);
  }
  return out;
}

}  // namespace tensmith
