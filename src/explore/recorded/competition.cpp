#include "tensmith/explore/recorded/competition.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "explore/recorded/distinct.h"

namespace tensmith {
namespace {

bool wins(const stats::SampleSummary& a, const stats::SampleSummary& b, const CompetitionOptions& options) {
  if (!(a.mean > b.mean)) return false;
  if (!options.pooled) return stats::welch_t_test(a, b).p < options.alpha;
  const auto sized = [&](stats::SampleSummary sample) {
    if (options.pooled_count) sample.count = *options.pooled_count;
    return sample;
  };
  return stats::pooled_t_test(sized(a), sized(b)).p < options.alpha;
}

}  // namespace

CompetitionEntry entry_of(const RaceCell& cell) {
  const RaceSummary summary = summarize(cell);
  return {cell.space,
          cell.kernel,
          cell.algorithm,
          cell.budget,
          {summary.mean_fraction, summary.std_fraction, static_cast<double>(cell.runs.size())}};
}

std::vector<Standing> standings(const WinMatrix& matrix) {
  std::vector<Standing> out;
  const size_t n = matrix.algorithms.size();
  for (size_t i = 0; i < n; ++i) {
    Standing& standing = out.emplace_back(Standing{matrix.algorithms[i]});
    for (size_t j = 0; j < n; ++j) {
      standing.wins += matrix.at(i, j);
      standing.losses += matrix.at(j, i);
      standing.comparisons += matrix.comparisons[i * n + j];
    }
  }
  std::stable_sort(out.begin(), out.end(), [](const Standing& a, const Standing& b) { return a.net() > b.net(); });
  return out;
}

std::vector<WinMatrix> compete(std::span<const CompetitionEntry> entries, const CompetitionOptions& options) {
  const auto algorithms = distinct(entries, [](const CompetitionEntry& e) { return e.algorithm; });
  const size_t n = algorithms.size();
  std::map<std::string, size_t> position;
  for (size_t i = 0; i < n; ++i) position[algorithms[i]] = i;
  // The algorithms that meet: on one space, for one budget.
  std::map<std::pair<std::string, int64_t>, std::vector<const CompetitionEntry*>> meetings;
  std::set<BudgetRange> ranges;
  const auto range_of = [&](int64_t budget) {
    return budget <= options.split ? BudgetRange::kLow : BudgetRange::kMedium;
  };
  for (const CompetitionEntry& entry : entries) {
    ranges.insert(range_of(entry.budget));
    if (entry.fraction.count >= 2.0) meetings[{entry.space, entry.budget}].push_back(&entry);
  }
  std::vector<std::string> kernels = distinct(entries, [](const CompetitionEntry& e) { return e.kernel; });
  const bool several = kernels.size() > 1;
  std::vector<WinMatrix> out;
  for (const BudgetRange range : ranges) {
    const size_t first = out.size();
    for (const std::string& kernel : kernels) {
      out.push_back({kernel, range, algorithms, std::vector<int>(n * n), std::vector<int>(n * n)});
    }
    if (several) out.push_back({"", range, algorithms, std::vector<int>(n * n), std::vector<int>(n * n)});
    for (const auto& [where, present] : meetings) {
      if (range_of(where.second) != range) continue;
      const auto kernel = std::find(kernels.begin(), kernels.end(), present.front()->kernel) - kernels.begin();
      for (const CompetitionEntry* a : present) {
        for (const CompetitionEntry* b : present) {
          if (a == b) continue;
          const size_t place = position[a->algorithm] * n + position[b->algorithm];
          const int won = wins(a->fraction, b->fraction, options);
          for (WinMatrix* matrix : {&out[first + static_cast<size_t>(kernel)], several ? &out.back() : nullptr}) {
            if (matrix == nullptr) continue;
            matrix->wins[place] += won;
            ++matrix->comparisons[place];
          }
        }
      }
    }
  }
  return out;
}

}  // namespace tensmith
