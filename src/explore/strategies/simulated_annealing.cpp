#include "tensmith/explore/simulated_annealing.h"

#include <algorithm>
#include <cmath>

#include "explore/strategies/descent.h"
#include "explore/units.h"

namespace tensmith {
namespace {
/// Values of configs that cannot run have no unit.
double difference_ms(double to, double from) {
  return to < Look::kMissing && from < Look::kMissing ? (to - from) * kMillisecondsPerSecond : to - from;
}

Piece<int> anneal(Look& look, SimulatedAnnealingOptions options) {
  size_t choices = 0;
  for (int knob : look.free_knobs()) choices += look.space().knobs()[knob].choices.size();
  const int mutations = std::max(1, static_cast<int>(options.explore * static_cast<double>(choices)));
  const double decay = std::log(options.last_temperature / options.first_temperature);
  Place here = co_await random_place(look);
  if (here.config.choices.empty()) co_return 0;
  for (int i = 1; i <= options.iterations; ++i) {
    const double temperature = options.first_temperature * std::exp(decay * i / options.iterations);
    Place candidate;
    candidate.config = here.config;
    for (int k = 0; k < mutations; ++k) candidate.config = mutated(look, candidate.config);
    candidate.value = co_await look(candidate.config);
    if (options.descend) candidate = co_await descend(look, std::move(candidate), {});
    const bool accept = candidate.value < here.value ||
                        std::exp(-difference_ms(candidate.value, here.value) / temperature) > look.rng().uniform_real();
    if (accept) here = std::move(candidate);
  }
  co_return 0;
}

}  // namespace

std::unique_ptr<SearchStrategy> make_simulated_annealing(const ConfigSpace& space, SimulatedAnnealingOptions options) {
  return std::make_unique<SequentialSearch>(space, options, [options](Look& look) { return anneal(look, options); });
}

}  // namespace tensmith
