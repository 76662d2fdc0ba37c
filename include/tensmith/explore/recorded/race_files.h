#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "tensmith/explore/recorded/competition.h"
#include "tensmith/explore/recorded/race.h"

/// What a race leaves in a directory.

namespace tensmith {

/// The cells that are finished, so that a race that was ended in between goes on where it was: a file of JSON lines
/// that is only ever appended to. Cells of other races (another seed, other settings, a space whose measurements
/// changed) stay in it and do no harm.
class RaceState {
 public:
  /// Reads the file when it is there; lines that are damaged are passed over. Throws WorkError when it cannot be read,
  /// or not be written.
  explicit RaceState(std::filesystem::path path);

  /// Fills in the runs of the cell with this id. Runs that are not possible are damage: their line is passed over.
  bool recall(RaceCell& cell, const RaceBounds& bounds);
  /// Throws WorkError when it cannot be written.
  void store(const RaceCell& cell);

  size_t size() const { return cells_.size(); }
  const std::filesystem::path& path() const { return path_; }
  /// The numbers of the lines that were passed over so far, from 1 on.
  const std::vector<size_t>& damaged_lines() const { return damaged_lines_; }

 private:
  std::filesystem::path path_;
  struct Cell {
    std::vector<RaceRun> runs;
    size_t line = 0;  ///< that it was read from; 0: none
  };

  std::unordered_map<std::string, Cell> cells_;  ///< by id
  std::vector<size_t> damaged_lines_;
};

/// One row a cell: space, kernel, device, algorithm, convention, objective, history, budget, runs, mean_fraction, std,
/// success_rate, mean_evaluations, std_evaluations, seed, settings.
std::string results_csv(std::span<const RaceCell> cells);
/// One row a run: space, algorithm, budget, run, fraction, found, evaluations.
std::string runs_csv(std::span<const RaceCell> cells);
/// One row a pair: split, range, kernel ("all"), winner, loser, wins, comparisons.
std::string competition_csv(std::span<const WinMatrix> matrices, int64_t split, bool header = true);
/// One row an algorithm: split, range, kernel, rank, algorithm, wins, losses, net_wins, comparisons.
std::string ranking_csv(std::span<const WinMatrix> matrices, int64_t split, bool header = true);

/// "low" or "medium".
std::string_view to_string(BudgetRange range);

}  // namespace tensmith
