#include "tensmith/explore/recorded/record_space.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "explore/units.h"
#include "tensmith/support/error.h"
#include "tensmith/support/stats.h"
#include "tensmith/support/strings.h"

namespace tensmith {
namespace {

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
    case TrialStatus::kBuildTimeout: return t4 ? "timeout" : "CompilationFailedConfig";
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
  if (out.empty()) return out;
  const uint64_t fingerprint = out.back()->space_fingerprint;
  std::erase_if(out, [&](const Record* record) {
    return record->space_fingerprint != fingerprint || record->knobs.size() != out.back()->knobs.size();
  });
  return out;
}

/// The product of the values that occur.
ConfigSpace occurring_values(std::span<const Record* const> trials) {
  std::vector<Knob> knobs;
  for (const auto& [name, value] : trials.back()->knobs) knobs.push_back({name, {}, true});
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
  return space;
}

/// The part of a text between two others; nothing where one of them is missing.
std::optional<std::string_view> between(std::string_view text, std::string_view before, std::string_view after) {
  const size_t found = text.find(before);
  if (found == std::string_view::npos) return std::nullopt;
  const size_t begin = found + before.size(), end = text.find(after, begin);
  if (end == std::string_view::npos) return std::nullopt;
  return text.substr(begin, end - begin);
}

/// Puts the last trial of each config into a space of its knobs.
RecordedSpace filled(RecordedSpace out, std::span<const Record* const> trials, SpaceFormat format) {
  const ConfigSpace& space = out.space();
  std::map<uint64_t, const Record*> last_trials;
  for (const Record* record : trials) {
    std::vector<std::pair<std::string, KnobValue>> knobs = record->knobs;
    for (auto& knob : knobs) knob.second = simple(knob.second);
    last_trials[space.index_of(space.from_values(knobs))] = record;
  }
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

}  // namespace

std::optional<KernelWorkload> parse_kernel_workload(std::string_view workload) {
  constexpr std::string_view kStart = "kernel:name=";
  if (!workload.starts_with(kStart)) return std::nullopt;
  const auto name = between(workload, kStart, ",entry="), entry = between(workload, ",entry=", ",code=");
  if (!name || !entry) return std::nullopt;
  KernelWorkload out{std::string(*name), std::string(*entry), {}};
  // The field behind the code, which ends the text or not.
  const std::string rest = std::string(workload.substr(workload.find(",code=") + 1)) + ",";
  if (const auto size = between(rest, ",size=", ","); size && rest.find(",size=") == rest.find(',')) {
    out.problem_size = fmt::format("[{}]", fmt::join(split_string(*size, ':'), ", "));
  }
  return out;
}

RecordedInfo recorded_info(const RecordKey& key, const std::string& cpu_model) {
  if (const std::optional<KernelWorkload> kernel = parse_kernel_workload(key.workload)) {
    // Of kernels in C the key has the compiler's name of the CPU.
    const bool on_cpu = key.target_kind == "c" && !cpu_model.empty();
    return {.name = to_string(key),
            .kernel = kernel->entry,
            .device = on_cpu ? cpu_model : key.cpu,
            .objective = "time",
            .problem_size = kernel->problem_size};
  }
  return {.name = to_string(key),
          .kernel = key.workload,
          .device = key.cpu,
          .objective = "time",
          .problem_size = nlohmann::json(key.workload).dump()};
}

RecordedSpace space_of_records(std::span<const Record> records, SpaceFormat format) {
  const std::vector<const Record*> trials = trials_of(records);
  if (trials.empty()) throw UserError("no trial is recorded, so there is no space", "tune the workload first");
  const Record& last = *trials.back();
  return filled(RecordedSpace(recorded_info(last.key, last.cpu_model), occurring_values(trials)), trials, format);
}

RecordedSpace space_of_records(std::span<const Record> records, SpaceFormat format, RecordedInfo info,
                               ConfigSpace values) {
  return filled(RecordedSpace(std::move(info), std::move(values)), trials_of(records), format);
}

}  // namespace tensmith
