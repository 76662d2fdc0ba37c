#pragma once

#include <stdexcept>
#include <string>

namespace CLI {
class App;
}

/// The command line's verbs, one file each. Each function adds a subcommand whose callback does the work and throws
/// what main.cpp turns into an exit code.
namespace tensmith::cli {

/// A signal asked for an orderly end and the work is not finished: exit code 128 + the signal, as a shell has it.
/// `what()` is a line for standard error.
class Interrupted : public std::runtime_error {
 public:
  Interrupted(int signal, const std::string& message) : std::runtime_error(message + "\n"), signal_(signal) {}
  int signal() const { return signal_; }

 private:
  int signal_;
};

void add_tune(CLI::App& app);
void add_tune_kernel(CLI::App& app);
void add_compile(CLI::App& app);
void add_bench(CLI::App& app);
void add_show(CLI::App& app);
void add_db(CLI::App& app);
void add_targets(CLI::App& app);
void add_landscape(CLI::App& app);
void add_race(CLI::App& app);
void add_hyperparameters(CLI::App& app);

}  // namespace tensmith::cli
