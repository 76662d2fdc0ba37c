#pragma once

#include <cstdint>
#include <vector>

#include "tensmith/explore/recorded/recorded_space.h"
#include "tensmith/explore/strategy.h"
#include "tensmith/support/rng.h"

/// One search of a recorded space.

namespace tensmith {

/// What a search knows of a space beforehand.
enum class Convention : uint8_t {
  kCartesian,   ///< names and value lists only: points outside the restrictions are tried, and cost an evaluation
  kRestricted,  ///< also which configs are recorded, failed ones included
};

/// The space as a strategy sees it.
ConfigSpace space_of(const RecordedSpace& space, Convention convention);

/// What an evaluation of a point with several runs gives.
enum class Objective : uint8_t {
  kMean,  ///< their mean, always
  kDraw,  ///< one of them at random
};

/// The course of a search. Every config that was tried counts as an evaluation, valid or not; one that comes again
/// costs nothing, since strategies remember what they were told.
struct SearchRun {
  struct Improvement {
    int64_t evaluation = 0;  ///< from 1
    uint64_t index = 0;      ///< of the point
  };
  std::vector<Improvement> improvements;  ///< each better than all before, by what the search was told
  int64_t evaluations = 0;
  bool found_optimum = false;  ///< by mean values, whatever was drawn

  /// optimum / mean value of the best point within so many evaluations; 0 when none was valid.
  double fraction(const RecordedSpace& space, double optimum, int64_t budget) const;
};

struct RunOptions {
  int64_t budget = 100;
  Objective objective = Objective::kMean;
  uint64_t seed = 0;  ///< of the draws
};

/// Lets a strategy search until the budget is used up, the optimum is found, or it has nothing more to propose. One
/// config at a time. The strategy's space must be space_of(space, ...). Throws UserError for a space without a valid
/// point, and for kDraw when there are no single runs.
SearchRun run_search(SearchStrategy& strategy, const RecordedSpace& space, const RunOptions& options);

}  // namespace tensmith
