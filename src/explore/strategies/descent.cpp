#include "explore/strategies/descent.h"

#include <algorithm>

namespace tensmith {

std::vector<Move> moves(Look& look, const Config& from, Improvement improvement, Neighbourhood neighbourhood) {
  std::vector<int> knobs = look.free_knobs();
  if (improvement == Improvement::kFirst) look.rng().shuffle(std::span(knobs));
  std::vector<Move> out;
  for (int knob : knobs) {
    const int own = from.choices[knob];
    int first = 0;
    int last = static_cast<int>(look.space().knobs()[knob].choices.size()) - 1;
    if (neighbourhood == Neighbourhood::kAdjacent) {
      first = std::max(first, own - 1);
      last = std::min(last, own + 1);
    }
    const auto begin = static_cast<std::ptrdiff_t>(out.size());
    for (int choice = first; choice <= last; ++choice) {
      if (choice != own) out.push_back({knob, static_cast<uint16_t>(choice)});
    }
    if (improvement == Improvement::kFirst) look.rng().shuffle(std::span(out.begin() + begin, out.end()));
  }
  return out;
}

Piece<Place> random_place(Look& look) {
  std::optional<Config> config = look.random_config();
  if (!config) co_return Place{};
  const double value = co_await look(*config);
  co_return Place{std::move(*config), value};
}

Piece<Place> descend(Look& look, Place place, Descent how) {
  for (bool improved = true; improved;) {
    improved = false;
    Place best = place;
    for (const Move& move : moves(look, place.config, how.improvement, how.neighbourhood)) {
      Config neighbour = moved(how.goes_on ? best.config : place.config, move);
      const double value = co_await look(neighbour);
      if (value >= best.value) continue;
      best = {std::move(neighbour), value};
      improved = true;
      if (how.improvement == Improvement::kFirst && !how.goes_on) break;
    }
    place = std::move(best);
  }
  co_return place;
}

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

}  // namespace tensmith
