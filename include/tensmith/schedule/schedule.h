#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tensmith/schedule/tensor.h"
#include "tensmith/support/error.h"

namespace tensmith {

/// A primitive that cannot be applied. The message shows the stage's current loops and says why.
class ScheduleError : public UserError {
 public:
  using UserError::UserError;
};

/// Position of a stage in its schedule. Positions never change; stages made by primitives are appended.
enum class StageId : int16_t {};

constexpr size_t index_of(StageId stage) { return static_cast<size_t>(stage); }

/// An axis of a stage: of its domain, or made by split / fuse. Small and cheap to copy.
struct AxisId {
  StageId stage{};
  int16_t index = -1;
  bool operator==(const AxisId&) const = default;
};

enum class Primitive : uint8_t {
  kSplit,
  kFuse,
  kReorder,
  kUnroll,
  kVectorize,
  kParallel,
  kComputeAt,
  kComputeInline,
  kComputeRoot,
  kCacheRead,
  kCacheWrite,
  kSetScope,
  kRfactor,
  kTensorize,
  kPrefetch,
  kLayoutTransform,
};
std::string_view to_string(Primitive primitive);

/// Hardware intrinsics a loop nest can be replaced by (tensorize).
enum class TensorIntrinsic : uint8_t {
  /// acc[m, n] += a[m] * b[n] for n = 16 lanes of float32: one vector load of b, one broadcast multiply-add a row.
  kOuterProduct16F32,
};
std::string_view to_string(TensorIntrinsic intrinsic);

/// One dimension of a transformed layout: `axis / divisor % modulus` of the plain layout (modulus 0: no modulo).
/// NCHW16c from NCHW is {0,1,0}, {1,16,0}, {2,1,0}, {3,1,0}, {1,1,16}.
struct LayoutDim {
  int axis = 0;
  int64_t divisor = 1;
  int64_t modulus = 0;
};

/// How an operand in a transformed layout comes about.
enum class PackWhen : uint8_t {
  kInside,  ///< a stage of this program fills it, each time it runs
  kAhead,   ///< it is an input of the program; a second function packs it once
};

/// An axis and how it is related to the others. Axes are only ever appended to a stage.
struct ScheduleAxis {
  enum class From : uint8_t { kDomain, kSplitOuter, kSplitInner, kFuse };
  enum class Into : uint8_t {
    kLeaf,       ///< a loop
    kSplit,      ///< axes[to] is the outer part, axes[to + 1] the inner
    kFuseOuter,  ///< the outer part of axes[to]
    kFuseInner,  ///< the inner part of axes[to]
    kGone,       ///< a reduction axis that went to another stage (cache_write, rfactor)
  };
  From from = From::kDomain;
  Into into = Into::kLeaf;
  bool reduce = false;
  bool by_parts = false;  ///< a split into `factor` parts rather than parts of `factor`
  LoopKind kind = LoopKind::kSerial;
  int16_t a = -1;  ///< domain: which dimension or reduction axis; split: the axis it is part of; fuse: the outer axis
  int16_t b = -1;  ///< fuse: the inner axis
  int16_t to = -1;
  int64_t factor = 1;  ///< of a split
  /// Trip count when the whole tensor is computed. Inside another stage (compute_at) loops shrink to the region
  /// needed.
  int64_t extent = 0;
};

/// A prefetch that a stage carries, see Schedule::prefetch.
struct SchedulePrefetch {
  StageId tensor{};
  int16_t at = -1;
  AxisId shift;
  int64_t distance = 0;
  int locality = 3;
};

/// One operation of a schedule, or an input of the program. Its lists live in the arena, as its definition does.
struct ScheduleStage {
  enum class Where : uint8_t { kRoot, kInlined, kAt };
  Tensor tensor;                   ///< current definition; its buffer stays the stage's identity
  ArenaVector<ScheduleAxis> axes;  ///< the dimensions first, then the reduction axes, then those made by primitives
  ArenaVector<int16_t> leaves;     ///< the loops, outermost first
  ArenaVector<StageId> reads;      ///< in order of first appearance in the body
  ArenaVector<SchedulePrefetch> prefetches;
  Where where = Where::kRoot;
  AxisId at;  ///< with kAt: computed at the start of each iteration of this loop
  MemoryScope scope = MemoryScope::kGlobal;
  bool input = false;  ///< a placeholder: no body, no loops
  bool output = false;
  bool ahead = false;        ///< filled by a pack function of its own, an input of the main function
  int16_t packed_from = -1;  ///< with `ahead`: the stage of the plain operand
  int16_t tensorized = -1;   ///< axis whose nest is replaced by `intrinsic`
  TensorIntrinsic intrinsic{};
};

class StageRef;

/// How a Program is turned into loops: a list of stages, each with a tree of axes and an order of loops, changed by
/// primitives. A schedule never changes what is computed. Each primitive checks its own legality and throws
/// ScheduleError, leaving the schedule as it was; the applied primitives form the trace (trace.h).
///
/// Building one and applying some twenty primitives takes microseconds: axes and stages are small numbers, and names
/// are made only when something is printed. A copy is independent and cheap: a template applies what no knob
/// changes once, and copies that prototype for each config. New definitions (cache stages, packed operands) are nodes
/// of the current arena, so a copy must not outlive the arena of its prototype.
///
/// In the pictures below a stage C[y, x] = sum(k: A[y, k] * B[k, x]) is meant where nothing else is said.
class Schedule {
 public:
  /// Every stage at root, loops in the order of the definition: dimensions first, then reduction axes.
  explicit Schedule(const Program& program);

  // ---- loops of one stage -----------------------------------------------------------------------------------------

  /// Cuts a loop into parts of `factor` iterations.
  ///
  ///     for y in [0, 10):            for y.0 in [0, 3):
  ///       C[y] = ...           =>      for y.1 in [0, 4):
  ///                                      if y.0*4 + y.1 < 10: C[y.0*4 + y.1] = ...
  ///
  /// The guard is left out where the factor divides the extent. Errors: a factor below 1 or above the extent; an axis
  /// that is no loop any more; one that is annotated or that another stage is computed at.
  std::pair<AxisId, AxisId> split(AxisId axis, int64_t factor);

  /// As split, with the number of parts given: parts of ceil(extent / parts) iterations, and no part that would be
  /// empty.
  std::pair<AxisId, AxisId> split_nparts(AxisId axis, int64_t parts);

  /// Splits two loops and brings the four into the order y.0, x.0, y.1, x.1.
  ///
  ///     for y in [0, 64):            for y.0 in [0, 8):
  ///       for x in [0, 64):    =>      for x.0 in [0, 4):
  ///                                      for y.1 in [0, 8):
  ///                                        for x.1 in [0, 16):
  std::array<AxisId, 4> tile(AxisId y, AxisId x, int64_t factor_y, int64_t factor_x);

  /// Makes one loop of two, `inner` directly inside `outer`. Errors: not neighbours; a dimension with a reduction
  /// axis.
  ///
  ///     for y in [0, 8):             for y*x in [0, 128):
  ///       for x in [0, 16):    =>      C[y*x / 16, y*x % 16] = ...
  AxisId fuse(AxisId outer, AxisId inner);

  /// Puts the named loops into this order, in the places that they hold together; the others stay where they are.
  ///
  ///     for y: for x: for k:   =>   reorder({k, x})   =>   for y: for k: for x:
  ///
  /// A reduction is initialised before its outermost loop, in a copy of the dimension loops inside that. Errors: an
  /// axis named twice; a vectorized loop that would not be innermost; a stage that would be computed inside its
  /// reader's loop.
  void reorder(std::span<const AxisId> order);
  void reorder(std::initializer_list<AxisId> order) { reorder(std::span<const AxisId>(order.begin(), order.size())); }

  /// Marks a loop to be replaced by copies of its body.
  void unroll(AxisId axis);

  /// Marks the innermost loop to be done by vector operations. Errors: not innermost; a reduction axis.
  ///
  ///     for x in [0, 16): C[x] = A[x]   =>   C[ramp(0, 1, 16)] = A[ramp(0, 1, 16)]
  void vectorize(AxisId axis);

  /// Marks a loop whose iterations are shared among threads. Errors: a reduction axis; a parallel loop around or
  /// inside it, in this stage or in those it is computed in (fuse the loops instead).
  void parallel(AxisId axis);

  // ---- where a stage is computed ----------------------------------------------------------------------------------

  /// Computes the part of `producer` that one iteration of a loop of `consumer` needs at the start of that iteration,
  /// into a buffer of just that size.
  ///
  ///     for y: P[y] = f(y)           for y.0 in [0, 8):
  ///     for y.0 in [0, 8):     =>      for y in [0, 5): P[y] = f(y.0*4 + y)
  ///       for y.1 in [0, 4):           for y.1 in [0, 4):
  ///         C[..] = P[..] + P[.. + 1]    C[..] = P[y.1] + P[y.1 + 1]
  ///
  /// Loops of the producer shrink to the region, and factors of its splits with them. Errors: an output or input; a
  /// reader of `producer` outside that loop; the axis is vectorized or no loop; parallel loops inside each other; a
  /// cycle.
  void compute_at(StageId producer, AxisId axis);
  void compute_at(StageId producer, StageId consumer, AxisId axis);

  /// Replaces each read of the stage by its definition. Errors: a reduction, an output, an input; a stage that others
  /// are computed at.
  ///
  ///     B[i] = A[i] + 1;  C[i] = B[i] * 2     =>     C[i] = (A[i] + 1) * 2
  void compute_inline(StageId stage);

  /// Computes the whole stage before its readers start: the state at the beginning.
  void compute_root(StageId stage);

  // ---- stages that are added --------------------------------------------------------------------------------------

  /// A copy of a tensor, in its own layout, that `readers` (all, when none is named) read instead. Placed at root;
  /// compute_at makes it a copy of the part in use.
  ///
  ///     C[..] = A[y, k] * ..     =>     A_local[y, k] = A[y, k];  C[..] = A_local[y, k] * ..
  StageId cache_read(StageId tensor, MemoryScope scope, std::span<const StageId> readers = {});
  StageId cache_read(Tensor tensor, MemoryScope scope, std::span<const StageId> readers = {});

  /// Moves the definition of a stage to a new stage and leaves a copy from there behind. Errors: reduction axes that
  /// were split, reordered loops apart; stages already computed at its loops.
  ///
  ///     C[y, x] = sum(k: ..)     =>     C_local[y, x] = sum(k: ..);  C[y, x] = C_local[y, x]
  StageId cache_write(StageId stage, MemoryScope scope);

  /// Sets where the stage's buffer lives. Errors: inputs and outputs, which are the caller's.
  void set_scope(StageId stage, MemoryScope scope);

  /// Makes a loop over a reduction axis a dimension of a new stage that reduces over the rest; the stage then reduces
  /// over that dimension alone. `position` is where the dimension goes among those of the new stage.
  ///
  ///     split k into k.0, k.1; rfactor(C, k.0)   =>   C_rf[k.0, y, x] = sum(k.1: ..)
  ///                                                   C[y, x] = sum(k.0: C_rf[k.0, y, x])
  ///
  /// Computed at C's loop k.0, C_rf becomes a tile of partial sums: accumulation over blocks of k with accumulators
  /// that stay in registers. This re-orders the reduction. Errors: not a reduction loop; stages computed at a
  /// reduction loop.
  StageId rfactor(AxisId reduce_loop, int position = 0);

  /// Stores an operand in another layout, padded up with zeros, and lets all its readers read that.
  ///
  ///     W[k, c] with {0, 32, 0}, {1, 1, 0}, {0, 1, 32}  =>  W_packed[k / 32, c, k % 32]
  ///
  /// Each dimension of the operand must be covered exactly: in the order of falling divisors the first has no
  /// modulus, each other has divisor * modulus equal to the divisor before it, and the last has divisor 1. Errors: a
  /// layout that is not that; an output; with kAhead, a tensor that is no input.
  StageId layout_transform(StageId tensor, std::span<const LayoutDim> layout, PackWhen when);
  StageId layout_transform(Tensor tensor, std::span<const LayoutDim> layout, PackWhen when);

  // ---- hardware ---------------------------------------------------------------------------------------------------

  /// Replaces the loops from `axis` inwards by an intrinsic. For the outer product: `axis` and one loop of extent 16
  /// inside it (or `axis` alone), acc[m, n] += a[m] * b[n]. What does not match is told.
  ///
  ///     for m in [0, 6):                             C[m, ramp(0, 1, 16)] = C[m, ramp(0, 1, 16)]
  ///       for n in [0, 16): C[m, n] += A[m] * B[n] =>    + broadcast(A[m], 16) * B[ramp(0, 1, 16)]      for each m
  void tensorize(AxisId axis, TensorIntrinsic intrinsic);

  /// At the start of each iteration of the stage's loop `at`, asks for every cache line (64 bytes, at most
  /// kMaxPrefetchLines) of what such an iteration touches of `tensor` when the loop `shift`, `at` or one around it
  /// (an enclosing stage's too), is `distance` iterations further. `tensor` is read by the stage, or is the stage
  /// itself. `locality` 3 = L1, 2 = L2, 1 = L3.
  void prefetch(StageId stage, StageId tensor, AxisId at, AxisId shift, int64_t distance, int locality);
  void prefetch(StageId stage, Tensor tensor, AxisId at, AxisId shift, int64_t distance, int locality);
  static constexpr int64_t kMaxPrefetchLines = 64;

  // ---- looking at it ----------------------------------------------------------------------------------------------

  /// The stage of a tensor of the program or of this schedule. Throws ScheduleError when it is none.
  StageId stage_of(Tensor tensor) const;
  StageRef operator[](Tensor tensor);
  StageRef operator[](StageId stage);

  size_t stage_count() const { return stages_.size(); }
  const ScheduleStage& stage(StageId id) const { return stages_[index_of(id)]; }
  /// Inputs and stages, producers before readers.
  std::span<const StageId> order() const { return order_; }
  std::span<const StageId> inputs() const { return inputs_; }
  std::span<const StageId> outputs() const { return outputs_; }
  Tensor tensor(StageId id) const { return stage(id).tensor; }
  std::string_view name(StageId id) const { return stage(id).tensor->buffer->name; }

  /// Dimension `i` of a stage. Throws ScheduleError when there is none; so does reduce_axis.
  AxisId axis(StageId stage, size_t i) const;
  AxisId reduce_axis(StageId stage, size_t i) const;
  const ScheduleAxis& at(AxisId axis) const { return stage(axis.stage).axes[axis.index]; }
  /// Loops, outermost first.
  std::vector<AxisId> loops(StageId stage) const;
  /// Place of an axis among the loops of its stage, or -1.
  int loop_position(AxisId axis) const;

  /// "y.0", "k", "y*x.1": unique in its stage.
  std::string axis_name(AxisId axis) const;
  /// "y.0 (8) parallel, x.0 (4), k (64) reduction": for messages.
  std::string loops_text(StageId stage) const;
  /// One line a stage with its loops and its place.
  std::string describe() const;

  /// What the schedule was made for.
  const Program& program() const { return *program_; }
  /// The applied primitives as numbers: primitive, count, arguments, again and again. See trace.h.
  std::span<const int64_t> trace() const { return trace_; }

 private:
  ScheduleStage& mut(StageId id) { return stages_[index_of(id)]; }
  [[noreturn]] void fail(Primitive primitive, StageId stage, const std::string& why,
                         const std::string& hint = {}) const;
  [[noreturn]] void fail(Primitive primitive, AxisId axis, const std::string& why, const std::string& hint = {}) const;
  void check_stage(Primitive primitive, StageId stage) const;
  void check_computed(Primitive primitive, StageId stage) const;
  void check_loop(Primitive primitive, AxisId axis) const;
  void check_free_loop(Primitive primitive, AxisId axis) const;
  void check_nothing_inside(Primitive primitive, StageId stage) const;
  void check_reads_at_root(Primitive primitive, StageId stage) const;
  /// Empty when the stage's place makes sense, else what is wrong.
  std::string placement_problem(StageId producer) const;
  std::string parallel_problem(StageId stage) const;
  std::string prefetch_problem(StageId stage, const SchedulePrefetch& prefetch) const;
  /// The first stage that could not stay as it is, and why; empty when there is none. `except` needs no introduction.
  std::string misplaced(StageId except) const;
  int loops_around(StageId stage) const;
  bool has_parallel_loop(StageId stage) const;
  bool is_read(StageId stage) const;
  std::pair<AxisId, AxisId> split_axis(AxisId axis, int64_t factor, bool by_parts);
  void annotate(Primitive primitive, AxisId axis, LoopKind kind);
  int order_position(StageId stage) const;
  StageId add_stage(Tensor tensor, int order_position, MemoryScope scope);
  Buffer new_buffer(std::string_view base, std::string_view suffix, DataType type,
                    std::span<const int64_t> shape) const;
  void set_reads(ScheduleStage& stage, Expr body) const;
  void redefine(StageId stage, Expr body);
  void record(Primitive primitive, std::initializer_list<int64_t> args);
  void record(Primitive primitive, std::span<const int64_t> args);

  std::shared_ptr<const Program> program_;
  ArenaVector<ScheduleStage> stages_;
  ArenaVector<StageId> order_;
  ArenaVector<StageId> inputs_;
  ArenaVector<StageId> outputs_;
  ArenaVector<int64_t> trace_;
};

/// An axis named by its id or, for an axis of the definition, by the Axis it was written with.
struct AxisArg {
  AxisArg(AxisId axis) : id(axis) {}            // NOLINT: either names an axis
  AxisArg(const Axis& axis) : var(axis.var) {}  // NOLINT
  AxisId id;
  VarRef var = nullptr;
};

/// A stage of a schedule under change, so that code reads as in the paper's Figure 1:
///
///     auto [yo, xo, yi, xi] = s[C].tile(y, x, 8, 8);
///     s[C].reorder({yo, xo, k, yi, xi});
///
/// Each function is the Schedule's of the same name on this stage.
class StageRef {
 public:
  StageRef(Schedule& schedule, StageId id) : schedule_(&schedule), id_(id) {}
  StageId id() const { return id_; }
  operator StageId() const { return id_; }  // NOLINT: reads as the stage

  AxisId axis(size_t i) const { return schedule_->axis(id_, i); }
  AxisId reduce_axis(size_t i) const { return schedule_->reduce_axis(id_, i); }
  template <size_t N>
  std::array<AxisId, N> axes() const {
    std::array<AxisId, N> out;
    for (size_t i = 0; i < N; ++i) out[i] = axis(i);
    return out;
  }

  std::pair<AxisId, AxisId> split(AxisArg axis, int64_t factor) { return schedule_->split(find(axis), factor); }
  std::pair<AxisId, AxisId> split_nparts(AxisArg axis, int64_t n) { return schedule_->split_nparts(find(axis), n); }
  std::array<AxisId, 4> tile(AxisArg y, AxisArg x, int64_t factor_y, int64_t factor_x) {
    return schedule_->tile(find(y), find(x), factor_y, factor_x);
  }
  AxisId fuse(AxisArg outer, AxisArg inner) { return schedule_->fuse(find(outer), find(inner)); }
  StageRef& reorder(std::initializer_list<AxisArg> order);
  StageRef& unroll(AxisArg axis) { return schedule_->unroll(find(axis)), *this; }
  StageRef& vectorize(AxisArg axis) { return schedule_->vectorize(find(axis)), *this; }
  StageRef& parallel(AxisArg axis) { return schedule_->parallel(find(axis)), *this; }
  StageRef& compute_at(StageId consumer, AxisArg axis) {
    const AxisId loop = axis.var == nullptr ? axis.id : StageRef(*schedule_, consumer).find(axis);
    return schedule_->compute_at(id_, consumer, loop), *this;
  }
  StageRef& compute_inline() { return schedule_->compute_inline(id_), *this; }
  StageRef& compute_root() { return schedule_->compute_root(id_), *this; }
  StageRef& set_scope(MemoryScope scope) { return schedule_->set_scope(id_, scope), *this; }
  StageRef& tensorize(AxisArg axis, TensorIntrinsic intrinsic) {
    return schedule_->tensorize(find(axis), intrinsic), *this;
  }
  StageRef& prefetch(StageId tensor, AxisArg at, AxisArg shift, int64_t distance, int locality = 3) {
    const AxisId ahead = shift.var == nullptr ? shift.id : find(shift);
    return schedule_->prefetch(id_, tensor, find(at), ahead, distance, locality), *this;
  }

 private:
  AxisId find(const AxisArg& axis) const;

  Schedule* schedule_;
  StageId id_;
};

}  // namespace tensmith
