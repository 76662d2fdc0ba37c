#include "explore/seen.h"
#include "tensmith/explore/strategy.h"

namespace tensmith {
namespace {

class RandomSearch final : public SearchStrategy {
 public:
  RandomSearch(const ConfigSpace& space, StrategyOptions options)
      : seen_(space, std::move(options.initial)), sampler_(space, Rng(options.seed)) {}

  std::vector<Config> propose(int count) override {
    std::vector<Config> batch;
    const size_t wanted = static_cast<size_t>(std::max(count, 0));
    seen_.take_initial(wanted, batch);
    seen_.fill(sampler_, wanted, batch);
    return batch;
  }

  void update(std::span<const Observation> results) override { seen_.insert(results); }

 private:
  SeenConfigs seen_;
  ValidSampler sampler_;
};

}  // namespace

std::unique_ptr<SearchStrategy> make_random_search(const ConfigSpace& space, StrategyOptions options) {
  return std::make_unique<RandomSearch>(space, std::move(options));
}

}  // namespace tensmith
