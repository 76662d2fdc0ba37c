#include <algorithm>
#include <functional>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "interrupt.h"
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
#include "tensmith/support/strings.h"
#include "tensmith/support/sysinfo.h"
#include "verbs.h"
#include "workloads.h"

namespace tensmith::cli {
namespace {

enum class ModelKind { kGbt, kGp, kNone };

/// A search on the command line.
struct Search {
  TuneStrategy strategy = TuneStrategy::kAnnealing;
  Algorithm algorithm = Algorithm::kRandom;
  bool operator==(const Search&) const = default;
};

struct Options {
  WorkloadOptions workloads;
  TuneSettings settings;
  double time_budget = 0;  ///< seconds of the whole command; 0: no limit
  ModelKind model = ModelKind::kGbt;
  Search search;
  bool json = false;
};

struct Outcome {
  std::string name;
  std::string workload;
  TuneResult result;
  double flops = 0;
  double useful_flops = 0;
  DataType type;
  std::string best_knobs;
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
  outcome.useful_flops = useful_flop_count(named.workload);
  outcome.type = output_type(made.program);

  TuneSettings settings = options.settings;
  settings.stop = &interrupt_requested();
  settings.time_budget_seconds = seconds;
  ProgressDisplay display(named.name, task.flops);
  settings.progress = [&](const TuneProgress& p) { display.show(p); };
  settings.measuring.preparing = [&](double done, double so_far) { display.show_preparing(done, so_far); };
  outcome.result = tune_task(task, made.program, database, settings);
  if (outcome.result.best) {
    const Config& best = outcome.result.best->config;
    outcome.best_config = knobs_json(task.space, best);
    outcome.best_knobs = fmt::format("config {}{}: {}", task.space.index_of(best),
                                     best == task.default_config ? ", the default" : "", task.space.to_string(best));
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
    } else if (interrupt_requested()) {
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
      } catch (const UserError& e) {
        // What the others gave is not lost for that.
        if (named.size() == 1) throw;
        o.error = error_text(e);
      } catch (const std::exception& e) {
        o.error = error_text(e);
      }
      can_store = o.result.end != TuneEnd::kStoreFailed;
    }
  }
  return outcomes;
}

nlohmann::json to_json(const Outcome& o, const Options& options) {
  const auto speed = [&](double seconds) {
    return nlohmann::json{{"seconds", seconds}, {"gflops", gflops(o.flops, seconds)}};
  };
  nlohmann::json out{
      {"workload", o.workload},    {"target", options.workloads.target}, {"threads", thread_count(options.workloads)},
      {"trials", o.result.trials}, {"valid", o.result.valid()},          {"seconds", o.result.seconds}};
  if (!o.note.empty()) {
    out["note"] = o.note;
  }
  if (!o.error.empty()) {
    out["error"] = o.error;
  }
  if (o.result.end == TuneEnd::kSpaceExhausted) {
    out["note"] = "every config of the space was tried";
  }
  if (o.result.default_config) {
    out["default"] = speed(o.result.default_config->seconds);
  }
  if (o.result.best) {
    out["best"] = speed(o.result.best->seconds);
    out["best"]["config"] = o.best_config;
    out["best"]["confirmed"] = o.result.best->confirmed;
    out["best_trial"] = speed(o.result.best_trial_seconds);
  }
  return out;
}

/// Which config it is, and why it is not the speed that the progress line told.
std::string explanation(const Outcome& o) {
  if (!o.result.best) return {};
  std::string text = fmt::format("{}: {}\n", o.name, o.best_knobs);
  if (o.result.end == TuneEnd::kSpaceExhausted) text += "  every config of its space was tried\n";
  if (o.result.best->confirmed) {
    text += fmt::format(
        "  fastest single trial {}; the best were then measured again in turns with the default: {}{}\n",
        speed_text(o.flops, o.result.best_trial_seconds), speed_text(o.flops, o.result.best->seconds),
        o.result.default_config ? fmt::format(", default {}", speed_text(o.flops, o.result.default_config->seconds))
                                : "");
  }
  return text;
}

/// Commands that use the result, for the first workload that has one.
std::string next_steps(const std::vector<Outcome>& outcomes, const WorkloadOptions& options) {
  const auto first = std::find_if(outcomes.begin(), outcomes.end(), [](const Outcome& o) { return !!o.result.best; });
  if (first == outcomes.end() || options.db.empty()) return {};
  const auto line = [&](const char* verb, const char* rest) {
    return fmt::format("  {}{}\n", command_text(verb, options, first->name), rest);
  };
  return "next, for example:\n" + line("show", " --as=schedule") + line("bench", " --against=config:default") +
         line("compile", " -o out");
}

/// A line for each workload that was tried. A dash is what was not measured.
void print_table(const std::vector<Outcome>& outcomes, const Options& options, const Target& target) {
  Table table({"workload", "default GFLOP/s", "tuned GFLOP/s", "gain", "% of peak", "trials", "valid", "tuning time"});
  Peaks peaks(target, thread_count(options.workloads));
  const auto useful_rate = [](const Outcome& o) {
    return o.result.best ? gflops(o.useful_flops, o.result.best->seconds) : 0;
  };
  for (const Outcome& o : outcomes) {
    if (useful_rate(o) > 0) peaks.reached(useful_rate(o), o.type);
  }
  std::string explanations;
  bool any = false;
  for (const Outcome& o : outcomes) {
    if (o.result.trials == 0) {
      continue;
    }
    any = true;
    const double best = o.result.best ? o.result.best->seconds : 0;
    const double base = o.result.default_config ? o.result.default_config->seconds : 0;
    const auto rate = [&](double seconds) {
      return seconds > 0 && o.flops > 0 ? fmt::format("{:.1f}", gflops(o.flops, seconds)) : "-";
    };
    table.add({o.name, rate(base), rate(best), base > 0 && best > 0 ? fmt::format("{:.2f}x", base / best) : "-",
               peaks.percent(useful_rate(o), o.type), fmt::format("{}", o.result.trials),
               fmt::format("{}", o.result.valid()), fmt::format("{:.1f} s", o.result.seconds)});
    explanations += explanation(o);
  }
  if (any) {
    emit_text(table.text() + peaks.text() + explanations + next_steps(outcomes, options.workloads));
  }
}

/// Tells what failed and how it ended.
void conclude(const std::vector<Outcome>& outcomes, bool interrupted, bool stored) {
  std::vector<std::string> failures;
  for (const Outcome& o : outcomes) {
    if (!o.error.empty()) failures.push_back(fmt::format("{}: {}", o.name, o.error));
  }
  if (failures.size() == 1 && !interrupted) {
    throw WorkError(failures.front());
  }
  for (const std::string& failure : failures) print_error(failure);
  if (interrupted) {
    throw Interrupted(interrupting_signal(),
                      stored ? "tensmith: interrupted; everything measured is kept, the same command goes "
                               "on from here"
                             : "tensmith: interrupted; nothing is kept, for there is no --db");
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
  warn_of_threads(options.workloads);
  catch_interrupts();
  const std::vector<Outcome> outcomes = tune_all(options, named);
  // A signal that comes when all is done changes nothing.
  const bool interrupted =
      std::any_of(outcomes.begin(), outcomes.end(), [](const Outcome& o) { return o.interrupted; });
  if (options.json) {
    nlohmann::json results = nlohmann::json::array();
    for (const Outcome& o : outcomes) results.push_back(to_json(o, options));
    emit_result({{"results", results}, {"interrupted", interrupted}});
  } else {
    print_table(outcomes, options, target);
  }
  const bool stored = !options.workloads.db.empty();
  if (!stored && !interrupted &&
      std::any_of(outcomes.begin(), outcomes.end(), [](const Outcome& o) { return o.result.new_trials > 0; })) {
    print_stderr("tensmith: nothing is kept, for there is no --db; with one, the other commands use the result\n");
  }
  conclude(outcomes, interrupted, stored);
}

std::vector<std::pair<std::string, Search>> searches() {
  std::vector<std::pair<std::string, Search>> out = {{"annealing", {TuneStrategy::kAnnealing}},
                                                     {"grid", {TuneStrategy::kGrid}},
                                                     {"genetic", {TuneStrategy::kGenetic}}};
  for (Algorithm algorithm : all_algorithms()) {
    out.push_back({std::string(to_string(algorithm)), {TuneStrategy::kAlgorithm, algorithm}});
  }
  return out;
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
                 "time of the whole command, with the comparison of the best in the end: 90s, 10m, 2h");
  verb->add_option("--jobs", options->settings.measuring.jobs,
                   "cores that Tensmith itself uses (default: those that are not timed)")
      ->check(CLI::Range(1, 1024));
  verb->add_option_function<std::string>(
          "--seed",
          [options](const std::string& text) {
            const std::optional<int64_t> seed = parse_int64(text);
            if (!seed || *seed < 0) {
              throw UserError(fmt::format("--seed: '{}' is no whole number from 0 to 2^63 - 1", text));
            }
            options->settings.seed = static_cast<uint64_t>(*seed);
          },
          "of the search and of the random inputs")
      ->default_str(fmt::format("{}", options->settings.seed));
  enum_option<ModelKind>(*verb, "--model", options->model,
                         {{"gbt", ModelKind::kGbt}, {"gp", ModelKind::kGp}, {"none", ModelKind::kNone}}, "cost model");
  enum_option<GbtObjective>(*verb, "--objective", options->settings.objective,
                            {{"rank", GbtObjective::kRank}, {"regression", GbtObjective::kRegression}},
                            "what the model learns");
  enum_option<Search>(
      *verb, "--strategy", options->search, searches(),
      "search; annealing walks over the model, and those of `tensmith race` look at one config after the other");
  seconds_option(*verb, "--build-timeout", options->settings.measuring.build_timeout, "time to build one config");
  seconds_option(*verb, "--run-timeout", options->settings.measuring.run_timeout, "time to check and time one config");
  seconds_option(*verb, "--min-seconds", options->settings.measuring.min_seconds,
                 "total time of a config's repetitions");
  verb->add_flag("--flush", options->settings.measuring.flush, "operands are in no cache when a repetition starts");
  verb->add_flag("--json", options->json, "one JSON object on standard output");
  verb->callback([options] {
    // Annealing without a model is a random walk.
    Search search = options->search;
    if (options->model == ModelKind::kNone && search.strategy == TuneStrategy::kAnnealing) {
      search = {TuneStrategy::kAlgorithm, Algorithm::kRandom};
    }
    options->settings.model = options->model == ModelKind::kGp ? TuneModel::kGp : TuneModel::kGbt;
    options->settings.strategy = search.strategy;
    options->settings.algorithm = search.algorithm;
    run(*options);
  });
}

}  // namespace tensmith::cli
