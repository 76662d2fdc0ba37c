#pragma once

#include <cstdint>

#include "tensmith/ir/ir.h"

namespace tensmith {

struct PartitionOptions {
  /// Copies of a loop body that splitting one outermost loop may lead to (3 along each of three loops).
  int max_copies = 27;
  /// Size of the copied code, in nodes; the body of an unrolled loop counts once an iteration.
  int64_t max_nodes = 60000;
};

/// Takes conditions out of hot loops. Conditions come from splits that do not divide (yo*4 + yi < 13), from padding
/// (select(0 <= oh + r - 1, A[..], 0)) and from skipped terms of a reduction (if 0 <= oh + r - 1: ...).
///
/// 1. A guard moves out to the loop whose variable it needs: a guard shared by all statements of a body stands around
/// them.
/// 2. Clip: a guard around the whole body of a loop that needs only its variable and outer ones becomes the loop's
/// bounds.
///    Serial loops take symbolic bounds, others only constant ones; vectorized loops keep theirs (it becomes a mask).
///    Where such a loop has a long body, it is preferred to copies of that body by step 3 in an outer loop: the rows of
///    a padded convolution differ in the bounds of the kernel's row loop only.
/// 3. Partition: where a condition deeper inside holds for all values of the inner variables in a range of the loop's
///    variable, the loop is split there, and the middle part runs without the condition. The edges are treated in the
///    same way; an edge of one iteration is no loop any more. A parallel loop stays one parallel loop (its threads
///    would wait between the parts): its body branches instead.
///
/// The result computes the same values in the same order. The middle comes first where the options limit the growth, so
/// that what is left of the conditions is in the edges. Works before storage flattening. Deterministic. Conditions that
/// read data stay. Each variable is bound once in the result.
Stmt partition_loops(Stmt s, const PartitionOptions& options = {});

}  // namespace tensmith
