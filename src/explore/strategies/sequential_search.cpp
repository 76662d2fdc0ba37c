#include "explore/strategies/sequential_search.h"

namespace tensmith {
namespace {

/// Looks at known configs in a row after which a search counts as going in circles.
constexpr int64_t kMaxIdle = 100000;
/// After so many of them the program is left and entered again: where the compiler makes no tail call of the transfer
/// between coroutines, each costs stack.
constexpr int64_t kMaxLooksInARow = 1000;

}  // namespace

Look::Look(const ConfigSpace& space, uint64_t seed) : space_(space), rng_(seed), sampler_(space, Rng(seed).split(1)) {
  const auto knobs = space.knobs();
  for (size_t i = 0; i < knobs.size(); ++i) {
    if (knobs[i].choices.size() > 1) free_.push_back(static_cast<int>(i));
  }
}

std::optional<Config> Look::random_config() { return sampler_.any(rng_); }

bool Look::find(const Config& config, double& value) {
  const auto known = known_.find(space_.index_of(config));
  if (known == known_.end() && space_.valid(config)) {
    idle_ = 0;
    return false;
  }
  value = known == known_.end() ? kForbidden : known->second;
  stuck_ = ++idle_ > kMaxIdle;
  paused_ = !stuck_ && idle_ % kMaxLooksInARow == 0;
  return !stuck_ && !paused_;
}

double Look::answer(const Config& config) const {
  const auto known = known_.find(space_.index_of(config));
  return known == known_.end() ? kForbidden : known->second;
}

void Look::wait(const Config& config, std::coroutine_handle<> waiter) {
  wanted_ = config;
  waiting_ = waiter;
}

SequentialSearch::SequentialSearch(const ConfigSpace& space, StrategyOptions options, Program program)
    : look_(space, options.seed), seen_(space, std::move(options.initial)), program_(std::move(program)) {}

std::vector<Config> SequentialSearch::propose(int count) {
  const ConfigSpace& space = look_.space_;
  if (count < 1) return {};
  std::vector<Config> first;
  seen_.take_initial(static_cast<size_t>(count), first);
  if (!first.empty()) return first;
  if (running_ && (running_->done() || look_.stuck_)) return {};
  if (!running_) {
    running_.emplace(program_(look_));
    running_->handle().resume();
  } else {
    // Not told yet of what was proposed last.
    if (!look_.known_.contains(space.index_of(look_.wanted_))) return {};
    std::exchange(look_.waiting_, {}).resume();
  }
  while (std::exchange(look_.paused_, false)) std::exchange(look_.waiting_, {}).resume();
  if (running_->done()) {
    running_->result();  // throws what the program threw
    return {};
  }
  if (look_.stuck_) return {};
  return {look_.wanted_};
}

void SequentialSearch::update(std::span<const Observation> results) {
  seen_.insert(results);
  for (const Observation& result : results) {
    look_.known_[look_.space_.index_of(result.config)] = result.ok()                                    ? result.seconds
                                                         : result.status == TrialStatus::kInvalidConfig ? Look::kMissing
                                                                                                        : Look::kFailed;
  }
}

}  // namespace tensmith
