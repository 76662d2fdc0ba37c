#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/linear.h"
#include "tensmith/ir/arith/inline_vector.h"
#include "tensmith/schedule/bounds.h"
#include "tensmith/schedule/loop_nest.h"
#include "tensmith/schedule/schedule.h"

namespace tensmith {

/// Bound inference and loop nests of one schedule at a time. Keeps its working memory from one to the next.
///
/// plan() decides regions, extents, loop variables and guards (plan.cpp); emit_*() make statements (nest.cpp).
class NestBuilder {
 public:
  /// `only`: that stage alone (a pack function), else the main function.
  void plan(const Schedule& schedule, const NestOptions& options, std::optional<StageId> only = {});
  Function main_function(std::string_view name);
  Function pack_function(StageId stage);
  std::vector<StageBounds> bounds();
  /// Why the tensorized nest of a planned stage does not match its intrinsic, or nothing.
  std::string tensorize_problem(StageId stage);

 private:
  /// value < bound, or value >= 0.
  struct Guard {
    Linear value;
    int64_t bound;
    bool lower;
    bool domain;  ///< keeps inside the tensor, as opposed to inside the loop that was split
    bool reduce;
  };
  struct Condition {
    Expr expr;
    int position;               ///< of the loop right inside which it stands, -1: around all loops
    bool needs_others = false;  ///< may fail where those before it do not hold: it stands inside them
  };
  using Conditions = InlineVector<Condition, 16>;
  using Indices = InlineVector<Expr, 8>;
  struct Dim {
    Linear min;
    int64_t extent;
  };
  struct StagePlan {
    bool live = false;
    bool needed = false;      ///< some region was asked for
    int depth = 0;            ///< loops around the stage
    Buffer buffer = nullptr;  ///< as the nest has it
    std::vector<Dim> region;
    std::vector<int64_t> extents;     ///< per axis
    std::vector<int32_t> loop_atoms;  ///< per loop; -1 for a unit loop that is left out
    std::vector<VarRef> vars;         ///< per loop
    std::vector<int32_t> dims;        ///< atoms of the dimensions
    std::vector<int32_t> reduces;     ///< atoms of the reduction axes
    std::vector<Linear> offsets;      ///< element of the stage's own buffer, per dimension
    std::vector<Guard> guards;
  };

  // plan.cpp
  void find_live(std::optional<StageId> only);
  void plan_stage(StageId id);
  void make_buffer_of(StageId id);
  void axis_extents(const ScheduleStage& s, StagePlan& p) const;
  VarRef loop_var(const ScheduleStage& s, int16_t axis) const;
  /// The stage's axes in terms of loops; `loop_atoms` per loop position, -1 counting as 0. Appends guards.
  void axis_values(const ScheduleStage& s, const StagePlan& p, std::span<const int32_t> loop_atoms,
                   std::vector<Guard>& guards);
  void need_reads(StageId id, Expr e);
  void need(StagePlan& p, Buffer whole, std::span<const Expr> indices);
  /// Linear form of an index of the definition of `current_`.
  Linear linear(Expr e);
  StageId stage_of(Buffer buffer) const;

  // nest.cpp
  Stmt emit_stage(StageId id);
  Stmt emit_init(StageId id, int first_reduce, ReduceOp op);
  Stmt emit_inside(StageId id, int position, Stmt body);
  Stmt emit_prefetch(StageId id, const SchedulePrefetch& prefetch, int position);
  Stmt prefetch_region(StageId tensor, std::span<const Dim> region, int locality, int64_t& lines_left);
  Stmt emit_tensorized(StageId id, int position, ReduceOp op, Expr term, std::string& problem);
  Stmt guarded(std::span<const Condition> conditions, int position, Stmt body) const;
  Stmt guarded_by_data(std::span<const Condition> conditions, int position, Stmt body) const;
  std::optional<Stmt> update_of(StageId id, int first_reduce, Conditions& conditions, std::string* problem);
  /// The definition's expression with axes, reads and conditions as the nest has them.
  Expr value(Expr e);
  Expr read(StageId tensor, std::span<const Expr> indices);
  Expr comparison(BinaryOp op, Expr a, Expr b);
  Expr index_expr(Linear form);
  Condition guard_condition(const Guard& guard, const StagePlan& p);
  /// `e` without the selects that make a product vanish; their conditions are appended.
  static Expr strip_selects(Expr e, ArenaVector<Expr>& conditions);

  const Schedule* schedule_ = nullptr;
  NestOptions options_;
  LinearPool pool_;
  std::vector<StagePlan> plans_;
  std::vector<Linear> values_;  ///< per axis, of axis_values
  std::vector<int64_t> reach_;
  // Of emit_init.
  std::vector<int32_t> init_atoms_;
  std::vector<VarRef> init_vars_;
  std::vector<Guard> init_guards_;
  StageId current_{};
  int seen_depth_ = 0;  ///< deepest loop in the expressions made since it was last reset
  bool planning_ = false;
};

/// This thread's builder.
NestBuilder& nest_builder();

}  // namespace tensmith
