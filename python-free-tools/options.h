#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

/// Kinds of options that several verbs have. What is wrong with a value is a UserError that names the option.
namespace tensmith::cli {

/// An option whose value is one of `names`; `set` gets the position. The help shows the one at `initial` as the
/// default.
void choice_option(CLI::App& app, const std::string& name, std::vector<std::string> names, size_t initial,
                   std::function<void(size_t)> set, const std::string& help);

/// The same for an enum: `out` holds the default, `table` the names of its values.
template <typename E>
void enum_option(CLI::App& app, const std::string& name, E& out, const std::vector<std::pair<std::string, E>>& table,
                 const std::string& help) {
  std::vector<std::string> names;
  size_t initial = 0;
  for (size_t i = 0; i < table.size(); ++i) {
    names.push_back(table[i].first);
    initial = table[i].second == out ? i : initial;
  }
  choice_option(
      app, name, std::move(names), initial, [&out, table](size_t i) { out = table[i].second; }, help);
}

/// A length of time in seconds, more than 0, written as 0.5, 90s, 10m or 2h. A positive `out` is shown as the default.
void seconds_option(CLI::App& app, const std::string& name, double& out, const std::string& help);

/// `--seed`, a whole number that is not negative. `out` is shown as the default.
void seed_option(CLI::App& app, uint64_t& out, const std::string& help);

}  // namespace tensmith::cli
