#include "workloads.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "tensmith/codegen/llvm/host_target.h"
#include "tensmith/ops/templates.h"
#include "tensmith/support/error.h"
#include "tensmith/support/log.h"
#include "tensmith/support/strings.h"
#include "tensmith/support/sysinfo.h"

namespace tensmith::cli {
namespace {

/// "; add --threads=1 ..." when all but the thread count is as it was tuned.
std::string thread_hint(const RecordKey& wanted, const Database& database) {
  for (RecordKey key : database.keys()) {
    const int threads = std::exchange(key.threads, wanted.threads);
    if (threads != wanted.threads && key == wanted) {
      return fmt::format("; add --threads={} to use what was tuned with that", threads);
    }
  }
  return {};
}

/// In quotes where a shell would read anything into it.
std::string shell_word(const std::string& word) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_-=./:,+@%").find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
  std::string quoted = "'";
  for (char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

}  // namespace

void WorkloadOptions::add_to(CLI::App& app, bool several) {
  auto* option = app.add_option(
      "workload", names, "conv2d:FIELDS, matmul:FIELDS, an alias (resnet18.C6, matmul-1024) or a set (resnet18)");
  if (!several) {
    option->expected(0, 1);
  }
  app.add_option("--expr", expression,
                 "an index expression instead (docs/expressions.md): 'C[y,x] = sum(k: A[k,y]*B[k,x])'");
  app.add_option("--shape", shapes, "shape and type of an input of --expr: A=4x4 or A=4x4:float64");
  app.add_option("--extent", extents, "extent of an index of --expr that no dimension gives: y=3");
  app.add_option("--target", target, "llvm, or llvm:mcpu=CPU,mattr=+feature")->capture_default_str();
  app.add_option("--threads", threads, "threads of the operator (default: physical cores)")->check(CLI::Range(1, 1024));
  app.add_option("--db", db, "database of measurements");
}

std::vector<NamedWorkload> resolve(const WorkloadOptions& options) {
  std::vector<NamedWorkload> out;
  if (!options.expression.empty()) {
    if (!options.names.empty()) {
      throw UserError("both a workload and --expr are given", "give one of them");
    }
    FreeExpression expression{options.expression, {}, {}};
    for (const std::string& shape : options.shapes) expression.shapes.push_back(parse_named_shape(shape));
    for (const std::string& extent : options.extents) expression.extents.push_back(parse_named_extent(extent));
    Workload workload{expression};
    definition(workload);  // what is wrong with it is told here, before anything starts
    out.push_back({options.expression, workload});
    return out;
  }
  if (!options.shapes.empty() || !options.extents.empty()) {
    throw UserError("--shape and --extent belong to --expr", "add --expr, or leave them out");
  }
  if (options.names.empty()) {
    throw UserError("no workload is given", "for example resnet18.C6, or --expr with --shape");
  }
  for (const std::string& name : options.names) {
    const std::vector<Workload> workloads = parse_workloads(name);
    for (const Workload& workload : workloads) {
      out.push_back({name, workload});
    }
    if (workloads.size() > 1) {
      const size_t first = out.size() - workloads.size();
      for (size_t i = 0; i < workloads.size(); ++i)
        out[first + i].name = fmt::format("{}.C{}", name.substr(0, name.find(':')), i + 1);
    }
  }
  return out;
}

int thread_count(const WorkloadOptions& options) {
  return options.threads > 0 ? options.threads : physical_core_count();
}

std::vector<int> operator_cpus(int threads) {
  std::vector<int> cores = allowed_physical_cores();
  const auto count = std::min<size_t>(static_cast<size_t>(threads), cores.size());
  return {cores.end() - static_cast<std::ptrdiff_t>(count), cores.end()};
}

DataType output_type(const Program& program) { return program.outputs.front()->buffer->type; }

ChosenConfig choose_config(const Task& task, const Database* database, const std::string& which, bool flushed) {
  using Source = ChosenConfig::Source;
  if (which == "best") {
    ChosenConfig chosen = best_config(task, database, flushed);
    if (database != nullptr && chosen.source != Source::kRecord) {
      chosen.note += thread_hint(record_key(task, flushed), *database);
    }
    return chosen;
  }
  if (which == "default") {
    return {task.default_config, Source::kDefault, {}};
  }
  const std::optional<int64_t> index = parse_int64(which);
  if (!index || *index < 0) {
    throw UserError(fmt::format("config '{}' is not understood", which), "use best, default or an index");
  }
  ChosenConfig chosen{task.space.at(static_cast<uint64_t>(*index)), Source::kIndex, {}};
  if (const std::optional<Invalid> invalid = task.space.check(chosen.config)) {
    throw UserError(fmt::format("config {} is not valid: {}", which, invalid->reason), "choose another index");
  }
  return chosen;
}

void warn_of_threads(const WorkloadOptions& options) {
  const size_t cores = allowed_cpus().size();
  if (static_cast<size_t>(thread_count(options)) > cores) {
    log_warning("{} threads on {} core{}: they take turns, and times say little", thread_count(options), cores,
                cores == 1 ? "" : "s");
  }
}

std::string speed_text(double flops, double seconds) {
  return seconds <= 0 ? "-"
         : flops > 0  ? fmt::format("{:.1f} GFLOP/s", gflops(flops, seconds))
                      : fmt::format("{:.3g} s", seconds);
}

std::string command_text(const std::string& verb, const WorkloadOptions& options, const std::string& name) {
  std::vector<std::string> words{"tensmith", verb};
  if (options.expression.empty()) {
    words.push_back(name);
  } else {
    words.insert(words.end(), {"--expr", options.expression});
    for (const std::string& shape : options.shapes) words.insert(words.end(), {"--shape", shape});
    for (const std::string& extent : options.extents) words.insert(words.end(), {"--extent", extent});
  }
  if (options.target != WorkloadOptions{}.target) words.push_back("--target=" + options.target);
  if (options.threads > 0) words.push_back(fmt::format("--threads={}", options.threads));
  if (!options.db.empty()) words.push_back("--db=" + options.db);
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ' ';
    text += shell_word(word);
  }
  return text;
}

double gflops(double flops, double seconds) { return seconds > 0 ? flops / seconds * 1e-9 : 0; }

}  // namespace tensmith::cli
