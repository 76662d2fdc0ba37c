#include "tensmith/explore/record.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "tensmith/support/hash.h"
#include "tensmith/support/stats.h"

namespace tensmith {

uint64_t hash_value(const RecordKey& key) {
  uint64_t hash = hash_bytes(key.workload);
  hash = hash_bytes(key.target_kind, hash);
  hash = hash_bytes(key.cpu, hash);
  for (const std::string& feature : key.features) hash = hash_bytes(feature, hash);
  hash = hash_combine(hash, static_cast<uint64_t>(key.threads));
  return hash_combine(hash, key.flushed ? 1 : 0);
}

std::string to_string(const RecordKey& key) {
  return fmt::format("{} on {}:mcpu={}, {} thread{}, {} caches", key.workload, key.target_kind, key.cpu, key.threads,
                     key.threads == 1 ? "" : "s", key.flushed ? "flushed" : "hot");
}

double Record::min_seconds() const { return stats::min(seconds); }
double Record::median_seconds() const { return stats::median(seconds); }

std::vector<std::pair<std::string, KnobValue>> knob_values(const ConfigSpace& space, const Config& config) {
  std::vector<std::pair<std::string, KnobValue>> values;
  const auto knobs = space.knobs();
  for (size_t i = 0; i < knobs.size(); ++i)
    values.emplace_back(knobs[i].name, space.value(config, static_cast<int>(i)));
  return values;
}

std::string knobs_to_string(const Record& record) {
  std::string text;
  for (const auto& [name, value] : record.knobs) {
    if (!text.empty()) text += ' ';
    text += fmt::format("{}={}", name, to_string(value));
  }
  return text;
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
  std::optional<BestRecord> best;
  double best_seconds = 0.0;
  for (size_t i = 0; i < records.size(); ++i) {
    if (!records[i].ok() || partial[i]) continue;
    const bool confirmed = records[i].kind == RecordKind::kConfirmation;
    if (confirmed ? records[i].comparison != newest->comparison : newest != nullptr && i < newest_position) continue;
    const double seconds = records[i].min_seconds();
    if (best && seconds >= best_seconds) continue;
    best = BestRecord{i, confirmed};
    best_seconds = seconds;
  }
  return best;
}

}  // namespace tensmith
