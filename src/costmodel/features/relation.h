#pragma once

#include <algorithm>
#include <bit>
#include <string>

#include "costmodel/features/columns.h"
#include "costmodel/features/roles.h"
#include "tensmith/costmodel/features.h"

namespace tensmith {

/// The place of a value among the thresholds 2^(2t+1): the first threshold above it, by its exponent.
inline int threshold_above(double value) {
  const int exponent = value < 1 ? 0 : static_cast<int>(std::bit_cast<uint64_t>(value) >> 52) - 1023;
  return std::min((exponent + 1) / 2, kRelationThresholds);
}

/// relation_feature for `loops` values that functions give: zi(k), and threshold_above of zj in place(k).
template <typename I, typename J>
void relate(size_t loops, I&& zi, J&& place, double (&out)[kRelationThresholds]) {
  // One more for values above all thresholds.
  double best[kRelationThresholds + 1] = {};
  for (size_t k = 0; k < loops; ++k) {
    double& b = best[place(k)];
    b = std::max(b, zi(k));
  }
  double most = 0;
  for (int t = 0; t < kRelationThresholds; ++t) {
    most = std::max(most, best[t]);
    out[t] = most;
  }
}

/// One quantity of a bag of loops: its values and their places among the thresholds.
struct LoopValues {
  /// Loops beyond this are left out; they are the innermost of a role, the last in the text of a program.
  static constexpr size_t kMaxLoops = 256;
  double value[kMaxLoops];
  uint8_t place[kMaxLoops];

  LoopValues() {}  // NOLINT: written before it is read
  void set(size_t k, double x) {
    value[k] = x;
    place[k] = static_cast<uint8_t>(threshold_above(x));
  }
};

/// Writes the relation columns. For each role, over the loops around the access: bytes touched, reuse, and executions
/// of the access while the loop runs once. For all loops: bytes touched, arithmetic, and arithmetic a byte. With a
/// maximum as the paper has it, a pair tells something where both sides grow outwards; so it is the iterations inside a
/// loop that are related to memory, not those outside (which are the total divided by them).
template <typename Sink>
void write_relations(Sink& sink, const NestContext& nest, const Roles& roles) {
  LoopValues bytes, reuse, count, flops, intensity;
  auto write = [&](const char* pair, size_t loops, const LoopValues& i, const LoopValues& j) {
    double out[kRelationThresholds];
    relate(
        loops, [&](size_t k) { return i.value[k]; }, [&](size_t k) { return j.place[k]; }, out);
    sink.logs(out, kRelationThresholds, [&](int t) { return std::string(pair) + ".t" + std::to_string(t); });
  };
  for (int r = 0; r < kRoles; ++r) {
    sink.prefix("relation.", kRoleNames[r], ".");
    const Touch* touch = roles.touch[static_cast<size_t>(r)];
    const size_t loops = touch == nullptr ? 0 : std::min<size_t>(roles.statement(r)->depth, LoopValues::kMaxLoops);
    for (size_t k = 0; k < loops; ++k) {
      const TouchContext& context = nest.context(*touch, k);
      bytes.set(k, context.count * touch->buffer->type.bytes());
      reuse.set(k, context.reuse);
      count.set(k, context.count * context.reuse);
    }
    write("reuse<bytes", loops, reuse, bytes);
    write("bytes<reuse", loops, bytes, reuse);
    write("count<bytes", loops, count, bytes);
    write("bytes<count", loops, bytes, count);
  }
  sink.prefix("relation.all.");
  const size_t loops = std::min(nest.loops.size(), LoopValues::kMaxLoops);
  for (size_t k = 0; k < loops; ++k) {
    const LoopContext& loop = nest.loops[k];
    bytes.set(k, loop.bytes);
    flops.set(k, loop.flops);
    intensity.set(k, loop.bytes > 0 ? loop.flops / loop.bytes : 0);
  }
  write("flops<bytes", loops, flops, bytes);
  write("bytes<flops", loops, bytes, flops);
  write("intensity<bytes", loops, intensity, bytes);
  write("bytes<intensity", loops, bytes, intensity);
}

}  // namespace tensmith
