#include "explore/measure/runner_client.h"

#include <fmt/format.h>

#include "tensmith/support/error.h"
#include "tensmith/support/log.h"

namespace tensmith {
namespace {

/// How far a runner may grow beyond its operands.
constexpr int64_t kMaxGrowthBytes = 512ll << 20;

bool never() { return false; }

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
  set_up_runner(process_, request, reply, "the runner process cannot be set up: ");
  if (reply.unpinned() && pinned_) {
    pinned_ = false;
    log_warning("the operator's threads cannot be pinned to cores here; times will be noisier");
  }
  start_bytes_ = process_->resident_bytes();
}

RunnerAnswer RunnerClient::ask(const proto::RunnerRequest& request, proto::RunnerReply& reply, const StopQuery& stop) {
  if (!process_) start();
  return ask_runner(process_, request, reply, options_.run_timeout, stop);
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
