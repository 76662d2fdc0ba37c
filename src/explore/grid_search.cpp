#include "explore/seen.h"
#include "tensmith/explore/strategy.h"

namespace tensmith {
namespace {

/// Points looked at in one proposal: more than the enumeration limit, so a small space is always seen as a whole, and
/// few enough that a space without valid points ends soon.
constexpr int64_t kPointsPerProposal = int64_t{1} << 22;

class GridSearch final : public SearchStrategy {
 public:
  explicit GridSearch(const ConfigSpace& space) : space_(space), seen_(space, {}), next_(space.at(0)) {}

  std::vector<Config> propose(int count) override {
    std::vector<Config> batch;
    for (int64_t points = kPointsPerProposal; points > 0 && more_ && static_cast<int>(batch.size()) < count; --points) {
      if (space_.valid(next_) && seen_.insert(next_)) batch.push_back(next_);
      more_ = next_point(space_, next_);
    }
    return batch;
  }

  void update(std::span<const Observation> results) override { seen_.insert(results); }

 private:
  const ConfigSpace& space_;
  SeenConfigs seen_;
  Config next_;
  bool more_ = true;
};

}  // namespace

std::unique_ptr<SearchStrategy> make_grid_search(const ConfigSpace& space) {
  return std::make_unique<GridSearch>(space);
}

}  // namespace tensmith
