#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "explore/recorded/parameter_values.h"
#include "explore/recorded/space_files.h"
#include "explore/units.h"
#include "tensmith/support/error.h"
#include "tensmith/support/stats.h"

namespace tensmith {
namespace {

using nlohmann::json;

/// Milliseconds in a unit of time; 1 for units of other quantities.
double milliseconds(std::string_view unit) {
  if (unit == "s" || unit == "seconds") return kMillisecondsPerSecond;
  if (unit == "us" || unit == "microseconds") return 1e-3;
  if (unit == "ns" || unit == "nanoseconds") return 1e-6;
  return 1.0;
}

bool before(const json& a, const json& b) {
  if (a.is_number() && b.is_number()) return a.get<double>() < b.get<double>();
  return a.is_number() != b.is_number() ? a.is_number() : value_text(a) < value_text(b);
}

/// Calls fn(result) for each, whose position errors then name.
template <typename F>
void each_result(const json& results, F fn) {
  for (size_t i = 0; i < results.size(); ++i) {
    try {
      if (!results[i].is_object()) throw UserError("it is no object");
      fn(results[i]);
    } catch (const UserError& error) {
      throw UserError(fmt::format("result {}: {}", i + 1, error.message()), error.hint());
    }
  }
}

const json& configuration(const json& result) {
  const auto found = result.find("configuration");
  if (found == result.end() || !found->is_object() || found->empty()) throw UserError("it has no 'configuration'");
  return *found;
}

/// The values that occur.
ConfigSpace parse_parameters(const json& results) {
  std::map<std::string, std::map<std::string, json>> values;  // by name and text
  each_result(results, [&](const json& result) {
    const json& config = configuration(result);
    const bool first = values.empty();
    for (const auto& [name, value] : config.items()) {
      if (!is_value(value)) throw UserError(fmt::format("parameter '{}' is {}", name, value.dump()));
      if (first || values.contains(name)) values[name].emplace(value_text(value), value);
    }
    const bool same = config.size() == values.size() && std::all_of(values.begin(), values.end(), [&](const auto& v) {
                        return config.contains(v.first);
                      });
    if (!same) throw UserError("its parameters are not those of the others");
  });
  ConfigSpace space;
  for (const auto& [name, by_text] : values) {
    std::vector<json> list;
    for (const auto& [text, value] : by_text) list.push_back(value);
    std::stable_sort(list.begin(), list.end(), before);
    space.add(parameter_knob(name, list));
  }
  return space;
}

uint64_t index_of(const ConfigSpace& space, const json& config) {
  Config out;
  for (const Knob& knob : space.knobs()) {
    const std::string text = value_text(config.at(knob.name));
    const auto found = std::find_if(knob.choices.begin(), knob.choices.end(),
                                    [&](const KnobValue& choice) { return to_string(choice) == text; });
    TENSMITH_ICHECK(found != knob.choices.end(), "every value that occurs is a choice");
    out.choices.push_back(static_cast<uint16_t>(found - knob.choices.begin()));
  }
  return space.index_of(out);
}

void parse_result(const json& result, const std::string& objective, RecordedSpace& out) {
  const uint64_t index = index_of(out.space(), configuration(result));
  const std::string state = text_of(result, "invalidity");
  if (state == "constraints") return;
  if (state != "correct" && !state.empty()) return out.put_failed(index, state);
  std::vector<double> runs;
  if (const auto times = result.find("times");
      times != result.end() && times->is_object() && times->contains("runtimes")) {
    if (!times->at("runtimes").is_array()) throw UserError("'runtimes' is no list");
    for (const json& run : times->at("runtimes")) {
      if (!run.is_number()) throw UserError(fmt::format("'runtimes' holds {}", run.dump()));
      runs.push_back(run.get<double>());
    }
  }
  if (const auto measurements = result.find("measurements"); measurements != result.end() && measurements->is_array()) {
    for (const json& m : *measurements) {
      if (!m.is_object() || text_of(m, "name") != objective) continue;
      const json value = m.contains("value") ? m.at("value") : json();
      if (!value.is_number()) throw UserError(fmt::format("the measurement '{}' is {}", objective, value.dump()));
      return out.put_valid(index, value.get<double>() * milliseconds(text_of(m, "unit")), runs);
    }
  }
  if (runs.empty()) throw UserError(fmt::format("it has neither a measurement '{}' nor 'runtimes'", objective));
  out.put_valid(index, stats::mean(runs), runs);
}

}  // namespace

RecordedSpace parse_t4(const json& root, RecordedInfo info) {
  const json& results = root.at("results");
  if (!results.is_array() || results.empty()) throw UserError("'results' has to be a list with at least one result");
  info.objective = "time";
  if (results[0].is_object() && results[0].contains("objectives")) {
    const json& objectives = results[0].at("objectives");
    if (objectives.is_array() && !objectives.empty() && objectives[0].is_string()) {
      info.objective = objectives[0].get<std::string>();
    }
  }
  if (const auto metadata = root.find("metadata"); metadata != root.end() && metadata->is_object()) {
    info.kernel = text_of(*metadata, "kernel_name");
    info.device = text_of(*metadata, "device_name");
  }
  RecordedSpace out(std::move(info), parse_parameters(results));
  each_result(results, [&](const json& result) { parse_result(result, out.info().objective, out); });
  return out;
}

std::string print_t4(const RecordedSpace& space) {
  const RecordedInfo& info = space.info();
  std::string out = fmt::format("{{\"schema_version\": \"1.0.0\", \"metadata\": {}, \"results\": [",
                                json{{"kernel_name", info.kernel}, {"device_name", info.device}}.dump());
  bool first = true;
  for (uint64_t index = 0; index < space.size(); ++index) {
    if (space.kind(index) == PointKind::kMissing) continue;
    const Config config = space.space().at(index);
    json result;
    for (size_t i = 0; i < config.choices.size(); ++i) {
      result["configuration"][space.space().knobs()[i].name] =
          to_json(space.space().knobs()[i], space.space().value(config, static_cast<int>(i)));
    }
    const bool valid = space.kind(index) == PointKind::kValid;
    result["objectives"] = {info.objective};
    result["times"] = {{"runtimes", valid ? json(space.runs(index)) : json::array()}};
    result["correctness"] = valid ? 1 : 0;
    result["measurements"] = json::array();
    if (valid) {
      result["invalidity"] = "correct";
      result["measurements"].push_back({{"name", info.objective}, {"value", space.value(index)}, {"unit", "ms"}});
    } else {
      const std::string_view reason = space.failure(index);
      const bool known =
          reason == "timeout" || reason == "compile" || reason == "correctness" || reason == "constraints";
      result["invalidity"] = known ? reason : reason == "CompilationFailedConfig" ? "compile" : "runtime";
    }
    out += fmt::format("{}\n{}", first ? "" : ",", result.dump());
    first = false;
  }
  return out + "\n]}\n";
}

}  // namespace tensmith
