#include "tensmith/explore/kernel/kernel_space.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "explore/kernel/names.h"
#include "tensmith/support/error.h"
#include "tensmith/support/rng.h"
#include "tensmith/support/strings.h"

namespace tensmith {
namespace {

/// How far the default is looked for.
constexpr uint64_t kMostLooks = 1'000'000;

/// Values of config_names for a config.
class ConfigValues {
 public:
  explicit ConfigValues(const KernelSpec& spec) : parameters_(spec.parameters.size()) {
    const std::vector<ExpressionName> names = config_names(spec.parameters, spec.dimensions);
    sizes_ = std::vector<int64_t>(names.size() - parameters_);
    for (size_t i = 0; i < sizes_.size(); ++i) {
      const std::string& name = names[parameters_ + i].name;
      sizes_[i] = spec.size[static_cast<size_t>(name.back() - 'x')];
    }
    for (const KernelParameter& parameter : spec.parameters) {
      std::vector<int64_t>& values = values_.emplace_back();
      for (size_t i = 0; i < parameter.values.size(); ++i) {
        values.push_back(parameter.numbers ? *parse_int64(parameter.values[i]) : static_cast<int64_t>(i));
      }
    }
  }

  /// Valid until the next call on the same thread.
  std::span<const int64_t> of(const Config& config) const {
    static thread_local std::vector<int64_t> values;
    values.resize(parameters_ + sizes_.size());
    for (size_t i = 0; i < parameters_; ++i) values[i] = values_[i][config.choices[i]];
    std::copy(sizes_.begin(), sizes_.end(), values.begin() + static_cast<std::ptrdiff_t>(parameters_));
    return values;
  }

 private:
  size_t parameters_;
  std::vector<int64_t> sizes_;
  std::vector<std::vector<int64_t>> values_;  ///< by parameter and choice
};

/// Nothing where the block or grid does not exist.
std::optional<KernelLaunch> launch_of(const KernelSpec& spec, std::span<const int64_t> values) {
  KernelLaunch launch;
  for (size_t i = 0; i < 3; ++i) {
    const ExpressionValue block = spec.block[i].evaluate(values);
    const ExpressionValue div = spec.grid_div[i].evaluate(values);
    if (!block.ok() || !div.ok() || block.value < 1 || div.value < 1) return std::nullopt;
    launch.block[i] = block.value;
    launch.grid[i] = (spec.size[i] - 1) / div.value + 1;
  }
  return launch;
}

Knob knob_of(const KernelParameter& parameter) {
  if (!parameter.numbers) {
    const std::vector<std::string_view> labels(parameter.values.begin(), parameter.values.end());
    return enum_knob(parameter.name, labels);
  }
  std::vector<int64_t> numbers;
  for (const std::string& value : parameter.values) numbers.push_back(*parse_int64(value));
  Knob knob = int_knob(parameter.name, numbers);
  knob.ordinal = std::is_sorted(numbers.begin(), numbers.end()) || std::is_sorted(numbers.rbegin(), numbers.rend());
  return knob;
}

}  // namespace

ConfigSpace kernel_space(const KernelSpec& spec) {
  if (spec.parameters.empty()) {
    throw UserError("the kernel has no parameters to tune", "add for example --param=block_size_x=16,32,64");
  }
  require_used_parameters(spec);
  ConfigSpace space;
  for (const KernelParameter& parameter : spec.parameters) space.add(knob_of(parameter));
  const auto shared = std::make_shared<const KernelSpec>(spec);
  const auto values = std::make_shared<const ConfigValues>(spec);
  for (size_t i = 0; i < spec.restrictions.size(); ++i) {
    space.add_constraint(spec.restrictions[i].text(), [shared, values, i](const ConfigSpace&, const Config& config) {
      return shared->restrictions[i].evaluate(values->of(config)).truth();
    });
  }
  if (spec.has_grid()) {
    space.add_constraint("block and grid-div are at least 1",
                         [shared, values](const ConfigSpace&, const Config& config) {
                           return launch_of(*shared, values->of(config)).has_value();
                         });
  }
  return space;
}

Config default_kernel_config(const KernelSpec& spec, const ConfigSpace& space) {
  const uint64_t looks = std::min(space.size(), kMostLooks);
  for (uint64_t i = 0; i < looks; ++i) {
    Config config = space.at(i);
    if (space.valid(config)) return config;
  }
  Rng rng(1);
  for (uint64_t i = 0; looks < space.size() && i < kMostLooks; ++i) {
    Config config = space.at(rng.uniform_int(space.size()));
    if (space.valid(config)) return config;
  }
  // Which restriction is to blame: that which the most configs violate, faults told.
  const ConfigValues values(spec);
  std::vector<std::string> blame;
  const uint64_t sample = std::min<uint64_t>(looks, 20'000);
  for (const KernelExpression& restriction : spec.restrictions) {
    uint64_t violated = 0, divided = 0, overflowed = 0;
    for (uint64_t i = 0; i < sample; ++i) {
      const ExpressionValue value = restriction.evaluate(values.of(space.at(i)));
      violated += value.truth() ? 0 : 1;
      divided += value.fault == ExpressionFault::kDivisionByZero ? 1 : 0;
      overflowed += value.fault == ExpressionFault::kOverflow ? 1 : 0;
    }
    if (violated == 0) continue;
    blame.push_back(fmt::format("'{}' excludes {:.0f}%{}{}", shortened(restriction.text()),
                                100.0 * static_cast<double>(violated) / static_cast<double>(sample),
                                divided > 0 ? ", dividing by zero" : "", overflowed > 0 ? ", overflowing" : ""));
  }
  if (blame.empty()) blame.push_back("block or grid-div is below 1");
  if (looks < space.size()) {
    throw UserError(fmt::format("no config was found that is possible, among {} of {}: {}", 2 * kMostLooks,
                                space.size(), fmt::join(blame, "; ")),
                    "there may be some; relax --restrict, or put values first in --param that meet it");
  }
  throw UserError(fmt::format("no config is possible: {}", fmt::join(blame, "; ")),
                  "relax --restrict or add values to --param");
}

std::vector<std::string> kernel_defines(const KernelSpec& spec, const Config& config) {
  std::vector<std::string> defines;
  for (size_t i = 0; i < spec.parameters.size(); ++i) {
    defines.push_back(fmt::format("{}={}", spec.parameters[i].name, spec.parameters[i].values[config.choices[i]]));
  }
  return defines;
}

KernelLaunch kernel_launch(const KernelSpec& spec, const Config& config) {
  const std::optional<KernelLaunch> launch = launch_of(spec, ConfigValues(spec).of(config));
  TENSMITH_ICHECK(launch.has_value(), "the launch of an invalid config is asked for");
  return *launch;
}

}  // namespace tensmith
