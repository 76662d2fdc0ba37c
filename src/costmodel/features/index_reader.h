#pragma once

#include <cstdint>
#include <vector>

#include "costmodel/features/linear_index.h"
#include "tensmith/costmodel/loop_context.h"
#include "tensmith/ir/ir.h"

namespace tensmith {

/// Reads index expressions, extents and conditions under the loops and lets around the current statement.
class IndexReader {
 public:
  /// `loops` are those seen so far, `path` the positions of those around the current statement; both outlive the
  /// reader.
  IndexReader(const std::vector<LoopContext>& loops, const std::vector<uint32_t>& path) : loops_(loops), path_(path) {}

  void clear();
  void push_let(VarRef var, Expr value);
  void pop_let() { lets_.pop_back(); }

  /// Adds `scale` times the value of `e` to `out`. Loads in `e` are appended to `loads`.
  void read(Expr e, double scale, LinearIndex& out);
  /// Upper bound of an extent.
  double extent(Expr e);
  /// Estimated share of the surrounding iterations in which `condition` holds, between 0.01 and 1.
  double true_share(Expr condition);

  /// Loads found in what was read, those in a load's own indices left out; whoever wants them clears the list before.
  std::vector<const Load*> loads;

 private:
  void read_var(VarRef var, double scale, LinearIndex& out);
  void read_binary(const Binary& n, double scale, LinearIndex& out);
  void read_either(Expr a, Expr b, double scale, LinearIndex& out);
  void read_load(const Load& n, LinearIndex& out);

  const std::vector<LoopContext>& loops_;
  const std::vector<uint32_t>& path_;
  std::vector<VarRef> lets_;
  std::vector<LinearIndex> values_;  ///< of the lets; kept for reuse beyond their number
};

}  // namespace tensmith
