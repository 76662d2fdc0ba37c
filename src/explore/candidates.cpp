#include "explore/candidates.h"

#include <cmath>

namespace tensmith {

Candidates::Candidates(const ConfigSpace& space, Scorer& scorer, const IndexSet& seen, size_t limit)
    : space_(space), scorer_(scorer), seen_(seen), limit_(limit) {}

std::vector<float> Candidates::score(std::span<const Config> configs) {
  std::vector<uint64_t> indices(configs.size());
  std::vector<Config> fresh;
  std::vector<uint64_t> fresh_indices;
  for (size_t i = 0; i < configs.size(); ++i) {
    indices[i] = space_.index_of(configs[i]);
    if (scores_.emplace(indices[i], kInfeasible).second) {
      fresh.push_back(configs[i]);
      fresh_indices.push_back(indices[i]);
    }
  }
  std::vector<float> fresh_scores(fresh.size(), kInfeasible);
  if (!fresh.empty()) scorer_.score(fresh, fresh_scores);
  for (size_t i = 0; i < fresh.size(); ++i) {
    if (!std::isfinite(fresh_scores[i])) continue;
    scores_[fresh_indices[i]] = fresh_scores[i];
    if (!seen_.contains(fresh_indices[i])) offer({fresh_scores[i], fresh_indices[i]});
  }
  std::vector<float> scores(configs.size());
  for (size_t i = 0; i < configs.size(); ++i) scores[i] = scores_.at(indices[i]);
  return scores;
}

void Candidates::offer(Entry entry) {
  if (limit_ == 0) return;
  if (best_.size() == limit_) {
    if (!(entry < *best_.rbegin())) return;
    best_.erase(std::prev(best_.end()));
  }
  best_.insert(entry);
  ++changes_;
}

}  // namespace tensmith
