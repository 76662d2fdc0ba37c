#include "tensmith/explore/recorded/record_space.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "tensmith/support/error.h"
#include "tensmith/support/stats.h"

namespace tensmith {
namespace {

constexpr double kMillisecondsPerSecond = 1e3;

/// As files of other tools can hold it: a number or a text.
KnobValue simple(const KnobValue& value) {
  if (value.label.empty() && value.values.size() != 1)
    return {value.values, fmt::format("{}", fmt::join(value.values, "x"))};
  return value;
}

/// Numbers by size, texts by the numbers behind them.
bool less(const KnobValue& a, const KnobValue& b) { return std::tie(a.values, a.label) < std::tie(b.values, b.label); }

std::string failure_word(TrialStatus status, SpaceFormat format) {
  const bool t4 = format == SpaceFormat::kT4;
  switch (status) {
    case TrialStatus::kInvalidConfig: return t4 ? "constraints" : "InvalidConfig";
    case TrialStatus::kBuildError: return t4 ? "compile" : "CompilationFailedConfig";
    case TrialStatus::kBuildTimeout:
    case TrialStatus::kRunTimeout:
    case TrialStatus::kHang: return t4 ? "timeout" : "RuntimeFailedConfig";
    case TrialStatus::kWrongOutput:
    case TrialStatus::kWildStore: return t4 ? "correctness" : "RuntimeFailedConfig";
    default: return t4 ? "runtime" : "RuntimeFailedConfig";
  }
}

std::vector<const Record*> trials_of(std::span<const Record> records) {
  std::vector<const Record*> out;
  for (const Record& record : records) {
    const bool usable = record.status == TrialStatus::kOk ? record.ok() : record.status != TrialStatus::kWorkerLost;
    if (record.kind == RecordKind::kTrial && usable && !record.knobs.empty()) out.push_back(&record);
  }
  if (out.empty()) throw UserError("no trial is recorded, so there is no space", "tune the workload first");
  const uint64_t fingerprint = out.back()->space_fingerprint;
  std::erase_if(out, [&](const Record* record) {
    return record->space_fingerprint != fingerprint || record->knobs.size() != out.back()->knobs.size();
  });
  return out;
}

}  // namespace

RecordedSpace space_of_records(std::span<const Record> records, SpaceFormat format) {
  const std::vector<const Record*> trials = trials_of(records);
  const Record& last = *trials.back();
  std::vector<Knob> knobs;
  for (const auto& [name, value] : last.knobs) knobs.push_back({name, {}, true});
  for (const Record* record : trials) {
    for (size_t i = 0; i < knobs.size(); ++i) knobs[i].choices.push_back(simple(record->knobs[i].second));
  }
  ConfigSpace space;
  for (Knob& knob : knobs) {
    std::sort(knob.choices.begin(), knob.choices.end(), less);
    knob.choices.erase(std::unique(knob.choices.begin(), knob.choices.end()), knob.choices.end());
    knob.ordinal = std::all_of(knob.choices.begin(), knob.choices.end(), [](const auto& c) { return c.label.empty(); });
    space.add(knob);
  }
  std::map<uint64_t, const Record*> last_trials;
  for (const Record* record : trials) {
    std::vector<std::pair<std::string, KnobValue>> values = record->knobs;
    for (auto& value : values) value.second = simple(value.second);
    last_trials[space.index_of(space.from_values(values))] = record;
  }
  RecordedSpace out({.name = to_string(last.key),
                     .kernel = last.key.workload,
                     .device = last.key.cpu,
                     .objective = "time",
                     .problem_size = nlohmann::json(last.key.workload).dump()},
                    std::move(space));
  for (const auto& [index, record] : last_trials) {
    if (record->status != TrialStatus::kOk) {
      out.put_failed(index, failure_word(record->status, format));
      continue;
    }
    std::vector<double> runs = record->seconds;
    for (double& run : runs) run *= kMillisecondsPerSecond;
    out.put_valid(index, stats::median(runs), runs);
  }
  return out;
}

}  // namespace tensmith
