#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "ops/knobs.h"
#include "tensmith/ops/templates.h"
#include "tensmith/support/error.h"

namespace tensmith {
namespace {

/// Knobs of one stage; -1 where the stage has no use for one.
struct StageKnobs {
  int inline_stage = -1;  ///< elementwise stages that others read
  int tile = -1;          ///< of the dimension before the last
  int vectors = -1;       ///< vectors of the last dimension in the tile; 0: scalar
  int accumulate = -1;    ///< reductions: sums of a tile in a local buffer
  int unroll = -1;        ///< steps of the innermost reduction axis
};

/// Tiles, vectors and accumulators for each stage of any expression, derived from its axes alone.
class GenericTemplate {
 public:
  GenericTemplate(Program program, const Target& target, int threads)
      : program_(std::move(program)), target_(target), threads_(threads) {}

  void fill(Task& task) {
    ConfigSpace& space = task.space;
    for (const Tensor& stage : program_.stages) {
      StageKnobs knobs;
      const std::string name(stage->buffer->name);
      const bool is_output =
          std::find(program_.outputs.begin(), program_.outputs.end(), stage) != program_.outputs.end();
      if (stage->reduce.empty() && !is_output) {
        knobs.inline_stage = space.add(bool_knob(name + ".inline"));
      }
      const size_t rank = stage->axes.size();
      if (rank >= 1) {
        knobs.vectors =
            space.add(clamped_knob(name + ".vectors", {0, 1, 2, 4}, stage->axes[rank - 1].extent / lanes(stage)));
      }
      if (rank >= 2) {
        knobs.tile = space.add(clamped_knob(name + ".tile", {1, 2, 3, 4, 6, 8}, stage->axes[rank - 2].extent));
      }
      if (!stage->reduce.empty() && rank >= 1) {
        knobs.accumulate = space.add(bool_knob(name + ".accumulate"));
        knobs.unroll = space.add(clamped_knob(name + ".unroll", {1, 2, 4, 8}, stage->reduce.back().extent));
      }
      knobs_.push_back(knobs);
    }
    task.default_config = space.at(0);
    for (const StageKnobs& knobs : knobs_) {
      for (const auto& [knob, value] : {std::pair{knobs.inline_stage, 1},
                                        {knobs.vectors, 1},
                                        {knobs.tile, 4},
                                        {knobs.accumulate, 1},
                                        {knobs.unroll, 2}}) {
        if (knob >= 0) {
          choose(space, task.default_config, knob, value);
        }
      }
    }
  }

  Schedule instantiate(const ConfigSpace& space, const Config& config) const {
    Schedule s(program_);
    for (size_t i = 0; i < program_.stages.size(); ++i) {
      const auto get = [&](int knob) { return knob >= 0 ? space.get(config, knob) : 0; };
      const StageId stage = s.stage_of(program_.stages[i]);
      if (get(knobs_[i].inline_stage) != 0) {
        s.compute_inline(stage);
        continue;
      }
      schedule_stage(s, stage, program_.stages[i], std::max<int64_t>(1, get(knobs_[i].tile)), get(knobs_[i].vectors),
                     get(knobs_[i].accumulate) != 0, get(knobs_[i].unroll));
    }
    return s;
  }

 private:
  int64_t lanes(const Tensor& stage) const { return target_.lanes(std::max<int>(8, stage->buffer->type.bits)); }

  void schedule_stage(Schedule& s, StageId stage, const Tensor& tensor, int64_t tile, int64_t vectors, bool accumulate,
                      int64_t unroll) const {
    const size_t rank = tensor->axes.size();
    if (rank == 0) {
      return;
    }
    const int64_t width = std::max<int64_t>(1, vectors * lanes(tensor));
    const StageId sums = accumulate ? s.cache_write(stage, MemoryScope::kLocal) : stage;

    std::vector<AxisId> order;
    for (size_t i = 0; i + 2 < rank; ++i) {
      order.push_back(s.axis(stage, i));
    }
    std::vector<AxisId> inside;
    if (rank >= 2) {
      const auto [outer, inner] = s.split(s.axis(stage, rank - 2), tile);
      order.push_back(outer);
      inside.push_back(inner);
    }
    const auto [outer, inner] = s.split(s.axis(stage, rank - 1), width);
    order.push_back(outer);
    const AxisId tile_loop = outer;
    const AxisId outermost = order.front();
    if (!accumulate) {
      add_reductions(s, stage, unroll, order);
    }
    order.insert(order.end(), inside.begin(), inside.end());
    add_lanes(s, tensor, inner, vectors, order);
    s.reorder(order);
    unroll_all(s, inside);
    if (vectors > 0) {
      s.vectorize(order.back());
    }
    if (threads_ > 1) {
      s.parallel(outermost);
    }
    if (accumulate) {
      s.compute_at(sums, stage, tile_loop);
      reduce_tile(s, sums, tensor, vectors, unroll);
    }
  }

  void reduce_tile(Schedule& s, StageId sums, const Tensor& tensor, int64_t vectors, int64_t unroll) const {
    const size_t rank = tensor->axes.size();
    std::vector<AxisId> order;
    add_reductions(s, sums, unroll, order);
    std::vector<AxisId> tile;
    for (size_t i = 0; i + 1 < rank; ++i) {
      tile.push_back(s.axis(sums, i));
    }
    order.insert(order.end(), tile.begin(), tile.end());
    add_lanes(s, tensor, s.axis(sums, rank - 1), vectors, order);
    s.reorder(order);
    unroll_all(s, tile);
    if (vectors > 0) {
      s.vectorize(order.back());
    }
  }

  /// Appends the reduction loops, the innermost split for unrolling.
  static void add_reductions(Schedule& s, StageId stage, int64_t unroll, std::vector<AxisId>& order) {
    std::vector<AxisId> reductions;
    for (AxisId axis : s.loops(stage)) {
      if (s.at(axis).reduce) {
        reductions.push_back(axis);
      }
    }
    if (reductions.empty()) {
      return;
    }
    if (unroll > 1) {
      const auto [outer, inner] = s.split(reductions.back(), unroll);
      s.unroll(inner);
      reductions.back() = outer;
      reductions.push_back(inner);
    }
    order.insert(order.end(), reductions.begin(), reductions.end());
  }

  /// Appends the last dimension: an unrolled loop over vectors and the lanes.
  void add_lanes(Schedule& s, const Tensor& tensor, AxisId axis, int64_t vectors, std::vector<AxisId>& order) const {
    if (vectors > 1) {
      const auto [outer, lane] = s.split(axis, lanes(tensor));
      s.unroll(outer);
      order.push_back(outer);
      axis = lane;
    }
    order.push_back(axis);
  }

  static void unroll_all(Schedule& s, std::span<const AxisId> axes) {
    for (AxisId axis : axes) {
      s.unroll(axis);
    }
  }

  Program program_;
  Target target_;
  int threads_;
  std::vector<StageKnobs> knobs_;
};

}  // namespace

Task make_expression_task(const FreeExpression& expression, const Target& target, int threads) {
  const Workload workload{expression};
  Task task = begin_task(workload, target, threads);
  const auto shared = std::make_shared<GenericTemplate>(definition(workload), target, threads);
  shared->fill(task);
  task.instantiate = [shared, space = task.space](const Config& config) { return shared->instantiate(space, config); };
  return task;
}

namespace {

/// One config: the definition as it is.
Task make_plain_task(const Workload& workload, const Target& target, int threads) {
  Task task = begin_task(workload, target, threads);
  task.default_config = task.space.at(0);
  task.instantiate = [program = definition(workload)](const Config&) { return Schedule(program); };
  return task;
}

}  // namespace

Task make_task(const Workload& workload, const Target& target, int threads) {
  if (nothing_to_schedule(workload)) return make_plain_task(workload, target, threads);
  if (const auto* conv = std::get_if<Conv2d>(&workload.op)) {
    return make_conv2d_task(*conv, target, threads);
  }
  if (const auto* matmul = std::get_if<Matmul>(&workload.op)) {
    return make_matmul_task(*matmul, target, threads);
  }
  return make_expression_task(std::get<FreeExpression>(workload.op), target, threads);
}

}  // namespace tensmith
