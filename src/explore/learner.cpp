#include "tensmith/explore/learner.h"

#include <algorithm>
#include <cmath>

#include "explore/worker_pool.h"
#include "tensmith/support/error.h"

namespace tensmith {
namespace {

/// Small enough to balance the threads, large enough that a batched prediction pays.
constexpr size_t kGrain = 32;

}  // namespace

class Learner::Workers {
 public:
  Workers(int jobs, const FeatureSource& source) : pool(jobs) {
    for (int i = 0; i < pool.jobs(); ++i) functions.push_back(source.make());
  }
  WorkerPool pool;
  std::vector<FeatureFunction> functions;
};

Learner::Learner(CostModel& model, FeatureSource source, LearnerOptions options)
    : model_(model), source_(std::move(source)), options_(options) {
  if (source_.columns == 0 || !source_.make) {
    throw UserError("a learner needs a source of features with at least one column", "fill FeatureSource");
  }
  workers_ = std::make_unique<Workers>(std::max(options_.jobs, 1), source_);
}

Learner::~Learner() = default;

void Learner::compute_features(std::span<const Config> configs, float* values, uint8_t* feasible) {
  workers_->pool.run(configs.size(), kGrain, [&](int worker, size_t begin, size_t end) {
    const FeatureFunction& features = workers_->functions[worker];
    for (size_t i = begin; i < end; ++i) {
      float* row = values + i * source_.columns;
      feasible[i] = features(configs[i], row);
      for (size_t j = 0; feasible[i] && j < source_.columns; ++j) feasible[i] = std::isfinite(row[j]);
    }
  });
}

void Learner::learn(std::span<const Observation> results) {
  std::vector<Config> configs;
  std::vector<double> seconds;
  for (const Observation& result : results) {
    if (result.status == TrialStatus::kWorkerLost) continue;
    configs.push_back(result.config);
    seconds.push_back(result.ok() ? result.seconds : 0.0);
  }
  std::vector<float> values(configs.size() * source_.columns);
  std::vector<uint8_t> feasible(configs.size());
  compute_features(configs, values.data(), feasible.data());
  for (size_t i = 0; i < configs.size(); ++i) {
    if (!feasible[i]) continue;
    const auto row = values.begin() + static_cast<ptrdiff_t>(i * source_.columns);
    features_.insert(features_.end(), row, row + static_cast<ptrdiff_t>(source_.columns));
    seconds_.push_back(seconds[i]);
  }
  const size_t fresh = seconds_.size() - fitted_rows_;
  if (fresh > 0 && (!ready_ || fresh >= static_cast<size_t>(options_.refit_interval))) fit();
}

void Learner::fit() {
  if (seconds_.size() < static_cast<size_t>(options_.min_results)) return;
  // Equal labels teach nothing: the scores would be a constant, and the search a slow way to draw at random.
  if (std::all_of(seconds_.begin(), seconds_.end(), [&](double s) { return s == seconds_.front(); })) return;
  const std::vector<double> labels = throughput_labels(seconds_);
  model_.fit(FeatureMatrix(features_.data(), seconds_.size(), source_.columns), labels);
  fitted_rows_ = seconds_.size();
  ready_ = true;
}

void Learner::score(std::span<const Config> configs, std::span<float> scores) {
  TENSMITH_ICHECK(configs.size() == scores.size(), "one score a config");
  scratch_.resize(configs.size() * source_.columns);
  workers_->pool.run(configs.size(), kGrain, [&](int worker, size_t begin, size_t end) {
    const FeatureFunction& features = workers_->functions[worker];
    // Rows of feasible configs are packed to the front of the piece, so that one prediction takes them all.
    float* rows = scratch_.data() + begin * source_.columns;
    size_t count = 0;
    for (size_t i = begin; i < end; ++i) {
      float* row = rows + count * source_.columns;
      bool feasible = features(configs[i], row);
      for (size_t j = 0; feasible && j < source_.columns; ++j) feasible = std::isfinite(row[j]);
      scores[i] = feasible ? 0.0f : kInfeasible;
      count += feasible;
    }
    if (!ready_ || count == 0) return;
    std::vector<float> predicted(count);
    model_.predict(FeatureMatrix(rows, count, source_.columns), predicted);
    size_t next = 0;
    for (size_t i = begin; i < end; ++i) {
      if (scores[i] != kInfeasible) scores[i] = predicted[next++];
    }
  });
}

}  // namespace tensmith
