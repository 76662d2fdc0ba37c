#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

namespace tensmith {

/// Stable 64-bit hashing: the same value on every machine and in every version, so that a hash may be written to
/// a file. Not for untrusted keys: collisions can be made on purpose.

/// A bijective mix in which every input bit reaches every output bit (the finalizer of the splitmix64 generator).
constexpr uint64_t hash_mix(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebULL;
  x ^= x >> 31;
  return x;
}

/// Adds `value` to a running hash. Order matters: (a, b) and (b, a) differ.
constexpr uint64_t hash_combine(uint64_t seed, uint64_t value) {
  return hash_mix(std::rotl(seed, 23) * 0x9fb21c651e98df25ULL + value + 0x9e3779b97f4a7c15ULL);
}

/// Hash of a byte string. The length takes part, so that "a" and "a\0" differ.
constexpr uint64_t hash_bytes(std::string_view bytes, uint64_t seed = 0) {
  uint64_t hash = hash_combine(seed, bytes.size());
  uint64_t word = 0;
  int shift = 0;
  for (char c : bytes) {
    word |= static_cast<uint64_t>(static_cast<unsigned char>(c)) << shift;
    shift += 8;
    if (shift == 64) {
      hash = hash_combine(hash, word);
      word = 0;
      shift = 0;
    }
  }
  return shift == 0 ? hash : hash_combine(hash, word);
}

/// Hash of a floating-point value by its bits, where -0.0 hashes as 0.0 does because they compare equal.
constexpr uint64_t hash_double(double value) {
  return hash_mix(std::bit_cast<uint64_t>(value == 0.0 ? 0.0 : value) + 0x9e3779b97f4a7c15ULL);
}

}  // namespace tensmith
