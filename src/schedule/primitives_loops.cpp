#include <fmt/format.h>

#include <algorithm>

#include "tensmith/schedule/schedule.h"

/// The primitives that shape the loops of one stage.

namespace tensmith {

std::pair<AxisId, AxisId> Schedule::split_axis(AxisId id, int64_t factor, bool by_parts) {
  check_free_loop(Primitive::kSplit, id);
  const ScheduleAxis parent = at(id);
  if (factor < 1) {
    fail(Primitive::kSplit, id, fmt::format("{} {} is below 1", by_parts ? "number of parts" : "factor", factor));
  }
  if (factor > std::max<int64_t>(parent.extent, 1)) {
    fail(Primitive::kSplit, id,
         fmt::format("{} {} is larger than the loop's extent {}", by_parts ? "number of parts" : "factor", factor,
                     parent.extent),
         fmt::format("use at most {}", std::max<int64_t>(parent.extent, 1)));
  }
  const int64_t inner_extent = by_parts ? std::max<int64_t>((parent.extent + factor - 1) / factor, 1) : factor;
  ScheduleStage& s = mut(id.stage);
  const auto outer = static_cast<int16_t>(s.axes.size());
  const auto inner = static_cast<int16_t>(outer + 1);
  ScheduleAxis part;
  part.from = ScheduleAxis::From::kSplitOuter;
  part.reduce = parent.reduce;
  part.a = id.index;
  part.extent = (parent.extent + inner_extent - 1) / inner_extent;
  s.axes.push_back(part);
  part.from = ScheduleAxis::From::kSplitInner;
  part.extent = inner_extent;
  s.axes.push_back(part);
  ScheduleAxis& split = s.axes[id.index];
  split.into = ScheduleAxis::Into::kSplit;
  split.to = outer;
  split.factor = factor;
  split.by_parts = by_parts;
  const auto place = std::find(s.leaves.begin(), s.leaves.end(), id.index);
  *place = outer;
  s.leaves.insert(place + 1, inner);
  record(Primitive::kSplit, {static_cast<int64_t>(id.stage), id.index, factor, by_parts});
  return {{id.stage, outer}, {id.stage, inner}};
}

std::pair<AxisId, AxisId> Schedule::split(AxisId axis, int64_t factor) { return split_axis(axis, factor, false); }
std::pair<AxisId, AxisId> Schedule::split_nparts(AxisId axis, int64_t parts) { return split_axis(axis, parts, true); }

std::array<AxisId, 4> Schedule::tile(AxisId y, AxisId x, int64_t factor_y, int64_t factor_x) {
  check_free_loop(Primitive::kSplit, x);
  if (y == x) fail(Primitive::kSplit, x, "tile names it twice");
  if (y.stage != x.stage)
    fail(Primitive::kSplit, x, fmt::format("tile names an axis of stage '{}' too", name(y.stage)));
  if (factor_x < 1 || factor_x > std::max<int64_t>(at(x).extent, 1)) {
    split(x, factor_x);  // tells what is wrong before y is touched
  }
  const auto [yo, yi] = split(y, factor_y);
  const auto [xo, xi] = split(x, factor_x);
  reorder({yo, xo, yi, xi});
  return {yo, xo, yi, xi};
}

AxisId Schedule::fuse(AxisId outer, AxisId inner) {
  check_free_loop(Primitive::kFuse, outer);
  check_free_loop(Primitive::kFuse, inner);
  if (outer.stage != inner.stage) {
    fail(Primitive::kFuse, outer, fmt::format("'{}' is an axis of stage '{}'", axis_name(inner), name(inner.stage)));
  }
  const ScheduleAxis a = at(outer);
  const ScheduleAxis b = at(inner);
  if (loop_position(inner) != loop_position(outer) + 1) {
    fail(Primitive::kFuse, outer, fmt::format("'{}' is not the loop directly inside it", axis_name(inner)),
         "reorder the two next to each other, the outer one first");
  }
  if (a.reduce != b.reduce) {
    fail(Primitive::kFuse, outer,
         fmt::format("a dimension and a reduction axis ('{}') cannot be one loop", axis_name(inner)));
  }
  ScheduleAxis fused;
  fused.from = ScheduleAxis::From::kFuse;
  fused.reduce = a.reduce;
  fused.a = outer.index;
  fused.b = inner.index;
  if (__builtin_mul_overflow(a.extent, b.extent, &fused.extent)) {
    fail(Primitive::kFuse, outer, "the fused extent does not fit in 64 bits");
  }
  ScheduleStage& s = mut(outer.stage);
  const auto index = static_cast<int16_t>(s.axes.size());
  s.axes.push_back(fused);
  s.axes[outer.index].into = ScheduleAxis::Into::kFuseOuter;
  s.axes[inner.index].into = ScheduleAxis::Into::kFuseInner;
  s.axes[outer.index].to = s.axes[inner.index].to = index;
  const auto place = std::find(s.leaves.begin(), s.leaves.end(), outer.index);
  *place = index;
  s.leaves.erase(place + 1);
  record(Primitive::kFuse, {static_cast<int64_t>(outer.stage), outer.index, inner.index});
  return {outer.stage, index};
}

void Schedule::reorder(std::span<const AxisId> order) {
  if (order.empty()) return;
  const StageId id = order[0].stage;
  for (size_t i = 0; i < order.size(); ++i) {
    check_loop(Primitive::kReorder, order[i]);
    if (order[i].stage != id) {
      fail(Primitive::kReorder, order[0],
           fmt::format("'{}' is an axis of stage '{}'", axis_name(order[i]), name(order[i].stage)));
    }
    if (std::find(order.begin(), order.begin() + i, order[i]) != order.begin() + i) {
      fail(Primitive::kReorder, order[i], "it is named twice");
    }
  }
  ScheduleStage& s = mut(id);
  const ArenaVector<int16_t> before = s.leaves;
  size_t next = 0;
  for (int16_t& leaf : s.leaves) {
    const bool named = std::any_of(order.begin(), order.end(), [&](AxisId axis) { return axis.index == leaf; });
    if (named) leaf = order[next++].index;
  }
  auto refuse = [&](AxisId axis, const std::string& why, const std::string& hint = {}) {
    s.leaves = before;
    fail(Primitive::kReorder, axis, why, hint);
  };
  for (size_t i = 0; i + 1 < s.leaves.size(); ++i) {
    if (s.axes[s.leaves[i]].kind == LoopKind::kVectorized) {
      refuse({id, s.leaves[i]}, "it is vectorized and must stay the innermost loop");
    }
  }
  if (s.tensorized >= 0) {
    const auto place = std::find(before.begin(), before.end(), s.tensorized) - before.begin();
    if (!std::equal(before.begin() + place, before.end(), s.leaves.begin() + place)) {
      refuse({id, s.tensorized}, fmt::format("the nest inside it was replaced by {}", to_string(s.intrinsic)),
             "reorder before tensorize");
    }
  }
  if (const std::string problem = misplaced(id); !problem.empty()) {
    refuse(order[0], problem, "reorder before compute_at and prefetch");
  }
  ArenaVector<int64_t> args = {static_cast<int64_t>(id)};
  for (AxisId axis : order) {
    args.push_back(axis.index);
  }
  record(Primitive::kReorder, args);
}

void Schedule::annotate(Primitive primitive, AxisId axis, LoopKind kind) {
  mut(axis.stage).axes[axis.index].kind = kind;
  const std::string problem = kind == LoopKind::kParallel ? misplaced(axis.stage) : std::string();
  if (!problem.empty()) {
    mut(axis.stage).axes[axis.index].kind = LoopKind::kSerial;
    fail(primitive, axis, problem, "fuse the loops and mark the fused one, or mark only the outer one");
  }
  record(primitive, {static_cast<int64_t>(axis.stage), axis.index});
}

void Schedule::unroll(AxisId axis) {
  check_free_loop(Primitive::kUnroll, axis);
  annotate(Primitive::kUnroll, axis, LoopKind::kUnrolled);
}

void Schedule::vectorize(AxisId axis) {
  check_free_loop(Primitive::kVectorize, axis);
  if (at(axis).reduce) {
    fail(Primitive::kVectorize, axis, "it is a reduction axis, whose iterations depend on each other",
         "make it a dimension with rfactor first");
  }
  if (stage(axis.stage).leaves.back() != axis.index) {
    fail(Primitive::kVectorize, axis, "it is not the innermost loop", "reorder it to the end first");
  }
  annotate(Primitive::kVectorize, axis, LoopKind::kVectorized);
}

void Schedule::parallel(AxisId axis) {
  check_free_loop(Primitive::kParallel, axis);
  if (at(axis).reduce) {
    fail(Primitive::kParallel, axis, "it is a reduction axis, whose iterations depend on each other",
         "make it a dimension with rfactor first");
  }
  annotate(Primitive::kParallel, axis, LoopKind::kParallel);
}

}  // namespace tensmith
