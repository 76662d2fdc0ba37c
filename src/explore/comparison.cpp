#include "tensmith/explore/comparison.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "tensmith/support/stats.h"

namespace tensmith {

std::vector<double> comparison_seconds(std::span<const std::vector<double>> rounds) {
  std::vector<const std::vector<double>*> ran;
  for (const std::vector<double>& times : rounds) {
    if (!times.empty()) ran.push_back(&times);
  }
  size_t shared = ran.empty() ? 0 : ran.front()->size();
  for (const std::vector<double>* times : ran) shared = std::min(shared, times->size());
  std::vector<double> reference;
  for (size_t r = 0; r < shared; ++r) {
    std::vector<double> round;
    for (const std::vector<double>* times : ran) round.push_back((*times)[r]);
    reference.push_back(stats::geomean(round));
  }
  std::vector<double> seconds;
  for (const std::vector<double>& times : rounds) {
    if (times.empty()) {
      seconds.push_back(0.0);
      continue;
    }
    const std::vector<double> ratios = stats::ratios(std::span(times).first(shared), reference);
    seconds.push_back(stats::median(ratios) * stats::min(reference));
  }
  return seconds;
}

std::vector<bool> of_partial_comparison(std::span<const Record> records) {
  std::map<std::string_view, int> present;
  for (const Record& record : records) {
    if (record.kind == RecordKind::kConfirmation) ++present[record.comparison];
  }
  std::vector<bool> partial;
  for (const Record& record : records) {
    partial.push_back(record.kind == RecordKind::kConfirmation && present[record.comparison] < record.comparison_size);
  }
  return partial;
}

std::optional<BestRecord> choose_best(std::span<const Record> records) {
  const std::vector<bool> partial = of_partial_comparison(records);
  // The newest comparison in which something ran; one in which nothing did decides nothing.
  const Record* newest = nullptr;
  size_t newest_position = 0;
  for (size_t i = records.size(); i-- > 0 && newest == nullptr;) {
    if (records[i].kind != RecordKind::kConfirmation || !records[i].ok() || partial[i]) continue;
    newest = &records[i];
    newest_position = i;
  }
  const auto fastest = [&](auto&& counts) {
    std::optional<size_t> found;
    for (size_t i = 0; i < records.size(); ++i) {
      if (!records[i].ok() || partial[i] || !counts(i)) continue;
      if (!found || records[i].best_seconds() < records[*found].best_seconds()) found = i;
    }
    return found;
  };
  const std::optional<size_t> winner = fastest([&](size_t i) {
    return newest != nullptr && records[i].kind == RecordKind::kConfirmation &&
           records[i].comparison == newest->comparison;
  });
  const std::optional<size_t> trial = fastest(
      [&](size_t i) { return records[i].kind == RecordKind::kTrial && (newest == nullptr || i > newest_position); });
  // A trial's time is the least of its repetitions, so it is held against the least of the winner's.
  if (trial && (!winner || records[*trial].best_seconds() < stats::min(records[*winner].seconds))) {
    return BestRecord{*trial, false};
  }
  if (!winner) return std::nullopt;
  return BestRecord{*winner, true};
}

}  // namespace tensmith
