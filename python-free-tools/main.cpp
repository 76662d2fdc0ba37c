#include <algorithm>
#include <cstdio>
#include <exception>
#include <string_view>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "tensmith/codegen/llvm/llvm_codegen.h"
#include "tensmith/explore/measure/worker.h"
#include "tensmith/support/error.h"
#include "tensmith/support/strings.h"
#include "tensmith/support/sysinfo.h"
#include "verbs.h"
#include "workloads.h"

namespace tensmith::cli {
namespace {

constexpr int kWorkFailed = 1;
constexpr int kUsage = 2;

/// `tensmith worker builder|runner CPUS`: how LocalMeasurer starts its helpers. Not for people, so not in the help.
int run_worker(std::string_view role, std::string_view cpus) {
  if (role == "runner") {
    return run_runner();
  }
  std::vector<int> allowed;
  for (std::string_view cpu : split_string(cpus, ',')) {
    if (const std::optional<int64_t> number = parse_int64(cpu)) {
      allowed.push_back(static_cast<int>(*number));
    }
  }
  pin_thread_to_cpus(allowed);  // where it is refused, the builder runs anywhere
  return run_builder(make_task_and_program);
}

void print_error(std::string_view message) { fmt::print(stderr, "tensmith: error: {}\n", message); }

int run(int argc, char** argv) {
  CLI::App app{"Tensmith: a compiler for tensor operators that learns which program is fast"};
  app.require_subcommand(1);
  app.set_version_flag("--version", fmt::format("tensmith {} (LLVM {})", TENSMITH_VERSION, llvm_version()));
  add_tune(app);
  add_compile(app);
  add_bench(app);
  add_show(app);
  add_db(app);
  add_targets(app);
  const std::vector<CLI::App*> verbs = app.get_subcommands([](CLI::App*) { return true; });
  const auto is_named = [&](const CLI::App* verb) { return verb->get_name() == argv[1]; };
  if (argc > 1 && argv[1][0] != '-' && std::none_of(verbs.begin(), verbs.end(), is_named)) {
    throw UserError(fmt::format("unknown command '{}'", argv[1]),
                    "there are tune, compile, bench, show, db and targets");
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    print_error(fmt::format("{} (see --help)", e.what()));
    return kUsage;
  }
  return 0;
}

}  // namespace
}  // namespace tensmith::cli

int main(int argc, char** argv) {
  using namespace tensmith;  // NOLINT: the program's own file
  if (argc >= 3 && std::string_view(argv[1]) == "worker") {
    return cli::run_worker(argv[2], argc > 3 ? argv[3] : "");
  }
  try {
    return cli::run(argc, argv);
  } catch (const UserError& e) {
    cli::print_error(e.what());
    return cli::kUsage;
  } catch (const std::exception& e) {
    cli::print_error(e.what());
    return cli::kWorkFailed;
  }
}
