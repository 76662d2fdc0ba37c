#pragma once

#include <string>
#include <string_view>

#include "tensmith/schedule/schedule.h"

/// The primitives applied to a schedule as text, one a line, and back:
///
///     layout_transform W ahead 0/32 1 0%32 -> W_packed
///     split C.y 8 -> C.y.0 C.y.1
///     split C.x parts 4 -> C.x.0 C.x.1
///     fuse C.y.0 C.x.0 -> C.(y.0*x.0)
///     reorder C (y.0*x.0) k y.1 x.1
///     vectorize C.x.1
///     compute_at P C.y.0
///     cache_read A local C -> A_local
///     rfactor C.k.0 at 0 -> C_rf
///     prefetch C B at C.k by C.k 8 L1
///
/// Axes have the names of Schedule::axis_name. Names right of the arrow may be chosen freely in hand-written text:
/// later lines use them. An arrow may be left out, empty lines and lines that start with # are skipped.

namespace tensmith {

std::string print_trace(const Schedule& schedule);

/// A fresh schedule of the program with the primitives applied. Throws UserError, which names the line, the word and
/// the reason, for text that is no trace and for a primitive that cannot be applied.
Schedule replay_trace(const Program& program, std::string_view text);
/// The same onto a schedule that exists; it is left half-way when an error is thrown.
void replay_trace(Schedule& schedule, std::string_view text);

}  // namespace tensmith
