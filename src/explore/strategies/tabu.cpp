#include "tensmith/explore/local_search.h"

#include <algorithm>
#include <deque>
#include <unordered_set>
#include <utility>

#include "explore/strategies/descent.h"

namespace tensmith {
namespace {

/// The configs a search went to last.
class TabuList {
 public:
  explicit TabuList(int size) : size_(static_cast<size_t>(std::max(0, size))) {}
  bool contains(uint64_t index) const { return members_.contains(index); }
  void push(uint64_t index) {
    queue_.push_back(index);
    members_.insert(index);
    if (queue_.size() <= size_) return;
    members_.erase(members_.find(queue_.front()));
    queue_.pop_front();
  }

 private:
  size_t size_;
  std::deque<uint64_t> queue_;
  std::unordered_multiset<uint64_t> members_;
};

Piece<int> tabu(Look& look, Improvement improvement, int size) {
  TabuList list(size);
  Place here = co_await random_place(look);
  while (!here.config.choices.empty()) {
    Place best;
    for (const Move& move : moves(look, here.config, improvement)) {
      Config neighbour = moved(here.config, move);
      if (list.contains(look.space().index_of(neighbour))) continue;
      const double value = co_await look(neighbour);
      if (value < best.value) best = {std::move(neighbour), value};
      if (improvement == Improvement::kFirst && value < here.value) break;
    }
    if (best.config.choices.empty()) best = co_await random_place(look);
    if (best.config.choices.empty()) co_return 0;
    here = std::move(best);
    list.push(look.space().index_of(here.config));
  }
  co_return 0;
}

}  // namespace

std::unique_ptr<SearchStrategy> make_tabu_search(const ConfigSpace& space, TabuOptions options) {
  const auto [improvement, size] = std::pair(options.improvement, options.tabu_size);
  return std::make_unique<SequentialSearch>(space, std::move(options),
                                            [=](Look& look) { return tabu(look, improvement, size); });
}

}  // namespace tensmith
