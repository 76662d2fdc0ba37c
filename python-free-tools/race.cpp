#include <algorithm>
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
#include "tensmith/explore/recorded/race.h"
#include "tensmith/explore/recorded/race_contenders.h"
#include "tensmith/explore/recorded/race_files.h"
#include "tensmith/explore/recorded/race_report.h"
#include "tensmith/support/error.h"
#include "tensmith/support/file.h"
#include "tensmith/support/strings.h"
#include "tensmith/support/sysinfo.h"
#include "verbs.h"

namespace tensmith::cli {
namespace {

constexpr const char* kStateFile = "race.jsonl";

struct Options {
  std::vector<std::string> spaces;
  std::string algorithms = "all";
  std::vector<int64_t> budgets;  ///< empty: those of the paper
  RaceOptions race;
  bool restart = false;
  std::vector<int64_t> splits = {200};
  std::optional<std::string> pooled;  ///< the sample size that is taken for true; may be empty
  std::string directory;
  bool json = false;
};

class Display {
 public:
  void show(const RaceProgress& p) {
    if (p.share < 1.0 && !line_.due(p.seconds, last_shown_)) return;
    last_shown_ = p.seconds;
    const std::string left =
        p.share > 0.0 && p.share < 1.0 ? fmt::format(", {} left", duration_text(p.seconds / p.share - p.seconds)) : "";
    const std::string text = fmt::format("{} of {} cells, {:.0f} %, {}{}", p.cells_done, p.cells, 100 * p.share,
                                         duration_text(p.seconds), left);
    const std::optional<size_t> columns = line_.columns();
    const std::string bar = columns ? bar_text(p.share) : "";
    line_.show("race " + (bar.size() + text.size() + 6 < columns.value_or(SIZE_MAX) ? bar + text : text));
  }

 private:
  StatusLine line_;
  double last_shown_ = 0.0;
};

std::vector<int64_t> sorted_once(std::vector<int64_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

std::vector<int64_t> budgets_of(const Options& options, const std::vector<RecordedSpace>& spaces) {
  check_budgets(options.budgets, spaces);
  return options.budgets.empty() ? paper_budgets(spaces) : options.budgets;
}

CompetitionOptions competition_of(const Options& options) {
  CompetitionOptions out;
  out.pooled = options.pooled.has_value();
  if (options.pooled && !options.pooled->empty()) {
    const std::optional<int64_t> count = parse_int64(*options.pooled);
    if (!count || *count < 2 || *count > 1'000'000) {
      throw UserError(fmt::format("--pooled-t-test: '{}' is no sample size", *options.pooled),
                      "give a whole number of at least 2, or none for the true one");
    }
    out.pooled_count = static_cast<int>(*count);
  }
  return out;
}

nlohmann::json to_json(const RaceCell& cell) {
  const RaceSummary s = summarize(cell);
  return {{"space", cell.space},
          {"kernel", cell.kernel},
          {"device", cell.device},
          {"algorithm", cell.algorithm},
          {"budget", cell.budget},
          {"convention", to_string(cell.convention)},
          {"objective", to_string(cell.objective)},
          {"history", cell.history ? "others" : "none"},
          {"runs", cell.runs.size()},
          {"mean_fraction", s.mean_fraction},
          {"std", s.std_fraction},
          {"success_rate", s.success_rate},
          {"mean_evaluations", s.mean_evaluations},
          {"std_evaluations", s.std_evaluations},
          {"seed", cell.seed},
          {"settings", cell.settings}};
}

std::string table_of(const RaceResult& result) {
  const RaceTable t = tabulate(result.cells);
  std::vector<std::string> header = {"algorithm"};
  for (const int64_t budget : t.budgets) header.push_back(fmt::format("{}", budget));
  Table table(header);
  for (size_t a = 0; a < t.algorithms.size(); ++a) {
    std::vector<std::string> row = {t.algorithms[a]};
    for (size_t b = 0; b < t.budgets.size(); ++b) {
      row.push_back(t.means[a][b] < 0.0 ? "-" : fmt::format("{:.4f}{}", t.means[a][b], t.best(a, b) ? "*" : " "));
    }
    table.add(row);
  }
  return table.text() +
         "fraction of the optimum that was reached within so many evaluations, mean over runs and spaces; * the best\n";
}

void write_all(const Options& options, const RaceResult& result, const CompetitionOptions& test) {
  const std::filesystem::path directory = options.directory;
  std::vector<CompetitionEntry> entries;
  for (const RaceCell& cell : result.cells) entries.push_back(entry_of(cell));
  const std::vector<int64_t> splits = sorted_once(options.splits);
  std::string pairs, ranking;
  for (const int64_t split : splits) {
    CompetitionOptions at = test;
    at.split = split;
    const std::vector<WinMatrix> matrices = compete(entries, at);
    pairs += competition_csv(matrices, split, pairs.empty());
    ranking += ranking_csv(matrices, split, ranking.empty());
  }
  write_file(directory / "results.csv", results_csv(result.cells));
  write_file(directory / "runs.csv", runs_csv(result.cells));
  write_file(directory / "competition.csv", pairs);
  write_file(directory / "ranking.csv", ranking);
  write_file(directory / "report.html", race_report(result.cells, {splits, test}));
}

void run(const Options& options) {
  RaceOptions race = options.race;
  if (race.threads == 0) race.threads = physical_core_count();
  const CompetitionOptions test = competition_of(options);
  const std::vector<Contender> contenders =
      make_contenders(options.algorithms, race.objective, {.restart = options.restart});
  if (race.history &&
      std::none_of(contenders.begin(), contenders.end(), [](const auto& c) { return c.uses_history; })) {
    throw UserError("--history=others: none of the algorithms makes use of history", "leave it out");
  }
  const std::vector<RecordedSpace> spaces = load_spaces(options.spaces);
  if (race.convention == Convention::kCartesian) {
    for (const RecordedSpace& space : spaces) warn_if_sparse(space);
  }
  race.budgets = budgets_of(options, spaces);

  std::optional<RaceState> state;
  std::optional<DamageWarning> damage;
  if (!options.directory.empty()) {
    make_directories(options.directory);
    state.emplace(std::filesystem::path(options.directory) / kStateFile);
    damage.emplace(*state);
    damage->tell();
  }
  RaceResult result;
  size_t cells = 0;
  {
    Display display;
    RaceHooks hooks;
    hooks.progress = [&](const RaceProgress& p) {
      cells = p.cells;
      if (damage) damage->tell();
      display.show(p);
    };
    hooks.should_stop = [] { return interrupt_requested().load(); };
    if (state) {
      hooks.recall = [&](RaceCell& cell, const RaceBounds& bounds) { return state->recall(cell, bounds); };
      hooks.store = [&](const RaceCell& cell) { state->store(cell); };
    }
    catch_interrupts();
    result = run_race(spaces, contenders, race, hooks);
  }
  if (!options.directory.empty()) write_all(options, result, test);
  if (options.json) {
    nlohmann::json rows = nlohmann::json::array();
    for (const RaceCell& cell : result.cells) rows.push_back(to_json(cell));
    emit_result({{"results", rows}, {"seconds", result.seconds}, {"interrupted", result.stopped}});
  } else if (!result.cells.empty()) {
    emit_text(table_of(result));
    if (!options.directory.empty()) {
      emit_text(fmt::format("report: {}\n", (std::filesystem::path(options.directory) / "report.html").string()));
    }
  }
  if (result.stopped) {
    throw Interrupted(
        interrupting_signal(),
        state
            ? fmt::format("tensmith: interrupted; {} of {} cells are kept in {}, the same command goes on "
                          "from here",
                          result.cells.size(), cells, (std::filesystem::path(options.directory) / kStateFile).string())
            : "tensmith: interrupted; nothing is kept, for there is no -o");
  }
}

}  // namespace

void add_race(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("race", "search algorithms against each other on recorded search spaces");
  verb->add_option("space", options->spaces, "Kernel Tuner caches or T4 results, .json or .json.gz")->required();
  verb->add_option(
          "--algorithms", options->algorithms,
          "names, separated by commas; all; model or no-model: those that fit a model to what they see, and the others")
      ->capture_default_str();
  budgets_option(*verb, options->budgets);
  verb->add_option("--runs", options->race.runs, "runs of each algorithm on each space for each budget")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  enum_option<Convention>(*verb, "--convention", options->race.convention,
                          {{"cartesian", Convention::kCartesian}, {"restricted", Convention::kRestricted}},
                          "whether searches know which configs meet the restrictions");
  enum_option<Objective>(*verb, "--objective", options->race.objective,
                         {{"mean", Objective::kMean}, {"draw", Objective::kDraw}},
                         "an evaluation gives the mean of the recorded runs, or one of them at random");
  enum_option<bool>(*verb, "--history", options->race.history, {{"none", false}, {"others", true}},
                    "whether algorithms that can use it get the measurements of the kernel's other spaces");
  verb->add_flag("--restart", options->restart,
                 "a search that has converged begins anew until the budget is used up, instead of ending");
  seed_option(*verb, options->race.seed, "equal seeds give equal results");
  options->race.threads = 0;
  verb->add_option("--threads", options->race.threads, "runs at a time (default: physical cores)")
      ->check(CLI::Range(1, 1024));
  verb->add_option("--split", options->splits, "budgets up to which the low range of the competition goes")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40))
      ->capture_default_str();
  verb->add_option("--pooled-t-test", options->pooled,
                   "Student's t-test in place of Welch's; with a number, that as the sample size")
      ->expected(0, 1);
  verb->add_option("-o,--output", options->directory,
                   "directory for results, report and state: a race that was ended goes on from there");
  verb->add_flag("--json", options->json, "one JSON object on standard output");
  verb->callback([options] { run(*options); });
}

}  // namespace tensmith::cli
