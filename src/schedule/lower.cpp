#include "tensmith/schedule/lower.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tensmith/ir/arith/simplify.h"
#include "tensmith/ir/passes/flatten_storage.h"
#include "tensmith/ir/passes/narrow_indices.h"
#include "tensmith/ir/passes/partition.h"
#include "tensmith/ir/passes/unroll.h"
#include "tensmith/ir/passes/vectorize.h"
#include "tensmith/ir/verify.h"
#include "tensmith/schedule/loop_nest.h"
#include "tensmith/support/error.h"

namespace tensmith {

std::string_view to_string(Pass pass) {
  switch (pass) {
    case Pass::kLoopNest: return "loop-nest";
    case Pass::kPartition: return "partition";
    case Pass::kFlatten: return "flatten";
    case Pass::kVectorize: return "vectorize";
    case Pass::kUnroll: return "unroll";
    case Pass::kSimplify: return "simplify";
    case Pass::kNarrow: return "narrow";
  }
  TENSMITH_UNREACHABLE("unknown pass");
}

Pass parse_pass(std::string_view name) {
  std::vector<std::string_view> names;
  for (Pass pass : kAllPasses) {
    if (to_string(pass) == name) {
      return pass;
    }
    names.push_back(to_string(pass));
  }
  throw UserError(fmt::format("unknown pass '{}'", name), fmt::format("passes are {}, or all", fmt::join(names, ", ")));
}

Function lower_function(Function f, const LowerOptions& options) {
  const auto done = [&](Pass pass, Stmt body) {
    f.body = body;
    if (options.verify) {
      verify(f, pass < Pass::kFlatten     ? VerifyStage::kLoopNest
                : pass < Pass::kVectorize ? VerifyStage::kFlat
                                          : VerifyStage::kVectorized);
    }
    if (options.after_pass) {
      options.after_pass(pass, f);
    }
  };
  const auto run = [&](Pass pass, auto&& transform) { done(pass, f.body ? transform(f.body) : f.body); };

  done(Pass::kLoopNest, f.body);
  // Guards are still conditions on loop variables, and each access still has one index per dimension, so that ranges
  // are small and clear. Later passes would only make them harder to see.
  run(Pass::kPartition, [](Stmt s) { return partition_loops(s); });
  // Before vectorizing, which needs the distance in memory between the lanes of an access.
  run(Pass::kFlatten, [](Stmt s) { return flatten_storage(s); });
  // Before unrolling: a loop body is vectorized once, not once a copy.
  run(Pass::kVectorize, [](Stmt s) { return vectorize_loops(s); });
  run(Pass::kUnroll, [](Stmt s) { return unroll_loops(s); });
  // Unrolled variables are constants now: guards of edge tiles fold away here.
  run(Pass::kSimplify, [](Stmt s) { return simplify(s); });
  // Last, since interval analysis sees the final index expressions.
  run(Pass::kNarrow, [](Stmt s) { return narrow_indices(s); });
  return f;
}

LoweredModule lower(const Schedule& schedule, std::string_view name, const LowerOptions& options) {
  LoweredModule module;
  module.main = lower_function(build_loop_nest(schedule, name), options);
  for (Function pack : build_pack_functions(schedule)) {
    pack.name = arena_string(fmt::format("{}_{}", name, pack.name));
    module.packs.push_back(lower_function(pack, options));
  }
  return module;
}

}  // namespace tensmith
