#include "tensmith/explore/local_search.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <numeric>
#include <unordered_set>

#include "explore/strategies/sequential_search.h"

namespace tensmith {
namespace {

struct Place {
  Config config;
  double value = Look::kForbidden;
};

/// One neighbour of a config: a knob and what to set it to.
struct Move {
  int knob;
  uint16_t choice;
};

/// All of them, knob by knob; in a random order of knobs, and of choices within a knob, for a first improvement.
std::vector<Move> moves(Look& look, const Config& from, Improvement improvement) {
  std::vector<int> knobs = look.free_knobs();
  if (improvement == Improvement::kFirst) look.rng().shuffle(std::span(knobs));
  std::vector<Move> out;
  for (int knob : knobs) {
    std::vector<uint16_t> choices(look.space().knobs()[knob].choices.size());
    std::iota(choices.begin(), choices.end(), uint16_t{0});
    if (improvement == Improvement::kFirst) look.rng().shuffle(std::span(choices));
    for (uint16_t choice : choices) {
      if (choice != from.choices[knob]) out.push_back({knob, choice});
    }
  }
  return out;
}

Config moved(const Config& from, Move move) {
  Config config = from;
  config.choices[move.knob] = move.choice;
  return config;
}

Piece<Place> random_place(Look& look) {
  std::optional<Config> config = look.random_config();
  if (!config) co_return Place{};
  const double value = co_await look(*config);
  co_return Place{std::move(*config), value};
}

/// Down to a local minimum.
Piece<Place> descend(Look& look, Place place, Improvement improvement) {
  for (bool improved = true; improved;) {
    improved = false;
    Place best = place;
    for (const Move& move : moves(look, place.config, improvement)) {
      Config neighbour = moved(place.config, move);
      const double value = co_await look(neighbour);
      if (value >= best.value) continue;
      best = {std::move(neighbour), value};
      improved = true;
      if (improvement == Improvement::kFirst) break;
    }
    place = std::move(best);
  }
  co_return place;
}

Piece<int> multi_start(Look& look, Improvement improvement) {
  while (true) {
    Place start = co_await random_place(look);
    if (start.config.choices.empty()) co_return 0;
    co_await descend(look, std::move(start), improvement);
  }
}

/// A random choice for a random knob, perhaps the one it has; the config itself where the space forbids all that was
/// drawn.
Config mutated(Look& look, const Config& from) {
  constexpr int kAttempts = 100;
  if (look.free_knobs().empty()) return from;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    Config config = from;
    const int knob = look.free_knobs()[look.rng().uniform_int(uint64_t{look.free_knobs().size()})];
    config.choices[knob] =
        static_cast<uint16_t>(look.rng().uniform_int(uint64_t{look.space().knobs()[knob].choices.size()}));
    if (look.space().valid(config)) return config;
  }
  return from;
}

Piece<int> iterate(Look& look, Improvement improvement, double walk, int patience) {
  const int steps = std::max(1, static_cast<int>(walk * static_cast<double>(look.free_knobs().size())));
  Place best;
  int failures = 0;
  while (true) {
    Place start;
    if (best.config.choices.empty() || failures >= patience) {
      failures = 0;
      start = co_await random_place(look);
      if (start.config.choices.empty()) co_return 0;
    } else {
      start.config = best.config;
      for (int i = 0; i < steps; ++i) start.config = mutated(look, start.config);
      start.value = co_await look(start.config);
    }
    Place minimum = co_await descend(look, std::move(start), improvement);
    if (minimum.value < best.value) {
      best = std::move(minimum);
      failures = 0;
    } else {
      ++failures;
    }
  }
}

/// The configs a search went to last.
class TabuList {
 public:
  explicit TabuList(int size) : size_(static_cast<size_t>(std::max(0, size))) {}
  bool contains(uint64_t index) const { return members_.contains(index); }
  void push(uint64_t index) {
    queue_.push_back(index);
    members_.insert(index);
    if (queue_.size() <= size_) return;
    members_.erase(members_.find(queue_.front()));
    queue_.pop_front();
  }

 private:
  size_t size_;
  std::deque<uint64_t> queue_;
  std::unordered_multiset<uint64_t> members_;
};

Piece<int> tabu(Look& look, Improvement improvement, int size) {
  TabuList list(size);
  Place here = co_await random_place(look);
  while (!here.config.choices.empty()) {
    Place best;
    for (const Move& move : moves(look, here.config, improvement)) {
      Config neighbour = moved(here.config, move);
      if (list.contains(look.space().index_of(neighbour))) continue;
      const double value = co_await look(neighbour);
      if (value < best.value) best = {std::move(neighbour), value};
      if (improvement == Improvement::kFirst && value < here.value) break;
    }
    if (best.config.choices.empty()) best = co_await random_place(look);
    if (best.config.choices.empty()) co_return 0;
    here = std::move(best);
    list.push(look.space().index_of(here.config));
  }
  co_return 0;
}

}  // namespace

std::unique_ptr<SearchStrategy> make_multi_start_search(const ConfigSpace& space, Improvement improvement,
                                                        StrategyOptions options) {
  return std::make_unique<SequentialSearch>(space, std::move(options),
                                            [improvement](Look& look) { return multi_start(look, improvement); });
}

std::unique_ptr<SearchStrategy> make_iterated_search(const ConfigSpace& space, IteratedSearchOptions options) {
  const auto [improvement, walk, patience] = std::tuple(options.improvement, options.walk, options.patience);
  return std::make_unique<SequentialSearch>(space, std::move(options),
                                            [=](Look& look) { return iterate(look, improvement, walk, patience); });
}

std::unique_ptr<SearchStrategy> make_tabu_search(const ConfigSpace& space, TabuOptions options) {
  const auto [improvement, size] = std::pair(options.improvement, options.tabu_size);
  return std::make_unique<SequentialSearch>(space, std::move(options),
                                            [=](Look& look) { return tabu(look, improvement, size); });
}

}  // namespace tensmith
