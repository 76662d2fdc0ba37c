#include "tensmith/explore/local_search.h"

#include "explore/strategies/descent.h"

namespace tensmith {
namespace {

Piece<int> multi_start(Look& look, Improvement improvement) {
  while (true) {
    Place start = co_await random_place(look);
    if (start.config.choices.empty()) co_return 0;
    co_await descend(look, std::move(start), {improvement});
  }
}

}  // namespace

std::unique_ptr<SearchStrategy> make_multi_start_search(const ConfigSpace& space, Improvement improvement,
                                                        StrategyOptions options) {
  return std::make_unique<SequentialSearch>(space, std::move(options),
                                            [improvement](Look& look) { return multi_start(look, improvement); });
}

}  // namespace tensmith
