#include "explore/sampling.h"

#include <numeric>
#include <utility>

namespace tensmith {
namespace {

constexpr int64_t kQuickAttempts = 4096;
constexpr int64_t kLongAttempts = int64_t{1} << 18;
constexpr int64_t kScanPoints = int64_t{1} << 18;
/// Draws that hit a seen config are cheap and say nothing about the constraints, so they have a bound of their own.
constexpr int64_t kSeenAttempts = int64_t{1} << 20;
constexpr size_t kKnownLimit = 4096;

}  // namespace

void draw_point(const ConfigSpace& space, Rng& rng, Config& config) {
  const auto knobs = space.knobs();
  config.choices.resize(knobs.size());
  for (size_t i = 0; i < knobs.size(); ++i) {
    config.choices[i] = static_cast<uint16_t>(rng.uniform_int(uint64_t{knobs[i].choices.size()}));
  }
}

void point_at(const ConfigSpace& space, uint64_t index, Config& config) {
  const auto knobs = space.knobs();
  config.choices.resize(knobs.size());
  for (size_t i = knobs.size(); i-- > 0;) {
    const uint64_t count = knobs[i].choices.size();
    config.choices[i] = static_cast<uint16_t>(index % count);
    index /= count;
  }
}

bool next_point(const ConfigSpace& space, Config& config) {
  const auto knobs = space.knobs();
  for (size_t i = knobs.size(); i-- > 0;) {
    if (config.choices[i] + 1u < knobs[i].choices.size()) {
      ++config.choices[i];
      return true;
    }
    config.choices[i] = 0;
  }
  return false;
}

size_t differing_choices(const Config& a, const Config& b) {
  size_t out = 0;
  for (size_t i = 0; i < a.choices.size(); ++i) out += a.choices[i] != b.choices[i];
  return out;
}

int move_one_knob(const ConfigSpace& space, Rng& rng, double near, Config& config) {
  const auto knobs = space.knobs();
  uint64_t movable = 0;
  for (const Knob& knob : knobs) movable += knob.choices.size() > 1;
  if (movable == 0) return -1;
  uint64_t pick = rng.uniform_int(movable);
  int chosen = 0;
  for (;; ++chosen) {
    if (knobs[chosen].choices.size() > 1 && pick-- == 0) break;
  }
  const uint64_t count = knobs[chosen].choices.size();
  uint16_t& choice = config.choices[chosen];
  if (knobs[chosen].ordinal && count > 2 && rng.bernoulli(near)) {
    const bool up = choice == 0 || (choice + 1u < count && rng.bernoulli(0.5));
    choice = static_cast<uint16_t>(up ? choice + 1 : choice - 1);
  } else {
    const uint64_t other = rng.uniform_int(count - 1);
    choice = static_cast<uint16_t>(other < choice ? other : other + 1);
  }
  return chosen;
}

ValidSampler::ValidSampler(const ConfigSpace& space, Rng rng)
    : space_(space), rng_(rng), small_(space.size() <= kEnumerationLimit) {}

void ValidSampler::add_known(const Config& config) {
  if (known_.size() < kKnownLimit) {
    known_.push_back(config);
  } else {
    known_[known_next_++ % kKnownLimit] = config;
  }
}

std::optional<Config> ValidSampler::from_order(const IndexSet& seen) {
  if (!ordered_) {
    order_.resize(space_.size());
    std::iota(order_.begin(), order_.end(), 0u);
    rng_.shuffle(order_);
    ordered_ = true;
  }
  // In a circle: what was returned before is unseen still when the caller has passed it over. Invalid points stay so,
  // and are left out of the next round.
  Config config;
  for (size_t left = order_.size(); left > 0; --left) {
    if (position_ == order_.size()) {
      order_.resize(kept_);
      position_ = kept_ = 0;
      if (order_.empty()) break;
    }
    const uint32_t index = order_[position_++];
    const bool known = seen.contains(index);
    if (!known) {
      point_at(space_, index, config);
      if (!space_.valid(config)) continue;
    }
    order_[kept_++] = index;
    if (!known) return config;
  }
  return std::nullopt;
}

std::optional<Config> ValidSampler::by_rejection(const IndexSet& seen, int64_t attempts) {
  Config config;
  int64_t repeats = 0;
  while (attempts > 0 && repeats < kSeenAttempts) {
    draw_point(space_, rng_, config);
    if (!space_.valid(config)) {
      --attempts;
    } else if (seen.contains(space_.index_of(config))) {
      ++repeats;
    } else {
      return config;
    }
  }
  return std::nullopt;
}

std::optional<Config> ValidSampler::by_repair(const IndexSet& seen, int attempts) {
  if (known_.empty()) return std::nullopt;
  Config config;
  for (; attempts > 0; --attempts) {
    config = known_[rng_.uniform_int(uint64_t{known_.size()})];
    for (uint64_t changes = 1 + rng_.uniform_int(uint64_t{3}); changes > 0; --changes) {
      move_one_knob(space_, rng_, 0.3, config);
    }
    if (space_.valid(config) && !seen.contains(space_.index_of(config))) return config;
  }
  return std::nullopt;
}

std::optional<Config> ValidSampler::by_scan(const IndexSet& seen, int64_t points) {
  Config config;
  draw_point(space_, rng_, config);
  for (; points > 0; --points) {
    if (space_.valid(config) && !seen.contains(space_.index_of(config))) return config;
    next_point(space_, config);
  }
  return std::nullopt;
}

std::optional<Config> ValidSampler::next_unseen(const IndexSet& seen) {
  if (small_) return from_order(seen);
  std::optional<Config> found = by_rejection(seen, kQuickAttempts);
  if (!found) found = by_repair(seen, static_cast<int>(kQuickAttempts));
  if (!found) found = by_rejection(seen, kLongAttempts);
  if (!found) found = by_scan(seen, kScanPoints);
  if (found) add_known(*found);
  return found;
}

std::optional<Config> ValidSampler::any(Rng& rng) {
  Config config;
  for (int attempt = 0; attempt < 256; ++attempt) {
    draw_point(space_, rng, config);
    if (space_.valid(config)) return config;
  }
  std::optional<Config> found = by_repair({}, 256);
  if (!found && !known_.empty()) return known_[rng.uniform_int(uint64_t{known_.size()})];
  if (!found && !small_) found = by_rejection({}, kLongAttempts);
  if (!found && small_) {
    draw_point(space_, rng, config);
    for (uint64_t step = space_.size(); step > 0 && !found; --step) {
      if (space_.valid(config)) found = config;
      next_point(space_, config);
    }
  }
  if (found) add_known(*found);
  return found;
}

}  // namespace tensmith
