#include "tensmith/explore/recorded/race_contenders.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tensmith/costmodel/gbt.h"
#include "tensmith/explore/algorithms.h"
#include "tensmith/support/error.h"
#include "tensmith/support/strings.h"

namespace tensmith {
namespace {

constexpr int64_t kLargestModelBudget = 400;

std::unique_ptr<SearchStrategy> make_search(Algorithm algorithm, const ContenderOptions& options,
                                            const RaceTask& task) {
  AlgorithmSettings settings = default_settings(algorithm, task.budget);
  if (uses_history(algorithm)) std::get<LearnedSearchOptions>(settings).history = task.history;
  return make_algorithm(algorithm, task.space, std::move(settings),
                        {.seed = task.seed, .initial = {}, .restart = options.restart});
}

Contender contender_of(Algorithm algorithm, const ContenderOptions& options) {
  return {.name = std::string(to_string(algorithm)),
          .by_budget = depends_on_budget(algorithm),
          .uses_history = uses_history(algorithm),
          .needs_draws = repeats_configs(algorithm),
          .make = [algorithm, options](const RaceTask& task) { return make_search(algorithm, options, task); },
          .settings =
              [algorithm, options](int64_t budget) {
                const std::string text = to_string(default_settings(algorithm, budget));
                return options.restart ? text + (text.empty() ? "restart" : ",restart") : text;
              }};
}

enum class Group : uint8_t { kAll, kModel, kNoModel };

std::optional<Group> find_group(std::string_view name) {
  if (name == "all") return Group::kAll;
  if (name == "model") return Group::kModel;
  if (name == "no-model") return Group::kNoModel;
  return std::nullopt;
}

std::vector<Contender> members(Group group, Objective objective, const ContenderOptions& options) {
  std::vector<Contender> out;
  for (const Algorithm algorithm : all_algorithms()) {
    const bool model = uses_model(algorithm);
    if (group == (model ? Group::kNoModel : Group::kModel)) continue;
    if (repeats_configs(algorithm) && objective == Objective::kMean) continue;
    if (algorithm == Algorithm::kGbt && !gbt_available()) continue;
    out.push_back(contender_of(algorithm, options));
    if (model) out.back().largest_budget = kLargestModelBudget;
  }
  return out;
}

}  // namespace

std::vector<std::string> contender_names() {
  std::vector<std::string> names;
  for (const Algorithm algorithm : all_algorithms()) names.emplace_back(to_string(algorithm));
  return names;
}

Contender make_contender(std::string_view name, const ContenderOptions& options) {
  if (const std::optional<Algorithm> found = find_algorithm(name)) {
    if (*found == Algorithm::kGbt && !gbt_available()) {
      throw UserError("algorithm 'gbt': this build has no XGBoost", "build Tensmith with libxgboost-dev installed");
    }
    return contender_of(*found, options);
  }
  const std::vector<std::string> names = contender_names();
  const std::optional<std::string> close = closest_match(name, names);
  const std::string all = fmt::format("{}; all, model, no-model", fmt::join(names, ", "));
  throw UserError(fmt::format("unknown algorithm '{}'", name),
                  close ? fmt::format("did you mean {}? There are {}", *close, all) : "there are " + all);
}

std::vector<Contender> make_contenders(std::string_view names, Objective objective, const ContenderOptions& options) {
  std::vector<Contender> out;
  for (const std::string_view part : split_string(names, ',')) {
    const std::string_view name = trim(part);
    const std::optional<Group> group = find_group(name);
    std::vector<Contender> more;
    if (group) {
      more = members(*group, objective, options);
    } else {
      more.push_back(make_contender(name, options));
    }
    for (Contender& contender : more) {
      if (std::any_of(out.begin(), out.end(), [&](const Contender& c) { return c.name == contender.name; })) {
        throw UserError(fmt::format("algorithm '{}' is there twice", contender.name), "name each once");
      }
      out.push_back(std::move(contender));
    }
  }
  return out;
}

}  // namespace tensmith
