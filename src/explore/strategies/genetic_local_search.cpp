#include "tensmith/explore/evolution.h"

#include <algorithm>

#include "explore/strategies/population.h"

namespace tensmith {
namespace {

/// Parents that a child of restricted tournament selection is compared with.
constexpr int kRivals = 150;

int likeness(const Config& a, const Config& b) {
  int count = 0;
  for (size_t i = 0; i < a.choices.size(); ++i) count += a.choices[i] == b.choices[i];
  return count;
}

Piece<int> evolve_minima(Look& look, GeneticLocalSearchOptions options) {
  Population parents = co_await random_population(look, options.population);
  while (!all_alike(parents)) {
    Population all = parents;
    Population children;
    for (Config& child : offspring(look, parents, options.crossover)) {
      const double value = co_await look(child);
      children.push_back({std::move(child), value});
    }
    for (Place& start : children) {
      Place minimum = co_await descend(look, std::move(start), {});
      const Place* rival = nullptr;
      for (int i = 0; i < kRivals; ++i) {
        const Place& other = parents[look.rng().uniform_int(uint64_t{parents.size()})];
        if (rival == nullptr || likeness(other.config, minimum.config) > likeness(rival->config, minimum.config)) {
          rival = &other;
        }
      }
      if (minimum.value < rival->value) all.push_back(std::move(minimum));
    }
    std::stable_sort(all.begin(), all.end(), [](const Place& a, const Place& b) { return a.value < b.value; });
    all.resize(parents.size());
    parents = std::move(all);
  }
  co_return 0;
}

}  // namespace

std::unique_ptr<SearchStrategy> make_genetic_local_search(const ConfigSpace& space, GeneticLocalSearchOptions options) {
  return std::make_unique<SequentialSearch>(space, options,
                                            [options](Look& look) { return evolve_minima(look, options); });
}

}  // namespace tensmith
