#include "explore/recorded/parameter_values.h"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "tensmith/support/error.h"

namespace tensmith {

std::string value_text(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "True" : "False";
  return value.dump();
}

bool is_value(const nlohmann::json& value) { return value.is_number() || value.is_string() || value.is_boolean(); }

Knob parameter_knob(std::string name, const nlohmann::json& values) {
  if (!values.is_array() || values.empty()) {
    throw UserError(fmt::format("parameter '{}' has no list of values", name));
  }
  Knob knob{std::move(name), {}, true};
  std::unordered_set<std::string> seen;
  for (const nlohmann::json& value : values) {
    if (!is_value(value)) {
      throw UserError(
          fmt::format("parameter '{}' has the value {}, which is no number, text or boolean", knob.name, value.dump()));
    }
    const std::string text = value_text(value);
    if (!seen.insert(text).second) throw UserError(fmt::format("parameter '{}' lists {} twice", knob.name, text));
    knob.ordinal = knob.ordinal && !value.is_string();
    const bool fits = !value.is_number_unsigned() || value.get<uint64_t>() <= uint64_t{INT64_MAX};
    if (value.is_number_integer() && fits) {
      knob.choices.push_back({{value.get<int64_t>()}, {}});
    } else {
      knob.choices.push_back({{static_cast<int64_t>(knob.choices.size())}, text});
    }
  }
  return knob;
}

nlohmann::json to_json(const Knob& knob, const KnobValue& value) {
  if (value.label.empty())
    return value.values.size() == 1 ? nlohmann::json(value.value()) : nlohmann::json(value.values);
  // A text that looks like a number is a text all the same; parameters with texts have no order.
  if (!knob.ordinal) return value.label;
  if (value.label == "True" || value.label == "False") return value.label == "True";
  const nlohmann::json number = nlohmann::json::parse(value.label, nullptr, false);
  return number.is_number() ? number : nlohmann::json(value.label);
}

std::string text_of(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return {};
  return found->is_string() ? found->get<std::string>() : found->dump();
}

}  // namespace tensmith
