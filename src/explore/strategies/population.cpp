#include "explore/strategies/population.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tensmith {
namespace {

/// For each free knob, whether the first child has it from the second parent.
std::vector<bool> exchanged(Look& look, Crossover crossover) {
  const auto knobs = static_cast<int64_t>(look.free_knobs().size());
  std::vector<bool> out(static_cast<size_t>(knobs), false);
  if (crossover == Crossover::kUniform) {
    for (size_t i = 0; i < out.size(); ++i) out[i] = look.rng().bernoulli(0.5);
  } else if (knobs > 1) {
    const bool two = crossover == Crossover::kTwoPoint && knobs > 2;
    const int64_t begin = look.rng().uniform_int(int64_t{1}, two ? knobs - 2 : knobs - 1);
    const int64_t end = two ? look.rng().uniform_int(begin, knobs - 1) : knobs;
    std::fill(out.begin() + begin, out.begin() + end, true);
  }
  return out;
}

std::array<Config, 2> children_of(Look& look, const Config& a, const Config& b, Crossover crossover) {
  std::array<Config, 2> children = {a, b};
  const std::vector<bool> exchange = exchanged(look, crossover);
  for (size_t i = 0; i < exchange.size(); ++i) {
    const int knob = look.free_knobs()[i];
    if (exchange[i]) std::swap(children[0].choices[knob], children[1].choices[knob]);
  }
  return children;
}

}  // namespace

Piece<Population> random_population(Look& look, int size) {
  Population population;
  for (int i = 0; i < std::max(2, size + size % 2); ++i) {
    Place place = co_await random_place(look);
    if (place.config.choices.empty()) co_return Population{};
    population.push_back(std::move(place));
  }
  co_return population;
}

std::vector<Config> offspring(Look& look, Population& parents, Crossover crossover) {
  look.rng().shuffle(std::span(parents));
  std::vector<Config> out;
  for (size_t i = 0; i + 1 < parents.size(); i += 2) {
    for (Config& child : children_of(look, parents[i].config, parents[i + 1].config, crossover)) {
      // The space may forbid what two of its configs make.
      out.push_back(look.space().valid(child) ? std::move(child) : parents[i + out.size() % 2].config);
    }
  }
  return out;
}

bool all_alike(const Population& population) {
  return std::all_of(population.begin(), population.end(),
                     [&](const Place& place) { return place.config == population.front().config; });
}

}  // namespace tensmith
