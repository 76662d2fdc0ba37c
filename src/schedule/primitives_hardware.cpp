#include <fmt/format.h>

#include <algorithm>

#include "schedule/nest_builder.h"
#include "tensmith/schedule/schedule.h"

/// Tensorize and prefetch: their checks. nest_hardware.cpp makes the statements.

namespace tensmith {

void Schedule::tensorize(AxisId axis, TensorIntrinsic intrinsic) {
  constexpr auto kThis = Primitive::kTensorize;
  check_free_loop(kThis, axis);
  ScheduleStage& s = mut(axis.stage);
  if (s.tensorized >= 0)
    fail(kThis, axis, fmt::format("loop {} is tensorized already", axis_name({axis.stage, s.tensorized})));
  const int place = loop_position(axis);
  for (size_t i = place; i < s.leaves.size(); ++i) {
    const AxisId inside = {axis.stage, s.leaves[i]};
    if (s.axes[inside.index].kind != LoopKind::kSerial) {
      fail(kThis, axis,
           fmt::format("loop {} inside it is {} already", axis_name(inside), to_string(s.axes[inside.index].kind)));
    }
    for (StageId other : order_) {
      if (stage(other).where == ScheduleStage::Where::kAt && stage(other).at == inside) {
        fail(kThis, axis, fmt::format("stage '{}' is computed at loop {} inside it", name(other), axis_name(inside)));
      }
    }
    for (const SchedulePrefetch& p : s.prefetches) {
      if (p.at == inside.index)
        fail(kThis, axis, fmt::format("a prefetch is placed at loop {} inside it", axis_name(inside)));
    }
  }
  s.tensorized = axis.index;
  s.intrinsic = intrinsic;
  NestBuilder& builder = nest_builder();
  builder.plan(*this, {}, s.ahead ? std::optional(axis.stage) : std::nullopt);
  const std::string problem = builder.tensorize_problem(axis.stage);
  if (!problem.empty()) {
    s.tensorized = -1;
    fail(kThis, axis, fmt::format("its nest is not {}: {}", to_string(intrinsic), problem));
  }
  record(kThis, {static_cast<int64_t>(axis.stage), axis.index, static_cast<int64_t>(intrinsic)});
}

int Schedule::loops_around(StageId id) const {
  const ScheduleStage& s = stage(id);
  return s.where == ScheduleStage::Where::kAt ? loops_around(s.at.stage) + loop_position(s.at) + 1 : 0;
}

std::string Schedule::prefetch_problem(StageId id, const SchedulePrefetch& prefetch) const {
  AxisId inner = {id, prefetch.at};
  const int place = loops_around(id) + loop_position(inner);
  while (inner.stage != prefetch.shift.stage && stage(inner.stage).where == ScheduleStage::Where::kAt) {
    inner = stage(inner.stage).at;
  }
  if (inner.stage != prefetch.shift.stage || loop_position(prefetch.shift) > loop_position(inner)) {
    return fmt::format("loop {}.{}, which is to be ahead, is not around it", name(prefetch.shift.stage),
                       axis_name(prefetch.shift));
  }
  const ScheduleStage& target = stage(prefetch.tensor);
  if (prefetch.tensor != id && target.where == ScheduleStage::Where::kAt && loops_around(prefetch.tensor) > place) {
    return fmt::format("'{}' is computed inside the loop and does not exist before", name(prefetch.tensor));
  }
  return {};
}

void Schedule::prefetch(StageId id, Tensor tensor, AxisId at_axis, AxisId shift, int64_t distance, int locality) {
  prefetch(id, stage_of(tensor), at_axis, shift, distance, locality);
}

void Schedule::prefetch(StageId id, StageId tensor, AxisId at_axis, AxisId shift, int64_t distance, int locality) {
  constexpr auto kThis = Primitive::kPrefetch;
  check_computed(kThis, id);
  check_stage(kThis, tensor);
  check_loop(kThis, at_axis);
  check_loop(kThis, shift);
  ScheduleStage& s = mut(id);
  if (at_axis.stage != id) {
    fail(kThis, id, fmt::format("loop '{}' belongs to stage '{}'", axis_name(at_axis), name(at_axis.stage)));
  }
  if (tensor != id && std::find(s.reads.begin(), s.reads.end(), tensor) == s.reads.end()) {
    fail(kThis, at_axis, fmt::format("the stage does not read '{}'", name(tensor)));
  }
  if (at(at_axis).kind == LoopKind::kVectorized) {
    fail(kThis, at_axis, "it is vectorized: nothing can be placed inside it");
  }
  if (s.tensorized >= 0 && loop_position(at_axis) >= loop_position({id, s.tensorized})) {
    fail(kThis, at_axis, fmt::format("it is part of the nest that was replaced by {}", to_string(s.intrinsic)));
  }
  if (distance < 0 || distance > INT32_MAX) fail(kThis, at_axis, fmt::format("distance {} is out of range", distance));
  if (locality < 1 || locality > 3) {
    fail(kThis, at_axis, fmt::format("locality {} is none of 1 (L3), 2 (L2), 3 (L1)", locality));
  }
  SchedulePrefetch prefetch;
  prefetch.tensor = tensor;
  prefetch.at = at_axis.index;
  prefetch.shift = shift;
  prefetch.distance = distance;
  prefetch.locality = locality;
  if (const std::string problem = prefetch_problem(id, prefetch); !problem.empty()) {
    fail(kThis, at_axis, problem, "compute_at comes before prefetch");
  }
  s.prefetches.push_back(prefetch);
  record(kThis, {static_cast<int64_t>(id), static_cast<int64_t>(tensor), at_axis.index,
                 static_cast<int64_t>(shift.stage), shift.index, distance, locality});
}

}  // namespace tensmith
