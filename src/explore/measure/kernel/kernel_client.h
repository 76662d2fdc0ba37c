#pragma once

#include <optional>
#include <string>

#include "explore/measure/kernel/kernel_data.h"
#include "explore/measure/runner_answer.h"
#include "explore/measure/worker_process.h"
#include "tensmith/explore/measure/kernel_measurer.h"
#include "tensmith/support/claimed_temp_dir.h"

namespace tensmith {

/// A config as the runner loads it, and which runner process knows it under which handle.
struct KernelModule {
  proto::KernelLoad code;
  uint64_t process = 0;  ///< 0: it is not loaded
  uint32_t handle = 0;
  bool ran = false;  ///< there: a first run may still compile
};

/// Every bit of an output before a kernel runs. What it does not write tells itself by being as it was filled.
enum class OutputFill : uint8_t { kOnes, kZeros };

/// The process that runs kernels, as the measurer sees it: always there, for one that is lost is replaced by the next
/// request. Throws DeviceError when none can be started, or when the machine lacks what the language needs.
class KernelClient {
 public:
  using StopQuery = Measurer::StopQuery;

  /// `data` may be null: only device() can be asked then. It, `spec` and `options` must outlive this.
  KernelClient(const KernelSpec& spec, const KernelMeasurerOptions& options, const KernelData* data);

  const std::string& device() const { return device_; }

  /// Compiles and loads; does nothing for one that the present process has.
  RunnerAnswer load(KernelModule& module, const StopQuery& stop);
  /// As RunnerClient::check and time.
  RunnerAnswer check(KernelModule& module, double min_seconds, double slow_seconds, const StopQuery& stop);
  RunnerAnswer time(KernelModule& module, double min_seconds, const StopQuery& stop);
  /// Runs it once and makes its answer what is expected. `fill` is what outputs hold before.
  RunnerAnswer capture(KernelModule& module, OutputFill fill, const StopQuery& stop);
  void unload(KernelModule& module);
  bool loaded(const KernelModule& module) const { return process_ && module.process == count_; }

  /// Replaces a process that has grown far beyond what it had at its start. Nothing may be loaded.
  void keep_small();

 private:
  void start();
  RunnerAnswer ask(const proto::KernelRequest& request, proto::RunnerReply& reply, double timeout,
                   const StopQuery& stop);
  /// Gives the process up, whose answer a kernel may have written: it is lost.
  void distrust(RunnerAnswer& answer);
  RunnerAnswer run(KernelModule& module, const proto::KernelRun& request, const StopQuery& stop);

  const KernelSpec& spec_;
  const KernelMeasurerOptions& options_;
  const KernelData* data_;
  std::vector<int> cpus_;
  /// PoCL keeps what it compiled, and what of it failed, for ever: it gets a place that ends with this.
  std::optional<ClaimedTempDir> cache_;
  std::optional<WorkerProcess> process_;
  uint64_t count_ = 0;  ///< processes started so far
  int64_t start_bytes_ = 0;
  std::string device_;
  bool pinned_ = true;
};

}  // namespace tensmith
