#include "tensmith/operator/tune_workload.h"

#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tensmith/codegen/llvm/host_target.h"
#include "tensmith/codegen/llvm/llvm_codegen.h"
#include "tensmith/costmodel/gaussian_process.h"
#include "tensmith/explore/learner.h"
#include "tensmith/explore/strategy.h"
#include "tensmith/operator/config_choice.h"
#include "tensmith/operator/task_features.h"
#include "tensmith/ops/templates.h"
#include "tensmith/schedule/trace.h"
#include "tensmith/support/error.h"
#include "tensmith/support/sysinfo.h"

namespace tensmith {
namespace {

/// Starts workers and computes expected outputs only when something has to be measured.
class LazyMeasurer : public Measurer {
 public:
  explicit LazyMeasurer(std::function<std::unique_ptr<Measurer>()> make) : make_(std::move(make)) {}
  void measure(std::span<const Config> configs, const Done& done, const StopQuery& stop) override {
    get().measure(configs, done, stop);
  }
  std::vector<Compared> compare(std::span<const Config> configs, const Rounds& rounds, const StopQuery& stop) override {
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

/// A strategy and what it needs to live.
struct Search {
  std::unique_ptr<CostModel> model;
  std::unique_ptr<Learner> learner;
  std::unique_ptr<SearchStrategy> strategy;
  std::string name;  ///< as records tell it
};

Search make_search(const TuneSettings& settings, const Task& task, std::vector<Config> initial) {
  Search search;
  StrategyOptions common{settings.seed, std::move(initial)};
  switch (settings.strategy) {
    case TuneStrategy::kAlgorithm:
      search.name = to_string(settings.algorithm);
      search.strategy =
          make_algorithm(settings.algorithm, task.space, default_settings(settings.algorithm, settings.trials), common);
      break;
    case TuneStrategy::kGrid:
      search.name = "grid";
      search.strategy = make_grid_search(task.space);
      break;
    case TuneStrategy::kGenetic:
      search.name = "genetic";
      search.strategy = make_genetic_search(task.space, GeneticOptions{common});
      break;
    case TuneStrategy::kAnnealing: {
      if (settings.model == TuneModel::kGp) {
        search.name = "annealing+gp";
        search.model = make_gp();
      } else {
        search.name = settings.objective == GbtObjective::kRank ? "annealing+gbt-rank" : "annealing+gbt-regression";
        GbtParams params;
        params.objective = settings.objective;
        search.model = make_gbt(params);
      }
      LearnerOptions learner;
      learner.jobs = settings.measuring.jobs > 0 ? settings.measuring.jobs : physical_core_count();
      search.learner = std::make_unique<Learner>(*search.model, task_features(task), learner);
      search.strategy = make_annealing_search(task.space, *search.learner, AnnealingOptions{common});
      break;
    }
  }
  return search;
}

std::string trace_text(const Task& task, const Config& config) {
  Arena arena;
  ArenaScope scope(arena);
  try {
    return print_trace(task.instantiate(config));
  } catch (const UserError&) {
    return {};
  }
}

}  // namespace

TuneResult tune_task(const Task& task, const Program& program, Database* database, const TuneSettings& settings) {
  std::string why;
  if (!runs_on_host(task.target, &why)) {
    throw UserError(fmt::format("target '{}' cannot be measured on this machine: {}", to_string(task.target), why),
                    "tune on a machine that has these features");
  }
  TuneTask tuning;
  tuning.space = &task.space;
  tuning.default_config = task.default_config;
  tuning.base.key = record_key(task, settings.measuring.flush);
  std::vector<Config> initial{task.default_config};
  if (database != nullptr) {
    tuning.history = database->records(tuning.base.key);
    const ChosenConfig nearest = best_config(task, database, settings.measuring.flush);
    if (nearest.source == ChosenConfig::Source::kNearest) initial.push_back(nearest.config);
  }
  Search search = make_search(settings, task, std::move(initial));
  tuning.base.space = kSpaceVersion;
  tuning.base.cpu_model = cpu_model_name();
  tuning.base.tensmith_version = TENSMITH_VERSION;
  tuning.base.llvm_version = llvm_version();
  tuning.base.seed = settings.seed;
  tuning.base.strategy = search.name;
  tuning.trace = [&task](const Config& config) { return trace_text(task, config); };

  LocalMeasurerOptions measuring = settings.measuring;
  measuring.threads = task.threads;
  measuring.seed = settings.seed;
  LazyMeasurer measurer([&] {
    if (database != nullptr) database->check_writable();
    return std::make_unique<LocalMeasurer>(task, program, reduction_length(program), measuring);
  });

  TuneOptions options;
  options.trials = settings.trials;
  options.stop = settings.stop;
  options.time_budget_seconds = settings.time_budget_seconds;
  options.progress = settings.progress;
  return tune(tuning, *search.strategy, measurer, database, options);
}

TuneResult tune_workload(const Workload& workload, const Target& target, Database* database,
                         const TuneSettings& settings) {
  const int threads = settings.threads > 0 ? settings.threads : physical_core_count();
  const TaskAndProgram made = make_task_and_program(workload, target, threads);
  return tune_task(made.task, made.program, database, settings);
}

TaskAndProgram make_task_and_program(const Workload& workload, const Target& target, int threads) {
  return {make_task(workload, target, threads), definition(workload)};
}

}  // namespace tensmith
