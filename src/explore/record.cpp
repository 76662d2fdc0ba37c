#include "tensmith/explore/record.h"

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

double Record::best_seconds() const { return compared_seconds > 0.0 ? compared_seconds : stats::min(seconds); }
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

}  // namespace tensmith
