#pragma once

#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "explore/strategies/knob_coordinates.h"
#include "tensmith/costmodel/gaussian_process.h"
#include "tensmith/explore/history.h"

namespace tensmith {

/// What the results of other tasks say about the configs of a space. A task says of each config how far it is from
/// that task's best: what was measured there, or what a Gaussian process makes of what was. Knobs that the other space
/// lacks do not matter; of those that only the other space has, all choices count alike.
class TaskPrior {
 public:
  /// Results are given to the processes in the form of compressed(seconds / best seconds, compression).
  TaskPrior(const ConfigSpace& space, const KnobCoordinates& coordinates, std::span<const TaskHistory> history,
            double compression);

  bool active() const { return !tasks_.empty(); }
  /// Whether there are tasks and the knobs of each are not those of the space, by their names: it is another kernel
  /// then, one that was written anew for another device, say.
  bool of_other_kernels() const { return active() && of_other_kernels_; }
  /// Numbers that a config has: how far its mean is from the mean of all, and how far each task is from its mean, in
  /// units. The target is near the mean plus a weighted sum of them.
  size_t columns() const { return active() ? tasks_.size() + 1 : 0; }
  /// Root mean square of how far the tasks are from their mean; the unit of the deviations.
  double unit() const { return unit_; }

  struct Opinion {
    float mean = 0.0F;   ///< over the tasks
    float valid = 1.0F;  ///< probability that the config runs
  };
  /// opinions[i] of configs[i]; `deviations` has a row of columns() numbers a config.
  void ask(std::span<const Config> configs, std::span<Opinion> opinions, std::span<float> deviations) const;

 private:
  struct Entry {
    double sum = 0.0;
    uint32_t valid = 0;
    uint32_t failed = 0;
  };
  struct Task {
    std::vector<uint8_t> shared;                     ///< whether the other space has the knob
    std::unordered_map<uint64_t, Entry> known;       ///< by the index of the config whose other knobs have choice 0
    bool can_model = false;                          ///< there are enough results
    mutable std::unique_ptr<GaussianProcess> model;  ///< for what is not known; made when it is asked first
  };
  /// Nothing when the history has no result that ran.
  std::optional<Task> learn(const TaskHistory& history) const;
  const GaussianProcess& model_of(const Task& task) const;
  Config projected(const Task& task, const Config& config) const;

  const ConfigSpace& space_;
  const KnobCoordinates& coordinates_;
  double compression_;
  double unit_ = 1.0;
  bool of_other_kernels_ = true;
  double level_ = 0.0;  ///< mean over configs
  std::vector<Task> tasks_;
};

}  // namespace tensmith
