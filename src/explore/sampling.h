#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

#include "tensmith/schedule/config_space.h"
#include "tensmith/support/rng.h"

namespace tensmith {

/// Configs by index.
using IndexSet = std::unordered_set<uint64_t>;

/// Spaces of up to this many points are enumerated when needed; larger ones never are.
inline constexpr uint64_t kEnumerationLimit = uint64_t{1} << 20;

/// A uniformly drawn point of the product, constraints ignored.
void draw_point(const ConfigSpace& space, Rng& rng, Config& config);

/// The point of an index, without the checks and the allocation of ConfigSpace::at.
void point_at(const ConfigSpace& space, uint64_t index, Config& config);

/// Moves to the next point in index order; false (and the first point again) after the last.
bool next_point(const ConfigSpace& space, Config& config);

/// The number of knobs in which two configs of one space differ.
size_t differing_choices(const Config& a, const Config& b);

/// Changes one knob that has several choices, at random: with probability `near` an ordinal one goes to an adjacent
/// choice. Returns the knob, or -1 when no knob has more than one choice.
int move_one_knob(const ConfigSpace& space, Rng& rng, double near, Config& config);

/// Draws valid configs that have not been seen. Bounded work a call, whatever the constraints:
/// spaces of up to kEnumerationLimit points are walked in a random order fixed by the seed, round and round, so
/// exhaustion is exact, and a config that was returned but not made a seen one comes again;
/// larger ones are sampled by rejection (uniform), then, when valid points are rare, by small random changes of known
/// valid configs, and last by more rejection and a scan of a part of the space from a random place.
class ValidSampler {
 public:
  ValidSampler(const ConfigSpace& space, Rng rng);

  /// Nothing when no config was found; in an enumerated space there is none then.
  std::optional<Config> next_unseen(const IndexSet& seen);

  /// Any valid config, seen or not.
  std::optional<Config> any(Rng& rng);

  /// A valid config found elsewhere, from which others may be reached.
  void add_known(const Config& config);

 private:
  std::optional<Config> from_order(const IndexSet& seen);
  std::optional<Config> by_rejection(const IndexSet& seen, int64_t attempts);
  std::optional<Config> by_repair(const IndexSet& seen, int attempts);
  std::optional<Config> by_scan(const IndexSet& seen, int64_t points);

  const ConfigSpace& space_;
  Rng rng_;
  bool small_;
  std::vector<uint32_t> order_;  ///< of a small space: a random permutation of its indices, made at the first need
  bool ordered_ = false;
  size_t position_ = 0;  ///< in order_, that comes next
  size_t kept_ = 0;      ///< points before it that are not known to be invalid; they are moved to the front
  std::vector<Config> known_;
  size_t known_next_ = 0;
};

}  // namespace tensmith
