#pragma once

#include "explore/strategies/sequential_search.h"
#include "tensmith/explore/local_search.h"

/// What local searches and those that contain one share.

namespace tensmith {

struct Place {
  Config config;
  double value = Look::kForbidden;
};

/// A random config and its value. One without choices when the space has no valid config, or no knobs.
Piece<Place> random_place(Look& look);

struct Descent {
  Improvement improvement = Improvement::kFirst;
  Neighbourhood neighbourhood = Neighbourhood::kAny;
  bool goes_on = false;  ///< a first improvement keeps the order of neighbours to its end
};

/// Down to a local minimum.
Piece<Place> descend(Look& look, Place place, Descent how);

/// A random choice for a random knob, perhaps the one it has; the config itself where the space forbids all that was
/// drawn.
Config mutated(Look& look, const Config& from);

/// One neighbour of a config: a knob and what to set it to.
struct Move {
  int knob;
  uint16_t choice;
};

/// All of them, knob by knob; in a random order of knobs, and of choices within a knob, for a first improvement.
std::vector<Move> moves(Look& look, const Config& from, Improvement improvement,
                        Neighbourhood neighbourhood = Neighbourhood::kAny);

inline Config moved(const Config& from, Move move) {
  Config config = from;
  config.choices[move.knob] = move.choice;
  return config;
}

}  // namespace tensmith
