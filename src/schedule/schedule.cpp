#include "tensmith/schedule/schedule.h"

#include <fmt/format.h>

#include <algorithm>

#include "tensmith/ir/arith/inline_vector.h"
#include "tensmith/ir/visit.h"

namespace tensmith {

std::string_view to_string(Primitive primitive) {
  switch (primitive) {
    case Primitive::kSplit: return "split";
    case Primitive::kFuse: return "fuse";
    case Primitive::kReorder: return "reorder";
    case Primitive::kUnroll: return "unroll";
    case Primitive::kVectorize: return "vectorize";
    case Primitive::kParallel: return "parallel";
    case Primitive::kComputeAt: return "compute_at";
    case Primitive::kComputeInline: return "compute_inline";
    case Primitive::kComputeRoot: return "compute_root";
    case Primitive::kCacheRead: return "cache_read";
    case Primitive::kCacheWrite: return "cache_write";
    case Primitive::kSetScope: return "set_scope";
    case Primitive::kRfactor: return "rfactor";
    case Primitive::kTensorize: return "tensorize";
    case Primitive::kPrefetch: return "prefetch";
    case Primitive::kLayoutTransform: return "layout_transform";
  }
  TENSMITH_UNREACHABLE("unknown primitive");
}

std::string_view to_string(TensorIntrinsic intrinsic) {
  switch (intrinsic) {
    case TensorIntrinsic::kOuterProduct16F32: return "outer_product_16_f32";
  }
  TENSMITH_UNREACHABLE("unknown intrinsic");
}

Schedule::Schedule(const Program& program) : program_(std::make_shared<const Program>(program)) {
  auto add = [&](Tensor tensor) {
    const StageId id = add_stage(tensor, static_cast<int>(order_.size()), MemoryScope::kGlobal);
    ScheduleStage& stage = mut(id);
    stage.input = tensor->is_placeholder();
    stage.output = std::find(program.outputs.begin(), program.outputs.end(), tensor) != program.outputs.end();
    return id;
  };
  stages_.reserve(program.inputs.size() + program.stages.size() + 4);
  trace_.reserve(256);
  for (Tensor input : program.inputs) {
    inputs_.push_back(add(input));
  }
  for (Tensor stage : program.stages) {
    add(stage);
  }
  for (Tensor output : program.outputs) {
    outputs_.push_back(stage_of(output));
  }
}

StageId Schedule::stage_of(Tensor tensor) const {
  if (tensor) {
    for (size_t i = 0; i < stages_.size(); ++i) {
      if (stages_[i].tensor->buffer == tensor->buffer) return static_cast<StageId>(i);
    }
  }
  throw ScheduleError(tensor ? fmt::format("tensor '{}' is no stage of this schedule", tensor->buffer->name)
                             : std::string("an empty tensor is no stage of a schedule"),
                      "name a tensor of the program that the schedule was made for");
}

StageRef Schedule::operator[](Tensor tensor) { return {*this, stage_of(tensor)}; }
StageRef Schedule::operator[](StageId stage) {
  if (index_of(stage) >= stages_.size()) throw ScheduleError("this schedule has no such stage");
  return {*this, stage};
}

AxisId Schedule::axis(StageId id, size_t i) const {
  const size_t rank = stage(id).tensor->axes.size();
  if (i >= rank) {
    throw ScheduleError(fmt::format("stage '{}' has {} dimensions, none with number {}", name(id), rank, i));
  }
  return {id, static_cast<int16_t>(i)};
}

AxisId Schedule::reduce_axis(StageId id, size_t i) const {
  const ScheduleStage& s = stage(id);
  for (size_t k = 0; k < s.axes.size(); ++k) {
    const ScheduleAxis& axis = s.axes[k];
    if (axis.from == ScheduleAxis::From::kDomain && axis.reduce && axis.into != ScheduleAxis::Into::kGone &&
        axis.a == static_cast<int16_t>(i)) {
      return {id, static_cast<int16_t>(k)};
    }
  }
  throw ScheduleError(
      fmt::format("stage '{}' reduces over {} axes, none with number {}", name(id), s.tensor->reduce.size(), i));
}

std::vector<AxisId> Schedule::loops(StageId id) const {
  std::vector<AxisId> out;
  for (int16_t leaf : stage(id).leaves) {
    out.push_back({id, leaf});
  }
  return out;
}

int Schedule::loop_position(AxisId axis) const {
  const auto& leaves = stage(axis.stage).leaves;
  const auto it = std::find(leaves.begin(), leaves.end(), axis.index);
  return it == leaves.end() ? -1 : static_cast<int>(it - leaves.begin());
}

// ---- text -------------------------------------------------------------------------------------------------------

std::string Schedule::axis_name(AxisId id) const {
  const ScheduleStage& s = stage(id.stage);
  const ScheduleAxis& axis = s.axes[id.index];
  switch (axis.from) {
    case ScheduleAxis::From::kSplitOuter: return axis_name({id.stage, axis.a}) + ".0";
    case ScheduleAxis::From::kSplitInner: return axis_name({id.stage, axis.a}) + ".1";
    case ScheduleAxis::From::kFuse:
      return fmt::format("({}*{})", axis_name({id.stage, axis.a}), axis_name({id.stage, axis.b}));
    case ScheduleAxis::From::kDomain: break;
  }
  auto hint = [&](const ScheduleAxis& a) {
    return a.reduce ? s.tensor->reduce[a.a].var->name : s.tensor->axes[a.a].var->name;
  };
  if (axis.into == ScheduleAxis::Into::kGone) {
    return fmt::format("gone{}", id.index);
  }
  // Two axes of one definition may share a hint: the later ones get a number.
  int same = 0;
  for (int i = 0; i < id.index; ++i) {
    const ScheduleAxis& other = s.axes[i];
    same += other.from == ScheduleAxis::From::kDomain && other.into != ScheduleAxis::Into::kGone &&
            hint(other) == hint(axis);
  }
  return same == 0 ? std::string(hint(axis)) : fmt::format("{}_{}", hint(axis), same + 1);
}

std::string Schedule::loops_text(StageId id) const {
  std::string out;
  for (int16_t leaf : stage(id).leaves) {
    const ScheduleAxis& axis = stage(id).axes[leaf];
    out += fmt::format("{}{} ({})", out.empty() ? "" : ", ", axis_name({id, leaf}), axis.extent);
    if (axis.kind != LoopKind::kSerial) out += fmt::format(" {}", to_string(axis.kind));
    if (axis.reduce) out += " reduction";
  }
  return out.empty() ? "none" : out;
}

std::string Schedule::describe() const {
  std::string out;
  for (StageId id : order_) {
    const ScheduleStage& s = stage(id);
    out += fmt::format("{}: ", name(id));
    if (s.input) {
      out += "input\n";
      continue;
    }
    switch (s.where) {
      case ScheduleStage::Where::kInlined: out += "inlined\n"; continue;
      case ScheduleStage::Where::kAt: out += fmt::format("at {}.{}; ", name(s.at.stage), axis_name(s.at)); break;
      case ScheduleStage::Where::kRoot: out += s.ahead ? "packed ahead; " : "root; "; break;
    }
    if (s.scope != MemoryScope::kGlobal) out += fmt::format("{}; ", to_string(s.scope));
    out += fmt::format("loops {}\n", loops_text(id));
  }
  return out;
}

// ---- checks -----------------------------------------------------------------------------------------------------

void Schedule::fail(Primitive primitive, StageId id, const std::string& why, const std::string& hint) const {
  std::string message = fmt::format("{} '{}': {}", to_string(primitive), name(id), why);
  if (!stage(id).input) message += fmt::format(" (loops of {}: {})", name(id), loops_text(id));
  throw ScheduleError(message, hint);
}

void Schedule::fail(Primitive primitive, AxisId axis, const std::string& why, const std::string& hint) const {
  throw ScheduleError(fmt::format("{} '{}.{}': {} (loops of {}: {})", to_string(primitive), name(axis.stage),
                                  axis_name(axis), why, name(axis.stage), loops_text(axis.stage)),
                      hint);
}

void Schedule::check_stage(Primitive primitive, StageId id) const {
  if (index_of(id) >= stages_.size()) {
    throw ScheduleError(fmt::format("{}: this schedule has no stage {}", to_string(primitive), index_of(id)));
  }
}

void Schedule::check_computed(Primitive primitive, StageId id) const {
  check_stage(primitive, id);
  if (stage(id).input)
    fail(primitive, id, "it is an input and has no loops", "cache_read or layout_transform makes a stage of it");
  if (stage(id).where == ScheduleStage::Where::kInlined) {
    fail(primitive, id, "it was inlined into its readers", "apply the primitive to the readers");
  }
}

void Schedule::check_loop(Primitive primitive, AxisId axis) const {
  check_computed(primitive, axis.stage);
  const ScheduleStage& s = stage(axis.stage);
  if (axis.index < 0 || static_cast<size_t>(axis.index) >= s.axes.size()) {
    fail(primitive, axis.stage, fmt::format("it has no axis with number {}", axis.index));
  }
  switch (s.axes[axis.index].into) {
    case ScheduleAxis::Into::kLeaf: return;
    case ScheduleAxis::Into::kSplit:
      fail(primitive, axis, "it was split and is no loop any more", "name one of its parts");
    case ScheduleAxis::Into::kFuseOuter:
    case ScheduleAxis::Into::kFuseInner:
      fail(primitive, axis, "it was fused and is no loop any more", "name the fused axis");
    case ScheduleAxis::Into::kGone:
      fail(primitive, axis, "this reduction axis moved to another stage",
           "name the axis of the stage that reduces now");
  }
}

void Schedule::check_free_loop(Primitive primitive, AxisId axis) const {
  check_loop(primitive, axis);
  const ScheduleStage& s = stage(axis.stage);
  if (s.axes[axis.index].kind != LoopKind::kSerial) {
    fail(primitive, axis, fmt::format("it is {} already", to_string(s.axes[axis.index].kind)),
         "shape the loops first and annotate them last");
  }
  if (s.tensorized >= 0 && loop_position(axis) >= loop_position({axis.stage, s.tensorized})) {
    fail(primitive, axis, fmt::format("it is part of the nest that was replaced by {}", to_string(s.intrinsic)));
  }
  for (StageId other : order_) {
    if (stage(other).where == ScheduleStage::Where::kAt && stage(other).at == axis && primitive != Primitive::kUnroll &&
        primitive != Primitive::kParallel) {
      fail(primitive, axis, fmt::format("stage '{}' is computed at it", name(other)),
           "shape the loops before compute_at");
    }
    for (const SchedulePrefetch& p : stage(other).prefetches) {
      if ((p.shift == axis || AxisId{other, p.at} == axis) && primitive != Primitive::kUnroll &&
          primitive != Primitive::kParallel) {
        fail(primitive, axis, "a prefetch is placed at it or follows it", "shape the loops before prefetch");
      }
    }
  }
}

void Schedule::check_nothing_inside(Primitive primitive, StageId id) const {
  for (StageId other : order_) {
    if (stage(other).where == ScheduleStage::Where::kAt && stage(other).at.stage == id) {
      fail(primitive, id, fmt::format("stage '{}' is computed inside its loops", name(other)),
           fmt::format("apply {} before compute_at", to_string(primitive)));
    }
  }
  if (!stage(id).prefetches.empty() || stage(id).tensorized >= 0) {
    fail(primitive, id, "it has a prefetch or a tensorized nest",
         fmt::format("apply {} before prefetch and tensorize", to_string(primitive)));
  }
}

void Schedule::check_reads_at_root(Primitive primitive, StageId id) const {
  for (StageId producer : stage(id).reads) {
    if (stage(producer).where == ScheduleStage::Where::kAt) {
      fail(primitive, id, fmt::format("stage '{}', which it reads, is computed inside other loops", name(producer)),
           fmt::format("apply {} before compute_at", to_string(primitive)));
    }
  }
}

std::string Schedule::placement_problem(StageId producer) const {
  const ScheduleStage& p = stage(producer);
  if (p.where != ScheduleStage::Where::kAt) return {};
  const int place = loop_position(p.at);
  if (place < 0) return fmt::format("{}.{} is no loop", name(p.at.stage), axis_name(p.at));
  for (StageId reader : order_) {
    const ScheduleStage& r = stage(reader);
    if (r.where == ScheduleStage::Where::kInlined ||
        std::find(r.reads.begin(), r.reads.end(), producer) == r.reads.end()) {
      continue;
    }
    for (StageId at = reader; at != p.at.stage;) {
      const ScheduleStage& s = stage(at);
      const bool attached = s.where == ScheduleStage::Where::kAt;
      if (!attached || (s.at.stage == p.at.stage && loop_position(s.at) < place)) {
        return fmt::format("its reader '{}' is computed outside loop {}.{}", name(reader), name(p.at.stage),
                           axis_name(p.at));
      }
      at = s.at.stage;
    }
  }
  return {};
}

bool Schedule::has_parallel_loop(StageId id) const {
  for (int16_t leaf : stage(id).leaves) {
    if (stage(id).axes[leaf].kind == LoopKind::kParallel) return true;
  }
  return false;
}

std::string Schedule::parallel_problem(StageId id) const {
  const ScheduleStage& s = stage(id);
  if (s.input || s.where == ScheduleStage::Where::kInlined || !has_parallel_loop(id)) return {};
  int count = 0;
  for (int16_t leaf : s.leaves) {
    count += s.axes[leaf].kind == LoopKind::kParallel;
  }
  if (count > 1) return fmt::format("'{}' would have parallel loops inside each other", name(id));
  for (StageId at = id; stage(at).where == ScheduleStage::Where::kAt; at = stage(at).at.stage) {
    const ScheduleStage& outer = stage(stage(at).at.stage);
    const int place = loop_position(stage(at).at);
    for (int i = 0; i <= place; ++i) {
      if (outer.axes[outer.leaves[i]].kind == LoopKind::kParallel) {
        return fmt::format("the parallel loop of '{}' would be inside the parallel loop {}.{}", name(id),
                           name(stage(at).at.stage), axis_name({stage(at).at.stage, outer.leaves[i]}));
      }
    }
  }
  return {};
}

std::string Schedule::misplaced(StageId except) const {
  for (StageId id : order_) {
    const ScheduleStage& s = stage(id);
    if (s.input || s.where == ScheduleStage::Where::kInlined) continue;
    if (std::string nested = parallel_problem(id); !nested.empty()) return nested;
    std::string problem = placement_problem(id);
    for (size_t i = 0; i < s.prefetches.size() && problem.empty(); ++i) {
      problem = prefetch_problem(id, s.prefetches[i]);
      if (!problem.empty()) problem = fmt::format("a prefetch in '{}' could not stay: {}", name(id), problem);
    }
    if (problem.empty()) continue;
    return id == except ? problem : fmt::format("stage '{}' could not stay at its place: {}", name(id), problem);
  }
  return {};
}

bool Schedule::is_read(StageId id) const {
  for (StageId reader : order_) {
    const ScheduleStage& r = stage(reader);
    if (r.where != ScheduleStage::Where::kInlined && std::find(r.reads.begin(), r.reads.end(), id) != r.reads.end()) {
      return true;
    }
  }
  return false;
}

// ---- building blocks of primitives --------------------------------------------------------------------------------

int Schedule::order_position(StageId id) const {
  return static_cast<int>(std::find(order_.begin(), order_.end(), id) - order_.begin());
}

StageId Schedule::add_stage(Tensor tensor, int position, MemoryScope scope) {
  const auto id = static_cast<StageId>(stages_.size());
  ScheduleStage& s = stages_.emplace_back();
  s.tensor = tensor;
  s.scope = scope;
  const size_t rank = tensor->axes.size();
  const size_t count = rank + tensor->reduce.size();
  s.axes.reserve(count + 8);
  s.leaves.reserve(count + 4);
  for (size_t i = 0; i < count; ++i) {
    ScheduleAxis axis;
    axis.reduce = i >= rank;
    axis.a = static_cast<int16_t>(axis.reduce ? i - rank : i);
    axis.extent = axis.reduce ? tensor->reduce[i - rank].extent : tensor->axes[i].extent;
    s.axes.push_back(axis);
    s.leaves.push_back(static_cast<int16_t>(i));
  }
  order_.insert(order_.begin() + position, id);
  set_reads(s, tensor->body);
  return id;
}

Buffer Schedule::new_buffer(std::string_view base, std::string_view suffix, DataType type,
                            std::span<const int64_t> shape) const {
  std::string text(base);
  text += '_';
  text += suffix;
  const size_t plain = text.size();
  auto taken = [&] {
    return std::any_of(stages_.begin(), stages_.end(),
                       [&](const ScheduleStage& s) { return s.tensor->buffer->name == text; });
  };
  for (int n = 2; taken(); ++n) {
    text.resize(plain);
    text += fmt::format("_{}", n);
  }
  return make_buffer(text, type, shape);
}

void Schedule::set_reads(ScheduleStage& s, Expr body) const {
  s.reads.clear();
  if (!body) return;
  walk(body, [&](Expr e) {
    const auto* load = e.as<Load>();
    if (load == nullptr) return;
    for (size_t i = 0; i < stages_.size(); ++i) {
      if (stages_[i].tensor->buffer != load->buffer) continue;
      const auto id = static_cast<StageId>(i);
      if (std::find(s.reads.begin(), s.reads.end(), id) == s.reads.end()) s.reads.push_back(id);
      return;
    }
    TENSMITH_UNREACHABLE("a stage reads a buffer that is no stage: " + std::string(load->buffer->name));
  });
}

void Schedule::redefine(StageId id, Expr body) {
  ScheduleStage& s = mut(id);
  TensorNode node = *s.tensor.get();
  node.body = body;
  const auto* reduce = body.as<Reduce>();
  node.reduce = reduce != nullptr ? reduce->axes : Array<ReduceAxis>();
  set_reads(s, body);
  InlineVector<Tensor, 8> inputs;
  for (StageId read : s.reads) {
    inputs.push_back(tensor(read));
  }
  node.inputs = make_array(std::span<const Tensor>(inputs));
  s.tensor = Tensor(make_node<TensorNode>(node));
}

void Schedule::record(Primitive primitive, std::span<const int64_t> args) {
  trace_.push_back(static_cast<int64_t>(primitive));
  trace_.push_back(static_cast<int64_t>(args.size()));
  trace_.insert(trace_.end(), args.begin(), args.end());
}

void Schedule::record(Primitive primitive, std::initializer_list<int64_t> args) {
  record(primitive, std::span<const int64_t>(args.begin(), args.size()));
}

// ---- StageRef -----------------------------------------------------------------------------------------------------

AxisId StageRef::find(const AxisArg& arg) const {
  if (arg.var == nullptr) {
    if (arg.id.index >= 0 && arg.id.stage != id_) {
      throw ScheduleError(fmt::format("axis {}.{} is used with stage '{}'", schedule_->name(arg.id.stage),
                                      schedule_->axis_name(arg.id), schedule_->name(id_)));
    }
    return arg.id;
  }
  const TensorNode& node = *schedule_->tensor(id_).get();
  for (size_t i = 0; i < node.axes.size(); ++i) {
    if (node.axes[i].var == arg.var) return axis(i);
  }
  for (size_t i = 0; i < node.reduce.size(); ++i) {
    if (node.reduce[i].var == arg.var) return reduce_axis(i);
  }
  throw ScheduleError(fmt::format("'{}' is no axis of stage '{}' (its loops: {})", arg.var->name, schedule_->name(id_),
                                  schedule_->loops_text(id_)));
}

StageRef& StageRef::reorder(std::initializer_list<AxisArg> order) {
  std::vector<AxisId> ids;
  for (const AxisArg& axis : order) {
    ids.push_back(find(axis));
  }
  schedule_->reorder(ids);
  return *this;
}

}  // namespace tensmith
