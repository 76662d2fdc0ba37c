#pragma once

#include "tensmith/explore/strategy.h"

/// Local searches as "Benchmarking optimization algorithms for auto-tuning GPU kernels" compares them (section III).
/// The neighbours of a config differ from it in one knob, by any of its choices unless it is said otherwise. What has
/// been measured once is remembered and costs nothing when it comes again.

namespace tensmith {

enum class Improvement : uint8_t {
  kFirst,  ///< to the first better neighbour, in a random order that is drawn anew after each step
  kBest,   ///< to the best of all neighbours
};

/// Multi-start local search: from a random config to a local minimum, again and again.
std::unique_ptr<SearchStrategy> make_multi_start_search(const ConfigSpace& space, Improvement improvement,
                                                        StrategyOptions options);

enum class Neighbourhood : uint8_t {
  kAny,       ///< one knob, any other choice
  kAdjacent,  ///< one knob, the choice before or after in its list
};

struct IteratedSearchOptions : StrategyOptions {
  /// The first improvement goes on from the neighbour it found with the rest of the order it is in, which is drawn anew
  /// when it is at its end.
  Improvement improvement = Improvement::kFirst;
  Neighbourhood neighbourhood = Neighbourhood::kAny;
  /// Random moves from the best minimum to the next start, as a share of the number of knobs (those of one choice
  /// included); at least one.
  double walk = 1.0;
  int patience = 25;  ///< minima in a row that are no better, after which one start is random
};

/// Iterated local search: the next start is a random walk away from the best minimum so far.
std::unique_ptr<SearchStrategy> make_iterated_search(const ConfigSpace& space, IteratedSearchOptions options);

struct TabuOptions : StrategyOptions {
  Improvement improvement = Improvement::kBest;
  int tabu_size = 2000;  ///< configs it went to last, to which it does not go again
};

/// Tabu search: always on to a neighbour that is not tabu, also a worse one; at random where all are.
std::unique_ptr<SearchStrategy> make_tabu_search(const ConfigSpace& space, TabuOptions options);

}  // namespace tensmith
