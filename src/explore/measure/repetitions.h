#pragma once

#include <functional>
#include <vector>

namespace tensmith {

struct RepetitionOptions {
  double min_seconds = 0.02;  ///< total time of the repetitions, as far as the greatest number of them allows
  /// A call slower than this, and not short, is timed once only; 0: no such limit.
  double slow_seconds = 0.0;
  double cold_seconds = 0.0;  ///< what the first call took
};

/// Times calls: 3 to 20 repetitions, each of so many calls that the clock's own cost does not show. `timed(n)` makes n
/// calls and returns the seconds of one. Returns the seconds of one call, an entry a repetition.
std::vector<double> time_repetitions(const RepetitionOptions& options, const std::function<double(int calls)>& timed);

}  // namespace tensmith
