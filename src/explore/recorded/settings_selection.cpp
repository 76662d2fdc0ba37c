#include "tensmith/explore/recorded/settings_selection.h"

#include <algorithm>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "tensmith/support/error.h"

namespace tensmith {
namespace {

/// Evaluations of a selection's runs on a space.
double work_of(Algorithm algorithm, int64_t budget) {
  return static_cast<double>(settings_grid(algorithm, budget).size()) * static_cast<double>(budget);
}

}  // namespace

std::vector<RankedSetting> rank_settings(std::span<const std::vector<SettingScore>> scores) {
  if (scores.empty() || scores.front().empty()) {
    throw UserError("there are no settings to choose from", "name at least one space and an algorithm with settings");
  }
  std::vector<RankedSetting> out(scores.front().size());
  for (size_t s = 0; s < out.size(); ++s) out[s].setting = s;
  for (const std::vector<SettingScore>& space : scores) {
    TENSMITH_ICHECK(space.size() == out.size(), "every space has a score of every setting");
    const SettingScore& best = *std::max_element(
        space.begin(), space.end(), [](const SettingScore& a, const SettingScore& b) { return a.mean < b.mean; });
    for (RankedSetting& ranked : out) {
      const double behind = best.mean - space[ranked.setting].mean;
      // Where the best has no spread, nothing else is near it.
      const double k = behind <= 0.0       ? 0.0
                       : best.stddev > 0.0 ? behind / best.stddev
                                           : std::numeric_limits<double>::infinity();
      ranked.k = std::max(ranked.k, k);
      ranked.mean += space[ranked.setting].mean / static_cast<double>(scores.size());
    }
  }
  std::stable_sort(out.begin(), out.end(), [](const RankedSetting& a, const RankedSetting& b) {
    return a.k != b.k ? a.k < b.k : a.mean > b.mean;
  });
  return out;
}

SettingsSelection select_settings(Algorithm algorithm, std::span<const RecordedSpace> spaces,
                                  const RaceOptions& options, const RaceHooks& hooks) {
  TENSMITH_ICHECK(!options.budgets.empty(), "a budget");
  const int64_t budget = options.budgets.front();
  SettingsSelection selection;
  selection.settings = settings_grid(algorithm, budget);
  std::vector<Contender> contenders;
  std::map<std::string, size_t> positions;
  for (const AlgorithmSettings& settings : selection.settings) {
    Contender& contender = contenders.emplace_back();
    contender.name = fmt::format("{} {}", to_string(algorithm), to_string(settings));
    contender.needs_draws = repeats_configs(algorithm);
    contender.make = [algorithm, settings](const RaceTask& task) {
      return make_algorithm(algorithm, task.space, settings, {.seed = task.seed, .initial = {}, .restart = false});
    };
    contender.settings = [settings](int64_t) { return to_string(settings); };
    positions[contender.name] = contenders.size() - 1;
  }
  RaceOptions race = options;
  race.budgets = {budget};
  const RaceResult result = run_race(spaces, contenders, race, hooks);
  if (result.stopped) return selection;
  std::map<std::string, size_t> rows;
  std::vector<std::vector<SettingScore>> scores;
  for (const RaceCell& cell : result.cells) {
    const auto [row, is_new] = rows.try_emplace(cell.space, scores.size());
    if (is_new) scores.emplace_back(contenders.size());
    const RaceSummary summary = summarize(cell);
    scores[row->second][positions.at(cell.algorithm)] = {summary.mean_fraction, summary.std_fraction};
  }
  selection.ranking = rank_settings(scores);
  return selection;
}

SelectionsShare::SelectionsShare(std::span<const Algorithm> algorithms, std::span<const int64_t> budgets) {
  for (const Algorithm algorithm : algorithms) {
    for (const int64_t budget : budgets) work_ += work_of(algorithm, budget);
  }
}

void SelectionsShare::finish(Algorithm algorithm, int64_t budget) { done_ += work_of(algorithm, budget); }

double SelectionsShare::with(Algorithm algorithm, int64_t budget, double share) const {
  return (done_ + share * work_of(algorithm, budget)) / work_;
}

}  // namespace tensmith
