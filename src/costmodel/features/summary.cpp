#include "costmodel/features/summary.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tensmith {

namespace {

bool in_code(LoopKind kind) { return kind == LoopKind::kUnrolled || kind == LoopKind::kVectorized; }

/// Computes a Summary; `main` and the levels below belong to the hottest statement.
class Summarizer {
 public:
  Summarizer(const NestContext& nest, const Roles& roles, const Target& target) : nest_(nest), roles_(roles) {
    caches_[0] = static_cast<double>(target.l1_bytes);
    caches_[1] = static_cast<double>(target.l2_bytes);
    caches_[2] = static_cast<double>(target.l3_bytes);
    vector_bytes_ = target.vector_bytes;
    registers_ = target.vector_registers;
  }

  Summary run() {
    program();
    if (roles_.main != nullptr) {
      tile(*roles_.main);
      for (int r = 0; r < kRoles; ++r) role(r);
      main_statement(*roles_.main);
    }
    return out_;
  }

 private:
  /// Vector instructions that one operation of a statement on elements of a type becomes, relative to its iterations.
  double instructions_per_iteration(double vector_length, double element_bytes) const {
    if (vector_length <= 1) return 1;
    return std::ceil(vector_length * element_bytes / vector_bytes_) / vector_length;
  }

  double vector_length_of(const StatementContext& s) const {
    const int level = vector_level_of(nest_, s);
    return level < 0 ? 0 : nest_.loop_at(s, static_cast<size_t>(level)).length;
  }

  void program() {
    out_.statements = static_cast<double>(nest_.statements.size());
    out_.loops = static_cast<double>(nest_.loops.size());
    out_.branches = nest_.branches;
    out_.touched_bytes = nest_.touched_bytes;
    out_.allocations = static_cast<double>(nest_.allocations.size());
    for (const AllocationContext& a : nest_.allocations) {
      (a.buffer->scope == MemoryScope::kLocal ? out_.local_bytes : out_.heap_bytes) += a.bytes;
    }
    int parallel_end = 0;  // end of the statements in the last parallel region
    for (const LoopContext& loop : nest_.loops) {
      if (!in_code(loop.kind)) out_.loop_steps += loop.topdown;
      if (loop.kind == LoopKind::kParallel && static_cast<int>(loop.first_statement) >= parallel_end) {
        parallel_end = static_cast<int>(loop.end_statement);
        out_.parallel_regions += 1;
        out_.parallel_launches += loop.outer;
      }
    }
    double main_accesses = 0, scalar_flops = 0;
    for (const StatementContext& s : nest_.statements) {
      out_.depth = std::max(out_.depth, static_cast<double>(s.depth));
      if (s.is_prefetch) {
        out_.prefetches += 1;
        out_.prefetches_executed += s.iterations;
        continue;
      }
      const double element_bytes = stored_touch(nest_, s).buffer->type.bytes();
      const double vector_length = vector_length_of(s);
      const double instructions = s.iterations * instructions_per_iteration(vector_length, element_bytes);
      const double touches = s.end_touch - s.first_touch;
      out_.flops += s.iterations * s.ops.total();
      out_.vector_accesses += instructions * touches;
      out_.vector_operations += instructions * (s.ops.total() - s.ops.fma);
      out_.selects += s.ops.select;
      if (s.guards > 0) out_.branches_executed += instructions * s.guards;
      if (vector_length <= 1) scalar_flops += s.iterations * s.ops.total();
      if (&s == roles_.main) main_accesses = instructions * touches;
      double copies = 1;
      for (size_t level = 0; level < s.depth; ++level) {
        const LoopContext& loop = nest_.loop_at(s, level);
        if (loop.kind == LoopKind::kUnrolled) copies *= loop.length;
        if (loop.kind == LoopKind::kVectorized) copies *= std::ceil(loop.length * element_bytes / vector_bytes_);
      }
      out_.code_size += copies * (s.ops.total() - s.ops.fma + touches);
    }
    out_.scalar_share = out_.flops > 0 ? scalar_flops / out_.flops : 0;
    out_.other_share = out_.vector_accesses > 0 ? 1 - main_accesses / out_.vector_accesses : 0;
  }

  /// Finds the loops of the tile and those around it. Loops of one iteration belong to neither.
  void tile(const StatementContext& s) {
    tile_start_ = s.depth;
    int level = s.depth - 1;
    for (; level >= 0; --level) {
      const LoopContext& loop = nest_.loop_at(s, static_cast<size_t>(level));
      if (!in_code(loop.kind) && loop.length > 1) break;
      if (in_code(loop.kind)) tile_start_ = level;
    }
    int found = 0;
    for (; level >= 0 && found < kInnerLoops; --level) {
      if (nest_.loop_at(s, static_cast<size_t>(level)).length > 1) inner_[found++] = level;
    }
    for (int c = 0; c < kCacheLevels; ++c) fit_[c] = fit_level(s, caches_[c]);
  }

  /// The outermost loop around a statement whose data fits, or the depth when none does.
  int fit_level(const StatementContext& s, double cache) const {
    int level = 0;
    while (level < s.depth && nest_.loop_at(s, static_cast<size_t>(level)).bytes > cache) ++level;
    return level;
  }

  bool moves(const Touch& t, int level) const {
    return t.gather || nest_.context(t, static_cast<size_t>(level)).stride != 0;
  }

  /// Whether another iteration of a loop means other elements: it moves the access, or each iteration has a new buffer.
  bool renews(const Touch& t, int level) const { return level < t.alloc_depth || moves(t, level); }

  /// Bytes brought into a cache: one footprint of the loop that fits for each iteration of those around it, where the
  /// loops next around it that do not move the access find its data still there.
  double traffic(const StatementContext& s, const Touch& t, int fit) const {
    constexpr double kLine = 64;
    double bytes = (fit < s.depth ? nest_.context(t, static_cast<size_t>(fit)).lines : 1.0) * kLine;
    int level = fit - 1;
    while (level >= 0 && !moves(t, level)) --level;
    for (; level >= 0; --level) bytes *= nest_.loop_at(s, static_cast<size_t>(level)).length;
    return bytes;
  }

  void role(int which) {
    const Touch* t = roles_.touch[static_cast<size_t>(which)];
    if (t == nullptr) return;
    const bool of_main = which != static_cast<int>(Role::kOther);
    const StatementContext& s = *roles_.statement(which);
    RoleSummary& r = out_.roles[which];
    r.present = true;
    r.element_bytes = t->buffer->type.bytes();
    r.in_registers = t->buffer->scope == MemoryScope::kLocal;
    r.gather = t->gather;
    r.count = r.tile_count = r.tile_lines = 1;
    r.bytes = r.element_bytes;
    r.reuse = 1;
    if (s.depth > 0) {
      const TouchContext& whole = nest_.context(*t, 0);
      r.count = whole.count;
      r.bytes = whole.lines * 64;
      r.reuse = whole.reuse;
    }
    const int lane_level = of_main ? roles_.lane_level : vector_level_of(nest_, s);
    if (lane_level >= 0) r.lane_stride = std::abs(nest_.context(*t, static_cast<size_t>(lane_level)).stride);
    for (int level = 0; level < s.depth; ++level) {
      const double mod = nest_.context(*t, static_cast<size_t>(level)).mod;
      if (mod > 0 && (r.mod == 0 || mod < r.mod)) r.mod = mod;
    }
    if (of_main) {
      if (tile_start_ < s.depth) {
        r.tile_count = nest_.context(*t, static_cast<size_t>(tile_start_)).count;
        r.tile_lines = nest_.context(*t, static_cast<size_t>(tile_start_)).lines;
      }
      for (int i = 0; i < kInnerLoops && inner_[i] >= 0; ++i) {
        const double stride = std::abs(nest_.context(*t, static_cast<size_t>(inner_[i])).stride);
        r.inner_stride[i] = stride;
        const uint64_t bytes = static_cast<uint64_t>(std::min(stride * r.element_bytes, 0x1p62));
        if (bytes > 0) r.alias = std::max(r.alias, static_cast<double>(std::min(std::countr_zero(bytes), 16)));
      }
      const double lanes = std::max(1.0, vector_bytes_ / r.element_bytes);
      const bool wide = roles_.vector_level >= 0 && r.lane_stride == 1;
      r.tile_vectors = wide ? std::ceil(r.tile_count / lanes) : r.tile_count;
    }
    for (int c = 0; c < kCacheLevels; ++c) {
      if (r.in_registers) continue;
      r.traffic[c] = traffic(s, *t, of_main ? fit_[c] : fit_level(s, caches_[c]));
    }
  }

  void main_statement(const StatementContext& s) {
    const Touch& store = *roles_.touch[static_cast<size_t>(Role::kStore)];
    const double element_bytes = store.buffer->type.bytes();
    out_.iterations = s.iterations;
    out_.ops = s.ops;
    out_.vector_length = vector_length_of(s);
    out_.vector_fill = out_.vector_length * element_bytes / vector_bytes_;
    out_.guards = s.guards;
    out_.guard_inside = s.guard_depth > tile_start_ ? 1 : 0;
    out_.useful = s.useful;
    out_.in_registers = store.buffer->scope == MemoryScope::kLocal;
    count_accesses(s, store);

    out_.parallel_extent = out_.unroll = out_.tile_unroll = out_.tile_spatial = out_.tile_reduction = 1;
    for (int level = 0; level < s.depth; ++level) {
      const LoopContext& loop = nest_.loop_at(s, static_cast<size_t>(level));
      if (loop.kind == LoopKind::kParallel) out_.parallel_extent *= loop.length;
      if (loop.kind == LoopKind::kUnrolled) out_.unroll *= loop.length;
      if (level < tile_start_) continue;
      if (loop.kind == LoopKind::kUnrolled) out_.tile_unroll *= loop.length;
      (renews(store, level) ? out_.tile_spatial : out_.tile_reduction) *= loop.length;
    }
    out_.chunk_flops = out_.parallel_extent > 0 ? out_.flops / out_.parallel_extent : 0;
    for (int i = 0; i < kInnerLoops && inner_[i] >= 0; ++i) {
      out_.inner_length[i] = nest_.loop_at(s, static_cast<size_t>(inner_[i])).length;
      out_.inner_reduction[i] = !renews(store, inner_[i]);
    }
    out_.stationary = out_.tile_reduction;
    int level = tile_start_ - 1;
    for (; level >= 0; --level) {
      const double length = nest_.loop_at(s, static_cast<size_t>(level)).length;
      if (length > 1 && renews(store, level)) break;
      out_.stationary *= length;
    }
    out_.revisits = 1;
    for (; level >= 0; --level) {
      if (!renews(store, level)) out_.revisits *= nest_.loop_at(s, static_cast<size_t>(level)).length;
    }
    registers(s, element_bytes);
    caches(s);
    if (roles_.other != nullptr) {
      out_.other_iterations = roles_.other->iterations;
      out_.other_vector_length = vector_length_of(*roles_.other);
    }
  }

  void count_accesses(const StatementContext& s, const Touch& store) {
    for (const Touch& t : nest_.touches_of(s)) {
      if (t.kind == TouchKind::kLoad) out_.loads += 1;
      if (&t != &store && t.buffer == store.buffer) continue;  // an update moves as its store does
      if (t.gather) {
        out_.gathers += 1;
        continue;
      }
      if (roles_.lane_level < 0) continue;
      const double stride = std::abs(nest_.context(t, static_cast<size_t>(roles_.lane_level)).stride);
      (stride == 0 ? out_.broadcasts : stride == 1 ? out_.consecutive : out_.strided_accesses) += 1;
    }
  }

  void registers(const StatementContext& s, double element_bytes) {
    const RoleSummary& store = out_.roles[static_cast<int>(Role::kStore)];
    const RoleSummary& read0 = out_.roles[static_cast<int>(Role::kRead0)];
    const RoleSummary& read1 = out_.roles[static_cast<int>(Role::kRead1)];
    out_.tile_vectors = store.tile_vectors;
    out_.tile_loads = read0.tile_vectors + read1.tile_vectors;
    const double operations =
        out_.tile_spatial * out_.tile_reduction * instructions_per_iteration(out_.vector_length, element_bytes);
    out_.loads_per_operation = operations > 0 ? out_.tile_loads / operations : 0;
    // Of the operands, the shorter side of one reduction step is kept and the longer comes one at a time.
    const double steps = std::max(out_.tile_reduction, 1.0);
    double kept = 0;
    if (read0.present && read1.present) {
      kept = std::max(1.0, std::min(read0.tile_vectors, read1.tile_vectors) / steps) + 1;
    } else if (read0.present) {
      kept = 1;
    }
    const double needed = (s.updates ? store.tile_vectors : 1.0) + kept;
    out_.register_use = needed / registers_;
    out_.spills = needed > registers_;
  }

  void caches(const StatementContext& s) {
    for (int c = 0; c < kCacheLevels; ++c) {
      const int level = fit_[c];
      if (level < s.depth) {
        const LoopContext& loop = nest_.loop_at(s, static_cast<size_t>(level));
        out_.fit_outer[c] = loop.outer;
        out_.fit_flops[c] = loop.flops;
        out_.fit_ratio[c] = loop.bytes / caches_[c];
      } else {
        out_.fit_outer[c] = s.iterations;
        out_.fit_flops[c] = s.ops.total();
      }
      const double next = level > 0 ? nest_.loop_at(s, static_cast<size_t>(level - 1)).bytes : nest_.touched_bytes;
      out_.next_ratio[c] = next / caches_[c];
      double bytes = 0;
      for (int r = 0; r < static_cast<int>(Role::kOther); ++r) bytes += out_.roles[r].traffic[c];
      // Bytes for a thousand operations, which keeps small ratios apart after the logarithm.
      out_.traffic[c] = 1000 * bytes / std::max(out_.flops, 1.0);
    }
  }

  const NestContext& nest_;
  const Roles& roles_;
  double caches_[kCacheLevels];
  double vector_bytes_;
  double registers_;
  int tile_start_ = 0;
  int inner_[kInnerLoops] = {-1, -1, -1};
  int fit_[kCacheLevels] = {};
  Summary out_;
};

}  // namespace

Summary summarize(const NestContext& nest, const Roles& roles, const Target& target) {
  return Summarizer(nest, roles, target).run();
}

}  // namespace tensmith
