#include "tensmith/operator/config_choice.h"

#include <algorithm>

#include <fmt/format.h>

#include "tensmith/support/error.h"

namespace tensmith {

RecordKey record_key(const Task& task, bool flushed) {
  RecordKey key;
  key.workload = task.workload;
  key.target_kind = "llvm";
  key.cpu = task.target.cpu;
  key.features = task.target.features;
  std::sort(key.features.begin(), key.features.end());
  key.threads = task.threads;
  key.flushed = flushed;
  return key;
}

std::string_view to_string(ChosenConfig::Source source) {
  switch (source) {
    case ChosenConfig::Source::kRecord: return "record";
    case ChosenConfig::Source::kNearest: return "nearest";
    case ChosenConfig::Source::kDefault: return "default";
    case ChosenConfig::Source::kIndex: return "index";
  }
  TENSMITH_UNREACHABLE("unknown source");
}

ChosenConfig best_config(const Task& task, const Database* database, bool flushed) {
  using Source = ChosenConfig::Source;
  if (database == nullptr) {
    return {task.default_config, Source::kDefault, {}};
  }
  const auto config_of = [&](const Record& record) -> std::optional<Config> {
    try {
      Config config = task.space.from_values(record.knobs);
      if (task.space.valid(config)) return config;
    } catch (const UserError&) {
      // Knobs or values of another space.
    }
    return std::nullopt;
  };
  const Lookup lookup = database->lookup(record_key(task, flushed), task.space.fingerprint(),
                                         [&](const Record& record) { return config_of(record).has_value(); });
  if (!lookup.record) {
    return {task.default_config, Source::kDefault, fmt::format("{}; the default config is used", lookup.note)};
  }
  return {*config_of(*lookup.record), lookup.source == Lookup::Source::kExact ? Source::kRecord : Source::kNearest,
          lookup.note};
}

}  // namespace tensmith
