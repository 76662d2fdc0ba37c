#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "bench/explore/spaces_directory.h"
#include "tensmith/explore/learned_search.h"
#include "tensmith/explore/recorded/search_run.h"
#include "tensmith/explore/recorded/space_files.h"
#include "tensmith/support/rng.h"
#include "tensmith/support/t_test.h"

/// What the learned search reaches on the recorded GPU spaces (`TENSMITH_SPACES`, default ../shared/spaces beside the
/// source tree): the mean fraction of the optimum over the GPUs of a kernel, and over the kernels, with its standard
/// error and its bar. A bar is met when mean and one standard error together reach it. With a history, every space is
/// also searched without it, from the same seeds: a space where the history does harm is marked.

namespace {

using namespace tensmith;

constexpr std::array<const char*, 3> kTuning = {"P100", "GTX_1080Ti", "RTX_2070_SUPER"};

struct Bar {
  int64_t budget;
  double value;
};

constexpr double kSignificant = 0.01;

const std::vector<Bar>& all_bars(bool history, Convention convention) {
  static const std::vector<Bar> cartesian = {{25, 0.875}, {50, 0.94}, {100, 0.973}, {200, 0.987}, {400, 0.992}};
  static const std::vector<Bar> restricted = {{25, 0.93}, {50, 0.965}, {100, 0.985}, {200, 0.992}, {400, 0.996}};
  static const std::vector<Bar> with_history = {{10, 0.945}, {25, 0.965}, {50, 0.983}, {100, 0.99}};
  return history ? with_history : convention == Convention::kCartesian ? cartesian : restricted;
}

struct Space {
  std::string kernel;
  std::string device;
  RecordedSpace recorded;
};

TaskHistory history_of(const Space& space) {
  TaskHistory history{space.device, &space.recorded.space(), {}};
  for (uint64_t i = 0; i < space.recorded.size(); ++i) {
    if (space.recorded.kind(i) == PointKind::kMissing) continue;
    const bool valid = space.recorded.kind(i) == PointKind::kValid;
    history.results.push_back({space.recorded.space().at(i), valid ? TrialStatus::kOk : TrialStatus::kRunError,
                               valid ? space.recorded.value(i) * 1e-3 : 0.0});
  }
  return history;
}

struct Options {
  std::string convention = "restricted";
  bool history = false;
  bool tuning = false;
  bool heavy_tails = false;
  std::string space;
  int runs = 50;
  int first_seed = 1;
  int threads = 2;
  int64_t budget = 0;
};

Convention convention_of(const Options& options) {
  return options.convention == "cartesian" ? Convention::kCartesian : Convention::kRestricted;
}

/// The bars that runs of this budget come to.
std::vector<Bar> bars_of(const Options& options) {
  std::vector<Bar> bars = all_bars(options.history, convention_of(options));
  if (options.budget > 0) std::erase_if(bars, [&](const Bar& bar) { return bar.budget > options.budget; });
  return bars;
}

struct Summary {
  double mean = 0.0;
  double variance = 0.0;  ///< of the mean
};

Summary summary_of(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  Summary summary;
  for (double v : values) summary.mean += v / n;
  for (double v : values) summary.variance += (v - summary.mean) * (v - summary.mean) / (n - 1.0) / n;
  return summary;
}

/// [bar][run]
using Fractions = std::vector<std::vector<double>>;

std::vector<TaskHistory> histories(const Space& space, const std::vector<Space>& all) {
  std::vector<TaskHistory> history;
  for (const Space& other : all) {
    if (other.kernel == space.kernel && &other != &space) history.push_back(history_of(other));
  }
  return history;
}

Fractions race(const Space& space, const std::vector<TaskHistory>& history, const std::vector<Bar>& wanted,
               const Options& options) {
  const ConfigSpace seen = space_of(space.recorded, convention_of(options));
  Fractions fractions(wanted.size(), std::vector<double>(options.runs));
  std::atomic<int> next{0};
  const auto work = [&] {
    for (int run; (run = next++) < options.runs;) {
      LearnedSearchOptions search;
      search.seed = static_cast<uint64_t>(options.first_seed + run);
      search.history = history;
      const auto strategy = make_learned_search(seen, std::move(search));
      const SearchRun result = run_search(*strategy, space.recorded, {wanted.back().budget});
      for (size_t b = 0; b < wanted.size(); ++b) {
        fractions[b][run] = result.fraction(space.recorded, *space.recorded.best(), wanted[b].budget);
      }
    }
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < options.threads; ++t) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  return fractions;
}

/// Paired by seed: what the history adds to the fractions of a space, and whether that is more than chance.
void print_gain(const Fractions& with, const Fractions& without, const std::vector<Bar>& wanted) {
  bool below = false;
  fmt::print("{:28}", "  added by the history");
  for (size_t b = 0; b < wanted.size(); ++b) {
    std::vector<double> gains;
    for (size_t run = 0; run < with[b].size(); ++run) gains.push_back(with[b][run] - without[b][run]);
    const Summary gain = summary_of(gains);
    const auto n = static_cast<double>(gains.size());
    const double p = stats::one_sample_t_test({gain.mean, std::sqrt(gain.variance * n), n}).p;
    below = below || (gain.mean < 0.0 && p < kSignificant);
    fmt::print("  {:4} {:+.4f} (p {:.3f})", wanted[b].budget, gain.mean, p);
  }
  fmt::print("{}\n", below ? "  BELOW" : "");
}

/// A space with heavy tails: the median point has 3 % of the optimum's speed.
RecordedSpace heavy_tails() {
  ConfigSpace space;
  const std::vector<int64_t> sizes = {1, 2, 4, 8, 16, 32, 64, 128};
  for (const char* name : {"a", "b", "c", "d", "e"}) space.add(int_knob(name, sizes));
  RecordedSpace recorded({"heavy_tails", "", "", "time", ""}, std::move(space));
  std::vector<double> distances;
  for (uint64_t i = 0; i < recorded.size(); ++i) {
    const Config config = recorded.space().at(i);
    const std::array<double, 5> best = {5, 1, 3, 6, 2};
    const std::array<double, 5> weight = {1.0, 0.6, 0.3, 0.2, 0.1};
    double distance = 0.0;
    for (size_t j = 0; j < best.size(); ++j) distance += weight[j] * std::pow(config.choices[j] - best[j], 2);
    distance += 0.5 * std::abs(config.choices[0] + config.choices[1] - 6.0);
    distances.push_back(distance + 2.0 * Rng(i).uniform_real());
  }
  const double least = *std::min_element(distances.begin(), distances.end());
  std::vector<double> sorted = distances;
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2), sorted.end());
  const double power = std::log(1.0 / 0.03) / (sorted[sorted.size() / 2] - least);
  for (uint64_t i = 0; i < recorded.size(); ++i) recorded.put_valid(i, std::exp(power * (distances[i] - least)));
  return recorded;
}

bool race_heavy_tails(const Options& options) {
  const RecordedSpace space = heavy_tails();
  const std::vector<int64_t> budgets = {10, 25, 50, 100, 200, 400};
  bool ahead = true;
  std::vector<double> learned(budgets.size());
  std::vector<double> random(budgets.size());
  for (int run = 0; run < options.runs; ++run) {
    const auto seed = static_cast<uint64_t>(options.first_seed + run);
    LearnedSearchOptions search;
    search.seed = seed;
    const std::unique_ptr<SearchStrategy> ours = make_learned_search(space.space(), std::move(search));
    const std::unique_ptr<SearchStrategy> other = make_random_search(space.space(), {seed, {}});
    for (const auto& [strategy, sums] : {std::pair(ours.get(), &learned), {other.get(), &random}}) {
      const SearchRun result = run_search(*strategy, space, {budgets.back()});
      for (size_t b = 0; b < budgets.size(); ++b) (*sums)[b] += result.fraction(space, 1.0, budgets[b]) / options.runs;
    }
  }
  for (size_t b = 0; b < budgets.size(); ++b) {
    fmt::print("budget {:4}: learned {:.4f}, random {:.4f}\n", budgets[b], learned[b], random[b]);
    ahead = ahead && learned[b] > random[b];
  }
  return ahead;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("the learned search on recorded spaces");
  app.add_option("--convention", options.convention)->check(CLI::IsMember({"cartesian", "restricted"}));
  app.add_flag("--history", options.history, "the other GPUs' tables are known");
  app.add_flag("--tuning", options.tuning, "on the GPUs that hyper-parameters are chosen on, instead of the others");
  app.add_flag("--heavy-tails", options.heavy_tails, "against random sampling, on a space with heavy tails");
  app.add_option("--space", options.space, "only the spaces whose name contains this");
  app.add_option("--runs", options.runs)->check(CLI::Range(2, 100000));
  app.add_option("--first-seed", options.first_seed);
  app.add_option("--threads", options.threads)->check(CLI::Range(1, 1024));
  app.add_option("--budget", options.budget, "ends runs earlier, and leaves out the bars of larger budgets");
  CLI11_PARSE(app, argc, argv);
  const std::vector<Bar> wanted = bars_of(options);
  if (wanted.empty()) {
    fmt::print(stderr, "--budget={}: all bars are of larger budgets\n", options.budget);
    return 2;
  }
  if (options.heavy_tails) return race_heavy_tails(options) ? 0 : 1;

  const std::filesystem::path directory = spaces_directory() / "mean";
  if (!std::filesystem::is_directory(directory)) {
    fmt::print("no spaces in {}: not run\n", directory.string());
    return 0;
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<Space> spaces;
  for (const auto& file : files) {
    const std::string name = space_name(file);
    const size_t split = name.find('_');
    spaces.push_back({name.substr(0, split), name.substr(split + 1), load_space(file)});
  }
  std::map<std::string, std::vector<std::vector<Summary>>> kernels;  // kernel -> one a space -> one a bar
  for (const Space& space : spaces) {
    const bool tuning = std::find(kTuning.begin(), kTuning.end(), space.device) != kTuning.end();
    if (tuning != options.tuning || space.recorded.info().name.find(options.space) == std::string::npos) continue;
    const std::vector<TaskHistory> history = options.history ? histories(space, spaces) : std::vector<TaskHistory>{};
    const Fractions fractions = race(space, history, wanted, options);
    std::vector<Summary> summaries;
    fmt::print("{:12} {:15}", space.kernel, space.device);
    for (size_t b = 0; b < wanted.size(); ++b) {
      summaries.push_back(summary_of(fractions[b]));
      fmt::print("  {:4} {:.4f}", wanted[b].budget, summaries.back().mean);
    }
    fmt::print("\n");
    if (options.history) print_gain(fractions, race(space, {}, wanted, options), wanted);
    std::fflush(stdout);
    kernels[space.kernel].push_back(std::move(summaries));
  }
  bool met = true;
  for (size_t b = 0; b < wanted.size(); ++b) {
    Summary all;
    for (const auto& [kernel, devices] : kernels) {
      const double share = 1.0 / static_cast<double>(devices.size() * kernels.size());
      for (const auto& device : devices) {
        all.mean += share * device[b].mean;
        all.variance += share * share * device[b].variance;
      }
    }
    const double error = std::sqrt(all.variance);
    const bool reached = all.mean + error >= wanted[b].value;
    met = met && reached;
    fmt::print("budget {:4}: {:.4f} +- {:.4f}, bar {:.3f}: {}\n", wanted[b].budget, all.mean, error, wanted[b].value,
               reached ? "met" : "MISSED");
  }
  return met || options.tuning ? 0 : 1;
}
