#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "explore/sampling.h"
#include "tensmith/explore/score.h"

namespace tensmith {

/// The configs scored in one round: each is scored once, and the best unseen ones are kept in order.
class Candidates {
 public:
  struct Entry {
    float score;
    uint64_t index;
    /// Best first; ties by index.
    bool operator<(const Entry& other) const {
      return score != other.score ? score > other.score : index < other.index;
    }
  };

  /// Keeps the best `limit` configs that are not in `seen`, which must outlive this and stay as it is.
  Candidates(const ConfigSpace& space, Scorer& scorer, const IndexSet& seen, size_t limit);

  /// Scores of valid configs, which may repeat. A score that is not a number counts as kInfeasible.
  std::vector<float> score(std::span<const Config> configs);

  /// Best first.
  std::vector<Entry> best() const { return {best_.begin(), best_.end()}; }

  /// Grows with every change of the list of the best.
  uint64_t changes() const { return changes_; }

 private:
  void offer(Entry entry);

  const ConfigSpace& space_;
  Scorer& scorer_;
  const IndexSet& seen_;
  size_t limit_;
  std::unordered_map<uint64_t, float> scores_;
  std::set<Entry> best_;
  uint64_t changes_ = 0;
};

}  // namespace tensmith
