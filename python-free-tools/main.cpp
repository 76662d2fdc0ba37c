#include <algorithm>
#include <csignal>
#include <exception>
#include <optional>
#include <sstream>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "output.h"
#include "tensmith/codegen/llvm/llvm_codegen.h"
#include "tensmith/operator/worker_main.h"
#include "tensmith/support/error.h"
#include "verbs.h"

namespace tensmith::cli {
namespace {

constexpr int kWorkFailed = 1;
constexpr int kUsage = 2;

/// The subcommand that `word` names. Null for an option or nothing; throws UserError for any other word.
const CLI::App* subcommand(const CLI::App& app, const char* word) {
  if (word == nullptr || word[0] == '-') {
    return nullptr;
  }
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (verb->get_name() == word) return verb;
    names.push_back(verb->get_name());
  }
  if (names.empty()) {
    return nullptr;
  }
  throw UserError(fmt::format("unknown command '{}'", word), fmt::format("there are {}", fmt::join(names, ", ")));
}

int run(int argc, char** argv) {
  CLI::App app{"Tensmith: a compiler for tensor operators that learns which program is fast"};
  app.require_subcommand(1);
  app.set_version_flag("--version", fmt::format("tensmith {} (LLVM {})", TENSMITH_VERSION, llvm_version()));
  add_tune(app);
  add_tune_kernel(app);
  add_compile(app);
  add_bench(app);
  add_show(app);
  add_db(app);
  add_targets(app);
  add_race(app);
  add_hyperparameters(app);
  add_landscape(app);
  if (const CLI::App* verb = subcommand(app, argc > 1 ? argv[1] : nullptr)) {
    subcommand(*verb, argc > 2 ? argv[2] : nullptr);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    std::ostringstream help;
    app.exit(e, help, help);
    emit_text(help.str());
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
  cli::open_closed_descriptors();
  // A file at its size limit is then an ordinary error, with a reason and a place where the record was saved.
  std::signal(SIGXFSZ, SIG_IGN);
  if (const std::optional<int> code = run_worker_if_asked(argc, argv)) return *code;
  try {
    return cli::run(argc, argv);
  } catch (const UserError& e) {
    cli::print_error(e.what());
    return cli::kUsage;
  } catch (const cli::Interrupted& e) {
    cli::print_stderr(e.what());
    return 128 + e.signal();
  } catch (const std::exception& e) {
    cli::print_error(cli::error_text(e));
    return cli::kWorkFailed;
  }
}
