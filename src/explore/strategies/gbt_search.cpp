#include "tensmith/explore/gbt_search.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "explore/sampling.h"
#include "tensmith/costmodel/gbt.h"
#include "tensmith/costmodel/knob_features.h"
#include "tensmith/explore/learner.h"

namespace tensmith {
namespace {

FeatureSource knob_features(const ConfigSpace& space) {
  const KnobFeatures features(space);
  return {features.size(), [features] {
            return [features](const Config& config, float* row) {
              features.extract(config, {row, features.size()});
              return true;
            };
          }};
}

class GbtSearch final : public SearchStrategy {
 public:
  GbtSearch(const ConfigSpace& space, GbtSearchOptions options)
      : space_(space),
        batch_(std::max(1, options.batch)),
        model_(make_gbt()),
        learner_(*model_, knob_features(space),
                 {.jobs = 1, .min_results = std::max(2, options.first), .refit_interval = batch_}),
        annealing_(make_annealing_search(space, learner_, AnnealingOptions{std::move(options)})) {}

  std::vector<Config> propose(int count) override {
    if (count < 1) return {};
    // Whole batches, however few are asked for at a time: they are diverse, and the model stays the same within one.
    std::vector<Config> out;
    while (static_cast<int>(out.size()) < count) {
      if (pending_.empty()) {
        if (!out.empty()) break;
        for (Config& config : annealing_->propose(std::max(count, batch_))) pending_.push_back(std::move(config));
        if (pending_.empty()) break;
      }
      // Others may have measured it meanwhile.
      if (!told_.contains(space_.index_of(pending_.front()))) out.push_back(std::move(pending_.front()));
      pending_.pop_front();
    }
    return out;
  }

  void update(std::span<const Observation> results) override {
    for (const Observation& result : results) told_.insert(space_.index_of(result.config));
    annealing_->update(results);
  }

 private:
  const ConfigSpace& space_;
  int batch_;
  std::unique_ptr<CostModel> model_;
  Learner learner_;
  std::unique_ptr<SearchStrategy> annealing_;
  std::deque<Config> pending_;
  IndexSet told_;
};

}  // namespace

std::unique_ptr<SearchStrategy> make_gbt_search(const ConfigSpace& space, GbtSearchOptions options) {
  if (space.knobs().empty()) return make_random_search(space, std::move(options));  // no column to learn from
  return std::make_unique<GbtSearch>(space, std::move(options));
}

}  // namespace tensmith
