#include "explore/strategies/task_prior.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "explore/strategies/acquisition.h"
#include "explore/strategies/row_choice.h"
#include "tensmith/support/rng.h"

namespace tensmith {
namespace {

constexpr size_t kMinModelRows = 8;
constexpr size_t kMaxModelRows = 300;
constexpr int kModelSteps = 20;
/// Failures of the tasks together count less than this much of one success.
constexpr float kDoubt = 0.5F;

struct KnobMatch {
  int other = -1;                ///< knob of the other space, -1 when it has none
  std::vector<int32_t> choices;  ///< other's choice -> ours, or -1
};

std::vector<KnobMatch> match_knobs(const ConfigSpace& space, const ConfigSpace& other) {
  std::vector<KnobMatch> out;
  for (const Knob& knob : space.knobs()) {
    KnobMatch match;
    if (const std::optional<int> found = other.find(knob.name)) {
      match.other = *found;
      for (const KnobValue& value : other.knobs()[static_cast<size_t>(*found)].choices) {
        const auto same = std::find(knob.choices.begin(), knob.choices.end(), value);
        match.choices.push_back(same == knob.choices.end() ? -1 : static_cast<int32_t>(same - knob.choices.begin()));
      }
      if (std::all_of(match.choices.begin(), match.choices.end(), [](int32_t c) { return c < 0; })) match = {};
    }
    out.push_back(std::move(match));
  }
  return out;
}

bool same_knobs(const ConfigSpace& a, const ConfigSpace& b) {
  return a.knobs().size() == b.knobs().size() && std::all_of(a.knobs().begin(), a.knobs().end(), [&](const Knob& knob) {
           return b.find(knob.name).has_value();
         });
}

}  // namespace

TaskPrior::TaskPrior(const ConfigSpace& space, const KnobCoordinates& coordinates, std::span<const TaskHistory> history,
                     double compression)
    : space_(space), coordinates_(coordinates), compression_(compression) {
  for (const TaskHistory& one : history) {
    if (one.space == nullptr) continue;
    std::optional<Task> task = learn(one);
    if (!task) continue;
    tasks_.push_back(std::move(*task));
    if (same_knobs(space_, *one.space)) of_other_kernels_ = false;
  }
  if (tasks_.empty()) return;
  // Unit and level, from configs that the tasks know.
  std::vector<Config> configs;
  for (const Task& task : tasks_) {
    std::vector<uint64_t> indices;
    for (const auto& [index, entry] : task.known) indices.push_back(index);
    std::sort(indices.begin(), indices.end());
    const size_t step = std::max<size_t>(1, indices.size() / 256);
    for (size_t i = 0; i < indices.size(); i += step) configs.push_back(space_.at(indices[i]));
  }
  std::vector<Opinion> opinions(configs.size());
  std::vector<float> deviations(configs.size() * columns());
  ask(configs, opinions, deviations);
  double sum = 0.0;
  double squares = 0.0;
  size_t count = 0;
  for (size_t i = 0; i < configs.size(); ++i) {
    sum += opinions[i].mean;
    for (size_t t = 0; t < tasks_.size(); ++t) {
      const double d = deviations[i * columns() + t];
      squares += d * d;
      count += d != 0.0;
    }
  }
  level_ = sum / static_cast<double>(configs.size());
  double spread = 0.0;
  for (const Opinion& opinion : opinions) spread += (opinion.mean - level_) * (opinion.mean - level_);
  spread = std::sqrt(spread / static_cast<double>(configs.size()));
  const double apart = count > 0 ? std::sqrt(squares / static_cast<double>(count)) : 0.0;
  // One task, or tasks all alike, do not tell how far others would be from them.
  const double unit = tasks_.size() > 1 ? std::max(apart, 0.1 * spread) : 0.5 * spread;
  if (unit > 0.0) unit_ = unit;
}

std::optional<TaskPrior::Task> TaskPrior::learn(const TaskHistory& history) const {
  const std::vector<KnobMatch> matches = match_knobs(space_, *history.space);
  double best = std::numeric_limits<double>::infinity();
  const auto runs = [](const Observation& o) { return o.ok() && std::isfinite(o.seconds) && o.seconds > 0.0; };
  for (const Observation& result : history.results) {
    if (runs(result)) best = std::min(best, result.seconds);
  }
  if (!std::isfinite(best)) return std::nullopt;
  Task task;
  for (const KnobMatch& match : matches) task.shared.push_back(match.other >= 0);
  Config config{std::vector<uint16_t>(matches.size(), 0)};
  for (const Observation& result : history.results) {
    if (result.status == TrialStatus::kWorkerLost) continue;
    bool ours = true;
    for (size_t k = 0; k < matches.size() && ours; ++k) {
      if (matches[k].other < 0) continue;
      const int32_t choice = matches[k].choices[result.config.choices[static_cast<size_t>(matches[k].other)]];
      ours = choice >= 0;
      if (ours) config.choices[k] = static_cast<uint16_t>(choice);
    }
    if (!ours) continue;
    Entry& entry = task.known[space_.index_of(config)];
    if (runs(result)) {
      ++entry.valid;
      entry.sum += compressed(result.seconds / best, compression_);
    } else {
      ++entry.failed;
    }
  }
  const auto valid = static_cast<size_t>(
      std::count_if(task.known.begin(), task.known.end(), [](const auto& known) { return known.second.valid > 0; }));
  if (valid == 0) return std::nullopt;
  task.can_model = valid >= kMinModelRows;
  return task;
}

const GaussianProcess& TaskPrior::model_of(const Task& task) const {
  if (task.model) return *task.model;
  std::vector<std::pair<uint64_t, double>> known;
  for (const auto& [index, entry] : task.known) {
    if (entry.valid > 0) known.emplace_back(index, entry.sum / entry.valid);
  }
  std::sort(known.begin(), known.end());
  // Half of the rows are the best ones: there it matters.
  std::vector<double> values;
  for (const auto& [index, value] : known) values.push_back(value);
  Rng rng(known.size());
  std::vector<float> rows;
  std::vector<double> targets;
  for (size_t i : best_and_random(values, kMaxModelRows, rng)) {
    rows.resize(rows.size() + coordinates_.columns());
    coordinates_.write(space_.at(known[i].first), rows.data() + rows.size() - coordinates_.columns());
    targets.push_back(values[i]);
  }
  task.model = std::make_unique<GaussianProcess>(coordinates_.columns());
  task.model->set_rows({rows.data(), targets.size(), coordinates_.columns()}, targets);
  task.model->optimize(kModelSteps);
  return *task.model;
}

Config TaskPrior::projected(const Task& task, const Config& config) const {
  Config out = config;
  for (size_t k = 0; k < out.choices.size(); ++k) {
    if (!task.shared[k]) out.choices[k] = 0;
  }
  return out;
}

void TaskPrior::ask(std::span<const Config> configs, std::span<Opinion> opinions, std::span<float> deviations) const {
  const size_t n = configs.size();
  const size_t width = columns();
  constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();
  std::fill(deviations.begin(), deviations.end(), kUnknown);
  std::vector<float> runs(n, 0.0F);
  std::vector<float> tried(n, 0.0F);
  for (size_t t = 0; t < tasks_.size(); ++t) {
    const Task& task = tasks_[t];
    std::vector<size_t> missing;
    std::vector<float> rows;
    for (size_t i = 0; i < n; ++i) {
      const Config other = projected(task, configs[i]);
      const auto found = task.known.find(space_.index_of(other));
      if (found != task.known.end()) {
        const Entry& entry = found->second;
        tried[i] += 1.0F;
        if (entry.valid == 0) continue;
        runs[i] += static_cast<float>(entry.valid) / static_cast<float>(entry.valid + entry.failed);
        deviations[i * width + t] = static_cast<float>(entry.sum / entry.valid);
      } else if (task.can_model) {
        missing.push_back(i);
        rows.resize(rows.size() + coordinates_.columns());
        coordinates_.write(other, rows.data() + rows.size() - coordinates_.columns());
      }
    }
    if (missing.empty()) continue;
    std::vector<double> means(missing.size());
    model_of(task).predict({rows.data(), missing.size(), coordinates_.columns()}, means, {});
    for (size_t i = 0; i < missing.size(); ++i) deviations[missing[i] * width + t] = static_cast<float>(means[i]);
  }
  double overall = 0.0;
  size_t counted = 0;
  std::vector<size_t> silent;
  for (size_t i = 0; i < n; ++i) {
    double sum = 0.0;
    int count = 0;
    for (size_t t = 0; t < tasks_.size(); ++t) {
      const float value = deviations[i * width + t];
      if (std::isnan(value)) continue;
      sum += value;
      ++count;
    }
    opinions[i].valid = (runs[i] + kDoubt) / (tried[i] + kDoubt);
    if (count == 0) {
      silent.push_back(i);
    } else {
      opinions[i].mean = static_cast<float>(sum / count);
      overall += opinions[i].mean;
      ++counted;
    }
    for (size_t t = 0; t < tasks_.size(); ++t) {
      float& value = deviations[i * width + t];
      value = std::isnan(value) ? 0.0F : (value - opinions[i].mean) / static_cast<float>(unit_);
    }
  }
  for (size_t i : silent)
    opinions[i].mean = counted > 0 ? static_cast<float>(overall / static_cast<double>(counted)) : 0.0F;
  for (size_t i = 0; i < n; ++i) {
    deviations[i * width + tasks_.size()] = static_cast<float>((opinions[i].mean - level_) / unit_);
  }
}

}  // namespace tensmith
