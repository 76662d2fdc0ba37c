#include "explore/strategies/descent.h"

#include <numeric>

namespace tensmith {

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

Piece<Place> random_place(Look& look) {
  std::optional<Config> config = look.random_config();
  if (!config) co_return Place{};
  const double value = co_await look(*config);
  co_return Place{std::move(*config), value};
}

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
