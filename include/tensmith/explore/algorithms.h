#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tensmith/explore/continuous_search.h"
#include "tensmith/explore/evolution.h"
#include "tensmith/explore/gbt_search.h"
#include "tensmith/explore/learned_search.h"
#include "tensmith/explore/local_search.h"
#include "tensmith/explore/racing.h"
#include "tensmith/explore/simulated_annealing.h"
#include "tensmith/explore/strategy.h"

/// The search algorithms by name, with the hyper-parameters that suit a budget.

namespace tensmith {

enum class Algorithm : uint8_t {
  kRandom,
  kFirstMls,
  kBestMls,
  kFirstIls,
  kBestIls,
  kFirstTabu,
  kBestTabu,
  kSimulatedAnnealing,
  kDualAnnealing,
  kGeneticAlgorithm,
  kGeneticLocalSearch,
  kDifferentialEvolution,
  kParticleSwarm,
  kBasinHopping,
  kSmac,
  kRacing,
  kGbt,
  kGp,
  kLearned,
};
inline constexpr int kAlgorithmCount = 19;

/// All of them, in the order of the enumeration.
std::array<Algorithm, kAlgorithmCount> all_algorithms();

/// The name on the command line: "first-mls".
std::string_view to_string(Algorithm algorithm);
/// Inverse of to_string.
std::optional<Algorithm> find_algorithm(std::string_view name);

/// Whether its course, its defaults included, depends on the budget: a run for a larger budget does not begin with the
/// run for a smaller one.
bool depends_on_budget(Algorithm algorithm);
/// Whether it predicts times by a model, which takes it milliseconds a config rather than microseconds.
bool uses_model(Algorithm algorithm);
/// Whether it learns from other tasks (LearnedSearchOptions::history).
bool uses_history(Algorithm algorithm);
/// Whether it measures configs again, and is of use only where times vary.
bool repeats_configs(Algorithm algorithm);

/// The hyper-parameters of an algorithm. Its seed, initial configs and restart are set by make_algorithm.
using AlgorithmSettings =
    std::variant<StrategyOptions, IteratedSearchOptions, TabuOptions, SimulatedAnnealingOptions, DualAnnealingOptions,
                 GeneticAlgorithmOptions, GeneticLocalSearchOptions, DifferentialEvolutionOptions, ParticleSwarmOptions,
                 BasinHoppingOptions, RacingOptions, SmacOptions, GbtSearchOptions, LearnedSearchOptions>;

/// What table III of "Benchmarking optimization algorithms for auto-tuning GPU kernels" chose for this many
/// evaluations: the row of the largest budget of 25, 50, 100, 200, 400, 800, 1600 that is not above it.
AlgorithmSettings default_settings(Algorithm algorithm, int64_t budget);

/// All settings that the selection of hyper-parameters compares for a budget: the paper's, as far as ours has them.
std::vector<AlgorithmSettings> settings_grid(Algorithm algorithm, int64_t budget);

/// "tabu_size=2000"; the same text for the same settings.
std::string to_string(const AlgorithmSettings& settings);

/// Makes the strategy. InternalError when the settings are another algorithm's.
std::unique_ptr<SearchStrategy> make_algorithm(Algorithm algorithm, const ConfigSpace& space,
                                               AlgorithmSettings settings, const StrategyOptions& common);

}  // namespace tensmith
