#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tensmith/ir/ir.h"
#include "tensmith/schedule/schedule.h"

/// Bound inference: which part of each stage is computed where, and how many times each loop runs.
///
/// Stages are visited readers first. The region that an iteration of the attach loop needs of a producer is, per
/// dimension, the union over all reads inside that loop of the values the index takes while the loops inside run over
/// all their iterations and those outside stand still: a lowest value in terms of the outer loops, and a constant
/// extent. Where two reads' lowest values differ by no constant, and where nothing is known of an index, the
/// dimension is needed whole. A region may reach beyond the tensor at its edges; the nest guards there.

namespace tensmith {

struct RegionDim {
  Expr min;
  int64_t extent = 0;
};

struct StageBounds {
  bool computed = false;          ///< false for inputs, inlined stages and what nothing reads
  std::vector<RegionDim> region;  ///< one per dimension of the tensor
  std::vector<VarRef> loop_vars;  ///< one per loop, as they occur in the regions of stages inside
  std::vector<int64_t> loop_extents;
};

/// Indexed by StageId.
std::vector<StageBounds> infer_bounds(const Schedule& schedule);

/// One line a stage: "P[yo*8 : 10, 0 : 64]".
std::string to_string(const Schedule& schedule, const std::vector<StageBounds>& bounds);

}  // namespace tensmith
