#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "schedule/rewrite.h"
#include "tensmith/ir/arith/inline_vector.h"
#include "tensmith/schedule/schedule.h"

/// The primitives that place stages and add new ones.

namespace tensmith {

// ---- place ------------------------------------------------------------------------------------------------------

void Schedule::compute_at(StageId producer, StageId consumer, AxisId axis) {
  check_computed(Primitive::kComputeAt, producer);
  check_computed(Primitive::kComputeAt, consumer);
  if (axis.stage != consumer) {
    fail(Primitive::kComputeAt, producer,
         fmt::format("the loop '{}' belongs to stage '{}', not to '{}'", axis_name(axis), name(axis.stage),
                     name(consumer)));
  }
  compute_at(producer, axis);
}

void Schedule::compute_at(StageId producer, AxisId axis) {
  constexpr auto kThis = Primitive::kComputeAt;
  check_computed(kThis, producer);
  check_loop(kThis, axis);
  ScheduleStage& p = mut(producer);
  if (p.output)
    fail(kThis, producer, "it is an output, all of which is stored", "cache_write makes a stage that can be placed");
  if (p.ahead) fail(kThis, producer, "it is packed ahead by a function of its own", "use PackWhen::kInside");
  const ScheduleStage& c = stage(axis.stage);
  if (c.ahead) fail(kThis, producer, fmt::format("'{}' is packed ahead by a function of its own", name(axis.stage)));
  for (StageId up = axis.stage;; up = stage(up).at.stage) {
    if (up == producer) fail(kThis, producer, "it cannot be computed inside itself");
    if (stage(up).where != ScheduleStage::Where::kAt) break;
  }
  if (c.axes[axis.index].kind == LoopKind::kVectorized) {
    fail(kThis, producer,
         fmt::format("loop {}.{} is vectorized: nothing can be placed inside it", name(axis.stage), axis_name(axis)));
  }
  if (c.tensorized >= 0 && loop_position(axis) >= loop_position({axis.stage, c.tensorized})) {
    fail(kThis, producer,
         fmt::format("loop {}.{} is part of the nest that was replaced by {}", name(axis.stage), axis_name(axis),
                     to_string(c.intrinsic)));
  }
  if (!is_read(producer)) fail(kThis, producer, "no stage reads it");
  const auto where = p.where;
  const AxisId at = p.at;
  p.where = ScheduleStage::Where::kAt;
  p.at = axis;
  // Both this stage and those inside the loops that move with it must still make sense.
  if (const std::string problem = misplaced(producer); !problem.empty()) {
    p.where = where;
    p.at = at;
    fail(kThis, producer, problem, "place it at a loop around all its readers");
  }
  record(kThis, {static_cast<int64_t>(producer), static_cast<int64_t>(axis.stage), axis.index});
}

void Schedule::compute_root(StageId id) {
  check_computed(Primitive::kComputeRoot, id);
  ScheduleStage& s = mut(id);
  const auto where = s.where;
  s.where = ScheduleStage::Where::kRoot;
  if (const std::string problem = misplaced(id); !problem.empty()) {
    s.where = where;
    fail(Primitive::kComputeRoot, id, problem);
  }
  s.at = {};
  record(Primitive::kComputeRoot, {static_cast<int64_t>(id)});
}

void Schedule::compute_inline(StageId id) {
  constexpr auto kThis = Primitive::kComputeInline;
  check_computed(kThis, id);
  const ScheduleStage& s = stage(id);
  if (s.output) fail(kThis, id, "it is an output, all of which is stored");
  if (s.ahead) fail(kThis, id, "it is packed ahead by a function of its own", "use PackWhen::kInside");
  if (s.tensor->body.kind() == ExprKind::kReduce) {
    fail(kThis, id, "it is a reduction, which is no expression of its readers", "use compute_at");
  }
  check_nothing_inside(kThis, id);
  for (StageId reader : order_) {
    const ScheduleStage& r = stage(reader);
    if (r.tensorized >= 0 && std::find(r.reads.begin(), r.reads.end(), id) != r.reads.end()) {
      fail(kThis, id, fmt::format("its reader '{}' is tensorized", name(reader)), "inline before tensorize");
    }
    for (const SchedulePrefetch& p : r.prefetches) {
      if (p.tensor == id) fail(kThis, id, fmt::format("stage '{}' prefetches it", name(reader)));
    }
  }
  const Tensor tensor = s.tensor;
  for (StageId reader : order_) {
    const ScheduleStage& r = stage(reader);
    if (r.where == ScheduleStage::Where::kInlined || std::find(r.reads.begin(), r.reads.end(), id) == r.reads.end())
      continue;
    redefine(reader, rewrite_loads(r.tensor->body, tensor->buffer, [&](const Load& load) {
               InlineVector<Binding, 8> bindings;
               for (size_t i = 0; i < tensor->axes.size(); ++i) {
                 bindings.push_back({tensor->axes[i].var, load.indices[i]});
               }
               return substitute(tensor->body, bindings);
             }));
  }
  mut(id).where = ScheduleStage::Where::kInlined;
  mut(id).at = {};
  record(kThis, {static_cast<int64_t>(id)});
}

void Schedule::set_scope(StageId id, MemoryScope scope) {
  check_computed(Primitive::kSetScope, id);
  const ScheduleStage& s = stage(id);
  if ((s.output || s.ahead) && scope != MemoryScope::kGlobal) {
    fail(Primitive::kSetScope, id,
         s.output ? "it is an output: its memory is the caller's" : "it is packed ahead: its memory is the caller's");
  }
  mut(id).scope = scope;
  record(Primitive::kSetScope, {static_cast<int64_t>(id), static_cast<int64_t>(scope)});
}

// ---- copies -----------------------------------------------------------------------------------------------------

StageId Schedule::cache_read(Tensor tensor, MemoryScope scope, std::span<const StageId> readers) {
  return cache_read(stage_of(tensor), scope, readers);
}

StageId Schedule::cache_read(StageId id, MemoryScope scope, std::span<const StageId> readers) {
  constexpr auto kThis = Primitive::kCacheRead;
  check_stage(kThis, id);
  const ScheduleStage& s = stage(id);
  if (s.where != ScheduleStage::Where::kRoot) {
    fail(kThis, id,
         s.where == ScheduleStage::Where::kInlined ? "it was inlined into its readers"
                                                   : "it is computed inside other loops",
         "apply cache_read before compute_at and compute_inline");
  }
  std::vector<StageId> chosen(readers.begin(), readers.end());
  for (StageId reader : chosen) {
    check_computed(kThis, reader);
    const auto& reads = stage(reader).reads;
    if (std::find(reads.begin(), reads.end(), id) == reads.end()) {
      fail(kThis, id, fmt::format("stage '{}' does not read it", name(reader)));
    }
  }
  if (chosen.empty()) {
    for (StageId reader : order_) {
      const ScheduleStage& r = stage(reader);
      if (r.where != ScheduleStage::Where::kInlined && !r.ahead &&
          std::find(r.reads.begin(), r.reads.end(), id) != r.reads.end()) {
        chosen.push_back(reader);
      }
    }
    if (chosen.empty()) fail(kThis, id, "no stage reads it");
  }
  for (StageId reader : chosen) {
    if (stage(reader).ahead) fail(kThis, id, fmt::format("its reader '{}' is packed ahead", name(reader)));
    if (stage(reader).tensorized >= 0)
      fail(kThis, id, fmt::format("its reader '{}' is tensorized", name(reader)), "cache before tensorize");
    for (const SchedulePrefetch& p : stage(reader).prefetches) {
      if (p.tensor == id)
        fail(kThis, id, fmt::format("its reader '{}' prefetches it", name(reader)), "apply cache_read before prefetch");
    }
  }
  const TensorNode& source = *s.tensor.get();
  std::vector<Axis> axes(source.axes.begin(), source.axes.end());
  for (size_t i = axes.size(); i < source.buffer->shape.size(); ++i) {
    axes.push_back({make_var(fmt::format("i{}", i)), source.buffer->shape[i]});
  }
  std::vector<Expr> indices(axes.begin(), axes.end());
  TensorNode copy;
  copy.buffer = new_buffer(source.buffer->name, to_string(scope), source.buffer->type, source.buffer->shape);
  copy.axes = make_array(axes);
  copy.body = make_load(source.buffer, indices);
  copy.inputs = make_array({s.tensor});
  const StageId cache = add_stage(Tensor(make_node<TensorNode>(copy)), order_position(id) + 1, scope);
  for (StageId reader : chosen) {
    const TensorNode& r = *stage(reader).tensor.get();
    redefine(reader, rewrite_loads(r.body, source.buffer,
                                   [&](const Load& load) { return make_load(copy.buffer, load.indices); }));
  }
  std::vector<int64_t> args = {static_cast<int64_t>(id), static_cast<int64_t>(scope)};
  for (StageId reader : readers) {
    args.push_back(static_cast<int64_t>(reader));
  }
  record(kThis, args);
  return cache;
}

StageId Schedule::cache_write(StageId id, MemoryScope scope) {
  constexpr auto kThis = Primitive::kCacheWrite;
  check_computed(kThis, id);
  const ScheduleStage& s = stage(id);
  if (s.ahead) fail(kThis, id, "it is packed ahead by a function of its own");
  check_nothing_inside(kThis, id);
  check_reads_at_root(kThis, id);
  for (size_t i = 0; i < s.axes.size(); ++i) {
    const ScheduleAxis& axis = s.axes[i];
    if (axis.reduce && axis.from == ScheduleAxis::From::kDomain &&
        (axis.into != ScheduleAxis::Into::kLeaf || axis.kind != LoopKind::kSerial)) {
      fail(kThis, {id, static_cast<int16_t>(i)}, "a reduction axis was split, fused, annotated or moved already",
           "apply cache_write before the primitives that change reduction axes");
    }
  }
  TensorNode moved = *s.tensor.get();
  moved.buffer = new_buffer(moved.buffer->name, to_string(scope), moved.buffer->type, moved.buffer->shape);
  const StageId cache = add_stage(Tensor(make_node<TensorNode>(moved)), order_position(id), scope);
  std::vector<Expr> indices(moved.axes.begin(), moved.axes.end());
  redefine(id, make_load(moved.buffer, indices));
  ScheduleStage& copy = mut(id);
  std::erase_if(copy.leaves, [&](int16_t leaf) { return copy.axes[leaf].reduce; });
  for (ScheduleAxis& axis : copy.axes) {
    if (axis.reduce) axis.into = ScheduleAxis::Into::kGone;
  }
  record(kThis, {static_cast<int64_t>(id), static_cast<int64_t>(scope)});
  return cache;
}

// ---- rfactor ------------------------------------------------------------------------------------------------------

namespace {

/// The reduction axes of a stage in terms of new variables for its reduction loops.
struct ReduceValues {
  std::vector<Expr> values;  ///< one per axis of the stage, empty for dimensions
  Expr in_range;             ///< empty when always so
  std::vector<VarRef> vars;  ///< one per axis that is a loop
};

ReduceValues reduce_values(const Schedule& schedule, StageId id) {
  const ScheduleStage& s = schedule.stage(id);
  ReduceValues out;
  out.values.resize(s.axes.size());
  out.vars.resize(s.axes.size());
  for (size_t i = s.axes.size(); i-- > 0;) {
    const ScheduleAxis& axis = s.axes[i];
    if (!axis.reduce) continue;
    switch (axis.into) {
      case ScheduleAxis::Into::kLeaf:
        out.vars[i] = make_var(schedule.axis_name({id, static_cast<int16_t>(i)}));
        out.values[i] = out.vars[i];
        break;
      case ScheduleAxis::Into::kSplit: {
        const int64_t inner = s.axes[axis.to + 1].extent;
        out.values[i] = out.values[axis.to] * inner + out.values[axis.to + 1];
        if (s.axes[axis.to].extent * inner != axis.extent) {
          const Expr guard = out.values[i] < axis.extent;
          out.in_range = out.in_range ? logical_and(guard, out.in_range) : guard;
        }
        break;
      }
      case ScheduleAxis::Into::kFuseOuter:
        out.values[i] = out.values[axis.to] / s.axes[s.axes[axis.to].b].extent;
        break;
      case ScheduleAxis::Into::kFuseInner: out.values[i] = out.values[axis.to] % axis.extent; break;
      case ScheduleAxis::Into::kGone: break;
    }
  }
  return out;
}

}  // namespace

StageId Schedule::rfactor(AxisId loop, int position) {
  constexpr auto kThis = Primitive::kRfactor;
  check_loop(kThis, loop);
  const StageId id = loop.stage;
  const ScheduleStage& s = stage(id);
  const ScheduleAxis factored = at(loop);
  if (!factored.reduce) fail(kThis, loop, "it is a dimension, not a reduction axis");
  if (s.ahead) fail(kThis, loop, "the stage is packed ahead by a function of its own");
  const TensorNode& node = *s.tensor.get();
  const int rank = static_cast<int>(node.axes.size());
  if (position < 0 || position > rank) {
    fail(kThis, loop, fmt::format("position {} is outside [0, {}], the dimensions of the new stage", position, rank));
  }
  check_nothing_inside(kThis, id);
  check_reads_at_root(kThis, id);

  const auto* reduce = node.body.as<Reduce>();
  const ReduceValues values = reduce_values(*this, id);
  std::vector<Binding> bindings;
  std::vector<ReduceAxis> rest;
  for (size_t i = 0; i < s.axes.size(); ++i) {
    const ScheduleAxis& axis = s.axes[i];
    if (axis.reduce && axis.from == ScheduleAxis::From::kDomain && axis.into != ScheduleAxis::Into::kGone) {
      bindings.push_back({reduce->axes[axis.a].var, values.values[i]});
    }
  }
  for (int16_t leaf : s.leaves) {
    if (s.axes[leaf].reduce && leaf != loop.index) rest.push_back({values.vars[leaf], s.axes[leaf].extent});
  }
  Expr term = substitute(reduce->value, bindings);
  if (values.in_range) term = make_select(values.in_range, term, reduce_identity(reduce->op, term.type()));

  const Axis extra = {values.vars[loop.index], factored.extent};
  TensorNode partial;
  std::vector<Axis> axes;
  std::vector<int64_t> shape;
  for (int i = 0; i <= rank; ++i) {
    axes.push_back(i == position ? extra : node.axes[i < position ? i : i - 1]);
    shape.push_back(axes.back().extent);
  }
  partial.buffer = new_buffer(node.buffer->name, "rf", node.buffer->type, shape);
  partial.axes = make_array(axes);
  partial.body = rest.empty() ? term : make_reduce(reduce->op, rest, term);
  if (const auto* partial_reduce = partial.body.as<Reduce>()) partial.reduce = partial_reduce->axes;
  partial.inputs = node.inputs;
  const ReduceOp op = reduce->op;
  const StageId rf = add_stage(Tensor(make_node<TensorNode>(partial)), order_position(id), MemoryScope::kGlobal);

  // The combining stage reduces over a variable of its own, whose extent is that of the loop.
  const VarRef var = make_var(axis_name(loop));
  std::vector<Expr> indices;
  for (int i = 0; i <= rank; ++i) {
    indices.push_back(i == position ? Expr(var) : Expr(axes[i].var));
  }
  const ReduceAxis over = {var, factored.extent};
  redefine(id, make_reduce(op, std::span(&over, 1), make_load(partial.buffer, indices)));
  ScheduleStage& combined = mut(id);
  std::erase_if(combined.leaves, [&](int16_t leaf) { return combined.axes[leaf].reduce && leaf != loop.index; });
  for (ScheduleAxis& axis : combined.axes) {
    if (axis.reduce) axis.into = ScheduleAxis::Into::kGone;
  }
  ScheduleAxis& kept = combined.axes[loop.index];
  kept.from = ScheduleAxis::From::kDomain;
  kept.into = ScheduleAxis::Into::kLeaf;
  kept.a = 0;
  kept.b = -1;
  record(kThis, {static_cast<int64_t>(id), loop.index, position});
  return rf;
}

// ---- layouts ------------------------------------------------------------------------------------------------------

namespace {

/// What is wrong with a layout of an operand of that shape, or nothing.
std::optional<std::string> layout_problem(std::span<const LayoutDim> layout, std::span<const int64_t> shape) {
  for (const LayoutDim& dim : layout) {
    if (dim.axis < 0 || static_cast<size_t>(dim.axis) >= shape.size()) {
      return fmt::format("the operand has no dimension {}", dim.axis);
    }
    if (dim.divisor < 1 || dim.modulus < 0) {
      return fmt::format("divisor {} or modulus {} of dimension {} is out of range", dim.divisor, dim.modulus,
                         dim.axis);
    }
  }
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    InlineVector<LayoutDim, 8> parts;
    for (const LayoutDim& dim : layout) {
      if (static_cast<size_t>(dim.axis) == axis) parts.push_back(dim);
    }
    if (parts.empty()) return fmt::format("dimension {} of the operand is left out", axis);
    std::sort(parts.begin(), parts.end(), [](const LayoutDim& a, const LayoutDim& b) { return a.divisor > b.divisor; });
    for (size_t i = 0; i < parts.size(); ++i) {
      if (i == 0 && parts[i].modulus != 0) return fmt::format("the outermost part of dimension {} has a modulus", axis);
      int64_t product = 0;
      if (i > 0 &&
          (__builtin_mul_overflow(parts[i].divisor, parts[i].modulus, &product) || product != parts[i - 1].divisor)) {
        return fmt::format("the parts of dimension {} do not follow each other: divisor {} times modulus {} is not {}",
                           axis, parts[i].divisor, parts[i].modulus, parts[i - 1].divisor);
      }
    }
    if (parts.back().divisor != 1) return fmt::format("no part of dimension {} has divisor 1", axis);
  }
  return std::nullopt;
}

}  // namespace

StageId Schedule::layout_transform(Tensor tensor, std::span<const LayoutDim> layout, PackWhen when) {
  return layout_transform(stage_of(tensor), layout, when);
}

StageId Schedule::layout_transform(StageId id, std::span<const LayoutDim> layout, PackWhen when) {
  constexpr auto kThis = Primitive::kLayoutTransform;
  check_stage(kThis, id);
  const ScheduleStage& s = stage(id);
  const TensorNode& source = *s.tensor.get();
  const Array<int64_t> shape = source.buffer->shape;
  if (const auto problem = layout_problem(layout, shape))
    fail(kThis, id, *problem, "cover each dimension as a mixed-radix number");
  if (s.output) fail(kThis, id, "it is an output, whose layout is the caller's");
  if (s.where != ScheduleStage::Where::kRoot) {
    fail(kThis, id,
         s.where == ScheduleStage::Where::kInlined ? "it was inlined into its readers"
                                                   : "it is computed inside other loops",
         "apply layout_transform before compute_at and compute_inline");
  }
  if (when == PackWhen::kAhead && !s.input)
    fail(kThis, id, "only an input can be packed ahead", "use PackWhen::kInside");
  InlineVector<StageId, 8> readers;
  for (StageId reader : order_) {
    const ScheduleStage& r = stage(reader);
    if (r.where == ScheduleStage::Where::kInlined || std::find(r.reads.begin(), r.reads.end(), id) == r.reads.end())
      continue;
    if (r.ahead) fail(kThis, id, fmt::format("'{}' is packed from it ahead already", name(reader)));
    if (r.tensorized >= 0)
      fail(kThis, id, fmt::format("its reader '{}' is tensorized", name(reader)), "transform before tensorize");
    for (const SchedulePrefetch& p : r.prefetches) {
      if (p.tensor == id)
        fail(kThis, id, fmt::format("its reader '{}' prefetches it", name(reader)), "transform before prefetch");
    }
    readers.push_back(reader);
  }
  if (readers.empty()) fail(kThis, id, "no stage reads it");

  InlineVector<Axis, 8> axes;
  InlineVector<Expr, 8> plain;
  InlineVector<int64_t, 8> packed_shape;
  for (size_t d = 0; d < shape.size(); ++d) plain.push_back({});
  for (const LayoutDim& dim : layout) {
    const int64_t parts = shape[dim.axis] / dim.divisor + (shape[dim.axis] % dim.divisor != 0);
    std::string hint =
        source.is_placeholder() ? "d" + std::to_string(dim.axis) : std::string(source.axes[dim.axis].var->name);
    if (dim.divisor > 1 || dim.modulus != 0) hint += dim.divisor > 1 ? 'o' : 'i';
    const Axis axis = {make_var(hint), dim.modulus != 0 ? dim.modulus : parts};
    axes.push_back(axis);
    packed_shape.push_back(axis.extent);
    const Expr part = Expr(axis.var) * dim.divisor;
    plain[dim.axis] = plain[dim.axis] ? plain[dim.axis] + part : part;
  }
  int64_t bytes = source.buffer->type.element_bytes();
  for (int64_t extent : packed_shape) {
    // Indices of a padded operand stay below 2^60, as those of any definition.
    if (__builtin_mul_overflow(bytes, std::max<int64_t>(extent, 1), &bytes) || bytes > INT64_MAX / 8) {
      fail(kThis, id, fmt::format("the packed shape [{}] is too large to be addressed", fmt::join(packed_shape, ", ")));
    }
  }
  Expr in_range;
  for (size_t i = 0; i < shape.size(); ++i) {
    int64_t covered = 1;
    for (size_t d = 0; d < layout.size(); ++d) {
      if (static_cast<size_t>(layout[d].axis) == i) covered *= packed_shape[d];
    }
    if (covered == shape[i]) continue;
    const Expr inside = plain[i] < shape[i];
    in_range = in_range ? logical_and(in_range, inside) : inside;
  }
  TensorNode packed;
  packed.buffer = new_buffer(source.buffer->name, "packed", source.buffer->type, packed_shape);
  packed.axes = make_array(std::span<const Axis>(axes));
  packed.body = make_load(source.buffer, plain);
  if (in_range) packed.body = make_select(in_range, packed.body, make_const(source.buffer->type, 0));
  packed.inputs = make_array({s.tensor});
  const StageId pack = add_stage(Tensor(make_node<TensorNode>(packed)), order_position(id) + 1, MemoryScope::kGlobal);
  for (StageId reader : readers) {
    redefine(reader, rewrite_loads(stage(reader).tensor->body, source.buffer, [&](const Load& load) {
               InlineVector<Expr, 8> indices;
               for (const LayoutDim& dim : layout) {
                 const Expr part = load.indices[dim.axis] / dim.divisor;
                 indices.push_back(dim.modulus != 0 ? part % dim.modulus : part);
               }
               return make_load(packed.buffer, indices);
             }));
  }
  if (when == PackWhen::kAhead) {
    mut(pack).ahead = true;
    mut(pack).packed_from = static_cast<int16_t>(id);
    std::replace(inputs_.begin(), inputs_.end(), id, pack);
  }
  std::vector<int64_t> args = {static_cast<int64_t>(id), static_cast<int64_t>(when)};
  for (const LayoutDim& dim : layout) {
    args.insert(args.end(), {dim.axis, dim.divisor, dim.modulus});
  }
  record(kThis, args);
  return pack;
}

}  // namespace tensmith
