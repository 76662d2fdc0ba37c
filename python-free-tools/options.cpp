#include "options.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "tensmith/support/error.h"
#include "tensmith/support/strings.h"

namespace tensmith::cli {
namespace {

/// A longer wait than this is a slip of the keyboard, and the sum with a clock's time stays exact.
constexpr double kLongestSeconds = 1e9;

double positive_seconds(const std::string& option, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const std::string_view unit = end;
  const double factor = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  const double seconds = value * factor;
  if (end == text.c_str() || !(seconds > 0 && seconds <= kLongestSeconds)) {
    throw UserError(fmt::format("{}: '{}' is no positive time", option, text), "write for example 0.5, 90s, 10m or 2h");
  }
  return seconds;
}

}  // namespace

void choice_option(CLI::App& app, const std::string& name, std::vector<std::string> names, size_t initial,
                   std::function<void(size_t)> set, const std::string& help) {
  const std::string standard = names[initial];
  const std::string all = fmt::format("{}: {}", help, fmt::join(names, ", "));
  app.add_option_function<std::string>(
         name,
         [name, names = std::move(names), set = std::move(set)](const std::string& text) {
           const auto found = std::find(names.begin(), names.end(), text);
           if (found == names.end()) {
             throw UserError(fmt::format("{}: '{}' is not known", name, text),
                             fmt::format("choose one of {}", fmt::join(names, ", ")));
           }
           set(static_cast<size_t>(found - names.begin()));
         },
         all)
      ->default_str(standard);
}

void seconds_option(CLI::App& app, const std::string& name, double& out, const std::string& help) {
  CLI::Option* option = app.add_option_function<std::string>(
      name, [name, &out](const std::string& text) { out = positive_seconds(name, text); }, help);
  if (out > 0) option->default_str(fmt::format("{}", out));
}

void seed_option(CLI::App& app, uint64_t& out, const std::string& help) {
  app.add_option_function<std::string>(
         "--seed",
         [&out](const std::string& text) {
           const std::optional<int64_t> seed = parse_int64(text);
           if (!seed || *seed < 0) {
             throw UserError(fmt::format("--seed: '{}' is no whole number from 0 to 2^63 - 1", text));
           }
           out = static_cast<uint64_t>(*seed);
         },
         help)
      ->default_str(fmt::format("{}", out));
}

}  // namespace tensmith::cli
