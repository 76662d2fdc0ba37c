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
  }
  TENSMITH_UNREACHABLE("unknown source");
}

ChosenConfig best_config(const Task& task, const Database* database, bool flushed) {
  using Source = ChosenConfig::Source;
  if (database == nullptr) {
    return {task.default_config, Source::kDefault, {}};
  }
  const Lookup lookup = database->lookup(record_key(task, flushed));
  if (!lookup.record) {
    return {task.default_config, Source::kDefault, fmt::format("{}; the default config is used", lookup.note)};
  }
  std::string problem;
  try {
    Config config = task.space.from_values(lookup.record->knobs);
    const std::optional<Invalid> invalid = task.space.check(config);
    if (!invalid) {
      return {std::move(config), lookup.source == Lookup::Source::kExact ? Source::kRecord : Source::kNearest,
              lookup.note};
    }
    problem = invalid->reason;
  } catch (const UserError& e) {
    problem = e.message();
  }
  return {task.default_config, Source::kDefault,
          fmt::format("{}{}its config does not fit this space ({}); the default config is used", lookup.note,
                      lookup.note.empty() ? "" : "; ", problem)};
}

}  // namespace tensmith
