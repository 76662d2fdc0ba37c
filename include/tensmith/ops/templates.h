#pragma once

#include "tensmith/ops/workload.h"
#include "tensmith/schedule/target.h"
#include "tensmith/schedule/task.h"

namespace tensmith {

/// The task of a workload: its template's config space, default config and schedules. Knob lists follow from shapes and
/// the target's registers and caches, never from a workload's name. A workload with nothing_to_schedule (an empty
/// output, or a reduction of nothing, which gives the reducer's identity) has a space of one config. Throws UserError
/// when no template handles the workload.
Task make_task(const Workload& workload, const Target& target, int threads);

/// CPU template of conv2d (direct convolution). Knobs:
///
/// | knob | meaning |
/// |---|---|
/// | nv | vectors of output channels in the register tile |
/// | tile_oh, tile_ow | output pixels in the register tile |
/// | oc_chunk | channel tiles that are done together (0: all) |
/// | row_chunk | rows of tiles that are done together (0: all) |
/// | outer_order | which of the chunk loops is outermost |
/// | inner_order | order of channel tile (k), row (h) and column (w) inside the chunks |
/// | reduce_order | input channels outside the kernel's rows and columns, or inside |
/// | unroll_c | input channels unrolled in the innermost reduction |
/// | unroll_s | kernel columns unrolled |
/// | pad | skip the taps that fall into the padding, or copy the data into a padded buffer first |
/// | prefetch_l1 | weights of the next step of the reduction are asked for |
/// | prefetch_l2 | weights of the next channel tile are asked for |
/// | parallel | chunk loops fused into the parallel one (with more than one thread) |
Task make_conv2d_task(const Conv2d& conv, const Target& target, int threads);

/// CPU template of matmul. Knobs:
///
/// | knob | meaning |
/// |---|---|
/// | tile_m, nv | rows and vectors of columns in the register tile |
/// | mc, nc, kc | rows, columns and reduction length of a cache block (0: all) |
/// | order | which of the row and column block loops is outermost; with more than one thread that one is parallel |
/// | inner_order | which of the row and column tile loops inside a block is the outer one |
/// | pack_a, pack_b | copy a block of the operand into the order in which the tile reads it |
/// | unroll_k | steps of the reduction unrolled |
/// | prefetch_b | how many unrolled steps ahead the second operand is asked for |
/// | prefetch_c | the output tile is asked for before its reduction starts |
Task make_matmul_task(const Matmul& matmul, const Target& target, int threads);

/// CPU template of any index expression: for each stage a tile of its last two dimensions, vectors, local accumulators
/// for reductions, unrolling, and inlining of elementwise stages. Knobs are called `STAGE.inline`, `STAGE.vectors`,
/// `STAGE.tile`, `STAGE.accumulate` and `STAGE.unroll`.
Task make_expression_task(const FreeExpression& expression, const Target& target, int threads);

}  // namespace tensmith
