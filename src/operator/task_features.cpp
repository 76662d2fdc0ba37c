#include "tensmith/operator/task_features.h"

#include <memory>

#include "tensmith/costmodel/features.h"
#include "tensmith/costmodel/knob_features.h"
#include "tensmith/schedule/loop_nest.h"
#include "tensmith/support/error.h"

namespace tensmith {
namespace {

class TaskFeatures {
 public:
  explicit TaskFeatures(const Task& task) : task_(task), knobs_(task.space), extractor_(task.target) {}

  size_t columns() const { return knobs_.size() + extractor_.size(); }

  bool extract(const Config& config, float* row) {
    arena_.reset();
    ArenaScope scope(arena_);
    try {
      const Schedule schedule = task_.instantiate(config);
      const Function nest = build_loop_nest(schedule, "nest");
      knobs_.extract(config, {row, knobs_.size()});
      extractor_.extract(nest, {row + knobs_.size(), extractor_.size()});
      return true;
    } catch (const UserError&) {
      return false;
    }
  }

 private:
  const Task& task_;
  KnobFeatures knobs_;
  FeatureExtractor extractor_;
  Arena arena_;
};

}  // namespace

FeatureSource task_features(const Task& task) {
  FeatureSource source;
  source.columns = TaskFeatures(task).columns();
  source.make = [&task]() -> FeatureFunction {
    auto features = std::make_shared<TaskFeatures>(task);
    return [features](const Config& config, float* row) { return features->extract(config, row); };
  };
  return source;
}

}  // namespace tensmith
