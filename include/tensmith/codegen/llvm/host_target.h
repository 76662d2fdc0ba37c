#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tensmith/schedule/target.h"

/// Targets of the LLVM back end.
namespace tensmith {

/// Makes a target from `KIND[:key=value,...]`. Kind: `llvm`. Keys: `mcpu` (LLVM's CPU name, or `native`, the default:
/// this machine) and `mattr` (features to add or remove, `+avx512vnni`, `-fma`, several joined directly or by commas).
/// `to_string` of a target parses to the same target. The CPU's own features are the start, a feature brings those it
/// needs, and removing one removes those that need it. Cache sizes are this machine's for `native` and for a CPU of
/// this machine's name, otherwise those usual for the CPU.
/// Throws UserError that names the nearest known words for an unknown kind, key, CPU or feature; an unknown CPU is
/// never taken for a generic one.
Target parse_target(std::string_view text);

/// A line of `tensmith targets`.
struct TargetInfo {
  Target target;
  std::string note;        ///< "this machine" or what the CPU is known for
  bool runs_here = false;  ///< this machine can run its code
};

/// This machine first, then the CPUs that code is usually generated for, the oldest first.
std::vector<TargetInfo> list_targets();

/// Whether this machine can run code for the target. When it cannot and `why` is given, says which features it lacks.
bool runs_on_host(const Target& target, std::string* why = nullptr);

}  // namespace tensmith
