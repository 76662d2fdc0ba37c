#include <csignal>

#include <atomic>
#include <functional>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "options.h"
#include "output.h"
#include "peak.h"
#include "progress.h"
#include "table.h"
#include "tensmith/codegen/llvm/host_target.h"
#include "tensmith/operator/tune_workload.h"
#include "tensmith/support/clock.h"
#include "tensmith/support/error.h"
#include "tensmith/support/log.h"
#include "tensmith/support/sysinfo.h"
#include "verbs.h"
#include "workloads.h"

namespace tensmith::cli {
namespace {

std::atomic<bool> stop_requested{false};
std::atomic<int> stop_signal{0};

/// The first Ctrl-C asks for an orderly end, the second kills.
void on_interrupt(int signal) {
  stop_signal = signal;
  stop_requested = true;
  std::signal(signal, SIG_DFL);
}

enum class ModelKind { kGbt, kNone };

struct Options {
  WorkloadOptions workloads;
  TuneSettings settings;
  double time_budget = 0;  ///< seconds of the whole command; 0: no limit
  ModelKind model = ModelKind::kGbt;
  bool json = false;
};

struct Outcome {
  std::string name;
  std::string workload;
  TuneResult result;
  double flops = 0;
  DataType type;
  nlohmann::json best_config;
  std::string note;   ///< why it was not tuned although nothing failed
  std::string error;  ///< what failed
  bool interrupted = false;
};

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

/// `seconds`: time left for it; 0: no limit.
void tune_one(const Options& options, const NamedWorkload& named, Database* database, double seconds,
              Outcome& outcome) {
  const int threads = thread_count(options.workloads);
  const TaskAndProgram made = make_task_and_program(named.workload, parse_target(options.workloads.target), threads);
  const Task& task = made.task;
  outcome.flops = task.flops;
  outcome.type = output_type(made.program);

  TuneSettings settings = options.settings;
  settings.stop = &stop_requested;
  settings.time_budget_seconds = seconds;
  ProgressDisplay display(named.name, task.flops);
  settings.progress = [&](const TuneProgress& p) { display.show(p); };
  outcome.result = tune_task(task, made.program, database, settings);
  if (outcome.result.best) {
    outcome.best_config = knobs_json(task.space, outcome.result.best->config);
  }
  if (!outcome.result.store_error.empty()) {
    outcome.error = outcome.result.store_error;
  } else if (outcome.result.end == TuneEnd::kInterrupted) {
    outcome.note = "interrupted";
    outcome.interrupted = true;
  } else if (!outcome.result.best) {
    outcome.error = !outcome.result.commonest_failure.empty()    ? outcome.result.commonest_failure
                    : outcome.result.end == TuneEnd::kTimeBudget ? "no trial was made within the time budget"
                                                                 : "no trial was made";
  }
}

/// One after the other; what fails or is not reached says so in its outcome.
std::vector<Outcome> tune_all(const Options& options, const std::vector<NamedWorkload>& named) {
  std::unique_ptr<Database> database;
  if (!options.workloads.db.empty()) {
    database = std::make_unique<Database>(options.workloads.db, Database::Missing::kIsEmpty);
  }
  const Stopwatch watch;
  std::vector<Outcome> outcomes;
  bool can_store = true;
  for (const NamedWorkload& workload : named) {
    Outcome& o = outcomes.emplace_back();
    o.name = workload.name;
    o.workload = to_string(workload.workload);
    if (const std::optional<std::string> nothing = nothing_to_schedule(workload.workload)) {
      o.note = "nothing to tune: " + *nothing;
      print_stderr(fmt::format("tensmith: {}: {}\n", o.name, o.note));
    } else if (stop_requested) {
      o.note = "not tuned: interrupted";
      o.interrupted = true;
    } else if (!can_store) {
      o.error = "not tuned: records cannot be stored";
    } else {
      // With no time left the result of earlier runs is still shown.
      constexpr double kNoTime = 1e-9;
      const double left = options.time_budget > 0 ? std::max(options.time_budget - watch.seconds(), kNoTime) : 0;
      try {
        tune_one(options, workload, database.get(), left, o);
      } catch (const UserError&) {
        throw;
      } catch (const std::exception& e) {
        o.error = error_text(e);
      }
      can_store = o.result.end != TuneEnd::kStoreFailed;
    }
  }
  return outcomes;
}

nlohmann::json to_json(const Outcome& o) {
  nlohmann::json out{{"workload", o.workload},
                     {"trials", o.result.trials},
                     {"valid", o.result.valid()},
                     {"seconds", o.result.seconds}};
  if (!o.note.empty()) {
    out["note"] = o.note;
  }
  if (!o.error.empty()) {
    out["error"] = o.error;
  }
  if (o.result.default_config) {
    out["default"] = {{"gflops", gflops(o.flops, o.result.default_config->seconds)}};
  }
  if (o.result.best) {
    out["best"] = {{"gflops", gflops(o.flops, o.result.best->seconds)}, {"config", o.best_config}};
  }
  return out;
}

/// A line for each workload that was tried. A dash is what was not measured.
void print_table(const std::vector<Outcome>& outcomes, const Target& target, int threads) {
  Table table({"workload", "default GFLOP/s", "tuned GFLOP/s", "gain", "% of peak", "trials", "valid", "seconds"});
  Peaks peaks(target, threads);
  bool any = false;
  for (const Outcome& o : outcomes) {
    if (o.result.trials == 0) {
      continue;
    }
    any = true;
    const double best = o.result.best ? gflops(o.flops, o.result.best->seconds) : 0;
    const double base = o.result.default_config ? gflops(o.flops, o.result.default_config->seconds) : 0;
    table.add({o.name, base > 0 ? fmt::format("{:.1f}", base) : "-", best > 0 ? fmt::format("{:.1f}", best) : "-",
               base > 0 && best > 0 ? fmt::format("{:.2f}x", best / base) : "-",
               best > 0 ? peaks.percent(best, o.type) : "-", fmt::format("{}", o.result.trials),
               fmt::format("{}", o.result.valid()), fmt::format("{:.1f}", o.result.seconds)});
  }
  if (any) {
    emit_text(table.text() + peaks.text());
  }
}

/// Tells what failed and how it ended.
void conclude(const std::vector<Outcome>& outcomes, bool interrupted) {
  std::vector<std::string> failures;
  for (const Outcome& o : outcomes) {
    if (!o.error.empty()) failures.push_back(fmt::format("{}: {}", o.name, o.error));
  }
  if (failures.size() == 1 && !interrupted) {
    throw WorkError(failures.front());
  }
  for (const std::string& failure : failures) print_error(failure);
  if (interrupted) {
    throw Interrupted(stop_signal,
                      "tensmith: interrupted; everything measured is kept, the same command goes on from here");
  }
  if (!failures.empty()) {
    throw WorkError(fmt::format("{} of {} workloads failed", failures.size(), outcomes.size()));
  }
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
  const std::vector<Outcome> outcomes = tune_all(options, named);
  // A signal that comes when all is done changes nothing.
  const bool interrupted =
      std::any_of(outcomes.begin(), outcomes.end(), [](const Outcome& o) { return o.interrupted; });
  if (options.json) {
    nlohmann::json results = nlohmann::json::array();
    for (const Outcome& o : outcomes) results.push_back(to_json(o));
    emit_result({{"results", results}, {"interrupted", interrupted}});
  } else {
    print_table(outcomes, target, thread_count(options.workloads));
  }
  conclude(outcomes, interrupted);
}

}  // namespace

void add_tune(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* verb =
      app.add_subcommand("tune", "search for the fastest program of a workload by measuring on this machine");
  options->workloads.add_to(*verb, true);
  verb->add_option("--trials", options->settings.trials, "trials in total, those of earlier runs included")
      ->capture_default_str()
      ->check(CLI::Range(1, 100000000));
  seconds_option(*verb, "--time-budget", options->time_budget,
                 "time of the whole command; no trial starts after it: 90s, 10m, 2h");
  verb->add_option("--jobs", options->settings.measuring.jobs,
                   "cores that Tensmith itself uses (default: those that are not timed)")
      ->check(CLI::Range(1, 1024));
  verb->add_option("--seed", options->settings.seed, "of the search and of the random inputs")->capture_default_str();
  enum_option<ModelKind>(*verb, "--model", options->model, {{"gbt", ModelKind::kGbt}, {"none", ModelKind::kNone}},
                         "cost model");
  enum_option<GbtObjective>(*verb, "--objective", options->settings.objective,
                            {{"rank", GbtObjective::kRank}, {"regression", GbtObjective::kRegression}},
                            "what the model learns");
  enum_option<TuneStrategy>(*verb, "--strategy", options->settings.strategy,
                            {{"annealing", TuneStrategy::kAnnealing},
                             {"random", TuneStrategy::kRandom},
                             {"grid", TuneStrategy::kGrid},
                             {"genetic", TuneStrategy::kGenetic}},
                            "search; annealing walks over the model");
  seconds_option(*verb, "--build-timeout", options->settings.measuring.build_timeout, "time to build one config");
  seconds_option(*verb, "--run-timeout", options->settings.measuring.run_timeout, "time to check and time one config");
  seconds_option(*verb, "--min-seconds", options->settings.measuring.min_seconds,
                 "total time of a config's repetitions");
  verb->add_flag("--flush", options->settings.measuring.flush, "operands are in no cache when a repetition starts");
  verb->add_flag("--json", options->json, "one JSON object on standard output");
  verb->callback([options] {
    // Annealing without a model is a random walk.
    TuneStrategy& strategy = options->settings.strategy;
    if (options->model == ModelKind::kNone && strategy == TuneStrategy::kAnnealing) strategy = TuneStrategy::kRandom;
    run(*options);
  });
}

}  // namespace tensmith::cli
