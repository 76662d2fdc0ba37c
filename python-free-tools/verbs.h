#pragma once

namespace CLI {
class App;
}

/// The command line's verbs, one file each. Each function adds a subcommand whose callback does the work and throws
/// what main.cpp turns into an exit code.
namespace tensmith::cli {

void add_tune(CLI::App& app);
void add_compile(CLI::App& app);
void add_bench(CLI::App& app);
void add_show(CLI::App& app);
void add_db(CLI::App& app);
void add_targets(CLI::App& app);

}  // namespace tensmith::cli
