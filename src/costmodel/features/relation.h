#pragma once

#include <string>

#include "costmodel/features/columns.h"
#include "costmodel/features/roles.h"
#include "tensmith/costmodel/features.h"

namespace tensmith {

/// The loops' values of one relation, as relation_feature takes them, without a copy.
template <typename I, typename J>
void relate(size_t loops, I&& zi, J&& zj, double (&out)[kRelationThresholds]) {
  for (double& x : out) x = 0;
  for (size_t k = 0; k < loops; ++k) {
    // The first threshold 2^(2t+1) above zj, by its exponent.
    const double bound = zj(k);
    const int exponent = bound < 1 ? 0 : static_cast<int>(std::bit_cast<uint64_t>(bound) >> 52) - 1023;
    const int t = (exponent + 1) / 2;
    if (t >= kRelationThresholds) continue;
    const double value = zi(k);
    if (value > out[t]) out[t] = value;
  }
  for (int t = 1; t < kRelationThresholds; ++t) {
    if (out[t - 1] > out[t]) out[t] = out[t - 1];
  }
}

/// Writes the relation columns: for each role the relations of touched bytes, reuse and outer loop length among the
/// loops around the access; for all loops those of touched bytes, arithmetic and outer loop length.
template <typename Sink>
void write_relations(Sink& sink, const NestContext& nest, const Roles& roles) {
  double out[kRelationThresholds];
  auto write = [&](const char* pair) {
    sink.logs(out, kRelationThresholds, [&](int t) { return std::string(pair) + ".t" + std::to_string(t); });
  };
  for (int r = 0; r < kRoles; ++r) {
    sink.prefix("relation.", kRoleNames[r], ".");
    const Touch* touch = roles.touch[static_cast<size_t>(r)];
    const size_t loops = touch == nullptr ? 0 : roles.statement(r)->depth;
    const double element = touch == nullptr ? 0 : touch->buffer->type.bytes();
    auto bytes = [&](size_t k) { return nest.context(*touch, k).count * element; };
    auto reuse = [&](size_t k) { return nest.context(*touch, k).reuse; };
    auto outer = [&](size_t k) { return nest.loop_at(*roles.statement(r), k).outer; };
    relate(loops, reuse, bytes, out);
    write("reuse<bytes");
    relate(loops, bytes, reuse, out);
    write("bytes<reuse");
    relate(loops, outer, bytes, out);
    write("outer<bytes");
    relate(loops, bytes, outer, out);
    write("bytes<outer");
  }
  sink.prefix("relation.all.");
  const size_t loops = nest.loops.size();
  auto bytes = [&](size_t k) { return nest.loops[k].bytes; };
  auto flops = [&](size_t k) { return nest.loops[k].flops; };
  auto outer = [&](size_t k) { return nest.loops[k].outer; };
  auto intensity = [&](size_t k) { return nest.loops[k].bytes > 0 ? nest.loops[k].flops / nest.loops[k].bytes : 0.0; };
  relate(loops, flops, bytes, out);
  write("flops<bytes");
  relate(loops, intensity, bytes, out);
  write("intensity<bytes");
  relate(loops, outer, bytes, out);
  write("outer<bytes");
  relate(loops, bytes, outer, out);
  write("bytes<outer");
}

}  // namespace tensmith
