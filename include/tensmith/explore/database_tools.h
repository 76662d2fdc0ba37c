#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tensmith/explore/database.h"

namespace tensmith {

/// What `tensmith db` does, as functions.

struct KeyStats {
  RecordKey key;
  size_t trials = 0;
  size_t confirmations = 0;
  std::array<size_t, kTrialStatusCount> by_status{};  ///< of trials
  double best_seconds = 0.0;                          ///< of trials; 0 when none succeeded
};

struct DatabaseStats {
  size_t records = 0;
  size_t trials = 0;
  size_t valid_trials = 0;
  size_t damaged_lines = 0;
  std::vector<KeyStats> keys;  ///< in the order of their first record
};

DatabaseStats database_stats(const Database& database);

struct KeyBest {
  RecordKey key;
  Record record;
  bool confirmed = false;
};
/// The best record of every key that has one.
std::vector<KeyBest> database_best(const Database& database);

struct ImportReport {
  size_t added = 0;
  size_t duplicates = 0;  ///< lines that were there already, byte for byte
  size_t damaged = 0;
};
/// Appends the records of `from` that `into` lacks. A rescue file is imported like any other. Throws as Database.
ImportReport import_records(Database& into, const std::filesystem::path& from);
ImportReport import_records(Database& into, const Database& source);
/// Imports several files into `out`, which is made when it is missing.
ImportReport merge_databases(std::span<const std::filesystem::path> from, const std::filesystem::path& out);

enum class ExportFormat : uint8_t { kJsonLines, kCsv };
/// All records as text. CSV has a header line and one row a record: its key, config ("name=value" pairs), status,
/// times, error and date.
std::string export_records(const Database& database, ExportFormat format);

}  // namespace tensmith
