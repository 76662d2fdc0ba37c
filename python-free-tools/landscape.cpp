#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "output.h"
#include "table.h"
#include "tensmith/explore/recorded/landscape.h"
#include "tensmith/explore/recorded/space_files.h"
#include "tensmith/support/stats.h"
#include "tensmith/support/sysinfo.h"
#include "verbs.h"

namespace tensmith::cli {
namespace {

struct Options {
  std::vector<std::string> spaces;
  bool paper = false;
  int threads = 0;  ///< 0: physical cores
  bool json = false;
};

/// A failed point can be a minimum, but no good one.
double median_fraction(const Landscape& l) {
  return l.minimum_fractions.empty() ? 0.0 : stats::median(l.minimum_fractions);
}

nlohmann::json to_json(const std::string& space, const Landscape& l) {
  nlohmann::json curve = nlohmann::json::array();
  for (const Centrality& c : l.centrality) curve.push_back({{"p", c.p}, {"value", c.value}});
  return {{"space", space},
          {"points", l.points},
          {"valid", l.valid},
          {"failed", l.failed},
          {"missing", l.missing},
          {"optimum", l.optimum},
          {"edges", l.edges},
          {"minima", l.minima.size()},
          {"maxima", l.maxima},
          {"plateau", l.plateau},
          {"minimum_fractions", l.minimum_fractions},
          {"pagerank_iterations", l.iterations},
          {"proportion_of_centrality", curve}};
}

void run(const Options& options) {
  const LandscapeOptions analysis{options.paper, options.threads > 0 ? options.threads : physical_core_count()};
  nlohmann::json results = nlohmann::json::array();
  Table table({"space", "points", "valid", "failed", "minima", "median minimum", "p=0%", "p=5%", "p=10%", "p=15%"});
  for (const std::string& path : options.spaces) {
    const RecordedSpace space = load_space(path);
    const Landscape l = analyse_landscape(space, analysis);
    if (options.json) {
      results.push_back(to_json(space.info().name, l));
      continue;
    }
    const auto at = [&](size_t percent) { return fmt::format("{:.3f}", l.centrality[percent].value); };
    table.add({space.info().name, fmt::format("{}", l.points), fmt::format("{}", l.valid), fmt::format("{}", l.failed),
               fmt::format("{}", l.minima.size()), fmt::format("{:.3f}", median_fraction(l)), at(0), at(5), at(10),
               at(15)});
  }
  if (options.json) {
    emit_result(results.size() == 1 ? results[0] : nlohmann::json{{"results", results}});
    return;
  }
  emit_text(
      table.text() +
      "minima: points without a better neighbour; median minimum: what fraction of the optimum the median one reaches\n"
      "p=x%: share of local searches that end within x% of the optimum (proportion of centrality); the higher, the "
      "easier\n");
}

}  // namespace

void add_landscape(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("landscape", "how hard recorded search spaces are for local search");
  verb->add_option("space", options->spaces, "Kernel Tuner caches or T4 results, .json or .json.gz")->required();
  verb->add_flag("--paper", options->paper,
                 "end the PageRank iteration as early as the published values did, instead of when it has converged");
  verb->add_option("--threads", options->threads, "threads of the analysis (default: physical cores)")
      ->check(CLI::Range(1, 1024));
  verb->add_flag("--json", options->json, "one JSON object on standard output");
  verb->callback([options] { run(*options); });
}

}  // namespace tensmith::cli
