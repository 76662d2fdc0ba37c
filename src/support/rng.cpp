#include "tensmith/support/rng.h"

#include <cmath>
#include <unordered_set>

#include "tensmith/support/error.h"
#include "tensmith/support/hash.h"

namespace tensmith {
namespace {

__extension__ using Uint128 = unsigned __int128;

// The C library's log may differ in the last bit between CPUs (it has variants with and without fused multiply-add),
// which would let two machines' random streams drift apart. This one uses IEEE basic operations only, whose results
// are fixed: log(m * 2^e) = 2 atanh((m - 1) / (m + 1)) + e log 2 with m in [sqrt(1/2), sqrt(2)).
double portable_log(double x) {
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);
  if (mantissa < 0.70710678118654752) {
    mantissa *= 2.0;
    exponent -= 1;
  }
  const double z = (mantissa - 1.0) / (mantissa + 1.0);
  const double z2 = z * z;
  double sum = 0.0;
  for (int k = 23; k >= 1; k -= 2) sum = sum * z2 + 1.0 / k;
  return 2.0 * z * sum + exponent * 0.69314718055994531;
}

}  // namespace

Rng::Rng(uint64_t seed) : seed_(seed) {
  uint64_t counter = seed;
  for (uint64_t& word : state_) {
    counter += 0x9e3779b97f4a7c15ULL;
    word = hash_mix(counter);
  }
}

Rng Rng::split(uint64_t stream) const { return Rng(hash_combine(hash_mix(seed_ ^ 0x5851f42d4c957f2dULL), stream)); }

uint64_t Rng::uniform_int(uint64_t bound) {
  TENSMITH_ICHECK(bound > 0, "a random integer needs a positive bound");
  // Lemire's multiply-and-reject method: the high word of a 128-bit product, with the few low words that would favour
  // some results drawn again.
  Uint128 product = static_cast<Uint128>(next()) * bound;
  uint64_t low = static_cast<uint64_t>(product);
  if (low < bound) {
    const uint64_t threshold = (0 - bound) % bound;
    while (low < threshold) {
      product = static_cast<Uint128>(next()) * bound;
      low = static_cast<uint64_t>(product);
    }
  }
  return static_cast<uint64_t>(product >> 64);
}

int64_t Rng::uniform_int(int64_t low, int64_t high) {
  TENSMITH_ICHECK(low <= high, "a random integer needs a range that is not empty");
  const uint64_t span = static_cast<uint64_t>(high) - static_cast<uint64_t>(low) + 1;
  const uint64_t offset = span == 0 ? next() : uniform_int(span);
  return static_cast<int64_t>(static_cast<uint64_t>(low) + offset);
}

double Rng::normal() {
  if (has_spare_normal_) {
    has_spare_normal_ = false;
    return spare_normal_;
  }
  // Marsaglia's polar method: needs no sine or cosine.
  double x = 0.0;
  double y = 0.0;
  double square = 0.0;
  do {
    x = uniform_real(-1.0, 1.0);
    y = uniform_real(-1.0, 1.0);
    square = x * x + y * y;
  } while (square >= 1.0 || square == 0.0);
  const double factor = std::sqrt(-2.0 * portable_log(square) / square);
  spare_normal_ = y * factor;
  has_spare_normal_ = true;
  return x * factor;
}

std::vector<uint64_t> Rng::sample_without_replacement(uint64_t population, uint64_t count) {
  if (count > population) count = population;
  std::vector<uint64_t> sample;
  sample.reserve(count);
  // Floyd's method draws a uniform subset; the shuffle makes its order uniform too.
  std::unordered_set<uint64_t> taken;
  taken.reserve(count);
  for (uint64_t top = population - count; top < population; ++top) {
    const uint64_t drawn = uniform_int(top + 1);
    const uint64_t chosen = taken.insert(drawn).second ? drawn : top;
    if (chosen == top) taken.insert(top);
    sample.push_back(chosen);
  }
  shuffle(sample);
  return sample;
}

}  // namespace tensmith
