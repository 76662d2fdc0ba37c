#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tensmith/explore/recorded/race.h"
#include "tensmith/support/t_test.h"

/// Who wins a race: section V of "Benchmarking optimization algorithms for auto-tuning GPU kernels" (Schoonhoven et
/// al., 2022). On a space, for a budget, an algorithm wins over another when the mean of its runs is higher and a
/// two-sided two-sample t-test says that this is no chance.

namespace tensmith {

/// What an algorithm came to on a space for a budget.
struct CompetitionEntry {
  std::string space;
  std::string kernel;
  std::string algorithm;
  int64_t budget = 0;
  stats::SampleSummary fraction;  ///< of the optimum, over the runs
};
CompetitionEntry entry_of(const RaceCell& cell);

struct CompetitionOptions {
  double alpha = 0.05;
  /// Welch's test, with the number of runs that there were; otherwise Student's, which pools the variances.
  bool pooled = false;
  /// Size of all samples that the pooled test takes for true (the published matrices: 100); nothing: as many as ran.
  std::optional<int> pooled_count;
  /// Budgets up to this one are the low range, those above the medium range.
  int64_t split = 200;
};

enum class BudgetRange : uint8_t { kLow, kMedium };

/// How often each algorithm wins over each other one, over the spaces of a kernel and the budgets of a range.
struct WinMatrix {
  std::string kernel;  ///< empty: of all kernels
  BudgetRange range = BudgetRange::kLow;
  std::vector<std::string> algorithms;
  std::vector<int> wins;         ///< [winner * algorithms + loser]
  std::vector<int> comparisons;  ///< of each pair, in the same places

  int at(size_t winner, size_t loser) const { return wins[winner * algorithms.size() + loser]; }
};

struct Standing {
  std::string algorithm;
  int wins = 0;
  int losses = 0;
  int comparisons = 0;
  int net() const { return wins - losses; }
};

/// By net wins, best first; equal ones in the order of the matrix.
std::vector<Standing> standings(const WinMatrix& matrix);

/// The matrices of each kernel, in the order of the entries, and of all kernels when there are several; of each range
/// that has a budget. Algorithms keep the order of the entries. Pairs of which one has no entry (or a single run, which
/// no test can judge) are not compared.
std::vector<WinMatrix> compete(std::span<const CompetitionEntry> entries, const CompetitionOptions& options = {});

}  // namespace tensmith
