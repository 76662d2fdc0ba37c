#pragma once

#include "costmodel/features/columns.h"
#include "costmodel/features/roles.h"
#include "tensmith/schedule/target.h"

namespace tensmith {

inline constexpr int kCacheLevels = 3;
inline constexpr int kInnerLoops = 3;

/// One access that plays a role. "Tile" is what the register tile covers: the innermost loops that are unrolled or
/// vectorized.
struct RoleSummary {
  bool present = false;
  double element_bytes = 0;
  bool in_registers = false;  ///< a local buffer
  bool gather = false;
  double lane_stride = 0;                 ///< elements from one vector lane to the next
  double inner_stride[kInnerLoops] = {};  ///< in the loops around the tile, innermost first
  double mod = 0;                         ///< shortest wrap-around of a modulo
  double tile_count = 0;                  ///< distinct elements of a tile
  double tile_lines = 0;
  double tile_vectors = 0;  ///< vector registers that hold a tile's elements
  double count = 0;         ///< distinct elements of the whole nest
  double bytes = 0;         ///< of their cache lines
  double reuse = 0;
  double traffic[kCacheLevels] = {};  ///< bytes moved into each cache, estimated
  double alias = 0;  ///< power of two in the byte strides of the inner loops, at most 16: large ones share cache sets
};

/// What a whole program looks like, in numbers that mean the same for every operator.
struct Summary {
  // ---- program ----
  double flops = 0;
  double statements = 0, loops = 0, depth = 0;
  double vector_accesses = 0;    ///< loads and stores executed, vector ones counted once
  double vector_operations = 0;  ///< arithmetic instructions executed, vector ones counted once
  double scalar_share = 0;       ///< of the arithmetic, outside of vectorized loops
  double other_share = 0;        ///< of the accesses executed, outside of the main statement
  double loop_steps = 0;         ///< iterations of loops that are really loops
  double code_size = 0;          ///< instructions written out, after unrolling
  double local_bytes = 0, heap_bytes = 0, allocations = 0;
  double prefetches = 0, prefetches_executed = 0;
  double branches = 0, branches_executed = 0, selects = 0;
  double parallel_regions = 0, parallel_launches = 0;
  double touched_bytes = 0;
  // ---- main statement ----
  double iterations = 0;
  OpCounts ops;
  double loads = 0;
  double parallel_extent = 0, chunk_flops = 0;
  double vector_length = 0;  ///< lanes of the vectorized loop, 0 when there is none
  double vector_fill = 0;    ///< vector_length relative to the lanes of a register
  double strided_accesses = 0, gathers = 0, broadcasts = 0, consecutive = 0;
  double unroll = 0;                            ///< product of the unrolled loops around it
  double tile_unroll = 0;                       ///< of those in the tile
  double tile_spatial = 0, tile_reduction = 0;  ///< tile iterations that move the stored element, that do not
  double inner_length[kInnerLoops] = {};        ///< loops around the tile, innermost first
  bool inner_reduction[kInnerLoops] = {};
  double stationary = 0;    ///< iterations in a row that update the same tile of stored elements
  double revisits = 0;      ///< times that each tile is taken up again
  double tile_vectors = 0;  ///< vector registers that the stored elements of a tile need
  double tile_loads = 0;    ///< vectors read for a tile
  double loads_per_operation = 0;
  double register_use = 0;  ///< registers needed for a tile relative to those there are
  bool spills = false;
  double guards = 0, guard_inside = 0, useful = 0;
  bool in_registers = false;  ///< stores to a local buffer
  // ---- caches ----
  double fit_outer[kCacheLevels] = {};   ///< runs of the largest loop of the main statement whose data fits the cache
  double fit_flops[kCacheLevels] = {};   ///< arithmetic of one run
  double fit_ratio[kCacheLevels] = {};   ///< its data relative to the cache
  double next_ratio[kCacheLevels] = {};  ///< the same of the loop around it
  double traffic[kCacheLevels] = {};     ///< bytes into the cache an operation, over the main statement's roles
  double other_iterations = 0, other_vector_length = 0;
  RoleSummary roles[kRoles];
};

Summary summarize(const NestContext& nest, const Roles& roles, const Target& target);

/// Writes the columns of a summary.
template <typename Sink>
void write_summary(Sink& sink, const Summary& s) {
  constexpr const char* kInner[kInnerLoops] = {"inner0", "inner1", "inner2"};
  constexpr const char* kCache[kCacheLevels] = {"l1.", "l2.", "l3."};
  sink.prefix("program.");
  sink.log("flops", s.flops);
  sink.log("statements", s.statements);
  sink.log("loops", s.loops);
  sink.raw("depth", s.depth);
  sink.log("vector_accesses", s.vector_accesses);
  sink.log("vector_operations", s.vector_operations);
  sink.raw("scalar_share", s.scalar_share);
  sink.raw("other_share", s.other_share);
  sink.log("loop_steps", s.loop_steps);
  sink.log("code_size", s.code_size);
  sink.log("local_bytes", s.local_bytes);
  sink.log("heap_bytes", s.heap_bytes);
  sink.log("allocations", s.allocations);
  sink.log("prefetches", s.prefetches);
  sink.log("prefetches_executed", s.prefetches_executed);
  sink.log("branches", s.branches);
  sink.log("branches_executed", s.branches_executed);
  sink.log("selects", s.selects);
  sink.log("parallel_regions", s.parallel_regions);
  sink.log("parallel_launches", s.parallel_launches);
  sink.log("touched_bytes", s.touched_bytes);
  sink.prefix("main.");
  sink.log("iterations", s.iterations);
  sink.raw("add", s.ops.add);
  sink.raw("mul", s.ops.mul);
  sink.raw("div", s.ops.div);
  sink.raw("compare", s.ops.compare);
  sink.raw("fma", s.ops.fma);
  sink.raw("call", s.ops.call);
  sink.raw("select", s.ops.select);
  sink.raw("cast", s.ops.cast);
  sink.raw("loads", s.loads);
  sink.log("parallel_extent", s.parallel_extent);
  sink.log("chunk_flops", s.chunk_flops);
  sink.log("vector_length", s.vector_length);
  sink.log("vector_fill", s.vector_fill);
  sink.raw("strided_accesses", s.strided_accesses);
  sink.raw("gathers", s.gathers);
  sink.raw("broadcasts", s.broadcasts);
  sink.raw("consecutive", s.consecutive);
  sink.log("unroll", s.unroll);
  sink.log("tile_unroll", s.tile_unroll);
  sink.log("tile_spatial", s.tile_spatial);
  sink.log("tile_reduction", s.tile_reduction);
  for (int i = 0; i < kInnerLoops; ++i) {
    sink.prefix("main.", kInner[i], ".");
    sink.log("length", s.inner_length[i]);
    sink.raw("reduction", s.inner_reduction[i] ? 1 : 0);
  }
  sink.prefix("main.");
  sink.log("stationary", s.stationary);
  sink.log("revisits", s.revisits);
  sink.log("tile_vectors", s.tile_vectors);
  sink.log("tile_loads", s.tile_loads);
  sink.log("loads_per_operation", s.loads_per_operation);
  sink.log("register_use", s.register_use);
  sink.raw("spills", s.spills ? 1 : 0);
  sink.raw("guards", s.guards);
  sink.raw("guard_inside", s.guard_inside);
  sink.raw("useful", s.useful);
  sink.raw("in_registers", s.in_registers ? 1 : 0);
  for (int c = 0; c < kCacheLevels; ++c) {
    sink.prefix("main.", kCache[c]);
    sink.log("fit_outer", s.fit_outer[c]);
    sink.log("fit_flops", s.fit_flops[c]);
    sink.log("fit_ratio", s.fit_ratio[c]);
    sink.log("next_ratio", s.next_ratio[c]);
    sink.log("traffic", s.traffic[c]);
  }
  sink.prefix("other.");
  sink.log("iterations", s.other_iterations);
  sink.log("vector_length", s.other_vector_length);
  for (int i = 0; i < kRoles; ++i) {
    const RoleSummary& r = s.roles[i];
    sink.prefix(kRoleNames[i], ".");
    sink.raw("element_bytes", r.element_bytes);
    sink.raw("in_registers", r.in_registers ? 1 : 0);
    sink.raw("gather", r.gather ? 1 : 0);
    sink.log("lane_stride", r.lane_stride);
    for (int k = 0; k < kInnerLoops; ++k) {
      sink.prefix(kRoleNames[i], ".", kInner[k]);
      sink.log(".stride", r.inner_stride[k]);
    }
    sink.prefix(kRoleNames[i], ".");
    sink.log("mod", r.mod);
    sink.log("tile_count", r.tile_count);
    sink.log("tile_lines", r.tile_lines);
    sink.log("tile_vectors", r.tile_vectors);
    sink.log("count", r.count);
    sink.log("bytes", r.bytes);
    sink.log("reuse", r.reuse);
    for (int c = 0; c < kCacheLevels; ++c) {
      sink.prefix(kRoleNames[i], ".", kCache[c]);
      sink.log("traffic", r.traffic[c]);
    }
    sink.prefix(kRoleNames[i], ".");
    sink.raw("alias", r.alias);
  }
}

}  // namespace tensmith
