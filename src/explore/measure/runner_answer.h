#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "explore/measure/worker_process.h"
#include "measure.pb.h"
#include "tensmith/explore/measurer.h"

namespace tensmith {

/// What a runner says to a request. Whatever goes wrong is a status.
struct RunnerAnswer {
  TrialStatus status = TrialStatus::kOk;
  std::string error;
  std::vector<double> seconds;  ///< of one call, one entry a repetition
  bool stopped = false;         ///< `stop` said true; there is no status then
  bool replaced = false;        ///< the process was given up: all that was loaded is gone

  bool ok() const { return status == TrialStatus::kOk && !stopped; }
};

/// Sends a runner process that was just started what it is set up with. Throws DeviceError, with the process given up,
/// when it does not answer, or when it refuses: `refused` and what it said.
void set_up_runner(std::optional<WorkerProcess>& process, const google::protobuf::MessageLite& request,
                   proto::RunnerReply& reply, std::string_view refused);

/// Asks a runner process and waits up to `timeout` seconds. Gives the process up when it did not answer, or when its
/// answer shows that it is not to be trusted any more.
RunnerAnswer ask_runner(std::optional<WorkerProcess>& process, const google::protobuf::MessageLite& request,
                        proto::RunnerReply& reply, double timeout, const Measurer::StopQuery& stop);

}  // namespace tensmith
