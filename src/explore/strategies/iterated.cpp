#include "tensmith/explore/local_search.h"

#include <algorithm>

#include "explore/strategies/descent.h"

namespace tensmith {
namespace {

Piece<int> iterate(Look& look, Descent how, double walk, int patience) {
  const int steps = std::max(1, static_cast<int>(walk * static_cast<double>(look.space().knobs().size())));
  Place best;
  int failures = 0;
  while (true) {
    Place start;
    if (best.config.choices.empty() || failures >= patience) {
      failures = 0;
      start = co_await random_place(look);
      if (start.config.choices.empty()) co_return 0;
    } else {
      start.config = best.config;
      for (int i = 0; i < steps; ++i) start.config = mutated(look, start.config);
      start.value = co_await look(start.config);
    }
    Place minimum = co_await descend(look, std::move(start), how);
    if (minimum.value < best.value) {
      best = std::move(minimum);
      failures = 0;
    } else {
      ++failures;
    }
  }
}

}  // namespace

std::unique_ptr<SearchStrategy> make_iterated_search(const ConfigSpace& space, IteratedSearchOptions options) {
  const Descent how{options.improvement, options.neighbourhood, options.improvement == Improvement::kFirst};
  const double walk = options.walk;
  const int patience = options.patience;
  return std::make_unique<SequentialSearch>(space, std::move(options),
                                            [=](Look& look) { return iterate(look, how, walk, patience); });
}

}  // namespace tensmith
