#include "explore/measure/kernel/kernel_client.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "explore/measure/kernel/device.h"
#include "tensmith/support/error.h"
#include "tensmith/support/log.h"
#include "tensmith/support/sysinfo.h"

namespace tensmith {
namespace {

/// How far a runner may grow beyond its arguments.
constexpr int64_t kMaxGrowthBytes = 1ll << 30;

constexpr const char* kPoclCache = "POCL_CACHE_DIR";

bool never() { return false; }

proto::KernelSetup::Language language_of(KernelLanguage language) {
  return language == KernelLanguage::kC        ? proto::KernelSetup::C
         : language == KernelLanguage::kOpenCl ? proto::KernelSetup::OPENCL
                                               : proto::KernelSetup::CUDA;
}

}  // namespace

KernelClient::KernelClient(const KernelSpec& spec, const KernelMeasurerOptions& options, const KernelData* data)
    : spec_(spec), options_(options), data_(data) {
  const std::vector<int> cores = allowed_physical_cores();
  const auto wanted = std::min<size_t>(static_cast<size_t>(std::max(1, options.threads)), cores.size());
  cpus_.assign(cores.end() - static_cast<std::ptrdiff_t>(wanted), cores.end());
  start();
}

void KernelClient::start() {
  const std::string program = options_.worker_program.empty() ? "/proc/self/exe" : options_.worker_program;
  std::vector<std::string> environment;
  if (spec_.language == KernelLanguage::kOpenCl && std::getenv(kPoclCache) == nullptr) {
    if (!cache_) cache_.emplace(kKernelDirectory);
    environment.push_back(fmt::format("{}={}", kPoclCache, cache_->path().string()));
  }
  process_.emplace(program, WorkerRole::kKernelRunner, data_ == nullptr ? -1 : data_->fd(), cpus_, options_.threads,
                   environment);
  ++count_;
  proto::KernelRequest request;
  proto::KernelSetup& setup = *request.mutable_setup();
  setup.set_language(language_of(spec_.language));
  setup.set_device(options_.device);
  if (data_ != nullptr) {
    for (const proto::KernelArgument& argument : data_->describe()) *setup.add_arguments() = argument;
  }
  setup.mutable_cpus()->Assign(cpus_.begin(), cpus_.end());
  proto::RunnerReply reply;
  set_up_runner(process_, request, reply, "");
  if (reply.unpinned() && pinned_) {
    pinned_ = false;
    log_warning("the kernel's threads cannot be pinned to cores here; times will be noisier");
  }
  device_ = reply.device();
  start_bytes_ = process_->resident_bytes();
}

RunnerAnswer KernelClient::ask(const proto::KernelRequest& request, proto::RunnerReply& reply, double timeout,
                               const StopQuery& stop) {
  if (!process_) start();
  return ask_runner(process_, request, reply, timeout, stop);
}

void KernelClient::distrust(RunnerAnswer& answer) {
  process_.reset();
  answer = {};
  answer.status = TrialStatus::kWorkerLost;
  answer.error = "the runner process gave an answer that does not belong to the request";
  answer.replaced = true;
}

RunnerAnswer KernelClient::load(KernelModule& module, const StopQuery& stop) {
  if (loaded(module)) return {};
  proto::KernelRequest request;
  *request.mutable_load() = module.code;
  proto::RunnerReply reply;
  // What is in C has been compiled before.
  const bool compiles = spec_.language != KernelLanguage::kC;
  RunnerAnswer answer = ask(request, reply, compiles ? options_.build_timeout : options_.run_timeout, stop);
  const bool late = answer.status == TrialStatus::kHang || answer.status == TrialStatus::kRunTimeout;
  if (compiles && late) {
    answer.status = TrialStatus::kBuildTimeout;
    answer.error = fmt::format("compiling took longer than {} s", options_.build_timeout);
  }
  module.process = 0;
  module.ran = false;
  module.handle = reply.handle();
  if (answer.ok() && module.handle == 0) distrust(answer);
  if (!answer.replaced && module.handle != 0) module.process = count_;
  if (!answer.ok()) unload(module);
  return answer;
}

RunnerAnswer KernelClient::run(KernelModule& module, const proto::KernelRun& run, const StopQuery& stop) {
  TENSMITH_ICHECK(loaded(module), "a kernel is run that is not loaded");
  proto::KernelRequest request;
  *request.mutable_run() = run;
  request.mutable_run()->set_handle(module.handle);
  // Drivers of OpenCL finish compiling when a block's size is known.
  const bool compiles = spec_.language != KernelLanguage::kC && !module.ran;
  proto::RunnerReply reply;
  RunnerAnswer answer = ask(request, reply, options_.run_timeout + (compiles ? options_.build_timeout : 0.0), stop);
  if (answer.ok() && answer.seconds.empty() && !run.capture()) distrust(answer);
  module.ran = true;
  return answer;
}

RunnerAnswer KernelClient::check(KernelModule& module, double min_seconds, double slow_seconds, const StopQuery& stop) {
  proto::KernelRun request;
  request.set_min_seconds(min_seconds);
  request.set_slow_seconds(slow_seconds);
  request.set_check(true);
  return run(module, request, stop);
}

RunnerAnswer KernelClient::time(KernelModule& module, double min_seconds, const StopQuery& stop) {
  proto::KernelRun request;
  request.set_min_seconds(min_seconds);
  return run(module, request, stop);
}

RunnerAnswer KernelClient::capture(KernelModule& module, OutputFill fill, const StopQuery& stop) {
  proto::KernelRun request;
  request.set_capture(true);
  request.set_zeros(fill == OutputFill::kZeros);
  return run(module, request, stop);
}

void KernelClient::unload(KernelModule& module) {
  if (loaded(module)) {
    proto::KernelRequest request;
    request.mutable_unload()->set_handle(module.handle);
    proto::RunnerReply reply;
    ask(request, reply, options_.run_timeout, never);
  }
  module.process = 0;
}

void KernelClient::keep_small() {
  if (process_ && process_->resident_bytes() > start_bytes_ + kMaxGrowthBytes) process_.reset();
}

}  // namespace tensmith
