#include "tensmith/explore/learned_search.h"

#include <utility>

#include "explore/strategies/model_search.h"

namespace tensmith {
namespace {

ModelSearchOptions with(StrategyOptions common) {
  ModelSearchOptions options;
  static_cast<StrategyOptions&>(options) = std::move(common);
  return options;
}

}  // namespace

std::unique_ptr<SearchStrategy> make_learned_search(const ConfigSpace& space, LearnedSearchOptions options) {
  std::vector<TaskHistory> history = std::move(options.history);
  ModelSearchOptions model = with(std::move(options));
  model.history = std::move(history);
  return make_model_search(space, std::move(model));
}

std::unique_ptr<SearchStrategy> make_gp_search(const ConfigSpace& space, StrategyOptions options) {
  ModelSearchOptions model = with(std::move(options));
  model.compression = 0.0;
  model.length = 1.0;
  model.length_deviation = 1.0;
  model.validity_power = 1.0;
  model.start_middle = 0.0;
  model.near_best = 0;
  return make_model_search(space, std::move(model));
}

std::unique_ptr<SearchStrategy> make_smac_search(const ConfigSpace& space, SmacOptions options) {
  const double confidence = options.confidence;
  ModelSearchOptions model = with(std::move(options));
  model.acquisition = Acquisition::kLowerConfidenceBound;
  model.confidence = confidence;
  model.learn_validity = false;
  model.compression = 0.0;
  model.length = 1.0;
  model.length_deviation = 1.0;
  model.start_middle = 0.0;
  model.near_best = 0;
  return make_model_search(space, std::move(model));
}

}  // namespace tensmith
