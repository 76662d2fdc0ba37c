#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Config spaces: the product of named knobs, each a finite ordered list of choices, plus constraints.

namespace tensmith {

/// One choice of a knob: an integer, or a tuple of integers (the factors of a split, outermost first), or a named
/// alternative (an order of loops, a layout), which has a label and an integer behind it.
struct KnobValue {
  std::vector<int64_t> values;
  std::string label;  ///< empty unless the choice has a name of its own

  bool operator==(const KnobValue&) const = default;
  int64_t value() const { return values.front(); }
};

/// "4", "[2, 4, 16]" or the label.
std::string to_string(const KnobValue& value);

/// A named, ordered, non-empty list of distinct choices. Neighbouring list entries are similar where there is an order.
struct Knob {
  std::string name;
  std::vector<KnobValue> choices;
  /// Whether the order of the list means "more" (a size), as opposed to unrelated alternatives.
  bool ordinal = true;
};

/// Helpers that make the usual knobs. All throw UserError on an empty list or a duplicate choice.
Knob int_knob(std::string name, std::span<const int64_t> choices);
Knob bool_knob(std::string name);
Knob enum_knob(std::string name, std::span<const std::string_view> labels);
/// Every way to write `extent` as a product of `parts` factors, outermost first; with `max_inner`, the last is at most
/// that.
Knob split_knob(std::string name, int64_t extent, int parts, int64_t max_inner = INT64_MAX);

/// A point of a space: the choice index of every knob, in the space's order.
struct Config {
  std::vector<uint16_t> choices;
  bool operator==(const Config&) const = default;
};

/// Stable hash of a config, the same on every machine.
uint64_t hash_value(const Config& config);

/// Why a config cannot be used; a value, since searches meet thousands of them.
struct Invalid {
  std::string reason;
};

/// Product of knobs with constraints. Immutable once shared between threads.
class ConfigSpace {
 public:
  /// Returns the knob's position. Throws UserError when the name is taken, the list is empty, too long (over 65,535) or
  /// repeats a choice, or the product would reach 2^63 points.
  int add(Knob knob);

  /// A restriction on configs, with the text shown when it is violated. Must be cheap and pure.
  void add_constraint(std::string text, std::function<bool(const ConfigSpace&, const Config&)> holds);

  std::span<const Knob> knobs() const { return knobs_; }
  /// Position of a knob, or nullopt.
  std::optional<int> find(std::string_view name) const;
  /// Points of the full product, constraints ignored.
  uint64_t size() const;

  /// Mixed-radix index of a point: the last knob varies fastest.
  uint64_t index_of(const Config& config) const;
  /// Inverse of index_of. Throws UserError when the index is not below size().
  Config at(uint64_t index) const;

  const KnobValue& value(const Config& config, int knob) const { return knobs_[knob].choices[config.choices[knob]]; }
  int64_t get(const Config& config, int knob) const { return value(config, knob).values.front(); }

  /// The first violated constraint, or nullopt when the config is valid.
  std::optional<Invalid> check(const Config& config) const;
  bool valid(const Config& config) const;

  /// Config from knob names and values. Throws UserError that names an unknown or missing knob or a value not in the
  /// list.
  Config from_values(std::span<const std::pair<std::string, KnobValue>> values) const;

  /// "tile_ow=6 nv=2 unroll=4 order=ohw".
  std::string to_string(const Config& config) const;

  /// Changes when a knob, a choice or a constraint changes; records carry it.
  uint64_t fingerprint() const;

 private:
  struct Constraint {
    std::string text;
    std::function<bool(const ConfigSpace&, const Config&)> holds;
  };
  std::vector<Knob> knobs_;
  std::vector<Constraint> constraints_;
};

}  // namespace tensmith
