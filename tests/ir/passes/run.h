#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tensmith/ir/interpret.h"
#include "tensmith/ir/visit.h"
#include "tensmith/support/rng.h"

namespace tensmith::testing {

/// Runs a function of float32 buffers on small whole numbers drawn from `seed` and returns its outputs, one after the
/// other. Outputs start out as -1000, so that an element that is not written shows.
inline std::vector<float> run(const Function& f, uint64_t seed) {
  Rng rng(seed);
  std::vector<std::vector<float>> buffers;
  for (Buffer b : f.inputs) {
    buffers.emplace_back(static_cast<size_t>(buffer_size(b)));
    for (float& x : buffers.back()) x = static_cast<float>(rng.uniform_int(int64_t{-4}, int64_t{4}));
  }
  for (Buffer b : f.outputs) buffers.emplace_back(static_cast<size_t>(buffer_size(b)), -1000.0f);
  std::vector<void*> arguments;
  for (std::vector<float>& b : buffers) arguments.push_back(b.data());
  interpret(f, arguments, {.shuffle_seed = seed});
  std::vector<float> out;
  for (size_t i = f.inputs.size(); i < buffers.size(); ++i) out.insert(out.end(), buffers[i].begin(), buffers[i].end());
  return out;
}

/// What stands between stores and the nearest serial or parallel loop around them.
struct GuardCount {
  int stores = 0;
  int guarded = 0;  ///< stores under an if or with a select, inside that loop
  double work = 0;  ///< executions of stores, conditions aside
  double guarded_work = 0;
  int parallel = 0;  ///< parallel loops
};

inline bool has_select(Expr e) {
  bool found = e.kind() == ExprKind::kSelect;
  for_each_child(e, [&](Expr c) { found = found || has_select(c); });
  return found;
}

inline void count_guards(Stmt s, bool in_guard, bool in_loop, double trips, GuardCount& out) {
  if (const auto* loop = s.as<For>()) {
    out.parallel += loop->loop_kind == LoopKind::kParallel;
    // A condition around a vectorized or unrolled loop is inside the hot loop still.
    const bool opens = loop->loop_kind == LoopKind::kSerial || loop->loop_kind == LoopKind::kParallel;
    const auto extent = static_cast<double>(as_const_int(loop->extent).value_or(1));
    count_guards(loop->body, opens ? false : in_guard, in_loop || opens, trips * extent, out);
    return;
  }
  if (const auto* branch = s.as<If>()) {
    count_guards(branch->then_case, in_loop, in_loop, trips, out);
    if (branch->else_case) count_guards(branch->else_case, in_loop, in_loop, trips, out);
    return;
  }
  if (const auto* store = s.as<Store>()) {
    const bool guarded = in_guard || has_select(store->value);
    ++out.stores;
    out.guarded += guarded;
    out.work += trips;
    out.guarded_work += guarded ? trips : 0;
    return;
  }
  for_each_child(
      s, [](Expr) {}, [&](Stmt c) { count_guards(c, in_guard, in_loop, trips, out); });
}

inline GuardCount count_guards(Stmt s) {
  GuardCount out;
  if (s) count_guards(s, false, false, 1, out);
  return out;
}

}  // namespace tensmith::testing
