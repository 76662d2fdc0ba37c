#include "tensmith/explore/database_tools.h"

#include <deque>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "explore/record_codec.h"
#include "tensmith/support/hash.h"
#include "tensmith/support/text.h"

namespace tensmith {
namespace {

std::string seconds_text(double seconds) { return fmt::format("{}", seconds); }

}  // namespace

DatabaseStats database_stats(const Database& database) {
  DatabaseStats stats;
  std::unordered_map<uint64_t, KeyStats> by_hash;
  database.for_each([&](const Database::Summary& summary, std::string_view) {
    KeyStats& key = by_hash[summary.key_hash];
    ++stats.records;
    if (summary.kind == RecordKind::kConfirmation) {
      ++key.confirmations;
      return;
    }
    ++stats.trials;
    ++key.trials;
    ++key.by_status[static_cast<size_t>(summary.status)];
    if (summary.status != TrialStatus::kOk) return;
    ++stats.valid_trials;
    if (summary.best_seconds > 0.0 && (key.best_seconds == 0.0 || summary.best_seconds < key.best_seconds)) {
      key.best_seconds = summary.best_seconds;
    }
  });
  for (RecordKey& key : database.keys()) {
    KeyStats& of_key = by_hash[hash_value(key)];
    of_key.key = std::move(key);
    stats.keys.push_back(of_key);
  }
  stats.damaged_lines = database.damaged_lines();
  return stats;
}

std::vector<KeyBest> database_best(const Database& database) {
  std::vector<KeyBest> all;
  for (RecordKey& key : database.keys()) {
    auto best = database.best(key);
    if (best) all.push_back({std::move(key), std::move(best->first), best->second});
  }
  return all;
}

ImportReport import_records(Database& into, const std::filesystem::path& from) {
  return import_records(into, Database(from));
}

ImportReport import_records(Database& into, const Database& source) {
  std::unordered_set<uint64_t> known;
  into.for_each([&](const Database::Summary&, std::string_view line) { known.insert(hash_bytes(line)); });
  ImportReport report;
  std::vector<std::string_view> lines;
  source.for_each([&](const Database::Summary&, std::string_view line) {
    if (known.insert(hash_bytes(line)).second) {
      lines.push_back(line);
    } else {
      ++report.duplicates;
    }
  });
  report.added = into.add_lines(lines);
  report.damaged = source.damaged_lines() + lines.size() - report.added;
  return report;
}

ImportReport merge_databases(std::span<const std::filesystem::path> from, const std::filesystem::path& out) {
  // What cannot be read is told before anything is written.
  std::deque<Database> sources;
  for (const std::filesystem::path& path : from) sources.emplace_back(path);
  Database into(out, Database::Missing::kIsEmpty);
  into.check_writable();
  ImportReport total;
  for (const Database& source : sources) {
    const ImportReport report = import_records(into, source);
    total.added += report.added;
    total.duplicates += report.duplicates;
    total.damaged += report.damaged;
  }
  return total;
}

std::string export_records(const Database& database, ExportFormat format) {
  std::string text;
  if (format == ExportFormat::kJsonLines) {
    database.for_each([&](const Database::Summary&, std::string_view line) {
      text += line;
      text += '\n';
    });
    return text;
  }
  text =
      "kind,workload,target,cpu,threads,caches,trial,status,seconds,seconds_median,config,error,build_seconds,"
      "run_seconds,date,space,strategy,seed,cpu_model,tensmith_version,llvm_version\n";
  database.for_each([&](const Database::Summary&, std::string_view line) {
    std::string why;
    const std::optional<Record> record = decode_record(line, why);
    if (!record) return;
    const bool ok = record->ok();
    std::vector<std::string> fields = {
        record->kind == RecordKind::kTrial ? "trial" : "confirmation",
        record->key.workload,
        record->key.target_kind,
        record->key.cpu,
        std::to_string(record->key.threads),
        record->key.flushed ? "flushed" : "hot",
        std::to_string(record->trial),
        std::string(to_string(record->status)),
        ok ? seconds_text(record->best_seconds()) : "",
        ok ? seconds_text(record->median_seconds()) : "",
        knobs_to_string(*record),
        record->error,
        seconds_text(record->build_seconds),
        seconds_text(record->run_seconds),
        record->date,
        record->space,
        record->strategy,
        std::to_string(record->seed),
        record->cpu_model,
        record->tensmith_version,
        record->llvm_version,
    };
    for (std::string& field : fields) field = csv_field(field);
    text += fmt::format("{}\n", fmt::join(fields, ","));
  });
  return text;
}

}  // namespace tensmith
