#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tensmith/ir/ir.h"

/// The context of each loop of a nest (paper, section 4, Figure 3b): how long it is, what surrounds it, and how it
/// touches each buffer. This is what the features of boosted trees are computed from and what a TreeGRU embeds.

namespace tensmith {

/// Operations written in a statement's value, or in all statements of a loop's body; each counts once however often
/// its loop runs. Index arithmetic does not count.
struct OpCounts {
  double add = 0;  ///< additions and subtractions
  double mul = 0;
  double div = 0;      ///< divisions and modulos
  double compare = 0;  ///< minima, maxima, comparisons, and / or / not
  double fma = 0;      ///< of the additions, those with a product as operand (one instruction together)
  double call = 0;     ///< intrinsics such as exp
  double select = 0;
  double cast = 0;

  /// Arithmetic operations: a multiply-add counts as two.
  double total() const { return add + mul + div + compare + call + select; }
  OpCounts& operator+=(const OpCounts& other);
};

/// How the body of one loop touches one access, the loop itself included. Counts are exact for affine indices
/// whose terms do not overlap, as in matmul; where terms overlap (a convolution's window) each dimension counts the
/// interval that it covers; for div and mod of fused axes they are an estimate.
struct TouchContext {
  double stride = 0;  ///< elements of the flat buffer that one step moves on; a fraction where a division slows it down
  double mod = 0;     ///< steps after which a modulo wraps the index around, 0 when none does
  double count = 0;   ///< distinct elements touched while the loop runs once
  double reuse = 0;   ///< executions of the access while the loop runs once, per distinct element
  double lines = 0;   ///< distinct cache lines (64 bytes) touched
  /// At and outside of the innermost parallel loop: count and reuse relative to one thread's chunk (the body of
  /// that loop). 0 elsewhere.
  double thread_count = 0;
  double thread_reuse = 0;
};

enum class TouchKind : uint8_t { kStore, kLoad, kPrefetch };

/// One access written in the program.
struct Touch {
  Buffer buffer = nullptr;
  TouchKind kind = TouchKind::kLoad;
  bool gather = false;        ///< some index is not affine in the loops, even allowing for div and mod by constants
  uint16_t buffer_index = 0;  ///< the same for all touches of a buffer
  uint16_t alloc_depth = 0;   ///< loops around the allocation of the buffer: each of their iterations has a new one
  uint32_t statement = 0;
  uint32_t first_context = 0;  ///< in NestContext::contexts: one for each loop around it, outermost first
};

/// A store (or prefetch) and what surrounds it.
struct StatementContext {
  uint32_t first_touch = 0;  ///< in the order of the text: the stored element, then the loads of the value
  uint32_t end_touch = 0;
  uint32_t first_path = 0;  ///< in NestContext::paths: the loops around it, outermost first
  uint16_t depth = 0;       ///< number of loops around it
  bool is_prefetch = false;
  double iterations = 1;  ///< how often it is executed
  OpCounts ops;
  uint16_t guards = 0;       ///< conditions of branches and selects around it and in its value
  uint16_t guard_depth = 0;  ///< number of loops around the innermost branch
  double useful = 1;         ///< estimated share of the iterations that the branches let through
  bool updates = false;      ///< the value reads the stored element (an accumulation)
};

/// One loop; all extents and products are of iterations.
struct LoopContext {
  VarRef var = nullptr;
  LoopKind kind = LoopKind::kSerial;
  int32_t parent = -1;  ///< the loop around it
  uint16_t level = 0;   ///< loops around it
  double length = 0;
  double outer = 1;     ///< product of the lengths of the loops around it ("outer loop length" of Figure 3b)
  double topdown = 0;   ///< outer * length
  double bottomup = 0;  ///< most executions of one access in its body while it runs once
  OpCounts ops;         ///< of its body
  double flops = 0;     ///< arithmetic operations done while it runs once
  double bytes = 0;  ///< distinct cache lines of all buffers outside of registers touched while it runs once, in bytes
  uint32_t first_touch = 0;  ///< accesses in its body
  uint32_t end_touch = 0;
  uint32_t first_statement = 0;
  uint32_t end_statement = 0;
};

struct AllocationContext {
  Buffer buffer = nullptr;
  double bytes = 0;
};

/// Everything above, for one program. Loops, statements and touches are in order of appearance.
struct NestContext {
  std::vector<LoopContext> loops;
  std::vector<StatementContext> statements;
  std::vector<Touch> touches;
  std::vector<TouchContext> contexts;
  std::vector<uint32_t> paths;
  std::vector<AllocationContext> allocations;
  uint32_t branches = 0;     ///< If statements
  double touched_bytes = 0;  ///< of the whole program, as LoopContext::bytes

  /// The context of `touch` in the loop at `level` of its path.
  const TouchContext& context(const Touch& touch, size_t level) const { return contexts[touch.first_context + level]; }
  const LoopContext& loop_at(const StatementContext& statement, size_t level) const {
    return loops[paths[statement.first_path + level]];
  }
  std::span<const Touch> touches_of(const StatementContext& s) const {
    return std::span(touches).subspan(s.first_touch, s.end_touch - s.first_touch);
  }
  std::span<const Touch> touches_of(const LoopContext& l) const {
    return std::span(touches).subspan(l.first_touch, l.end_touch - l.first_touch);
  }
};

/// Computes loop contexts. Keep one for each thread: its memory is reused, so that a nest after the first costs no
/// allocation.
///
/// The program is a loop nest as lowering leaves it before partition, flattening, vectorizing and unrolling: loops in
/// schedule order with their annotations, those of extent 1 included; multi-dimensional accesses; branches where a
/// split does not divide. Later forms are accepted too. An extent that is not constant counts with its upper bound.
class NestAnalyzer {
 public:
  NestAnalyzer();
  ~NestAnalyzer();
  NestAnalyzer(NestAnalyzer&&) noexcept;
  NestAnalyzer& operator=(NestAnalyzer&&) noexcept;

  /// The result lives until the next call. It points to variables and buffers of `nest`, nothing else of it.
  const NestContext& analyze(const Function& nest);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// One line a loop, indented as the nest is, with the numbers of each access behind it.
std::string format_loop_context(const NestContext& nest);

}  // namespace tensmith
