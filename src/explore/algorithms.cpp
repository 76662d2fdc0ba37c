#include "tensmith/explore/algorithms.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "tensmith/support/error.h"

namespace tensmith {
namespace {

constexpr std::array<std::pair<Algorithm, std::string_view>, kAlgorithmCount> kNames = {{
    {Algorithm::kRandom, "random"},
    {Algorithm::kFirstMls, "first-mls"},
    {Algorithm::kBestMls, "best-mls"},
    {Algorithm::kFirstIls, "first-ils"},
    {Algorithm::kBestIls, "best-ils"},
    {Algorithm::kFirstTabu, "first-tabu"},
    {Algorithm::kBestTabu, "best-tabu"},
    {Algorithm::kSimulatedAnnealing, "sa"},
    {Algorithm::kDualAnnealing, "dual-annealing"},
    {Algorithm::kGeneticAlgorithm, "ga"},
    {Algorithm::kGeneticLocalSearch, "gls"},
    {Algorithm::kDifferentialEvolution, "de"},
    {Algorithm::kParticleSwarm, "pso"},
    {Algorithm::kBasinHopping, "basin-hopping"},
    {Algorithm::kSmac, "smac"},
    {Algorithm::kRacing, "racing"},
    {Algorithm::kGbt, "gbt"},
    {Algorithm::kGp, "gp"},
    {Algorithm::kLearned, "learned"},
}};

Improvement improvement_of(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::kBestMls:
    case Algorithm::kBestIls:
    case Algorithm::kBestTabu: return Improvement::kBest;
    default: return Improvement::kFirst;
  }
}

}  // namespace

std::array<Algorithm, kAlgorithmCount> all_algorithms() {
  std::array<Algorithm, kAlgorithmCount> out{};
  std::transform(kNames.begin(), kNames.end(), out.begin(), [](const auto& entry) { return entry.first; });
  return out;
}

std::string_view to_string(Algorithm algorithm) { return kNames[static_cast<size_t>(algorithm)].second; }

std::optional<Algorithm> find_algorithm(std::string_view name) {
  for (const auto& [algorithm, text] : kNames) {
    if (text == name) return algorithm;
  }
  return std::nullopt;
}

bool depends_on_budget(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::kRandom:
    case Algorithm::kFirstMls:
    case Algorithm::kBestMls:
    case Algorithm::kBestTabu:
    case Algorithm::kSmac:
    case Algorithm::kGbt:
    case Algorithm::kGp:
    case Algorithm::kLearned: return false;
    default: return true;
  }
}

bool uses_model(Algorithm algorithm) {
  return algorithm == Algorithm::kSmac || algorithm == Algorithm::kGbt || algorithm == Algorithm::kGp ||
         algorithm == Algorithm::kLearned;
}

bool uses_history(Algorithm algorithm) { return algorithm == Algorithm::kLearned; }

bool repeats_configs(Algorithm algorithm) { return algorithm == Algorithm::kRacing; }

std::unique_ptr<SearchStrategy> make_algorithm(Algorithm algorithm, const ConfigSpace& space,
                                               AlgorithmSettings settings, const StrategyOptions& common) {
  const auto with = [&]<typename Options>(std::type_identity<Options>) {
    Options* options = std::get_if<Options>(&settings);
    TENSMITH_ICHECK(options != nullptr, "the settings are those of the algorithm");
    static_cast<StrategyOptions&>(*options) = common;
    return std::move(*options);
  };
  switch (algorithm) {
    case Algorithm::kRandom: return make_random_search(space, common);
    case Algorithm::kFirstMls:
    case Algorithm::kBestMls: return make_multi_start_search(space, improvement_of(algorithm), common);
    case Algorithm::kFirstIls:
    case Algorithm::kBestIls: {
      IteratedSearchOptions options = with(std::type_identity<IteratedSearchOptions>());
      options.improvement = improvement_of(algorithm);
      return make_iterated_search(space, std::move(options));
    }
    case Algorithm::kFirstTabu:
    case Algorithm::kBestTabu: {
      TabuOptions options = with(std::type_identity<TabuOptions>());
      options.improvement = improvement_of(algorithm);
      return make_tabu_search(space, std::move(options));
    }
    case Algorithm::kSimulatedAnnealing:
      return make_simulated_annealing(space, with(std::type_identity<SimulatedAnnealingOptions>()));
    case Algorithm::kDualAnnealing: return make_dual_annealing(space, with(std::type_identity<DualAnnealingOptions>()));
    case Algorithm::kGeneticAlgorithm:
      return make_genetic_algorithm(space, with(std::type_identity<GeneticAlgorithmOptions>()));
    case Algorithm::kGeneticLocalSearch:
      return make_genetic_local_search(space, with(std::type_identity<GeneticLocalSearchOptions>()));
    case Algorithm::kDifferentialEvolution:
      return make_differential_evolution(space, with(std::type_identity<DifferentialEvolutionOptions>()));
    case Algorithm::kParticleSwarm: return make_particle_swarm(space, with(std::type_identity<ParticleSwarmOptions>()));
    case Algorithm::kBasinHopping: return make_basin_hopping(space, with(std::type_identity<BasinHoppingOptions>()));
    case Algorithm::kSmac: return make_smac_search(space, with(std::type_identity<SmacOptions>()));
    case Algorithm::kGbt: return make_gbt_search(space, with(std::type_identity<GbtSearchOptions>()));
    case Algorithm::kGp: return make_gp_search(space, common);
    case Algorithm::kLearned: return make_learned_search(space, with(std::type_identity<LearnedSearchOptions>()));
    case Algorithm::kRacing: return make_racing_search(space, with(std::type_identity<RacingOptions>()));
  }
  TENSMITH_UNREACHABLE("no such algorithm");
}

}  // namespace tensmith
