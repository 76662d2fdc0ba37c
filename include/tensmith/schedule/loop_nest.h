#pragma once

#include <string_view>
#include <vector>

#include "tensmith/ir/ir.h"
#include "tensmith/schedule/schedule.h"

/// From a schedule to a loop AST with multi-dimensional accesses: the first step of lowering, and all the lowering
/// that a candidate gets before its features are taken.

namespace tensmith {

struct NestOptions {
  /// Leaves out loops of one iteration.
  bool drop_unit_loops = false;
};

/// The loops of the whole program, stage after stage.
///
/// * Loops run over [0, extent) in the order of the stage's leaves and carry their annotation, as does each copy of
///   them.
/// * A stage computed at a loop stands at the start of that loop's body, inside an Allocate of its buffer, which
///   holds the region one iteration needs (bounds.h). Stages at root have their whole buffer allocated around
///   everything from them on.
/// * A reduction is initialised before its outermost reduction loop, in a copy of the dimension loops inside that.
///   A reduction over nothing is its reducer's identity; a stage without elements has no statements.
/// * `If` guards stand as far out as their variables allow. They are there where a factor does not divide, and where
///   the region of a stage computed elsewhere reaches beyond its tensor; what interval analysis of the loops proves
///   is left out.
/// * A term of a sum that is zero when a `select` takes its other arm (padding) is skipped by an `If` instead.
/// * Inputs: those of the program, with operands packed ahead in place of the plain ones. Outputs: the program's.
///
/// Nodes are made in the current arena. Throws ScheduleError when a tensorized nest does not fit the extents that its
/// loops have in the region computed. Thread-safe for different schedules; working memory is kept per thread.
Function build_loop_nest(const Schedule& schedule, std::string_view name, const NestOptions& options = {});

/// One function for each operand packed ahead, in the order of the main function's inputs: "pack_NAME", from the
/// plain operand to the packed one.
std::vector<Function> build_pack_functions(const Schedule& schedule);

}  // namespace tensmith
