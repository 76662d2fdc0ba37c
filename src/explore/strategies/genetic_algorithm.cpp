#include "tensmith/explore/evolution.h"

#include <algorithm>

#include "explore/strategies/population.h"

namespace tensmith {
namespace {

/// Whether all are equally good, so that selection has nothing left to choose. Configs that cannot run are not good.
bool converged(const Population& population) {
  return population.front().value < Look::kMissing &&
         std::all_of(population.begin(), population.end(),
                     [&](const Place& place) { return place.value == population.front().value; });
}

Piece<int> evolve(Look& look, GeneticAlgorithmOptions options) {
  size_t choices = 0;
  for (int knob : look.free_knobs()) choices += look.space().knobs()[knob].choices.size();
  const int mutations = std::max(1, static_cast<int>(options.mutation * static_cast<double>(choices)));
  Population parents = co_await random_population(look, options.population);
  while (!parents.empty() && !converged(parents)) {
    Population all = parents;
    for (Config& child : offspring(look, parents, options.crossover)) {
      for (int i = 0; i < mutations; ++i) child = mutated(look, child);
      const double value = co_await look(child);
      all.push_back({std::move(child), value});
    }
    const auto anyone = [&]() -> const Place& { return all[look.rng().uniform_int(uint64_t{all.size()})]; };
    Population next;
    while (next.size() < parents.size()) {
      const Place* champion = &anyone();
      for (int i = 0; i < options.tournament; ++i) {
        const Place& challenger = anyone();
        if (challenger.value < champion->value) champion = &challenger;
      }
      next.push_back(*champion);
    }
    parents = std::move(next);
  }
  co_return 0;
}

}  // namespace

std::unique_ptr<SearchStrategy> make_genetic_algorithm(const ConfigSpace& space, GeneticAlgorithmOptions options) {
  return std::make_unique<SequentialSearch>(space, options, [options](Look& look) { return evolve(look, options); });
}

}  // namespace tensmith
