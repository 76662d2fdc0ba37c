#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "output.h"
#include "tensmith/codegen/artifact.h"
#include "tensmith/codegen/llvm/host_target.h"
#include "tensmith/codegen/llvm/llvm_codegen.h"
#include "tensmith/ir/print.h"
#include "tensmith/operator/tune_workload.h"
#include "tensmith/schedule/lower.h"
#include "tensmith/support/error.h"
#include "tensmith/support/file.h"
#include "tensmith/support/log.h"
#include "tensmith/support/strings.h"
#include "verbs.h"
#include "workloads.h"

namespace tensmith::cli {
namespace {

constexpr const char* kForms = "obj, header, ll, asm, c, ir, example";

struct Options {
  WorkloadOptions workloads;
  std::string config = "best";
  std::string emit = "obj,header,example";
  std::string output = ".";
  std::string name;
  bool json = false;
};

/// The name of the function: as given, or from what the user wrote (resnet18.C6 -> resnet18_C6_ and a hash).
std::string function_name(const Options& options, const NamedWorkload& named) {
  return options.name.empty() ? operator_symbol(named.name) : options.name;
}

std::set<std::string> parse_forms(const std::string& text) {
  std::set<std::string> forms;
  for (std::string_view form : split_string(text, ',')) {
    static const std::set<std::string_view> known{"obj", "header", "ll", "asm", "c", "ir", "example"};
    if (!known.contains(form)) {
      throw UserError(fmt::format("--emit: unknown form '{}'", form), fmt::format("forms are {}", kForms));
    }
    forms.emplace(form);
  }
  return forms;
}

void run(const Options& options) {
  const std::vector<NamedWorkload> all = resolve(options.workloads);
  if (all.size() != 1) {
    throw UserError("compile takes one workload", "run it once for each");
  }
  const NamedWorkload& named = all.front();
  const std::set<std::string> forms = parse_forms(options.emit);
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
  const std::string name = function_name(options, named);
  Arena arena;
  ArenaScope scope(arena);
  const LoweredModule lowered = lower(made.task.instantiate(chosen.config), name);
  std::vector<Function> functions{lowered.main};
  functions.insert(functions.end(), lowered.packs.begin(), lowered.packs.end());

  const std::string comment = fmt::format("{}\n{}\nconfig ({}): {}", made.task.workload, to_string(made.task.target),
                                          to_string(chosen.source), made.task.space.to_string(chosen.config));
  CompileOptions emit;
  emit.object = forms.contains("obj");
  emit.ll = forms.contains("ll");
  emit.assembly = forms.contains("asm");
  emit.supported_entry = true;
  CompiledModule module;
  if (emit.object || emit.ll || emit.assembly) {
    module = compile(functions, made.task.target, emit);
  }
  ArtifactRequest request;
  request.directory = options.output;
  request.name = name;
  request.functions = functions;
  request.object = module.object;
  request.ll = module.ll;
  request.assembly = module.assembly;
  request.header = forms.contains("header");
  request.c_source = forms.contains("c");
  request.example = forms.contains("example");
  request.supported_entry = emit.object;
  request.comment = comment;
  std::vector<std::string> written;
  for (const std::filesystem::path& path : write_artifacts(request)) {
    written.push_back(path.string());
  }
  if (forms.contains("ir")) {
    std::string text;
    for (const Function& f : functions) text += to_string(f) + "\n";
    const std::filesystem::path path = std::filesystem::path(options.output) / (name + ".ir");
    write_file(path, text);
    written.push_back(path.string());
  }
  if (options.json) {
    emit_result({{"workload", made.task.workload},
                 {"source", to_string(chosen.source)},
                 {"function", name},
                 {"files", written}});
  } else {
    emit_text(fmt::format("{}\n", fmt::join(written, "\n")));
  }
}

}  // namespace

void add_compile(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("compile", "write an operator as object file, header, C, LLVM IR or assembly");
  options->workloads.add_to(*verb, false);
  verb->add_option("--config", options->config, "best, default or an index")->capture_default_str();
  verb->add_option("--emit", options->emit, fmt::format("comma-separated: {}", kForms))->capture_default_str();
  verb->add_option("-o,--output", options->output, "directory")->capture_default_str();
  verb->add_option("--name", options->name, "name of the function (default: from the workload)");
  verb->add_flag("--json", options->json, "one JSON object on standard output");
  verb->callback([options] { run(*options); });
}

}  // namespace tensmith::cli
