#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace tensmith {

/// Seeded random generator (xoshiro256**, state filled by splitmix64). The same seed gives the same sequence on every
/// machine, through every member here: nothing depends on the C++ or C library's own distributions.
/// Not thread-safe: give each thread (each annealing chain) a stream of its own with `split`.
class Rng {
 public:
  using result_type = uint64_t;

  explicit Rng(uint64_t seed);

  /// An independent generator that depends on this one's seed and on `stream` alone, not on the numbers drawn so far:
  /// stream i is the same in whatever order and on whatever thread the streams are made.
  Rng split(uint64_t stream) const;

  /// 64 random bits.
  uint64_t next() {
    const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  /// Uniform in [0, bound), without bias. Throws InternalError when bound is 0.
  uint64_t uniform_int(uint64_t bound);
  /// Uniform in [low, high], both ends included. Throws InternalError when low > high.
  int64_t uniform_int(int64_t low, int64_t high);
  /// Uniform in [0, 1) with 53 random bits.
  double uniform_real() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  /// Uniform in [low, high).
  double uniform_real(double low, double high) { return low + (high - low) * uniform_real(); }
  /// True with the given probability.
  bool bernoulli(double probability) { return uniform_real() < probability; }
  /// Normal with mean 0 and standard deviation 1.
  double normal();

  /// Permutes the elements, every order equally likely.
  template <typename T>
  void shuffle(std::span<T> items) {
    for (size_t i = items.size(); i > 1; --i) {
      const size_t j = uniform_int(uint64_t{i});
      if (j != i - 1) std::swap(items[i - 1], items[j]);
    }
  }
  template <typename T>
  void shuffle(std::vector<T>& items) {
    shuffle(std::span<T>(items));
  }

  /// min(count, population) distinct numbers of [0, population) in random order; takes O(count) time and memory
  /// however large the population is.
  std::vector<uint64_t> sample_without_replacement(uint64_t population, uint64_t count);

  // What the standard algorithms ask of a generator.
  static constexpr uint64_t min() { return 0; }
  static constexpr uint64_t max() { return UINT64_MAX; }
  uint64_t operator()() { return next(); }

 private:
  uint64_t seed_;
  std::array<uint64_t, 4> state_;
  double spare_normal_ = 0.0;
  bool has_spare_normal_ = false;
};

}  // namespace tensmith
