#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tensmith/explore/recorded/competition.h"
#include "tensmith/explore/recorded/race.h"

namespace tensmith {

/// What a race came to, on average over spaces.
struct RaceTable {
  std::vector<std::string> algorithms;
  std::vector<int64_t> budgets;
  /// [algorithm][budget]; negative where there is no cell. The spaces weigh alike.
  std::vector<std::vector<double>> means;
  /// The same: the standard error of that mean which comes from the runs (the spaces are what they are).
  std::vector<std::vector<double>> errors;

  /// Whether no other came further; nobody is the best where nobody found a valid config.
  bool best(size_t algorithm, size_t budget) const;
};

/// Of all cells that are selected: those of a kernel, of a space.
RaceTable tabulate(std::span<const RaceCell> cells, std::optional<std::string_view> kernel = {},
                   std::optional<std::string_view> space = {});

struct RaceReportOptions {
  std::vector<int64_t> splits = {200};  ///< one pair of heat maps each
  CompetitionOptions competition;       ///< but for its split
};

/// A page that needs no other file: tables, competition heat maps (the paper's figures 1, 8 and 9) and curves of the
/// fraction of the optimum by budget, of each kernel and of each space (figures 10 to 18), with bands of 95 %
/// confidence of the mean.
std::string race_report(std::span<const RaceCell> cells, const RaceReportOptions& options = {});

}  // namespace tensmith
