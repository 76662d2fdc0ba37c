#include "explore/measure/runner_answer.h"

#include <fmt/format.h>

#include "tensmith/support/clock.h"
#include "tensmith/support/error.h"

namespace tensmith {
namespace {

TrialStatus status_of(proto::RunnerReply::Status status) {
  switch (status) {
    case proto::RunnerReply::OK: return TrialStatus::kOk;
    case proto::RunnerReply::WILD_STORE: return TrialStatus::kWildStore;
    case proto::RunnerReply::WRONG_OUTPUT: return TrialStatus::kWrongOutput;
    case proto::RunnerReply::CRASH: return TrialStatus::kCrash;
    case proto::RunnerReply::INVALID: return TrialStatus::kInvalidConfig;
    case proto::RunnerReply::BUILD_FAILED: return TrialStatus::kBuildError;
    default: return TrialStatus::kRunError;
  }
}

constexpr double kStartSeconds = 60.0;

}  // namespace

void set_up_runner(std::optional<WorkerProcess>& process, const google::protobuf::MessageLite& request,
                   proto::RunnerReply& reply, std::string_view refused) {
  const Exchange exchange = process->call(request, reply, steady_seconds() + kStartSeconds, [] { return false; });
  if (exchange != Exchange::kDone) {
    const std::string how = exchange == Exchange::kEnded ? process->end().describe()
                                                         : fmt::format("does not answer within {} s", kStartSeconds);
    process.reset();
    throw DeviceError(fmt::format("the runner process does not start: it {}", how), std::string(kMainHint));
  }
  if (reply.status() != proto::RunnerReply::OK) {
    process.reset();
    throw DeviceError(fmt::format("{}{}", refused, reply.error()));
  }
}

RunnerAnswer ask_runner(std::optional<WorkerProcess>& process, const google::protobuf::MessageLite& request,
                        proto::RunnerReply& reply, double timeout, const Measurer::StopQuery& stop) {
  RunnerAnswer answer;
  if (process->has_unread()) {
    // Taken for the answer to this request, it would shift all that follow by one.
    process.reset();
    answer.status = TrialStatus::kWorkerLost;
    answer.error = "the runner process answered without being asked";
    answer.replaced = true;
    return answer;
  }
  const double cpu_before = process->cpu_seconds().value_or(0);
  const Stopwatch watch;
  const Exchange exchange = process->call(request, reply, steady_seconds() + timeout, stop);
  switch (exchange) {
    case Exchange::kStopped: answer.stopped = true; break;
    case Exchange::kEnded: {
      const WorkerEnd end = process->end();
      answer.status = end.lost() ? TrialStatus::kWorkerLost : TrialStatus::kCrash;
      answer.error = fmt::format("the runner process {}", end.describe());
      break;
    }
    case Exchange::kTimeout: {
      // A program that waits for something uses no CPU; one that is merely slow does. The system counts in hundredths.
      const double used = process->cpu_seconds().value_or(cpu_before + timeout) - cpu_before;
      const bool hangs = timeout >= 0.5 && used < 0.25 * timeout;
      answer.status = hangs ? TrialStatus::kHang : TrialStatus::kRunTimeout;
      answer.error = fmt::format(fmt::runtime(hangs ? "made no progress for {} s" : "took longer than {} s"), timeout);
      break;
    }
    case Exchange::kDone:
      answer.status = status_of(reply.status());
      answer.error = reply.error();
      answer.seconds.assign(reply.seconds().begin(), reply.seconds().end());
      // It answered while the time ran out: the limit holds all the same, and the runner is fine.
      if (answer.ok() && watch.seconds() > timeout) {
        answer.status = TrialStatus::kRunTimeout;
        answer.error = fmt::format("took longer than {} s", timeout);
      }
      break;
  }
  // After a fault the process ends, and after a wild store its memory is not to be trusted.
  answer.replaced =
      exchange != Exchange::kDone || answer.status == TrialStatus::kCrash || answer.status == TrialStatus::kWildStore;
  if (answer.replaced) process.reset();
  return answer;
}

}  // namespace tensmith
