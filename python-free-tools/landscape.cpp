#include <algorithm>
#include <filesystem>
#include <iterator>
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
#include "tensmith/explore/recorded/landscape.h"
#include "tensmith/explore/recorded/landscape_report.h"
#include "tensmith/explore/recorded/race_contenders.h"
#include "tensmith/support/clock.h"
#include "tensmith/support/error.h"
#include "tensmith/support/file.h"
#include "tensmith/support/stats.h"
#include "tensmith/support/sysinfo.h"
#include "verbs.h"

namespace tensmith::cli {
namespace {

struct Options {
  std::vector<std::string> spaces;
  std::string db;
  RecordFilter records;
  std::optional<Convention> convention;  ///< nothing: by source
  bool paper = false;
  int threads = 0;  ///< 0: physical cores
  std::string directory;
  int runs = 50;
  uint64_t seed = 1;
  bool json = false;
};

/// A failed point can be a minimum, but no good one.
double median_fraction(const Landscape& l) {
  return l.minimum_fractions.empty() ? 0.0 : stats::median(l.minimum_fractions);
}

nlohmann::json to_json(const std::string& space, Convention convention, const Landscape& l) {
  nlohmann::json curve = nlohmann::json::array();
  for (const Centrality& c : l.centrality) curve.push_back({{"p", c.p}, {"value", c.value}});
  return {{"space", space},
          {"convention", to_string(convention)},
          {"points", l.points},
          {"valid", l.valid},
          {"failed", l.failed},
          {"missing", l.missing},
          {"isolated", l.isolated},
          {"optimum", l.optimum},
          {"edges", l.edges},
          {"minima", l.minima.size()},
          {"maxima", l.maxima},
          {"plateau", l.plateau},
          {"minimum_fractions", l.minimum_fractions},
          {"pagerank_iterations", l.iterations},
          {"proportion_of_centrality", curve}};
}

/// The two searches of the paper's figures 4 and 5, on each space.
std::vector<RaceCell> search_difficulty(const Options& options, int threads, Convention convention,
                                        std::span<const RecordedSpace> spaces) {
  if (spaces.empty()) return {};
  const std::vector<Contender> contenders = {make_contender("dual-annealing"), make_contender("first-ils")};
  RaceOptions race{.budgets = paper_budgets(spaces),
                   .runs = options.runs,
                   .convention = convention,
                   .seed = options.seed,
                   .threads = threads};
  StatusLine line;
  RaceHooks hooks;
  hooks.progress = [&, last = 0.0](const RaceProgress& p) mutable {
    if (!line.due(p.seconds, last)) return;
    last = p.seconds;
    line.show(fmt::format("landscape: searching, {:.0f} %", 100 * p.share));
  };
  hooks.should_stop = [] { return interrupt_requested().load(); };
  catch_interrupts();
  RaceResult result = run_race(spaces, contenders, race, hooks);
  if (result.stopped) throw Interrupted(interrupting_signal(), "tensmith: interrupted; nothing was written");
  return std::move(result.cells);
}

/// The spaces of files come before those of databases.
struct Spaces {
  std::vector<RecordedSpace> all;
  size_t files = 0;
  Convention of_files = Convention::kCartesian;
  Convention of_databases = Convention::kRestricted;  ///< a config that nobody has tried yet is no bad one

  Convention convention(size_t i) const { return i < files ? of_files : of_databases; }
};

Spaces load(const Options& options) {
  Spaces out;
  out.all = load_spaces(options.spaces);
  out.files = out.all.size();
  if (!options.db.empty()) {
    for (RecordedSpace& space : spaces_of_database(options.db, options.records, SpaceFormat::kKernelTuner)) {
      out.all.push_back(std::move(space));
    }
  }
  if (out.all.empty()) throw UserError("no space is named", "name files of recorded spaces, or a database with --db");
  if (options.convention) out.of_files = out.of_databases = *options.convention;
  return out;
}

Landscape analyse(const RecordedSpace& space, Convention convention, const Options& options, int threads) {
  StatusLine line;
  LandscapeOptions analysis{.convention = convention, .paper = options.paper, .threads = threads};
  const Stopwatch watch;
  analysis.progress = [&, last = 0.0](double share) mutable {
    const double seconds = watch.seconds();
    if (!line.due(seconds, last)) return;
    last = seconds;
    line.show(fmt::format("landscape: {}, {:.0f} %", space.info().name, 100 * share));
  };
  return analyse_landscape(space, analysis);
}

/// Says so where the numbers cannot tell much about the space.
void warn_of_gaps(const RecordedSpace& space, Convention convention, const Landscape& l) {
  if (convention == Convention::kCartesian) {
    warn_if_sparse(space);
  } else if (2 * l.isolated > l.valid + l.failed) {
    print_stderr(
        fmt::format("tensmith: {}: {} of {} recorded configs have no recorded neighbour, so each of these counts as a "
                    "local minimum: too little of the space was tried to tell its landscape\n",
                    space.info().name, l.isolated, l.valid + l.failed));
  }
}

void write_all(const Options& options, int threads, const Spaces& spaces, std::span<const Landscape> landscapes) {
  std::vector<SpaceLandscape> pairs;
  for (size_t i = 0; i < spaces.all.size(); ++i) pairs.push_back({&spaces.all[i], &landscapes[i]});
  const std::filesystem::path directory = options.directory;
  make_directories(directory);
  std::vector<RaceCell> cells;
  if (options.runs > 0) {
    const std::span<const RecordedSpace> all(spaces.all);
    cells = search_difficulty(options, threads, spaces.of_files, all.first(spaces.files));
    std::vector<RaceCell> more = search_difficulty(options, threads, spaces.of_databases, all.subspan(spaces.files));
    cells.insert(cells.end(), std::move_iterator(more.begin()), std::move_iterator(more.end()));
  }
  write_file(directory / "minima.csv", minima_csv(pairs));
  write_file(directory / "centrality.csv", centrality_csv(pairs));
  write_file(directory / "landscape.html", landscape_report(pairs, cells));
}

void run(const Options& options) {
  const int threads = options.threads > 0 ? options.threads : physical_core_count();
  const Spaces spaces = load(options);
  std::vector<Landscape> landscapes;
  nlohmann::json results = nlohmann::json::array();
  Table table({"space", "points", "valid", "failed", "minima", "median minimum", "p=0%", "p=5%", "p=10%", "p=15%"});
  for (size_t i = 0; i < spaces.all.size(); ++i) {
    const RecordedSpace& space = spaces.all[i];
    const Convention convention = spaces.convention(i);
    const Landscape& l = landscapes.emplace_back(analyse(space, convention, options, threads));
    warn_of_gaps(space, convention, l);
    if (options.json) {
      results.push_back(to_json(space.info().name, convention, l));
      continue;
    }
    const auto at = [&](size_t percent) { return fmt::format("{:.3f}", l.centrality[percent].value); };
    table.add({space.info().name, fmt::format("{}", l.points), fmt::format("{}", l.valid), fmt::format("{}", l.failed),
               fmt::format("{}", l.minima.size()), fmt::format("{:.3f}", median_fraction(l)), at(0), at(5), at(10),
               at(15)});
  }
  if (!options.directory.empty()) write_all(options, threads, spaces, landscapes);
  if (options.json) {
    emit_result(results.size() == 1 ? results[0] : nlohmann::json{{"results", results}});
    return;
  }
  emit_text(
      table.text() +
      "minima: points without a better neighbour; median minimum: what fraction of the optimum the median one reaches\n"
      "p=x%: share of local searches that end within x% of the optimum (proportion of centrality); the higher, the "
      "easier\n" +
      (options.directory.empty()
           ? ""
           : fmt::format("report: {}\n", (std::filesystem::path(options.directory) / "landscape.html").string())));
}

}  // namespace

void add_landscape(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("landscape", "how hard recorded search spaces are for local search");
  verb->add_option("space", options->spaces, "Kernel Tuner caches or T4 results, .json or .json.gz");
  verb->add_option("--db", options->db, "a database of ours: each of its keys is a space of the trials that were made");
  options->records.add_to(*verb, "--operator-threads");
  enum_option<std::optional<Convention>>(
      *verb, "--convention", options->convention,
      {{"by-source", {}}, {"cartesian", Convention::kCartesian}, {"restricted", Convention::kRestricted}},
      "whether configs that are not recorded are points too, worse than any other, or none; by-source: cartesian for "
      "files, as in the paper, restricted for databases");
  verb->add_flag("--paper", options->paper,
                 "end the PageRank iteration as early as the published values did, instead of when it has converged");
  verb->add_option("--threads", options->threads, "threads of the analysis (default: physical cores)")
      ->check(CLI::Range(1, 1024));
  verb->add_option("-o,--output", options->directory, "directory for a report with drawings, and tables");
  verb->add_option("--runs", options->runs,
                   "searches for the report's difficulty curves, of each kind; 0: leave them out")
      ->check(CLI::Range(0, 100000))
      ->capture_default_str();
  seed_option(*verb, options->seed, "of those searches");
  verb->add_flag("--json", options->json, "one JSON object on standard output");
  verb->callback([options] { run(*options); });
}

}  // namespace tensmith::cli
