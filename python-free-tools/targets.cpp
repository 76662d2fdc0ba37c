#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "output.h"
#include "table.h"
#include "tensmith/codegen/llvm/host_target.h"
#include "verbs.h"

namespace tensmith::cli {
namespace {

void run(bool json) {
  const std::vector<TargetInfo> targets = list_targets();
  if (json) {
    nlohmann::json results = nlohmann::json::array();
    for (const TargetInfo& t : targets) {
      results.push_back({{"target", "llvm:mcpu=" + t.target.cpu},
                         {"note", t.note},
                         {"runs_here", t.runs_here},
                         {"vector_bytes", t.target.vector_bytes},
                         {"vector_registers", t.target.vector_registers}});
    }
    emit_result({{"results", results}});
    return;
  }
  Table table({"target", "vector bits", "registers", "runs here", "note"});
  for (const TargetInfo& t : targets) {
    table.add({"llvm:mcpu=" + t.target.cpu, fmt::format("{}", t.target.vector_bytes * 8),
               fmt::format("{}", t.target.vector_registers), t.runs_here ? "yes" : "no", t.note});
  }
  emit_text(table.text());
}

}  // namespace

void add_targets(CLI::App& app) {
  auto json = std::make_shared<bool>(false);
  CLI::App* verb = app.add_subcommand("targets", "what code can be generated for");
  verb->add_flag("--json", *json, "one JSON object on standard output");
  verb->callback([json] { run(*json); });
}

}  // namespace tensmith::cli
