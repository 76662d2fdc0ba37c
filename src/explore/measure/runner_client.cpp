#include "explore/measure/runner_client.h"

#include <fmt/format.h>

#include "tensmith/support/clock.h"
#include "tensmith/support/error.h"
#include "tensmith/support/log.h"

namespace tensmith {
namespace {

constexpr double kStartSeconds = 60.0;
/// How far a runner may grow beyond its operands.
constexpr int64_t kMaxGrowthBytes = 512ll << 20;

bool never() { return false; }

TrialStatus status_of(proto::RunnerReply::Status status) {
  switch (status) {
    case proto::RunnerReply::OK: return TrialStatus::kOk;
    case proto::RunnerReply::WILD_STORE: return TrialStatus::kWildStore;
    case proto::RunnerReply::WRONG_OUTPUT: return TrialStatus::kWrongOutput;
    case proto::RunnerReply::CRASH: return TrialStatus::kCrash;
    default: return TrialStatus::kRunError;
  }
}

}  // namespace

RunnerClient::RunnerClient(const WorkloadData& data, const LocalMeasurerOptions& options, std::vector<int> cpus)
    : data_(data), options_(options), cpus_(std::move(cpus)) {
  start();
}

void RunnerClient::start() {
  process_.emplace(options_.worker_program, WorkerRole::kRunner, data_.fd(), cpus_);
  ++count_;
  proto::RunnerRequest request;
  proto::Setup& setup = *request.mutable_setup();
  const auto layout = [](const WorkloadData::Region& region, proto::TensorLayout* t) {
    t->set_bytes(region.bytes);
    t->set_type(to_string(region.type));
    t->set_tolerance(region.tolerance);
  };
  for (const auto& region : data_.inputs()) layout(region, setup.add_inputs());
  for (const auto& region : data_.outputs()) layout(region, setup.add_outputs());
  setup.mutable_cpus()->Assign(cpus_.begin(), cpus_.end());
  setup.set_threads(options_.threads);
  setup.set_flush(options_.flush);
  proto::RunnerReply reply;
  const Exchange exchange = process_->call(request, reply, steady_seconds() + kStartSeconds, never);
  if (exchange != Exchange::kDone) {
    const std::string how = exchange == Exchange::kEnded ? process_->end().describe()
                                                         : fmt::format("does not answer within {} s", kStartSeconds);
    process_.reset();
    throw DeviceError(fmt::format("the runner process does not start: it {}", how), std::string(kMainHint));
  }
  if (reply.status() != proto::RunnerReply::OK) {
    process_.reset();
    throw DeviceError(fmt::format("the runner process cannot be set up: {}", reply.error()));
  }
  if (reply.unpinned() && pinned_) {
    pinned_ = false;
    log_warning("the operator's threads cannot be pinned to cores here; times will be noisier");
  }
  start_bytes_ = process_->resident_bytes();
}

RunnerAnswer RunnerClient::ask(const proto::RunnerRequest& request, proto::RunnerReply& reply, const StopQuery& stop) {
  RunnerAnswer answer;
  if (!process_) start();
  const double timeout = options_.run_timeout;
  const double cpu_before = process_->cpu_seconds().value_or(0);
  const Stopwatch watch;
  const Exchange exchange = process_->call(request, reply, steady_seconds() + timeout, stop);
  switch (exchange) {
    case Exchange::kStopped: answer.stopped = true; break;
    case Exchange::kEnded: {
      const WorkerEnd end = process_->end();
      answer.status = end.lost() ? TrialStatus::kWorkerLost : TrialStatus::kCrash;
      answer.error = fmt::format("the runner process {}", end.describe());
      break;
    }
    case Exchange::kTimeout: {
      // A program that waits for something uses no CPU; one that is merely slow does. The system counts in hundredths.
      const double used = process_->cpu_seconds().value_or(cpu_before + timeout) - cpu_before;
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
  if (answer.replaced) process_.reset();
  return answer;
}

RunnerAnswer RunnerClient::load(RunnerModule& module, const StopQuery& stop) {
  if (loaded(module)) return {};
  proto::RunnerRequest request;
  *request.mutable_load()->mutable_module() = to_proto(*module.module);
  proto::RunnerReply reply;
  RunnerAnswer answer = ask(request, reply, stop);
  module.process = 0;
  module.handle = reply.handle();
  if (!answer.replaced && module.handle != 0) module.process = count_;
  if (!answer.ok()) unload(module);
  return answer;
}

RunnerAnswer RunnerClient::run(const RunnerModule& module, double min_seconds, double slow_seconds, bool check,
                               const StopQuery& stop) {
  TENSMITH_ICHECK(loaded(module), "a module is run that is not loaded");
  proto::RunnerRequest request;
  proto::Run& run = *request.mutable_run();
  run.set_handle(module.handle);
  run.set_min_seconds(min_seconds);
  run.set_slow_seconds(slow_seconds);
  run.set_check(check);
  proto::RunnerReply reply;
  return ask(request, reply, stop);
}

RunnerAnswer RunnerClient::check(const RunnerModule& module, double min_seconds, double slow_seconds,
                                 const StopQuery& stop) {
  return run(module, min_seconds, slow_seconds, true, stop);
}

RunnerAnswer RunnerClient::time(const RunnerModule& module, double min_seconds, const StopQuery& stop) {
  return run(module, min_seconds, 0.0, false, stop);
}

void RunnerClient::unload(RunnerModule& module) {
  if (loaded(module)) {
    proto::RunnerRequest request;
    request.mutable_unload()->set_handle(module.handle);
    proto::RunnerReply reply;
    ask(request, reply, never);
  }
  module.process = 0;
}

void RunnerClient::keep_small() {
  if (process_ && process_->resident_bytes() > start_bytes_ + kMaxGrowthBytes) process_.reset();
}

}  // namespace tensmith
