#include "explore/measure/repetitions.h"

#include <algorithm>
#include <cmath>

#include "tensmith/support/clock.h"

namespace tensmith {
namespace {

constexpr size_t kMinRepetitions = 3;
/// More tell nothing new: a repetition of a fast operator holds many calls instead.
constexpr size_t kMaxRepetitions = 20;
/// A call at least this long is not mistaken for a slow one because of an interrupt or a cold cache.
constexpr double kMaxNoisySeconds = 1e-3;
/// A repetition holds so many calls that the clock's own cost does not show.
constexpr double kMinRepetitionSeconds = 20e-6;

}  // namespace

std::vector<double> time_repetitions(const RepetitionOptions& options, const std::function<double(int calls)>& timed) {
  std::vector<double> seconds;
  const Stopwatch spent;
  const double warm = timed(1);
  // What surrounds a call (emptying the caches, a launch) can cost much more than it is timed.
  const double cost = std::max(spent.seconds(), 1e-8);
  const double each = std::max(kMinRepetitionSeconds, options.min_seconds / kMaxRepetitions);
  const int calls = std::max(1, static_cast<int>(std::ceil(each / cost)));
  const bool once = options.slow_seconds > 0 &&
                    std::min(options.cold_seconds, warm) > std::max(options.slow_seconds, kMaxNoisySeconds);
  if (once || calls == 1) seconds.push_back(warm);
  while (!once && seconds.size() < kMaxRepetitions &&
         (spent.seconds() < options.min_seconds || seconds.size() < kMinRepetitions)) {
    seconds.push_back(timed(calls));
  }
  return seconds;
}

}  // namespace tensmith
