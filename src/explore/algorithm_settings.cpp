#include <algorithm>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "tensmith/explore/algorithms.h"
#include "tensmith/support/error.h"

namespace tensmith {
namespace {

constexpr std::string_view kMinimizers[] = {"powell", "cobyla", "slsqp"};
constexpr std::string_view kCrossovers[] = {"uniform", "one-point", "two-point"};
constexpr std::string_view kMethods[] = {"best1bin", "best1exp", "best2bin", "best2exp", "rand1bin", "rand1exp"};

/// The row of the paper's table III.
int row_of(int64_t budget) {
  int row = 0;
  for (int64_t limit : {50, 100, 200, 400, 800, 1600}) row += budget >= limit;
  return row;
}

template <typename T>
T per_row(const std::array<T, 7>& values, int row) {
  return values[static_cast<size_t>(row)];
}

/// All values of one field in each of the settings so far.
template <typename Options, typename Field, typename Values>
void vary(std::vector<Options>& all, Field Options::*field, const Values& values) {
  std::vector<Options> out;
  for (const Options& options : all) {
    for (const auto& value : values) {
      out.push_back(options);
      out.back().*field = value;
    }
  }
  all = std::move(out);
}

template <typename Options>
std::vector<AlgorithmSettings> as_settings(const std::vector<Options>& all) {
  return {all.begin(), all.end()};
}

/// Even, at least 2, each once.
std::vector<int> populations(int64_t budget) {
  std::vector<int> out;
  for (double share : {0.025, 0.05, 0.08, 0.12, 0.2, 0.33, 0.5}) {
    out.push_back(std::max(2, 2 * (static_cast<int>(share * static_cast<double>(budget)) / 2)));
  }
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

template <typename T>
void sort_unique(std::vector<T>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace

AlgorithmSettings default_settings(Algorithm algorithm, int64_t budget) {
  const int row = row_of(budget);
  const bool large = budget >= 800;
  switch (algorithm) {
    case Algorithm::kRandom:
    case Algorithm::kFirstMls:
    case Algorithm::kBestMls:
    case Algorithm::kGp: return StrategyOptions{};
    case Algorithm::kSmac: return SmacOptions{};
    case Algorithm::kGbt: return GbtSearchOptions{};
    case Algorithm::kLearned: return LearnedSearchOptions{};
    case Algorithm::kFirstIls:
    case Algorithm::kBestIls: {
      IteratedSearchOptions options;
      options.walk = large ? 0.05 : 1.0;
      options.patience = large && algorithm == Algorithm::kFirstIls ? 10 : 25;
      if (algorithm == Algorithm::kBestIls) options.neighbourhood = Neighbourhood::kAdjacent;
      return options;
    }
    case Algorithm::kFirstTabu:
    case Algorithm::kBestTabu: {
      TabuOptions options;
      options.tabu_size = algorithm == Algorithm::kFirstTabu && budget < 100 ? 4 : 2000;
      return options;
    }
    case Algorithm::kSimulatedAnnealing: {
      SimulatedAnnealingOptions options;
      options.explore = per_row<double>({1.0, 1.0, 1.0, 1.0, 0.7, 0.1, 0.1}, row);
      options.descend = budget >= 50;
      return options;
    }
    case Algorithm::kDualAnnealing: {
      DualAnnealingOptions options;
      options.minimizer = budget < 50 ? LocalMinimizer::kCobyla : LocalMinimizer::kPowell;
      return options;
    }
    case Algorithm::kGeneticAlgorithm: {
      GeneticAlgorithmOptions options;
      options.population = per_row<int>({8, 10, 20, 40, 80, 128, 320}, row);
      options.crossover = large ? Crossover::kTwoPoint : Crossover::kOnePoint;
      options.tournament = large ? 4 : 8;
      options.mutation = per_row<double>({0.02, 0.02, 0.02, 0.05, 0.05, 0.02, 0.02}, row);
      return options;
    }
    case Algorithm::kGeneticLocalSearch: {
      GeneticLocalSearchOptions options;
      options.population = per_row<int>({2, 2, 4, 16, 20, 40, 80}, row);
      options.crossover = budget >= 100 && budget < 400 ? Crossover::kTwoPoint : Crossover::kUniform;
      return options;
    }
    case Algorithm::kDifferentialEvolution: {
      DifferentialEvolutionOptions options;
      options.population = per_row<int>({1, 2, 2, 4, 8, 16, 32}, row);
      options.method = large           ? DifferentialMethod::kBest1Exp
                       : budget >= 400 ? DifferentialMethod::kBest2Bin
                                       : DifferentialMethod::kBest1Bin;
      options.recombination = budget < 50 ? 0.5 : 0.7;
      return options;
    }
    case Algorithm::kParticleSwarm: {
      ParticleSwarmOptions options;
      options.particles = per_row<int>({25, 25, 10, 20, 40, 80, 160}, row);
      options.neighbours = per_row<int>({5, 5, 5, 10, 20, 26, 32}, row);
      options.scale = per_row<double>({10, 10, 10, 1000, 100, 1000, 10}, row);
      return options;
    }
    case Algorithm::kBasinHopping: {
      BasinHoppingOptions options;
      options.minimizer = large         ? LocalMinimizer::kSlsqp
                          : budget < 50 ? LocalMinimizer::kPowell
                                        : LocalMinimizer::kCobyla;
      options.temperature = large ? 1.0 : 0.1;
      return options;
    }
    case Algorithm::kRacing: {
      RacingOptions options;
      options.budget = budget;
      return options;
    }
  }
  TENSMITH_UNREACHABLE("no such algorithm");
}

std::vector<AlgorithmSettings> settings_grid(Algorithm algorithm, int64_t budget) {
  const std::initializer_list<LocalMinimizer> minimizers = {LocalMinimizer::kPowell, LocalMinimizer::kCobyla,
                                                            LocalMinimizer::kSlsqp};
  const std::initializer_list<Crossover> crossovers = {Crossover::kUniform, Crossover::kTwoPoint, Crossover::kOnePoint};
  switch (algorithm) {
    case Algorithm::kFirstIls:
    case Algorithm::kBestIls: {
      std::vector<IteratedSearchOptions> all(1);
      vary(all, &IteratedSearchOptions::walk, std::initializer_list<double>{0.01, 0.05, 0.1, 0.2, 0.5, 1.0});
      vary(all, &IteratedSearchOptions::patience, std::initializer_list<int>{10, 25, 50, 100});
      vary(all, &IteratedSearchOptions::neighbourhood,
           std::initializer_list<Neighbourhood>{Neighbourhood::kAny, Neighbourhood::kAdjacent});
      return as_settings(all);
    }
    case Algorithm::kFirstTabu:
    case Algorithm::kBestTabu: {
      std::vector<TabuOptions> all(1);
      vary(all, &TabuOptions::tabu_size, std::initializer_list<int>{4, 8, 16, 32, 64, 100, 200, 400, 700, 1000, 2000});
      return as_settings(all);
    }
    case Algorithm::kSimulatedAnnealing: {
      std::vector<SimulatedAnnealingOptions> all(1);
      vary(all, &SimulatedAnnealingOptions::descend, std::initializer_list<bool>{false, true});
      vary(all, &SimulatedAnnealingOptions::explore,
           std::initializer_list<double>{0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0});
      return as_settings(all);
    }
    case Algorithm::kDualAnnealing: {
      std::vector<DualAnnealingOptions> all(1);
      vary(all, &DualAnnealingOptions::minimizer, minimizers);
      return as_settings(all);
    }
    case Algorithm::kGeneticAlgorithm: {
      std::vector<GeneticAlgorithmOptions> all(1);
      vary(all, &GeneticAlgorithmOptions::population, populations(budget));
      vary(all, &GeneticAlgorithmOptions::tournament, std::initializer_list<int>{2, 4, 8});
      vary(all, &GeneticAlgorithmOptions::crossover, crossovers);
      vary(all, &GeneticAlgorithmOptions::mutation, std::initializer_list<double>{0.02, 0.05, 0.1, 0.2, 0.3, 0.5});
      return as_settings(all);
    }
    case Algorithm::kGeneticLocalSearch: {
      std::vector<GeneticLocalSearchOptions> all(1);
      vary(all, &GeneticLocalSearchOptions::population, populations(budget));
      vary(all, &GeneticLocalSearchOptions::crossover, crossovers);
      return as_settings(all);
    }
    case Algorithm::kDifferentialEvolution: {
      std::vector<int> sizes;
      for (double share : {0.02, 0.04, 0.06, 0.08, 0.1, 0.18, 0.25}) {
        sizes.push_back(std::max(1, static_cast<int>(share * static_cast<double>(budget))));
      }
      sort_unique(sizes);
      std::vector<DifferentialEvolutionOptions> ranges;
      for (const auto& [low, high] : {std::pair(1.0, 1.9), {0.5, 1.9}, {0.5, 1.0}, {0.2, 0.7}}) {
        ranges.emplace_back().mutation_low = low;
        ranges.back().mutation_high = high;
      }
      vary(ranges, &DifferentialEvolutionOptions::population, sizes);
      vary(ranges, &DifferentialEvolutionOptions::recombination, std::initializer_list<double>{0.2, 0.5, 0.7, 0.9});
      vary(ranges, &DifferentialEvolutionOptions::method,
           std::initializer_list<DifferentialMethod>{DifferentialMethod::kBest1Bin, DifferentialMethod::kBest1Exp,
                                                     DifferentialMethod::kBest2Bin, DifferentialMethod::kBest2Exp,
                                                     DifferentialMethod::kRand1Bin, DifferentialMethod::kRand1Exp});
      return as_settings(ranges);
    }
    case Algorithm::kParticleSwarm: {
      std::vector<int> sizes;
      for (double share : {1.0, 0.5, 0.33, 0.2, 0.1, 0.07, 0.03}) {
        sizes.push_back(std::max(1, static_cast<int>(share * static_cast<double>(budget))));
      }
      sort_unique(sizes);
      std::vector<ParticleSwarmOptions> all;
      for (const int particles : sizes) {
        std::vector<int> neighbours;
        for (double part : {0.5, 0.33, 0.2, 0.1}) {
          neighbours.push_back(std::max(1, static_cast<int>(part * particles)));
        }
        sort_unique(neighbours);
        std::vector<ParticleSwarmOptions> some(1);
        some[0].particles = particles;
        vary(some, &ParticleSwarmOptions::neighbours, neighbours);
        vary(some, &ParticleSwarmOptions::scale, std::initializer_list<double>{10, 100, 1000});
        all.insert(all.end(), some.begin(), some.end());
      }
      return as_settings(all);
    }
    case Algorithm::kBasinHopping: {
      std::vector<BasinHoppingOptions> all(1);
      vary(all, &BasinHoppingOptions::minimizer, minimizers);
      vary(all, &BasinHoppingOptions::temperature, std::initializer_list<double>{0.005, 0.1, 0.25, 0.5, 1.0, 2.0});
      return as_settings(all);
    }
    case Algorithm::kRandom:
    case Algorithm::kFirstMls:
    case Algorithm::kBestMls:
    case Algorithm::kSmac:
    case Algorithm::kRacing:
    case Algorithm::kGbt:
    case Algorithm::kGp:
    case Algorithm::kLearned: break;
  }
  return {default_settings(algorithm, budget)};
}

std::string to_string(const AlgorithmSettings& settings) {
  return std::visit(
      [](const auto& o) -> std::string {
        using Options = std::decay_t<decltype(o)>;
        if constexpr (std::is_same_v<Options, IteratedSearchOptions>) {
          return fmt::format("walk={} patience={} neighbours={}", o.walk, o.patience,
                             o.neighbourhood == Neighbourhood::kAny ? "any" : "adjacent");
        } else if constexpr (std::is_same_v<Options, TabuOptions>) {
          return fmt::format("tabu_size={}", o.tabu_size);
        } else if constexpr (std::is_same_v<Options, SimulatedAnnealingOptions>) {
          return fmt::format("explore={} descend={}", o.explore, o.descend ? "yes" : "no");
        } else if constexpr (std::is_same_v<Options, DualAnnealingOptions>) {
          return fmt::format("minimizer={}", kMinimizers[static_cast<size_t>(o.minimizer)]);
        } else if constexpr (std::is_same_v<Options, GeneticAlgorithmOptions>) {
          return fmt::format("population={} crossover={} tournament={} mutation={}", o.population,
                             kCrossovers[static_cast<size_t>(o.crossover)], o.tournament, o.mutation);
        } else if constexpr (std::is_same_v<Options, GeneticLocalSearchOptions>) {
          return fmt::format("population={} crossover={}", o.population, kCrossovers[static_cast<size_t>(o.crossover)]);
        } else if constexpr (std::is_same_v<Options, DifferentialEvolutionOptions>) {
          return fmt::format("population={} method={} mutation={}..{} recombination={}", o.population,
                             kMethods[static_cast<size_t>(o.method)], o.mutation_low, o.mutation_high, o.recombination);
        } else if constexpr (std::is_same_v<Options, ParticleSwarmOptions>) {
          return fmt::format("particles={} neighbours={} scale={}", o.particles, o.neighbours, o.scale);
        } else if constexpr (std::is_same_v<Options, BasinHoppingOptions>) {
          return fmt::format("minimizer={} temperature={}", kMinimizers[static_cast<size_t>(o.minimizer)],
                             o.temperature);
        } else if constexpr (std::is_same_v<Options, RacingOptions>) {
          return fmt::format("budget={} first_test={}", o.budget, o.first_test);
        } else if constexpr (std::is_same_v<Options, SmacOptions>) {
          return fmt::format("confidence={}", o.confidence);
        } else if constexpr (std::is_same_v<Options, GbtSearchOptions>) {
          return fmt::format("batch={} first={}", o.batch, o.first);
        } else {
          return "";
        }
      },
      settings);
}

}  // namespace tensmith
