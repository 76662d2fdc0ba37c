#include "tensmith/schedule/config_space.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tensmith/support/error.h"
#include "tensmith/support/hash.h"

namespace tensmith {

namespace {
constexpr uint64_t kMaxPoints = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
}  // namespace

std::string to_string(const KnobValue& value) {
  if (!value.label.empty()) {
    return value.label;
  }
  if (value.values.size() == 1) {
    return std::to_string(value.values.front());
  }
  return fmt::format("[{}]", fmt::join(value.values, ","));
}

Knob int_knob(std::string name, std::span<const int64_t> choices) {
  Knob knob{std::move(name), {}, true};
  for (int64_t choice : choices) {
    knob.choices.push_back({{choice}, {}});
  }
  return knob;
}

Knob bool_knob(std::string name) {
  const int64_t choices[] = {0, 1};
  return int_knob(std::move(name), choices);
}

Knob enum_knob(std::string name, std::span<const std::string_view> labels) {
  Knob knob{std::move(name), {}, false};
  for (size_t i = 0; i < labels.size(); ++i) {
    knob.choices.push_back({{static_cast<int64_t>(i)}, std::string(labels[i])});
  }
  return knob;
}

namespace {

void append_factorizations(int64_t rest, int parts, int64_t max_inner, std::vector<int64_t>& prefix,
                           std::vector<KnobValue>& out) {
  if (parts == 1) {
    if (rest <= max_inner) {
      prefix.push_back(rest);
      out.push_back({prefix, {}});
      prefix.pop_back();
    }
    return;
  }
  for (int64_t factor = 1; factor <= rest; ++factor) {
    if (rest % factor == 0) {
      prefix.push_back(factor);
      append_factorizations(rest / factor, parts - 1, max_inner, prefix, out);
      prefix.pop_back();
    }
  }
}

}  // namespace

Knob split_knob(std::string name, int64_t extent, int parts, int64_t max_inner) {
  if (extent < 1 || parts < 1) {
    throw UserError(fmt::format("knob '{}': cannot split an extent of {} into {} factors", name, extent, parts),
                    "both must be at least 1");
  }
  Knob knob{std::move(name), {}, true};
  std::vector<int64_t> prefix;
  append_factorizations(extent, parts, max_inner, prefix, knob.choices);
  return knob;
}

uint64_t hash_value(const Config& config) {
  return hash_bytes(
      std::string_view(reinterpret_cast<const char*>(config.choices.data()), config.choices.size() * sizeof(uint16_t)));
}

int ConfigSpace::add(Knob knob) {
  if (find(knob.name)) {
    throw UserError(fmt::format("config space: there are two knobs named '{}'", knob.name), "give each its own name");
  }
  if (knob.choices.empty()) {
    throw UserError(fmt::format("config space: knob '{}' has no choices", knob.name), "list at least one");
  }
  if (knob.choices.size() > std::numeric_limits<uint16_t>::max()) {
    throw UserError(fmt::format("config space: knob '{}' has {} choices", knob.name, knob.choices.size()),
                    "at most 65535 are supported; split it into two knobs");
  }
  std::vector<const KnobValue*> sorted;
  for (const KnobValue& choice : knob.choices) sorted.push_back(&choice);
  std::sort(sorted.begin(), sorted.end(), [](const KnobValue* a, const KnobValue* b) {
    return std::tie(a->values, a->label) < std::tie(b->values, b->label);
  });
  const auto twice =
      std::adjacent_find(sorted.begin(), sorted.end(), [](const KnobValue* a, const KnobValue* b) { return *a == *b; });
  if (twice != sorted.end()) {
    throw UserError(fmt::format("config space: knob '{}' lists {} twice", knob.name, tensmith::to_string(**twice)),
                    "choices must be distinct");
  }
  uint64_t product = 0;
  if (__builtin_mul_overflow(size(), static_cast<uint64_t>(knob.choices.size()), &product) || product > kMaxPoints) {
    throw UserError(fmt::format("config space: with knob '{}' it has 2^63 or more points", knob.name),
                    "shorten some lists");
  }
  knobs_.push_back(std::move(knob));
  return static_cast<int>(knobs_.size()) - 1;
}

void ConfigSpace::add_constraint(std::string text, std::function<bool(const ConfigSpace&, const Config&)> holds) {
  constraints_.push_back({std::move(text), std::move(holds)});
}

std::optional<int> ConfigSpace::find(std::string_view name) const {
  for (size_t i = 0; i < knobs_.size(); ++i) {
    if (knobs_[i].name == name) {
      return static_cast<int>(i);
    }
  }
  return std::nullopt;
}

uint64_t ConfigSpace::size() const {
  uint64_t product = 1;
  for (const Knob& knob : knobs_) {
    product *= knob.choices.size();
  }
  return product;
}

uint64_t ConfigSpace::index_of(const Config& config) const {
  TENSMITH_ICHECK(config.choices.size() == knobs_.size(), "config of another space");
  uint64_t index = 0;
  for (size_t i = 0; i < knobs_.size(); ++i) {
    index = index * knobs_[i].choices.size() + config.choices[i];
  }
  return index;
}

Config ConfigSpace::at(uint64_t index) const {
  if (index >= size()) {
    throw UserError(fmt::format("config index {} is outside the space of {} points", index, size()),
                    fmt::format("use 0..{}", size() - 1));
  }
  Config config;
  config.choices.resize(knobs_.size());
  for (size_t i = knobs_.size(); i-- > 0;) {
    const uint64_t n = knobs_[i].choices.size();
    config.choices[i] = static_cast<uint16_t>(index % n);
    index /= n;
  }
  return config;
}

std::optional<Invalid> ConfigSpace::check(const Config& config) const {
  for (const Constraint& constraint : constraints_) {
    if (!constraint.holds(*this, config)) {
      return Invalid{constraint.text};
    }
  }
  return std::nullopt;
}

bool ConfigSpace::valid(const Config& config) const {
  return std::all_of(constraints_.begin(), constraints_.end(),
                     [&](const Constraint& constraint) { return constraint.holds(*this, config); });
}

Config ConfigSpace::from_values(std::span<const std::pair<std::string, KnobValue>> values) const {
  Config config;
  config.choices.resize(knobs_.size());
  std::vector<bool> given(knobs_.size(), false);
  for (const auto& [name, value] : values) {
    const std::optional<int> position = find(name);
    if (!position) {
      std::vector<std::string_view> names;
      for (const Knob& knob : knobs_) {
        names.push_back(knob.name);
      }
      throw UserError(fmt::format("unknown knob '{}'", name), fmt::format("this space has {}", fmt::join(names, ", ")));
    }
    const Knob& knob = knobs_[*position];
    const auto it = std::find(knob.choices.begin(), knob.choices.end(), value);
    if (it == knob.choices.end()) {
      std::vector<std::string> choices;
      for (const KnobValue& choice : knob.choices) {
        choices.push_back(tensmith::to_string(choice));
      }
      throw UserError(fmt::format("knob '{}' has no choice {}", name, tensmith::to_string(value)),
                      fmt::format("choose one of {}", fmt::join(choices, ", ")));
    }
    config.choices[*position] = static_cast<uint16_t>(it - knob.choices.begin());
    given[*position] = true;
  }
  for (size_t i = 0; i < knobs_.size(); ++i) {
    if (!given[i]) {
      throw UserError(fmt::format("knob '{}' has no value", knobs_[i].name), "every knob of the space needs one");
    }
  }
  return config;
}

std::string ConfigSpace::to_string(const Config& config) const {
  std::string text;
  for (size_t i = 0; i < knobs_.size(); ++i) {
    text += fmt::format("{}{}={}", i == 0 ? "" : " ", knobs_[i].name,
                        tensmith::to_string(value(config, static_cast<int>(i))));
  }
  return text;
}

uint64_t ConfigSpace::fingerprint() const {
  std::string text;
  for (const Knob& knob : knobs_) {
    text += knob.name + ":";
    for (const KnobValue& choice : knob.choices) {
      text += tensmith::to_string(choice) + ",";
    }
    text += ";";
  }
  for (const Constraint& constraint : constraints_) {
    text += constraint.text + ";";
  }
  return hash_bytes(text);
}

}  // namespace tensmith
