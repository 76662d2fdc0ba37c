#include "tensmith/explore/measure/local_measurer.h"

#include <poll.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "explore/measure/interleaved.h"
#include "explore/measure/messages.h"
#include "explore/measure/runner_client.h"
#include "explore/measure/worker_process.h"
#include "tensmith/explore/measure/workload_data.h"
#include "tensmith/support/clock.h"
#include "tensmith/support/error.h"
#include "tensmith/support/sysinfo.h"

namespace tensmith {
namespace {

/// A builder that has grown beyond this is replaced when it is idle.
constexpr int64_t kMaxBuilderBytes = 768ll << 20;
/// Modules that may wait for the runner: enough to keep it busy, few enough to stay small.
constexpr size_t kMaxWaiting = 4;
/// How often `stop` is asked while nothing happens.
constexpr int kPollMilliseconds = 100;
/// A call this many times slower than the best so far is timed only once.
constexpr double kSlowFactor = 4.0;

bool never() { return false; }

/// A builder process and what it is doing.
struct Builder {
  std::optional<WorkerProcess> process;
  std::optional<size_t> position;  ///< config being built
  double started = 0;
};

struct Built {
  size_t position = 0;
  BuiltModule module;
  double seconds = 0;
};

/// How building a config went: a module, or a trial that failed. Neither when `stop` said true.
struct BuildResult {
  std::optional<Built> built;
  std::optional<TrialResult> failure;
};

/// Throws WorkError when the operands alone are larger than the machine's memory: told before anything is allocated.
void require_memory(const Program& program) {
  constexpr double kGib = 1 << 30;
  double bytes = 0;  // a sum of sizes that each fit 64 bits
  for (const std::vector<Tensor>* operands : {&program.inputs, &program.outputs}) {
    for (const Tensor& tensor : *operands) {
      const Buffer buffer = tensor->buffer;
      bytes += static_cast<double>(buffer_size(buffer)) * buffer->type.element_bytes();
    }
  }
  const auto memory = static_cast<double>(physical_memory_bytes());
  if (memory > 0 && bytes > memory) {
    throw WorkError(fmt::format("the operands need {:.1f} GiB, this machine has {:.1f}", bytes / kGib, memory / kGib),
                    "make the shape smaller");
  }
}

}  // namespace

struct LocalMeasurer::Impl {
  const Task& task;
  Program program;
  int64_t terms;
  LocalMeasurerOptions options;
  std::optional<WorkloadData> data;
  std::string target_text;
  std::vector<int> runner_cpus;
  std::vector<int> builder_cpus;
  bool overlap = true;
  std::vector<Builder> builders;
  std::optional<RunnerClient> runner;
  std::map<uint64_t, BuiltModule> cache;  ///< of configs compared or opened
  double best_seconds = 0;                ///< fastest call seen, for kSlowFactor

  Impl(const Task& t, const Program& p, int64_t k, const LocalMeasurerOptions& o)
      : task(t), program(p), terms(k), options(o), target_text(to_string(t.target)) {
    // By this name a child is the same program even when its file was replaced meanwhile.
    if (options.worker_program.empty()) options.worker_program = "/proc/self/exe";
    assign_cpus();
    builders.resize(static_cast<size_t>(options.jobs));
  }

  /// Computes the workload's data and starts the runner, the first time. False when `stop` said true.
  bool ready(const StopQuery& stop) {
    if (runner) return true;
    data = WorkloadData::make(program, terms, options.seed, [&](double done, double seconds) {
      if (options.preparing) options.preparing(done, seconds);
      return !stop();
    });
    if (!data) return false;
    runner.emplace(*data, options, runner_cpus);
    return true;
  }

  /// The operator gets the last cores; building gets the others, or all of them in turns.
  void assign_cpus() {
    const std::vector<int> cores = allowed_physical_cores();
    const auto wanted = std::min<size_t>(static_cast<size_t>(std::max(1, options.threads)), cores.size());
    runner_cpus.assign(cores.end() - static_cast<std::ptrdiff_t>(wanted), cores.end());
    builder_cpus.assign(cores.begin(), cores.end() - static_cast<std::ptrdiff_t>(wanted));
    overlap = !builder_cpus.empty();
    if (!overlap) {
      builder_cpus = cores;
    }
    if (options.jobs <= 0) {
      options.jobs = static_cast<int>(builder_cpus.size());
    }
  }

  // ---- trials -----------------------------------------------------------------------------------------------------

  /// Nothing when `stop` said true.
  std::optional<TrialResult> trial(const Config& config, const Built& built, const StopQuery& stop) {
    TrialResult result;
    result.config = config;
    result.build_seconds = built.seconds;
    const Stopwatch watch;
    runner->keep_small();
    RunnerModule module{&built.module};
    RunnerAnswer answer = runner->load(module, stop);
    if (answer.ok()) {
      answer = runner->check(module, options.min_seconds, best_seconds * kSlowFactor, stop);
      runner->unload(module);
    }
    if (answer.stopped) return std::nullopt;
    if (answer.ok()) {
      result.seconds = std::move(answer.seconds);
      const double fastest = *std::min_element(result.seconds.begin(), result.seconds.end());
      best_seconds = best_seconds == 0 ? fastest : std::min(best_seconds, fastest);
    }
    result.status = answer.status;
    result.error = answer.error;
    result.run_seconds = watch.seconds();
    result.date = utc_timestamp();
    return result;
  }

  // ---- comparisons ------------------------------------------------------------------------------------------------

  std::vector<Compared> compare(std::span<const Config> configs, const Rounds& rounds, const StopQuery& stop) {
    std::vector<Compared> results(configs.size());
    std::vector<RunnerModule> modules(configs.size());
    std::vector<bool> live(configs.size());
    for (size_t i = 0; i < configs.size(); ++i) {
      if (const std::optional<TrialResult> failure = build_now(configs[i], modules[i].module, stop)) {
        results[i] = {failure->status, {}, failure->error};
      }
      live[i] = modules[i].module != nullptr;
      if (!live[i] && stop()) return results;
    }
    const Contest contest{[&](size_t i) { return prepare(modules[i], stop); },
                          [&](size_t i) { return runner->time(modules[i], options.min_seconds / 4, stop); }};
    compare_interleaved(std::move(live), results, rounds, contest, stop);
    for (RunnerModule& module : modules) runner->unload(module);
    return results;
  }

  /// Loads a module where this runner does not have it, and checks its output then.
  RunnerAnswer prepare(RunnerModule& module, const StopQuery& stop) {
    if (runner->loaded(module)) return {};
    RunnerAnswer answer = runner->load(module, stop);
    if (answer.ok()) answer = runner->check(module, 0, 0, stop);
    if (!answer.ok()) runner->unload(module);
    return answer;
  }

  // ---- builders ---------------------------------------------------------------------------------------------------

  Exchange send_build(Builder& builder, size_t position, const Config& config, const StopQuery& stop) {
    if (builder.process && builder.process->resident_bytes() > kMaxBuilderBytes) {
      builder.process.reset();
    }
    if (!builder.process) {
      builder.process.emplace(options.worker_program, WorkerRole::kBuilder, -1, builder_cpus);
    }
    proto::BuildRequest request;
    request.set_workload(task.workload);
    request.set_target(target_text);
    request.set_threads(task.threads);
    request.mutable_choices()->Assign(config.choices.begin(), config.choices.end());
    builder.position = position;
    builder.started = steady_seconds();
    return builder.process->send(request, builder.started + options.build_timeout, stop);
  }

  TrialResult failed_build(const Builder& builder, TrialStatus status, std::string error) const {
    TrialResult result;
    result.status = status;
    result.error = std::move(error);
    result.build_seconds = steady_seconds() - builder.started;
    result.date = utc_timestamp();
    return result;
  }

  /// A builder that gave no reply is given up, and its config has failed unless `stop` said true.
  BuildResult no_reply(Builder& builder, Exchange exchange) const {
    BuildResult result;
    if (exchange == Exchange::kTimeout) {
      result.failure = failed_build(builder, TrialStatus::kBuildTimeout,
                                    fmt::format("building took longer than {} s", options.build_timeout));
    } else if (exchange == Exchange::kEnded) {
      const WorkerEnd end = builder.process->end();
      result.failure = failed_build(builder, end.lost() ? TrialStatus::kWorkerLost : TrialStatus::kBuildError,
                                    fmt::format("the builder process {}", end.describe()));
    }
    builder.process.reset();
    builder.position.reset();
    return result;
  }

  BuildResult receive_build(Builder& builder, const StopQuery& stop) const {
    proto::BuildReply reply;
    const Exchange exchange = builder.process->receive(reply, builder.started + options.build_timeout, stop);
    if (exchange != Exchange::kDone) return no_reply(builder, exchange);
    BuildResult result;
    if (reply.ok()) {
      result.built = Built{*builder.position, from_proto(reply.module()), reply.seconds()};
    } else {
      result.failure = failed_build(builder, reply.invalid() ? TrialStatus::kInvalidConfig : TrialStatus::kBuildError,
                                    reply.error());
    }
    builder.position.reset();
    return result;
  }

  /// Finds or makes the module of a config. Returns why there is none; neither a reason nor a module when `stop` said
  /// true.
  std::optional<TrialResult> build_now(const Config& config, const BuiltModule*& module, const StopQuery& stop) {
    const uint64_t index = task.space.index_of(config);
    auto it = cache.find(index);
    if (it == cache.end()) {
      Builder& builder = builders.front();
      const Exchange sent = send_build(builder, 0, config, stop);
      BuildResult result = sent == Exchange::kDone ? receive_build(builder, stop) : no_reply(builder, sent);
      if (!result.built) return result.failure;
      it = cache.emplace(index, std::move(result.built->module)).first;
    }
    module = &it->second;
    return std::nullopt;
  }

  /// Keeps building and running until every config is done or `stop` says so.
  void measure(std::span<const Config> configs, const Done& done, const StopQuery& stop) {
    std::deque<size_t> queue;
    for (size_t i = 0; i < configs.size(); ++i) {
      queue.push_back(i);
    }
    std::deque<Built> waiting;
    const size_t max_waiting = overlap ? kMaxWaiting : std::max<size_t>(kMaxWaiting, builders.size() * 4);
    const auto building = [&] {
      return std::any_of(builders.begin(), builders.end(), [](const Builder& b) { return b.position.has_value(); });
    };
    const auto finish = [&](size_t position, std::optional<TrialResult> result) {
      if (!result) return;
      result->config = configs[position];
      done(position, std::move(*result));
    };
    while ((!queue.empty() || building() || !waiting.empty()) && !stop()) {
      for (Builder& builder : builders) {
        if (!builder.position && !queue.empty() && waiting.size() < max_waiting) {
          const size_t position = queue.front();
          queue.pop_front();
          const Exchange sent = send_build(builder, position, configs[position], stop);
          if (sent != Exchange::kDone) finish(position, no_reply(builder, sent).failure);
        }
      }
      const bool may_run = !waiting.empty() && (overlap || !building());
      collect_builds(waiting, may_run ? 0 : kPollMilliseconds, finish, stop);
      if (may_run) {
        const Built built = std::move(waiting.front());
        waiting.pop_front();
        finish(built.position, trial(configs[built.position], built, stop));
      }
    }
    // A builder in the middle of a config would answer later, to the wrong question.
    for (Builder& builder : builders) {
      if (builder.position) builder.process.reset();
      builder.position.reset();
    }
  }

  template <typename Finish>
  void collect_builds(std::deque<Built>& waiting, int timeout_ms, Finish&& finish, const StopQuery& stop) {
    std::vector<pollfd> fds;
    std::vector<Builder*> busy;
    for (Builder& builder : builders) {
      if (builder.position) {
        fds.push_back({builder.process->fd(), POLLIN, 0});
        busy.push_back(&builder);
      }
    }
    if (busy.empty()) {
      return;
    }
    poll(fds.data(), fds.size(), timeout_ms);
    for (size_t i = 0; i < busy.size(); ++i) {
      Builder& builder = *busy[i];
      const size_t position = *builder.position;
      BuildResult result;
      if (fds[i].revents != 0) {
        result = receive_build(builder, stop);
      } else if (steady_seconds() - builder.started > options.build_timeout) {
        result = no_reply(builder, Exchange::kTimeout);
      }
      if (result.built) waiting.push_back(std::move(*result.built));
      finish(position, std::move(result.failure));
    }
  }
};

namespace {

/// Keeps this thread off the cores that are timed, and puts it back.
class KeepAway {
 public:
  KeepAway(bool active, const std::vector<int>& cpus) : before_(active ? allowed_cpus() : std::vector<int>()) {
    if (active) {
      pin_thread_to_cpus(cpus);
    }
  }
  ~KeepAway() {
    if (!before_.empty()) {
      pin_thread_to_cpus(before_);
    }
  }
  KeepAway(const KeepAway&) = delete;
  KeepAway& operator=(const KeepAway&) = delete;

 private:
  std::vector<int> before_;
};

class RunnerSession : public LocalMeasurer::Session {
 public:
  RunnerSession(std::function<std::vector<double>(double)> time, std::function<void()> close)
      : time_(std::move(time)), close_(std::move(close)) {}
  ~RunnerSession() override { close_(); }
  std::vector<double> time(double min_seconds) override { return time_(min_seconds); }

 private:
  std::function<std::vector<double>(double)> time_;
  std::function<void()> close_;
};

}  // namespace

LocalMeasurer::LocalMeasurer(const Task& task, const Program& program, int64_t terms,
                             const LocalMeasurerOptions& options) {
  if (is_worker_process()) {
    throw UserError("a worker process of a measuring program measures itself", std::string(kMainHint));
  }
  require_memory(program);
  impl_ = std::make_unique<Impl>(task, program, terms, options);
}

LocalMeasurer::~LocalMeasurer() = default;

void LocalMeasurer::measure(std::span<const Config> configs, const Done& done, const StopQuery& stop) {
  if (!impl_->ready(stop)) return;
  const KeepAway away(impl_->overlap, impl_->builder_cpus);
  impl_->measure(configs, done, stop);
}

std::vector<Measurer::Compared> LocalMeasurer::compare(std::span<const Config> configs, const Rounds& rounds,
                                                       const StopQuery& stop) {
  if (!impl_->ready(stop)) return std::vector<Compared>(configs.size());
  const KeepAway away(impl_->overlap, impl_->builder_cpus);
  return impl_->compare(configs, rounds, stop);
}

std::unique_ptr<LocalMeasurer::Session> LocalMeasurer::open(const Config& config) {
  Impl& impl = *impl_;
  impl.ready(never);
  const uint64_t index = impl.task.space.index_of(config);
  const auto module = std::make_shared<RunnerModule>();
  if (const std::optional<TrialResult> failure = impl.build_now(config, module->module, never)) {
    throw DeviceError(fmt::format("config {} cannot be built: {}", index, failure->error));
  }
  const auto check = [index](const RunnerAnswer& answer) {
    if (!answer.ok()) {
      throw DeviceError(fmt::format("config {}: {}: {}", index, to_string(answer.status), answer.error));
    }
  };
  check(impl.prepare(*module, never));
  return std::make_unique<RunnerSession>(
      [&impl, module, check](double min_seconds) {
        // Another config may have cost the runner meanwhile.
        check(impl.prepare(*module, never));
        RunnerAnswer answer = impl.runner->time(*module, min_seconds, never);
        check(answer);
        return std::move(answer.seconds);
      },
      [&impl, module] { impl.runner->unload(*module); });
}

}  // namespace tensmith
