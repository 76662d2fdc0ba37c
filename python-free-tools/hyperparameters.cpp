#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "interrupt.h"
#include "options.h"
#include "output.h"
#include "recorded.h"
#include "status_line.h"
#include "table.h"
#include "tensmith/explore/recorded/race_files.h"
#include "tensmith/explore/recorded/settings_selection.h"
#include "tensmith/support/clock.h"
#include "tensmith/support/error.h"
#include "tensmith/support/file.h"
#include "tensmith/support/strings.h"
#include "tensmith/support/sysinfo.h"
#include "tensmith/support/text.h"
#include "verbs.h"

namespace tensmith::cli {
namespace {

constexpr const char* kStateFile = "hyperparameters.jsonl";
constexpr const char* kResultFile = "hyperparameters.csv";

struct Options {
  std::vector<std::string> spaces;
  std::string algorithms = "all";
  std::vector<int64_t> budgets;  ///< empty: those of the paper
  RaceOptions race;
  std::string directory;
  bool json = false;
};

/// One algorithm, one budget.
struct Choice {
  Algorithm algorithm;
  int64_t budget;
  SettingsSelection selection;
};

bool has_settings(Algorithm algorithm) { return settings_grid(algorithm, 100).size() > 1; }

std::vector<Algorithm> algorithms_of(const std::string& text) {
  std::vector<Algorithm> out;
  std::string names;
  for (Algorithm algorithm : all_algorithms()) {
    if (!has_settings(algorithm)) continue;
    names += fmt::format("{}{}", names.empty() ? "" : " ", to_string(algorithm));
    if (text == "all") out.push_back(algorithm);
  }
  if (text == "all") return out;
  for (std::string_view part : split_string(text, ',')) {
    const std::string_view name = trim(part);
    const std::optional<Algorithm> algorithm = find_algorithm(name);
    if (!algorithm || !has_settings(*algorithm)) {
      throw UserError(algorithm ? fmt::format("--algorithms: '{}' has no hyper-parameters to choose", name)
                                : fmt::format("--algorithms: there is no algorithm '{}'", name),
                      fmt::format("all, or some of: {}", names));
    }
    if (std::find(out.begin(), out.end(), *algorithm) == out.end()) out.push_back(*algorithm);
  }
  return out;
}

std::string k_text(double k) { return std::isfinite(k) ? fmt::format("{:.4g}", k) : "inf"; }

std::string table_of(const std::vector<Choice>& choices) {
  Table table({"algorithm", "budget", "k", "mean", "chosen", "of"});
  for (const Choice& c : choices) {
    const RankedSetting& best = c.selection.ranking.front();
    table.add({std::string(to_string(c.algorithm)), fmt::format("{}", c.budget), k_text(best.k),
               fmt::format("{:.4f}", best.mean), to_string(c.selection.settings[best.setting]),
               fmt::format("{}", c.selection.settings.size())});
  }
  return table.text() +
         "k: on every space, the chosen one is within k standard deviations of the best setting there; mean: fraction "
         "of the optimum\n";
}

std::string csv_of(const std::vector<Choice>& choices) {
  std::string out = "algorithm,budget,rank,k,mean_fraction,settings\n";
  for (const Choice& c : choices) {
    for (size_t i = 0; i < c.selection.ranking.size(); ++i) {
      const RankedSetting& r = c.selection.ranking[i];
      out += fmt::format("{},{},{},{},{},{}\n", to_string(c.algorithm), c.budget, i + 1, k_text(r.k), r.mean,
                         csv_field(to_string(c.selection.settings[r.setting])));
    }
  }
  return out;
}

nlohmann::json to_json(const Choice& c) {
  nlohmann::json ranking = nlohmann::json::array();
  for (const RankedSetting& r : c.selection.ranking) {
    ranking.push_back({{"settings", to_string(c.selection.settings[r.setting])},
                       {"k", std::isfinite(r.k) ? nlohmann::json(r.k) : nlohmann::json(nullptr)},
                       {"mean_fraction", r.mean}});
  }
  return {{"algorithm", to_string(c.algorithm)},
          {"budget", c.budget},
          {"chosen", ranking.front()["settings"]},
          {"ranking", ranking}};
}

/// How far all of the choices are together: one alone may be done before it is time for the first line.
class Display {
 public:
  Display(const std::vector<Algorithm>& algorithms, const std::vector<int64_t>& budgets)
      : share_(algorithms, budgets) {}

  void show(Algorithm algorithm, int64_t budget, const RaceProgress& p) {
    const double seconds = watch_.seconds();
    if (!line_.due(seconds, last_shown_)) return;
    last_shown_ = seconds;
    const double share = share_.with(algorithm, budget, p.share);
    const std::string left =
        share > 0.0 && share < 1.0 ? fmt::format(", {} left", duration_text(seconds / share - seconds)) : "";
    line_.show(fmt::format("hyperparameters {:.1f} %, {}{}; {}, budget {}: {} of {} cells", 100 * share,
                           duration_text(seconds), left, to_string(algorithm), budget, p.cells_done, p.cells));
  }

  void clear() { line_.clear(); }
  void finished(Algorithm algorithm, int64_t budget) { share_.finish(algorithm, budget); }

 private:
  StatusLine line_;
  Stopwatch watch_;
  SelectionsShare share_;
  double last_shown_ = 0.0;
};

void run(const Options& options) {
  RaceOptions race = options.race;
  if (race.threads == 0) race.threads = physical_core_count();
  const std::vector<Algorithm> algorithms = algorithms_of(options.algorithms);
  const std::vector<RecordedSpace> spaces = load_spaces(options.spaces);
  const std::vector<int64_t> budgets = options.budgets.empty() ? paper_budgets(spaces) : options.budgets;
  check_budgets(budgets, spaces);
  std::optional<RaceState> state;
  std::optional<DamageWarning> damage;
  if (!options.directory.empty()) {
    make_directories(options.directory);
    state.emplace(std::filesystem::path(options.directory) / kStateFile);
    damage.emplace(*state);
    damage->tell();
  }
  std::vector<Choice> choices;
  bool stopped = false;
  {
    Display display(algorithms, budgets);
    RaceHooks hooks;
    hooks.should_stop = [] { return interrupt_requested().load(); };
    if (state) {
      hooks.recall = [&](RaceCell& cell, const RaceBounds& bounds) { return state->recall(cell, bounds); };
      hooks.store = [&](const RaceCell& cell) { state->store(cell); };
    }
    catch_interrupts();
    for (Algorithm algorithm : algorithms) {
      for (int64_t budget : budgets) {
        hooks.progress = [&](const RaceProgress& p) {
          if (damage && damage->pending()) {
            display.clear();
            damage->tell();
          }
          display.show(algorithm, budget, p);
        };
        race.budgets = {budget};
        Choice choice{algorithm, budget, select_settings(algorithm, spaces, race, hooks)};
        stopped = choice.selection.ranking.empty();
        if (stopped) break;
        display.finished(algorithm, budget);
        choices.push_back(std::move(choice));
      }
      if (stopped) break;
    }
  }
  if (!options.directory.empty()) {
    write_file(std::filesystem::path(options.directory) / kResultFile, csv_of(choices));
  }
  if (options.json) {
    nlohmann::json results = nlohmann::json::array();
    for (const Choice& choice : choices) results.push_back(to_json(choice));
    emit_result({{"results", results}, {"interrupted", stopped}});
  } else if (!choices.empty()) {
    emit_text(table_of(choices));
  }
  if (stopped) {
    throw Interrupted(interrupting_signal(),
                      state ? fmt::format("tensmith: interrupted; what was raced is kept in {}, the same command goes "
                                          "on from here",
                                          (std::filesystem::path(options.directory) / kStateFile).string())
                            : "tensmith: interrupted; nothing is kept, for there is no -o");
  }
}

}  // namespace

void add_hyperparameters(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand(
      "hyperparameters", "choose the settings of search algorithms that do well on all of some recorded spaces");
  verb->add_option("space", options->spaces, "Kernel Tuner caches or T4 results, .json or .json.gz")->required();
  verb->add_option("--algorithms", options->algorithms, "names, separated by commas, or all that have settings")
      ->capture_default_str();
  budgets_option(*verb, options->budgets);
  options->race.runs = 20;
  verb->add_option("--runs", options->race.runs, "runs of each setting on each space for each budget")
      ->check(CLI::Range(2, 1'000'000))
      ->capture_default_str();
  enum_option<Convention>(*verb, "--convention", options->race.convention,
                          {{"cartesian", Convention::kCartesian}, {"restricted", Convention::kRestricted}},
                          "whether searches know which configs meet the restrictions");
  seed_option(*verb, options->race.seed, "equal seeds give equal results");
  options->race.threads = 0;
  verb->add_option("--threads", options->race.threads, "runs at a time (default: physical cores)")
      ->check(CLI::Range(1, 1024));
  verb->add_option("-o,--output", options->directory,
                   "directory for the ranking of all settings and the state: what was ended goes on from there");
  verb->add_flag("--json", options->json, "one JSON object on standard output");
  verb->callback([options] { run(*options); });
}

}  // namespace tensmith::cli
