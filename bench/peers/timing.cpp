#include "timing.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <vector>

#include "tensmith/support/clock.h"
#include "tensmith/support/stats.h"
#include "tensmith/support/sysinfo.h"

namespace tensmith::peers {
namespace {

constexpr double kShortestRepetition = 20e-6;
constexpr std::size_t kLine = 64;

#if defined(__SSE2__)
void flush_operands(const PreparedPeer& peer) {
  for (const auto& operand : peer.operands()) {
    for (std::size_t at = 0; at < operand.size(); at += kLine) _mm_clflush(operand.data() + at);
  }
  _mm_mfence();
}
#else
// Without an instruction for it: other data takes the caches over.
void flush_operands(const PreparedPeer&) {
  static std::vector<char> other(static_cast<std::size_t>(std::max<std::int64_t>(cache_sizes().l3, 32 << 20)) * 2);
  volatile char* data = other.data();
  for (std::size_t at = 0; at < other.size(); at += kLine) data[at] = static_cast<char>(data[at] + 1);
}
#endif

double seconds_of(PreparedPeer& peer, std::int64_t calls) {
  const Stopwatch watch;
  for (std::int64_t i = 0; i < calls; ++i) peer.run();
  return watch.seconds();
}

}  // namespace

Round time_round(PreparedPeer& peer, double min_seconds, bool flush) {
  Round round;
  if (!flush) {
    peer.run();
    const double once = seconds_of(peer, 1);
    if (once < kShortestRepetition) {
      round.calls = static_cast<std::int64_t>(kShortestRepetition / std::max(once, 1e-8)) + 1;
    }
  }
  std::vector<double> samples;
  double total = 0;
  do {
    if (flush) flush_operands(peer);
    const double seconds = seconds_of(peer, round.calls);
    total += seconds;
    samples.push_back(seconds / static_cast<double>(round.calls));
  } while (total < min_seconds);
  round.seconds_min = stats::min(samples);
  round.seconds_median = stats::median(samples);
  round.repeats = static_cast<std::int64_t>(samples.size());
  return round;
}

}  // namespace tensmith::peers
