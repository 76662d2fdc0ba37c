#include <csignal>

#include <atomic>
#include <functional>
#include <iostream>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "peak.h"
#include "progress.h"
#include "table.h"
#include "tensmith/codegen/llvm/host_target.h"
#include "tensmith/codegen/llvm/llvm_codegen.h"
#include "tensmith/costmodel/gbt.h"
#include "tensmith/explore/measure/local_measurer.h"
#include "tensmith/explore/strategy.h"
#include "tensmith/explore/tuner.h"
#include "tensmith/operator/task_features.h"
#include "tensmith/schedule/trace.h"
#include "tensmith/support/error.h"
#include "tensmith/support/log.h"
#include "tensmith/support/sysinfo.h"
#include "verbs.h"
#include "workloads.h"

namespace tensmith::cli {
namespace {

std::atomic<bool> stop_requested{false};

/// The first Ctrl-C asks for an orderly end, the second kills.
void on_interrupt(int signal) {
  stop_requested = true;
  std::signal(signal, SIG_DFL);
}

enum class StrategyKind { kAnnealing, kRandom, kGrid, kGenetic };

struct Options {
  WorkloadOptions workloads;
  int trials = 512;
  std::string time_budget;
  int jobs = 0;
  uint64_t seed = 1;
  std::string model = "gbt";
  std::string objective = "rank";
  StrategyKind strategy = StrategyKind::kAnnealing;
  LocalMeasurerOptions measuring;
  bool json = false;
};

/// "90", "90s", "10m", "2h" in seconds.
double parse_duration(const std::string& text) {
  size_t used = 0;
  double value = -1;
  try {
    value = std::stod(text, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  const std::string unit = text.substr(used);
  const double factor = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  if (used == 0 || factor == 0 || !(value >= 0)) {
    throw UserError(fmt::format("time '{}' is not understood", text), "write for example 90s, 10m or 2h");
  }
  return value * factor;
}

/// Starts workers and computes expected outputs only when something has to be measured.
class LazyMeasurer : public Measurer {
 public:
  explicit LazyMeasurer(std::function<std::unique_ptr<Measurer>()> make) : make_(std::move(make)) {}
  void measure(std::span<const Config> configs, const Done& done, const StopQuery& stop) override {
    get().measure(configs, done, stop);
  }
  std::vector<Compared> compare(std::span<const Config> configs, int rounds, const StopQuery& stop) override {
    return get().compare(configs, rounds, stop);
  }

 private:
  Measurer& get() {
    if (!measurer_) measurer_ = make_();
    return *measurer_;
  }
  std::function<std::unique_ptr<Measurer>()> make_;
  std::unique_ptr<Measurer> measurer_;
};

struct Outcome {
  std::string name;
  std::string workload;
  TuneResult result;
  double flops = 0;
  nlohmann::json best_config;
  std::string skipped;  ///< why there was nothing to tune
};

/// A strategy and what it needs to live.
struct Search {
  std::unique_ptr<CostModel> model;
  std::unique_ptr<Learner> learner;
  std::unique_ptr<SearchStrategy> strategy;
  std::string name;
};

Search make_search(const Options& options, const Task& task, std::vector<Config> initial) {
  Search search;
  StrategyOptions common{options.seed, std::move(initial)};
  const bool without_model = options.model == "none" && options.strategy == StrategyKind::kAnnealing;
  if (options.strategy == StrategyKind::kRandom || without_model) {
    search.name = "random";
    search.strategy = make_random_search(task.space, common);
  } else if (options.strategy == StrategyKind::kGrid) {
    search.name = "grid";
    search.strategy = make_grid_search(task.space);
  } else if (options.strategy == StrategyKind::kGenetic) {
    search.name = "genetic";
    search.strategy = make_genetic_search(task.space, GeneticOptions{common});
  } else {
    GbtParams params;
    params.objective = options.objective == "rank" ? GbtObjective::kRank : GbtObjective::kRegression;
    search.name = "annealing+gbt-" + options.objective;
    search.model = make_gbt(params);
    LearnerOptions learner;
    learner.jobs = options.jobs > 0 ? options.jobs : physical_core_count();
    search.learner = std::make_unique<Learner>(*search.model, task_features(task), learner);
    search.strategy = make_annealing_search(task.space, *search.learner, AnnealingOptions{common});
  }
  return search;
}

nlohmann::json knobs_json(const ConfigSpace& space, const Config& config) {
  nlohmann::json knobs = nlohmann::json::object();
  for (size_t i = 0; i < space.knobs().size(); ++i) {
    const KnobValue& value = space.value(config, static_cast<int>(i));
    nlohmann::json& out = knobs[space.knobs()[i].name];
    if (!value.label.empty()) {
      out = value.label;
    } else if (value.values.size() == 1) {
      out = value.values.front();
    } else {
      out = value.values;
    }
  }
  return {{"index", space.index_of(config)}, {"knobs", knobs}};
}

Outcome tune_one(const Options& options, const NamedWorkload& named) {
  Outcome outcome;
  outcome.name = named.name;
  outcome.workload = to_string(named.workload);
  if (const std::optional<std::string> nothing = nothing_to_do(named.workload)) {
    outcome.skipped = *nothing;
    return outcome;
  }
  const int threads = thread_count(options.workloads);
  const TaskAndProgram made = make_task_and_program(named.spec, options.workloads.target, threads);
  const Task& task = made.task;
  outcome.flops = task.flops;

  std::unique_ptr<Database> database;
  TuneTask tuning;
  tuning.space = &task.space;
  tuning.default_config = task.default_config;
  tuning.base.key = record_key(task, options.measuring.flush);
  std::vector<Config> initial{task.default_config};
  if (!options.workloads.db.empty()) {
    database = std::make_unique<Database>(options.workloads.db, Database::Missing::kIsEmpty);
    database->check_writable();
    tuning.history = database->records(tuning.base.key);
    const ChosenConfig nearest = choose_config(task, database.get(), "best", options.measuring.flush);
    if (nearest.source == ChosenConfig::Source::kNearest) {
      initial.push_back(nearest.config);
    }
  }
  Search search = make_search(options, task, initial);
  tuning.base.space = kSpaceVersion;
  tuning.base.cpu_model = cpu_model_name();
  tuning.base.tensmith_version = TENSMITH_VERSION;
  tuning.base.llvm_version = llvm_version();
  tuning.base.seed = options.seed;
  tuning.base.strategy = search.name;
  tuning.trace = [&](const Config& config) {
    Arena arena;
    ArenaScope scope(arena);
    try {
      return print_trace(task.instantiate(config));
    } catch (const UserError&) {
      return std::string();
    }
  };

  LocalMeasurerOptions measuring = options.measuring;
  measuring.threads = threads;
  measuring.jobs = options.jobs;
  measuring.seed = options.seed;
  LazyMeasurer measurer([&] {
    return std::make_unique<LocalMeasurer>(task, made.program, named.spec, reduction_length(named.workload), measuring);
  });

  TuneOptions tune_options;
  tune_options.trials = options.trials;
  tune_options.stop = &stop_requested;
  if (!options.time_budget.empty()) {
    tune_options.time_budget_seconds = parse_duration(options.time_budget);
  }
  ProgressDisplay display(named.name, task.flops);
  tune_options.progress = [&](const TuneProgress& p) { display.show(p); };
  outcome.result = tune(tuning, *search.strategy, measurer, database.get(), tune_options);
  if (outcome.result.best) {
    outcome.best_config = knobs_json(task.space, outcome.result.best->config);
  }
  return outcome;
}

nlohmann::json to_json(const Outcome& o) {
  nlohmann::json out{{"workload", o.workload},
                     {"trials", o.result.trials},
                     {"valid", o.result.valid()},
                     {"seconds", o.result.seconds}};
  if (!o.skipped.empty()) {
    out["note"] = "nothing to tune: " + o.skipped;
    return out;
  }
  if (o.result.default_config) {
    out["default"] = {{"gflops", gflops(o.flops, o.result.default_config->seconds_min)}};
  }
  if (o.result.best) {
    out["best"] = {{"gflops", gflops(o.flops, o.result.best->seconds_min)}, {"config", o.best_config}};
  }
  return out;
}

void print_table(const std::vector<Outcome>& outcomes, const Target& target, int threads) {
  Table table({"workload", "default GFLOP/s", "tuned GFLOP/s", "gain", "% of peak", "trials", "valid", "seconds"});
  const double peak = measured_peak_gflops(target, threads);
  for (const Outcome& o : outcomes) {
    if (!o.skipped.empty() || !o.result.best) {
      continue;
    }
    const double best = gflops(o.flops, o.result.best->seconds_min);
    const double base = o.result.default_config ? gflops(o.flops, o.result.default_config->seconds_min) : 0;
    table.add({o.name, o.result.default_config ? fmt::format("{:.1f}", base) : "-", fmt::format("{:.1f}", best),
               base > 0 ? fmt::format("{:.2f}x", best / base) : "-", fmt::format("{:.0f}", 100 * best / peak),
               fmt::format("{}", o.result.trials), fmt::format("{}", o.result.valid()),
               fmt::format("{:.1f}", o.result.seconds)});
  }
  fmt::print("{}measured peak: {:.1f} GFLOP/s (float32, {} thread{})\n", table.text(), peak, threads,
             threads == 1 ? "" : "s");
}

void run(const Options& options) {
  const std::vector<NamedWorkload> named = resolve(options.workloads);
  const Target target = parse_target(options.workloads.target);
  std::string why;
  if (!runs_on_host(target, &why)) {
    throw UserError(fmt::format("target '{}' cannot be measured on this machine: {}", options.workloads.target, why),
                    "tune on a machine that has these features; `tensmith compile` needs none");
  }
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  std::vector<Outcome> outcomes;
  std::string failure;
  for (const NamedWorkload& workload : named) {
    if (stop_requested) {
      break;
    }
    outcomes.push_back(tune_one(options, workload));
    const Outcome& o = outcomes.back();
    if (!o.skipped.empty()) {
      fmt::print(stderr, "tensmith: {}: nothing to tune: {}\n", o.name, o.skipped);
    } else if (!o.result.store_error.empty()) {
      failure = o.result.store_error;
      break;
    } else if (!o.result.best && !stop_requested) {
      failure = fmt::format("{}: {}", o.name,
                            o.result.commonest_failure.empty() ? "no trial was made" : o.result.commonest_failure);
    }
  }
  if (options.json) {
    nlohmann::json results = nlohmann::json::array();
    for (const Outcome& o : outcomes) results.push_back(to_json(o));
    std::cout << nlohmann::json{{"results", results}}.dump() << "\n";
  } else if (std::any_of(outcomes.begin(), outcomes.end(),
                         [](const Outcome& o) { return o.result.best.has_value(); })) {
    print_table(outcomes, target, thread_count(options.workloads));
  }
  if (!failure.empty()) {
    throw WorkError(failure);
  }
  if (stop_requested) {
    fmt::print(stderr, "tensmith: interrupted; everything measured is kept, the same command goes on from here\n");
  }
}

}  // namespace

void add_tune(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* verb =
      app.add_subcommand("tune", "search for the fastest program of a workload by measuring on this machine");
  options->workloads.add_to(*verb, true);
  verb->add_option("--trials", options->trials, "trials in total, those of earlier runs included")
      ->capture_default_str()
      ->check(CLI::Range(1, 100000000));
  verb->add_option("--time-budget", options->time_budget, "start no trial after this long: 90s, 10m, 2h");
  verb->add_option("--jobs", options->jobs, "cores that Tensmith itself uses (default: those that are not timed)")
      ->check(CLI::Range(1, 1024));
  verb->add_option("--seed", options->seed, "of the search and of the random inputs")->capture_default_str();
  verb->add_option("--model", options->model, "cost model")
      ->check(CLI::IsMember({"gbt", "none"}))
      ->capture_default_str();
  verb->add_option("--objective", options->objective, "what the model learns")
      ->check(CLI::IsMember({"rank", "regression"}))
      ->capture_default_str();
  const std::map<std::string, StrategyKind> strategies{{"annealing", StrategyKind::kAnnealing},
                                                       {"random", StrategyKind::kRandom},
                                                       {"grid", StrategyKind::kGrid},
                                                       {"genetic", StrategyKind::kGenetic}};
  verb->add_option("--strategy", options->strategy, "annealing (over the model), random, grid or genetic")
      ->transform(CLI::CheckedTransformer(strategies).description(""));
  verb->add_option("--build-timeout", options->measuring.build_timeout, "seconds to build one config")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  verb->add_option("--run-timeout", options->measuring.run_timeout, "seconds to check and time one config")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  verb->add_option("--min-seconds", options->measuring.min_seconds, "total time of a config's repetitions")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  verb->add_flag("--flush", options->measuring.flush, "operands are in no cache when a repetition starts");
  verb->add_flag("--json", options->json, "one JSON object on standard output");
  verb->callback([options] { run(*options); });
}

}  // namespace tensmith::cli
