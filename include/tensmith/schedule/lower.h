#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tensmith/ir/ir.h"
#include "tensmith/schedule/schedule.h"

namespace tensmith {

/// The passes of lowering, in their order. lower.cpp gives the reason for each one's place.
enum class Pass : uint8_t {
  kLoopNest,
  kPartition,
  kFlatten,
  kVectorize,
  kUnroll,
  kSimplify,
  kNarrow,
};
inline constexpr Pass kAllPasses[] = {Pass::kLoopNest, Pass::kPartition, Pass::kFlatten, Pass::kVectorize,
                                      Pass::kUnroll,   Pass::kSimplify,  Pass::kNarrow};

/// "loop-nest", "partition", ...: the names of `--print-after`.
std::string_view to_string(Pass pass);
/// Inverse; throws UserError that lists the names.
Pass parse_pass(std::string_view name);

struct LowerOptions {
  /// Called with each function after each pass, for dumps.
  std::function<void(Pass, const Function&)> after_pass;
  /// Check the invariants of ir/verify.h after each pass; a violation is an InternalError.
  bool verify = false;
};

/// What a schedule becomes: the function to time, and one function per operand that is packed ahead of time.
struct LoweredModule {
  Function main;
  std::vector<Function> packs;
};

/// Runs all passes. `name` is the main function's name; pack functions are called `name_pack_OPERAND`. Result and
/// intermediates live in the current arena. Throws ScheduleError or UserError when the schedule cannot be lowered (too
/// much unrolling, for example).
LoweredModule lower(const Schedule& schedule, std::string_view name, const LowerOptions& options = {});

/// The passes after the loop nest, on one function.
Function lower_function(Function function, const LowerOptions& options = {});

}  // namespace tensmith
