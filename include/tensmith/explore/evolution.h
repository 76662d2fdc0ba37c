#pragma once

#include "tensmith/explore/strategy.h"

/// Evolution as "Benchmarking optimization algorithms for auto-tuning GPU kernels" compares it (section III). Configs
/// that come again cost nothing, and one config is looked at after the other. (make_genetic_search is the one for live
/// tuning: it proposes whole batches.)

namespace tensmith {

enum class Crossover : uint8_t {
  kUniform,   ///< each knob by the toss of a coin
  kOnePoint,  ///< the knobs before a random place, and those after it
  kTwoPoint,  ///< the knobs between two random places, and the others
};

struct GeneticAlgorithmOptions : StrategyOptions {
  int population = 40;  ///< an odd number is rounded up
  Crossover crossover = Crossover::kOnePoint;
  int tournament = 8;  ///< challengers that a survivor has stood up to
  /// Mutations of a child, as a share of the number of choices of all knobs; at least one. Each sets a random knob to a
  /// random choice.
  double mutation = 0.05;
};

/// Genetic algorithm: parents in random pairs have two children each, which mutate; the next generation is drawn by
/// tournaments among parents and children.
std::unique_ptr<SearchStrategy> make_genetic_algorithm(const ConfigSpace& space, GeneticAlgorithmOptions options);

struct GeneticLocalSearchOptions : StrategyOptions {
  int population = 16;  ///< an odd number is rounded up
  Crossover crossover = Crossover::kUniform;
};

/// Genetic local search: children do not mutate. When all of a generation are measured, each goes down to a local
/// minimum (first improvement), and they replace what is worse by restricted tournaments: one joins when it is better
/// than the most similar of 150 random parents.
std::unique_ptr<SearchStrategy> make_genetic_local_search(const ConfigSpace& space, GeneticLocalSearchOptions options);

}  // namespace tensmith
