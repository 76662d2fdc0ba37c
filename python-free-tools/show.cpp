#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "options.h"
#include "output.h"
#include "tensmith/codegen/c_source.h"
#include "tensmith/codegen/llvm/host_target.h"
#include "tensmith/codegen/llvm/llvm_codegen.h"
#include "tensmith/costmodel/features.h"
#include "tensmith/costmodel/knob_features.h"
#include "tensmith/ir/print.h"
#include "tensmith/operator/tune_workload.h"
#include "tensmith/schedule/loop_nest.h"
#include "tensmith/schedule/lower.h"
#include "tensmith/schedule/trace.h"
#include "tensmith/support/error.h"
#include "tensmith/support/log.h"
#include "verbs.h"
#include "workloads.h"

namespace tensmith::cli {
namespace {

enum class Form { kSchedule, kIr, kFeatures, kAsm, kLl, kC, kSpace };

struct Options {
  WorkloadOptions workloads;
  std::string config = "best";
  Form form = Form::kSchedule;
  std::string print_after;
  bool json = false;
};

std::string space_text(const Task& task, const Config& chosen) {
  std::string out;
  for (size_t i = 0; i < task.space.knobs().size(); ++i) {
    const Knob& knob = task.space.knobs()[i];
    out += fmt::format("{:<14}", knob.name);
    for (size_t c = 0; c < knob.choices.size(); ++c) {
      const std::string choice = to_string(knob.choices[c]);
      out += c == chosen.choices[i] ? fmt::format(" [{}]", choice) : " " + choice;
    }
    out += '\n';
  }
  return out + fmt::format("{} points, constraints aside; the chosen config is in brackets\n", task.space.size());
}

std::string features_text(const Task& task, const Config& config) {
  const KnobFeatures knobs(task.space);
  FeatureExtractor extractor(task.target);
  const Function nest = build_loop_nest(task.instantiate(config), "nest");
  return "# counts and sizes x as log2(1 + x), choices as numbers\n" +
         format_features(knobs.extract(config), knobs.names()) +
         format_features(extractor.extract(nest), feature_names());
}

/// Lowers, and appends what --print-after asks for to `out`.
LoweredModule lower_and_dump(const Task& task, const Config& config, const std::string& print_after, std::string& out) {
  LowerOptions options;
  options.verify = true;
  if (!print_after.empty()) {
    const std::optional<Pass> only = print_after == "all" ? std::nullopt : std::optional(parse_pass(print_after));
    options.after_pass = [only, &out](Pass pass, const Function& function) {
      if (!only || *only == pass) {
        out += fmt::format("# after {}\n{}\n", to_string(pass), to_string(function));
      }
    };
  }
  return lower(task.instantiate(config), "operator_main", options);
}

std::string code_text(const Task& task, const Config& config, const Options& options) {
  std::string out;
  const LoweredModule lowered = lower_and_dump(task, config, options.print_after, out);
  std::vector<Function> functions{lowered.main};
  functions.insert(functions.end(), lowered.packs.begin(), lowered.packs.end());
  if (options.form == Form::kIr) {
    if (options.print_after.empty()) {
      for (const Function& f : functions) out += to_string(f) + "\n";
    }
    return out;
  }
  if (options.form == Form::kC) {
    return c_source(functions);
  }
  CompileOptions compile_options;
  compile_options.object = false;
  compile_options.ll = options.form == Form::kLl;
  compile_options.assembly = options.form == Form::kAsm;
  const CompiledModule module = compile(functions, task.target, compile_options);
  return options.form == Form::kLl ? module.ll : module.assembly;
}

void run(const Options& options) {
  nlohmann::json results = nlohmann::json::array();
  for (const NamedWorkload& named : resolve(options.workloads)) {
    const TaskAndProgram made =
        make_task_and_program(named.workload, parse_target(options.workloads.target), thread_count(options.workloads));
    std::unique_ptr<Database> database;
    if (!options.workloads.db.empty()) {
      database = std::make_unique<Database>(options.workloads.db);
    }
    const ChosenConfig chosen = choose_config(made.task, database.get(), options.config);
    if (!chosen.note.empty()) {
      log_warning("{}: {}", named.name, chosen.note);
    }
    Arena arena;
    ArenaScope scope(arena);
    std::string text;
    if (options.form == Form::kSpace) {
      text = space_text(made.task, chosen.config);
    } else if (options.form == Form::kFeatures) {
      text = features_text(made.task, chosen.config);
    } else if (options.form == Form::kSchedule) {
      text = fmt::format("# {}\n# config {}: {}\n{}", made.task.workload, made.task.space.index_of(chosen.config),
                         made.task.space.to_string(chosen.config), print_trace(made.task.instantiate(chosen.config)));
    } else {
      text = code_text(made.task, chosen.config, options);
    }
    if (options.json) {
      results.push_back({{"workload", made.task.workload},
                         {"source", to_string(chosen.source)},
                         {"index", made.task.space.index_of(chosen.config)},
                         {"text", text}});
    } else {
      emit_text(text);
    }
  }
  if (options.json) {
    emit_result({{"results", results}});
  }
}

}  // namespace

void add_show(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("show", "print a workload's schedule, loops, code, features or space");
  options->workloads.add_to(*verb, false);
  verb->add_option("--config", options->config, "best, default or an index")->capture_default_str();
  enum_option<Form>(*verb, "--as", options->form,
                    {{"schedule", Form::kSchedule},
                     {"ir", Form::kIr},
                     {"features", Form::kFeatures},
                     {"asm", Form::kAsm},
                     {"ll", Form::kLl},
                     {"c", Form::kC},
                     {"space", Form::kSpace}},
                    "what to print");
  verb->add_option("--print-after", options->print_after, "print the program after this pass, or after all")
      ->excludes("--as");
  verb->add_flag("--json", options->json, "one JSON object on standard output");
  verb->callback([options] {
    if (!options->print_after.empty()) {
      options->form = Form::kIr;
    }
    run(*options);
  });
}

}  // namespace tensmith::cli
