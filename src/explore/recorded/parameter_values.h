#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "tensmith/schedule/config_space.h"

/// Parameter values as files of other tools have them: JSON numbers, texts and booleans.

namespace tensmith {

/// How such a value is written in the key of a cache entry: 16, 0.5, True, or the text itself.
std::string value_text(const nlohmann::json& value);

/// Whether it can be a parameter's value: no list, object or null.
bool is_value(const nlohmann::json& value);

/// A knob of a space that has these values, in this order. Throws UserError for none, one twice, or what is no value.
Knob parameter_knob(std::string name, const nlohmann::json& values);

/// The JSON form of a choice of such a knob.
nlohmann::json to_json(const Knob& knob, const KnobValue& value);

/// The text under a key; other values as JSON has them, and nothing where there is none.
std::string text_of(const nlohmann::json& object, const char* key);

}  // namespace tensmith
