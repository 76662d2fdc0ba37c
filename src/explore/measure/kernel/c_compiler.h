#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tensmith/explore/kernel/kernel.h"
#include "tensmith/explore/trial.h"
#include "tensmith/support/claimed_temp_dir.h"
#include "tensmith/support/file.h"
#include "tensmith/support/subprocess.h"

namespace tensmith {

/// What compiling a config gave: a shared object, or why there is none. kWorkerLost where the compiler was killed.
struct CompiledKernel {
  TrialStatus status = TrialStatus::kOk;
  std::string file;
  std::string error;
  double seconds = 0.0;
};

/// The system's C compiler, which makes shared objects of a kernel and its shim; several at once.
class CCompiler {
 public:
  /// `compiler` as a command. What is made lives as long as this. `spec` must outlive it.
  CCompiler(const KernelSpec& spec, std::string compiler, double timeout);

  /// Starts compiling with macros "NAME=VALUE". Throws DeviceError when the compiler cannot be started.
  void start(size_t id, const std::vector<std::string>& defines);
  bool busy() const { return !jobs_.empty(); }
  /// Waits up to `seconds` for one that ends, and gives its id and result.
  std::optional<std::pair<size_t, CompiledKernel>> finished(double seconds);
  /// Kills all that runs.
  void stop() { jobs_.clear(); }

  /// The first line of what it says to --version. Throws DeviceError when there is no such compiler.
  static std::string version(const std::string& compiler);

 private:
  struct Job {
    size_t id = 0;
    Subprocess process;
    std::filesystem::path object;
    std::filesystem::path messages;
    double started = 0.0;
  };
  std::optional<CompiledKernel> poll(Job& job);

  const KernelSpec& spec_;
  std::string compiler_;
  double timeout_;
  ClaimedTempDir directory_;
  size_t count_ = 0;
  std::vector<Job> jobs_;
};

}  // namespace tensmith
