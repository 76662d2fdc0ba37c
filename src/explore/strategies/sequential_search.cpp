#include "explore/strategies/sequential_search.h"

namespace tensmith {
namespace {

/// Looks at known configs in a row after which a search counts as going in circles: so many times the points of the
/// space, within bounds.
constexpr uint64_t kIdlePerPoint = 10;
constexpr uint64_t kLeastIdle = 1000;
constexpr uint64_t kMostIdle = 10000;
/// A look at what the space forbids tells less still than one at what is known.
constexpr int64_t kForbiddenIdle = 10;
/// After so many of them the program is left and entered again: where the compiler makes no tail call of the transfer
/// between coroutines, each costs stack.
constexpr int64_t kMaxLooksInARow = 1000;

}  // namespace

Look::Look(const ConfigSpace& space, uint64_t seed)
    : space_(space),
      rng_(seed),
      sampler_(space, Rng(seed).split(1)),
      max_idle_(
          static_cast<int64_t>(std::clamp(kIdlePerPoint * std::min(space.size(), kMostIdle), kLeastIdle, kMostIdle))) {
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
  value = kForbidden;
  if (known == known_.end()) {
    idle_ += kForbiddenIdle;
  } else {
    value = known->second.value;
    // Told by an earlier run: no more idle than it was then.
    idle_ = visit(config, known->second) ? 0 : idle_ + 1;
  }
  stuck_ = idle_ > max_idle_;
  paused_ = !stuck_ && ++in_a_row_ % kMaxLooksInARow == 0;
  return !stuck_ && !paused_;
}

bool Look::visit(const Config& config, Known& known) {
  if (std::exchange(known.visited, true)) return false;
  visited_.insert(space_.index_of(config));
  sampler_.add_known(config);
  return true;
}

std::optional<Config> Look::fresh_config() {
  constexpr int kAttempts = 8;  // each bounded: in a large space that allows few configs, one may find none
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (std::optional<Config> config = sampler_.next_unseen(visited_)) return config;
    if (space_.size() <= kEnumerationLimit) break;
  }
  return std::nullopt;
}

double Look::answer(const Config& config) const {
  const auto known = known_.find(space_.index_of(config));
  return known == known_.end() ? kForbidden : known->second.value;
}

void Look::wait(const Config& config, std::coroutine_handle<> waiter) {
  wanted_ = config;
  waiting_ = waiter;
}

namespace {

/// Where there is nothing to choose, every search is this one.
Piece<int> look_once(Look& look) {
  const std::optional<Config> config = look.random_config();
  if (config) co_await look(*config);
  co_return 0;
}

}  // namespace

SequentialSearch::SequentialSearch(const ConfigSpace& space, StrategyOptions options, Program program)
    : look_(space, options.seed),
      seen_(space, std::move(options.initial)),
      program_(look_.free_knobs().empty() ? Program(look_once) : std::move(program)),
      restart_(options.restart) {}

bool SequentialSearch::advance() {
  if (!running_) {
    look_.idle_ = 0;
    running_.emplace(program_(look_));
    running_->handle().resume();
  } else {
    std::exchange(look_.waiting_, {}).resume();
  }
  while (std::exchange(look_.paused_, false)) std::exchange(look_.waiting_, {}).resume();
  if (running_->done()) running_->result();  // throws what the program threw
  return !running_->done() && !std::exchange(look_.stuck_, false);
}

std::vector<Config> SequentialSearch::propose(int count) {
  if (count < 1) return {};
  std::vector<Config> first;
  seen_.take_initial(static_cast<size_t>(count), first);
  for (const Config& config : first) outstanding_.insert(look_.space_.index_of(config));
  // The search itself could ask for one of them, and not know that it has been proposed.
  if (!outstanding_.empty()) return first;
  while (!asked_ && !over_) {
    if (advance()) {
      asked_ = true;
      return {look_.wanted_};
    }
    running_.reset();
    std::optional<Config> config;
    if (restart_) config = look_.fresh_config();
    over_ = !config;
    if (over_) break;
    const auto known = look_.known_.find(look_.space_.index_of(*config));
    if (known != look_.known_.end()) {
      look_.visit(*config, known->second);
    } else {
      asked_ = true;
      look_.wanted_ = std::move(*config);
      return {look_.wanted_};
    }
  }
  return {};
}

void SequentialSearch::update(std::span<const Observation> results) {
  seen_.insert(results);
  for (const Observation& result : results) {
    const uint64_t index = look_.space_.index_of(result.config);
    outstanding_.erase(index);
    Look::Known& known = look_.known_[index];
    known.value = result.ok()                                    ? result.seconds
                  : result.status == TrialStatus::kInvalidConfig ? Look::kMissing
                                                                 : Look::kFailed;
    if (asked_ && result.config == look_.wanted_) {
      asked_ = false;
      look_.visit(result.config, known);
    }
  }
}

}  // namespace tensmith
