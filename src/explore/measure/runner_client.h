#pragma once

#include <optional>
#include <string>
#include <vector>

#include "explore/measure/messages.h"
#include "explore/measure/runner_answer.h"
#include "explore/measure/worker_process.h"
#include "tensmith/explore/measure/local_measurer.h"
#include "tensmith/explore/measure/workload_data.h"

namespace tensmith {

/// A module and which runner process knows it under which handle. The module must outlive this.
struct RunnerModule {
  const BuiltModule* module = nullptr;
  uint64_t process = 0;  ///< 0: it is not loaded
  uint32_t handle = 0;
};

/// The runner process as the measurer sees it: always there, for one that is lost is replaced by the next request.
/// Throws DeviceError when none can be started.
class RunnerClient {
 public:
  using StopQuery = Measurer::StopQuery;

  RunnerClient(const WorkloadData& data, const LocalMeasurerOptions& options, std::vector<int> cpus);

  /// Loads a module; does nothing for one that the present process has.
  RunnerAnswer load(RunnerModule& module, const StopQuery& stop);
  /// Times the calls, and checks the output before and after. A call that is slower than `slow_seconds` (0: any) is
  /// not timed again.
  RunnerAnswer check(const RunnerModule& module, double min_seconds, double slow_seconds, const StopQuery& stop);
  /// Times the calls without looking at the output. The module must be loaded.
  RunnerAnswer time(const RunnerModule& module, double min_seconds, const StopQuery& stop);
  void unload(RunnerModule& module);
  bool loaded(const RunnerModule& module) const { return process_ && module.process == count_; }

  /// Replaces a process that has grown far beyond what it had at its start. Nothing may be loaded.
  void keep_small();
  bool pinned() const { return pinned_; }

 private:
  void start();
  RunnerAnswer ask(const proto::RunnerRequest& request, proto::RunnerReply& reply, const StopQuery& stop);
  RunnerAnswer run(const RunnerModule& module, double min_seconds, double slow_seconds, bool check,
                   const StopQuery& stop);

  const WorkloadData& data_;
  const LocalMeasurerOptions& options_;
  std::vector<int> cpus_;
  std::optional<WorkerProcess> process_;
  uint64_t count_ = 0;  ///< processes started so far
  int64_t start_bytes_ = 0;
  bool pinned_ = true;
};

}  // namespace tensmith
