#pragma once

#include <cstdint>

#include "peer.h"

namespace tensmith::peers {

/// One round of an interleaved comparison.
struct Round {
  double seconds_min = 0;
  double seconds_median = 0;
  std::int64_t repeats = 0;  ///< timed repetitions
  std::int64_t calls = 1;    ///< calls in each; the seconds are of one call
};

/// Calls `run` until the timed repetitions add up to `min_seconds`, at least once. Hot: one call before is not timed,
/// and a repetition of a very short kernel is as many calls as 20 us take, so that the clock's own cost does not count.
/// Flushed: the operands are put out of all caches before every repetition, which is then one call.
Round time_round(PreparedPeer& peer, double min_seconds, bool flush);

}  // namespace tensmith::peers
