#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "tensmith/costmodel/cost_model.h"
#include "tensmith/explore/score.h"

namespace tensmith {

/// Writes the features of a config's program to `row`. False when the config cannot become a program. Used by one
/// thread; may keep buffers between calls.
using FeatureFunction = std::function<bool(const Config& config, float* row)>;

/// Where feature rows come from: the lowering of a template and the features of the loop nest, seen from outside.
struct FeatureSource {
  size_t columns = 0;
  /// Makes one independent function a thread; what it computes must not depend on which thread it serves.
  std::function<FeatureFunction()> make;
};

struct LearnerOptions {
  int jobs = 1;  ///< threads that compute features and scores
  /// Before this many results with at least two different labels, the learner is not ready.
  int min_results = 8;
  /// New results after which the model is fitted again. Waiting results are never lost: the next fit has them.
  int refit_interval = 1;
};

/// The cost model as a scorer: keeps the training rows of a task, fits the model to them and scores configs on several
/// threads. Labels are throughput relative to the best so far and 0 for failures. Results with kWorkerLost, or of
/// configs without features, teach nothing. The same results give the same scores at any number of jobs.
class Learner final : public Scorer {
 public:
  /// The model must outlive the learner. Throws UserError when the source is empty.
  Learner(CostModel& model, FeatureSource source, LearnerOptions options = {});
  ~Learner() override;

  void learn(std::span<const Observation> results) override;
  bool ready() const override { return ready_; }
  void score(std::span<const Config> configs, std::span<float> scores) override;

  /// Rows of features kept so far.
  size_t rows() const { return seconds_.size(); }

 private:
  class Workers;
  /// Fills rows [0, configs.size()) of `values`; feasible[i] says whether row i is valid.
  void compute_features(std::span<const Config> configs, float* values, uint8_t* feasible);
  void fit();

  CostModel& model_;
  FeatureSource source_;
  LearnerOptions options_;
  std::unique_ptr<Workers> workers_;
  std::vector<float> features_;  ///< row-major
  std::vector<double> seconds_;  ///< 0 for a failure
  size_t fitted_rows_ = 0;
  bool ready_ = false;
  std::vector<float> scratch_;
};

}  // namespace tensmith
