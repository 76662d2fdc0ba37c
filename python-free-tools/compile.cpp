#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <set>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "tensmith/codegen/c_source.h"
#include "tensmith/codegen/llvm/host_target.h"
#include "tensmith/codegen/llvm/llvm_codegen.h"
#include "tensmith/ir/print.h"
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

/// A C identifier from what the user wrote: resnet18.C6 -> resnet18_C6.
std::string function_name(const Options& options, const NamedWorkload& named) {
  if (!options.name.empty()) {
    return options.name;
  }
  std::string out;
  for (char c : named.spec.expression.empty() ? named.name : "expr_" + to_string(named.workload)) {
    const bool word = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (word) {
      out += c;
    } else if (!out.empty() && out.back() != '_') {
      out += '_';
    }
  }
  while (!out.empty() && out.back() == '_') {
    out.pop_back();
  }
  return out.size() > 100 ? out.substr(0, 100) : out;
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
  if (const std::optional<std::string> nothing = nothing_to_do(named.workload)) {
    throw UserError(fmt::format("{}: nothing to compile: {}", named.name, *nothing), "give positive extents");
  }
  const std::set<std::string> forms = parse_forms(options.emit);
  const TaskAndProgram made = make_task_and_program(named.spec, options.workloads.target, thread_count(options.workloads));
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

  std::error_code error;
  std::filesystem::create_directories(options.output, error);
  std::vector<std::string> written;
  const auto write = [&](const std::string& suffix, const std::string& contents) {
    const std::filesystem::path path = std::filesystem::path(options.output) / (name + suffix);
    write_file(path, contents);
    written.push_back(path.string());
  };
  const CSourceOptions comment{made.task.workload};
  if (forms.contains("header")) {
    write(".h", c_header(functions, name + "_H", comment));
  }
  if (forms.contains("c")) {
    write(".c", c_source(functions, comment));
  }
  if (forms.contains("example")) {
    write("_example.c", c_example(lowered.main, lowered.packs, name + ".h"));
  }
  if (forms.contains("ir")) {
    std::string text;
    for (const Function& f : functions) text += to_string(f) + "\n";
    write(".ir", text);
  }
  if (forms.contains("obj") || forms.contains("ll") || forms.contains("asm")) {
    const CompileOptions emit{forms.contains("obj"), forms.contains("ll"), forms.contains("asm")};
    const CompiledModule module = compile(functions, made.task.target, emit);
    if (emit.object) write(".o", module.object);
    if (emit.ll) write(".ll", module.ll);
    if (emit.assembly) write(".s", module.assembly);
  }
  if (options.json) {
    std::cout << nlohmann::json{{"workload", made.task.workload}, {"source", to_string(chosen.source)}, {"function", name}, {"files", written}}.dump() << "\n";
  } else {
    for (const std::string& path : written) {
      fmt::print("{}\n", path);
    }
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
