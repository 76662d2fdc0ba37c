#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "tensmith/explore/record.h"

namespace tensmith {

/// Seconds of a call of each config of an interleaved comparison, from its times in each round: one list a config,
/// empty for a config that failed, whose answer is 0. Of lists that differ in length the rounds count that all have.
///
/// The machine's speed drifts by more than good configs differ, but within a round it treats all alike. So a time
/// counts by its ratio to the geometric mean of its round, a config by the median of its ratios; in seconds of the
/// fastest round.
std::vector<double> comparison_seconds(std::span<const std::vector<double>> rounds);

/// The record that a key's user should get, given all records of the key, oldest first.
struct BestRecord {
  size_t position = 0;
  /// Whether it won an interleaved comparison. If not, it is the fastest trial, perhaps by luck.
  bool confirmed = false;
};

/// Of each record, whether it is of a comparison of which others are missing (a full disk, a damaged line). Such a
/// comparison did not treat all alike: it counts as none.
std::vector<bool> of_partial_comparison(std::span<const Record> records);

/// The winner of the newest comparison, unless a trial after that was faster than all its rounds; without a comparison,
/// the fastest trial. Ties go to the older record. The same records give the same answer. Nothing when no record holds
/// a time.
std::optional<BestRecord> choose_best(std::span<const Record> records);

}  // namespace tensmith
