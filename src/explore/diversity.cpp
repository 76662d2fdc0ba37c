#include "tensmith/explore/diversity.h"

#include <algorithm>
#include <cstdint>
#include <queue>

namespace tensmith {
namespace {

/// Which (knob, choice) pairs a growing set of configs has.
class Coverage {
 public:
  explicit Coverage(std::span<const Config> configs) {
    if (configs.empty()) return;
    std::vector<uint32_t> sizes(configs.front().choices.size(), 0);
    for (const Config& config : configs) {
      for (size_t j = 0; j < sizes.size(); ++j) sizes[j] = std::max<uint32_t>(sizes[j], config.choices[j] + 1u);
    }
    start_.reserve(sizes.size());
    size_t total = 0;
    for (uint32_t size : sizes) {
      start_.push_back(total);
      total += size;
    }
    covered_.assign(total, 0);
  }

  int new_pairs(const Config& config) const {
    int count = 0;
    for (size_t j = 0; j < start_.size(); ++j) count += covered_[start_[j] + config.choices[j]] == 0;
    return count;
  }
  int add(const Config& config) {
    const int count = new_pairs(config);
    for (size_t j = 0; j < start_.size(); ++j) covered_[start_[j] + config.choices[j]] = 1;
    return count;
  }

 private:
  std::vector<size_t> start_;
  std::vector<uint8_t> covered_;
};

struct Bound {
  double gain;  ///< what the candidate would have added when it was last looked at: never less than it adds now
  int position;
  int round;  ///< size of the set at that time

  bool operator<(const Bound& other) const {
    return gain != other.gain ? gain < other.gain : position > other.position;
  }
};

}  // namespace

double batch_objective(std::span<const Config> configs, std::span<const double> scores, double alpha) {
  Coverage coverage(configs);
  double sum = 0.0;
  int pairs = 0;
  for (size_t i = 0; i < configs.size(); ++i) {
    sum += scores[i];
    pairs += coverage.add(configs[i]);
  }
  return sum + alpha * pairs;
}

std::vector<int> choose_diverse(std::span<const Config> candidates, std::span<const double> scores, int count,
                                double alpha) {
  std::vector<int> chosen;
  Coverage coverage(candidates);
  std::vector<Bound> bounds;
  bounds.reserve(candidates.size());
  for (size_t i = 0; i < candidates.size(); ++i) {
    bounds.push_back({scores[i] + alpha * coverage.new_pairs(candidates[i]), static_cast<int>(i), 0});
  }
  std::priority_queue<Bound> queue(std::less<Bound>(), std::move(bounds));
  while (!queue.empty() && static_cast<int>(chosen.size()) < count) {
    Bound top = queue.top();
    queue.pop();
    const int round = static_cast<int>(chosen.size());
    if (top.round != round) {
      top.gain = scores[top.position] + alpha * coverage.new_pairs(candidates[top.position]);
      top.round = round;
      queue.push(top);
      continue;
    }
    coverage.add(candidates[top.position]);
    chosen.push_back(top.position);
  }
  return chosen;
}

}  // namespace tensmith
