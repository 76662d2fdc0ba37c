#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "explore/recorded/parameter_values.h"
#include "explore/recorded/space_files.h"
#include "tensmith/explore/trial.h"
#include "tensmith/support/error.h"
#include "tensmith/support/strings.h"

namespace tensmith {
namespace {

using nlohmann::json;

/// Times of failed configs in files that have numbers only.
constexpr double kFailureMark = 1e20;

const json& require(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) throw UserError(fmt::format("'{}' is missing", key));
  return *found;
}

ConfigSpace parse_parameters(const json& root) {
  const json& names = require(root, "tune_params_keys");
  const json& values = require(root, "tune_params");
  if (!names.is_array() || names.empty() || !values.is_object()) {
    throw UserError("'tune_params_keys' has to be a list of names, and 'tune_params' an object with their values");
  }
  ConfigSpace space;
  for (const json& name : names) {
    if (!name.is_string()) throw UserError(fmt::format("'tune_params_keys' holds {}, which is no name", name.dump()));
    space.add(parameter_knob(name.get<std::string>(), require(values, name.get_ref<const std::string&>().c_str())));
  }
  if (values.size() != names.size()) {
    for (const auto& [name, unused] : values.items()) {
      if (!space.find(name))
        throw UserError(fmt::format("'tune_params' has '{}', which 'tune_params_keys' lacks", name));
    }
  }
  return space;
}

/// Finds configs by the keys of entries.
class KeyReader {
 public:
  explicit KeyReader(const ConfigSpace& space) : space_(space) {
    for (const Knob& knob : space.knobs()) {
      auto& choices = choices_.emplace_back();
      for (size_t i = 0; i < knob.choices.size(); ++i) choices.emplace(to_string(knob.choices[i]), i);
    }
  }

  uint64_t index_of(std::string_view key, const json& entry) const {
    const std::vector<std::string> parts = parts_of(key, entry);
    Config config;
    for (size_t i = 0; i < parts.size(); ++i) {
      const auto found = choices_[i].find(parts[i]);
      if (found == choices_[i].end()) {
        throw UserError(fmt::format("parameter '{}' does not list {}", space_.knobs()[i].name, parts[i]));
      }
      config.choices.push_back(static_cast<uint16_t>(found->second));
    }
    return space_.index_of(config);
  }

 private:
  /// The values' texts. Where a value has commas itself, the parameters that the entry repeats tell which is which.
  std::vector<std::string> parts_of(std::string_view key, const json& entry) const {
    const std::vector<std::string_view> parts = split_string(key, ',');
    if (parts.size() == choices_.size()) return {parts.begin(), parts.end()};
    std::vector<std::string> repeated;
    for (const Knob& knob : space_.knobs()) {
      if (entry.is_object() && entry.contains(knob.name)) repeated.push_back(value_text(entry.at(knob.name)));
    }
    if (repeated.size() == choices_.size() && fmt::format("{}", fmt::join(repeated, ",")) == key) return repeated;
    throw UserError(fmt::format("it has {} values where there are {} parameters", parts.size(), choices_.size()),
                    "an entry whose values have commas has to repeat its parameters");
  }

  const ConfigSpace& space_;
  std::vector<std::unordered_map<std::string, size_t>> choices_;
};

/// Kernel Tuner's names of failures end alike, ours of trials are those of TrialStatus.
bool is_failure(const std::string& reason) {
  return reason.ends_with("Config") || parse_trial_status(reason).has_value();
}

/// Entries of Kernel Tuner repeat the parameters; they have to be those of the key.
void check_parameters(const json& entry, const ConfigSpace& space, uint64_t index) {
  if (!entry.is_object()) return;
  const Config config = space.at(index);
  for (size_t i = 0; i < config.choices.size(); ++i) {
    const std::string& name = space.knobs()[i].name;
    const auto found = entry.find(name);
    if (found == entry.end()) continue;
    const std::string expected = to_string(space.value(config, static_cast<int>(i)));
    if (value_text(*found) == expected) continue;
    throw UserError(fmt::format("it says that '{}' is {}, and its key {}", name, found->dump(), expected));
  }
}

void parse_entry(const json& entry, const std::string& objective, uint64_t index, RecordedSpace& out) {
  if (!entry.is_object()) throw UserError("it is no object");
  if (const auto error = entry.find("__error__"); error != entry.end()) {
    return out.put_failed(index, value_text(*error));
  }
  const json& value = require(entry, objective.c_str());
  if (value.is_string()) {
    const std::string& reason = value.get_ref<const std::string&>();
    if (!is_failure(reason)) {
      throw UserError(fmt::format("'{}' is \"{}\", neither a number nor the name of a failure", objective, reason),
                      "failures are named like CompilationFailedConfig");
    }
    return out.put_failed(index, reason);
  }
  if (!value.is_number()) throw UserError(fmt::format("'{}' is {}", objective, value.dump()));
  if (value.get<double>() >= kFailureMark) return out.put_failed(index, {});
  std::vector<double> runs;
  if (const auto times = entry.find("times"); times != entry.end() && objective == "time") {
    if (!times->is_array()) throw UserError("'times' is no list");
    for (const json& run : *times) {
      if (!run.is_number()) throw UserError(fmt::format("'times' holds {}", run.dump()));
      runs.push_back(run.get<double>());
    }
  }
  out.put_valid(index, value.get<double>(), runs);
}

}  // namespace

RecordedSpace parse_kernel_tuner(const json& root, RecordedInfo info) {
  info.kernel = text_of(root, "kernel_name");
  info.device = text_of(root, root.contains("gpu") ? "gpu" : "device_name");
  info.objective = root.contains("objective") ? text_of(root, "objective") : "time";
  info.problem_size = root.contains("problem_size") ? root.at("problem_size").dump() : "";
  RecordedSpace out(std::move(info), parse_parameters(root));
  const json& cache = require(root, "cache");
  if (!cache.is_object()) throw UserError("'cache' is no object");
  const KeyReader keys(out.space());
  for (const auto& [key, entry] : cache.items()) {
    try {
      const uint64_t index = keys.index_of(key, entry);
      check_parameters(entry, out.space(), index);
      parse_entry(entry, out.info().objective, index, out);
    } catch (const UserError& error) {
      throw UserError(fmt::format("entry '{}': {}", key, error.message()), error.hint());
    }
  }
  return out;
}

std::string print_kernel_tuner(const RecordedSpace& space) {
  const RecordedInfo& info = space.info();
  json names = json::array(), values = json::object();
  for (const Knob& knob : space.space().knobs()) {
    names.push_back(knob.name);
    json& list = values[knob.name] = json::array();
    for (const KnobValue& value : knob.choices) list.push_back(to_json(knob, value));
  }
  std::string out =
      fmt::format("{{\"device_name\": {}, \"kernel_name\": {}, \"problem_size\": {},", json(info.device).dump(),
                  json(info.kernel).dump(), info.problem_size.empty() ? "\"\"" : info.problem_size);
  out += fmt::format(" \"tune_params_keys\": {}, \"tune_params\": {}, \"objective\": {}, \"cache\": {{", names.dump(),
                     values.dump(), json(info.objective).dump());
  std::unordered_set<std::string> ambiguous;
  bool first = true;
  for (uint64_t index = 0; index < space.size(); ++index) {
    if (space.kind(index) == PointKind::kMissing) continue;
    const Config config = space.space().at(index);
    std::vector<std::string> values_of_key;
    json entry = json::object();
    for (size_t i = 0; i < config.choices.size(); ++i) {
      values_of_key.push_back(to_string(space.space().value(config, static_cast<int>(i))));
    }
    const std::string key = fmt::format("{}", fmt::join(values_of_key, ","));
    if (static_cast<size_t>(std::count(key.begin(), key.end(), ',')) > space.space().knobs().size() - 1) {
      if (!ambiguous.insert(key).second) {
        throw UserError(
            fmt::format("values have commas, so that two configs have the key '{}' in a Kernel Tuner cache", key),
            "write T4 results instead");
      }
      for (size_t i = 0; i < config.choices.size(); ++i) {
        const Knob& knob = space.space().knobs()[i];
        entry[knob.name] = to_json(knob, knob.choices[config.choices[i]]);
      }
    }
    if (space.kind(index) == PointKind::kFailed) {
      const std::string_view reason = space.failure(index);
      entry[info.objective] = reason.empty() ? "RuntimeFailedConfig" : reason;
    } else {
      entry[info.objective] = space.value(index);
      if (!space.runs(index).empty()) entry["times"] = space.runs(index);
    }
    out += fmt::format("{}\n{}: {}", first ? "" : ",", json(key).dump(), entry.dump());
    first = false;
  }
  return out + "\n}}\n";
}

}  // namespace tensmith
