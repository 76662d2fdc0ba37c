#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tensmith/explore/database.h"
#include "tensmith/explore/measure/build.h"
#include "tensmith/operator/config_choice.h"
#include "tensmith/ops/workload.h"

namespace CLI {
class App;
}

namespace tensmith::cli {

/// The options that name workloads and what they run on.
struct WorkloadOptions {
  std::vector<std::string> names;
  std::string expression;
  std::vector<std::string> shapes;
  std::vector<std::string> extents;
  std::string target = "llvm";
  int threads = 0;  ///< 0: physical cores
  std::string db;

  void add_to(CLI::App& app, bool several);
};

/// A workload that was asked for.
struct NamedWorkload {
  std::string name;  ///< as it was written, for tables
  Workload workload;
};

/// Throws UserError when none is named, or both names and an expression are given.
std::vector<NamedWorkload> resolve(const WorkloadOptions& options);

int thread_count(const WorkloadOptions& options);
/// Warns when there are more threads than cores to time them on.
void warn_of_threads(const WorkloadOptions& options);

/// The cores of the operator: the last ones, as LocalMeasurer takes them.
std::vector<int> operator_cpus(int threads);

/// The element type of the (first) output.
DataType output_type(const Program& program);

/// `which`: best (the default when there is no database), default or an index. The note tells when --threads is what
/// keeps records from being found.
ChosenConfig choose_config(const Task& task, const Database* database, const std::string& which, bool flushed = false);

/// GFLOP/s.
double gflops(double flops, double seconds);
/// "12.3 GFLOP/s"; "0.0012 s" where no operation counts; "-" where nothing was measured.
std::string speed_text(double flops, double seconds);

/// The command that does `verb` with a workload and the options that say what it runs on, as a shell reads it.
std::string command_text(const std::string& verb, const WorkloadOptions& options, const std::string& name);

}  // namespace tensmith::cli
