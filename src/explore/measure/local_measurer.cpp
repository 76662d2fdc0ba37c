#include "tensmith/explore/measure/local_measurer.h"

#include <poll.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "explore/measure/messages.h"
#include "explore/measure/worker_process.h"
#include "tensmith/explore/measure/workload_data.h"
#include "tensmith/support/clock.h"
#include "tensmith/support/error.h"
#include "tensmith/support/log.h"
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

/// A builder process and what it is doing.
struct Builder {
  std::optional<WorkerProcess> process;
  std::optional<size_t> position;  ///< config being built
  double started = 0;
};

struct Built {
  size_t position = 0;
  BuildOutcome outcome;
};

}  // namespace

struct LocalMeasurer::Impl {
  const Task& task;
  WorkloadSpec spec;
  LocalMeasurerOptions options;
  WorkloadData data;
  std::string target_text;
  std::vector<int> runner_cpus;
  std::vector<int> builder_cpus;
  bool overlap = true;
  bool pinned = true;
  std::vector<Builder> builders;
  std::optional<WorkerProcess> runner;
  std::map<uint64_t, BuiltModule> cache;  ///< of configs compared or opened
  double best_seconds = 0;                ///< fastest call seen, for kSlowFactor

  Impl(const Task& t, const Program& program, const WorkloadSpec& s, int64_t terms, const LocalMeasurerOptions& o)
      : task(t), spec(s), options(o), data(program, terms, o.seed), target_text(to_string(t.target)) {
    if (options.worker_program.empty()) {
      options.worker_program = own_program();
    }
    assign_cpus();
    builders.resize(static_cast<size_t>(options.jobs));
    start_runner();
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

  // ---- runner -----------------------------------------------------------------------------------------------------

  void start_runner() {
    runner.emplace(options.worker_program, WorkerRole::kRunner, data.fd(), runner_cpus);
    proto::RunnerRequest request;
    proto::Setup& setup = *request.mutable_setup();
    for (const auto& region : data.inputs()) {
      proto::TensorLayout* t = setup.add_inputs();
      t->set_bytes(region.bytes);
      t->set_type(to_string(region.type));
    }
    for (const auto& region : data.outputs()) {
      proto::TensorLayout* t = setup.add_outputs();
      t->set_bytes(region.bytes);
      t->set_type(to_string(region.type));
      t->set_tolerance(region.tolerance);
    }
    setup.mutable_cpus()->Assign(runner_cpus.begin(), runner_cpus.end());
    setup.set_threads(options.threads);
    setup.set_flush(options.flush);
    proto::RunnerReply reply;
    constexpr double kStartSeconds = 60;
    if (!runner->send(request) || runner->receive(reply, kStartSeconds) != ReadResult::kDone) {
      const std::string how = runner->end();
      runner.reset();
      throw DeviceError(fmt::format("the runner process does not start: it {}", how),
                        fmt::format("check that '{}' is the tensmith program", options.worker_program));
    }
    if (reply.status() != proto::RunnerReply::OK) {
      throw DeviceError(fmt::format("the runner process cannot be set up: {}", reply.error()));
    }
    if (reply.unpinned() && pinned) {
      pinned = false;
      log_warning("the operator's threads cannot be pinned to cores here; times will be noisier");
    }
  }

  /// One request to the runner. Whatever goes wrong ends as a status; the runner is replaced when it is gone.
  struct Answer {
    TrialStatus status = TrialStatus::kOk;
    std::string error;
    proto::RunnerReply reply;
  };
  Answer ask(const proto::RunnerRequest& request, double timeout) {
    Answer answer;
    if (!runner) {
      start_runner();
    }
    const double cpu_before = runner->cpu_seconds().value_or(0);
    ReadResult result = ReadResult::kEnd;
    const Stopwatch watch;
    if (runner->send(request)) {
      result = runner->receive(answer.reply, timeout);
    }
    if (result == ReadResult::kDone && watch.seconds() > timeout) {
      // It answered while the time ran out: the limit holds all the same, and the runner is fine.
      answer.status = TrialStatus::kRunTimeout;
      answer.error = fmt::format("took longer than {} s", timeout);
      return answer;
    }
    if (result == ReadResult::kDone) {
      switch (answer.reply.status()) {
        case proto::RunnerReply::OK: answer.status = TrialStatus::kOk; break;
        case proto::RunnerReply::WILD_STORE: answer.status = TrialStatus::kWildStore; break;
        case proto::RunnerReply::WRONG_OUTPUT: answer.status = TrialStatus::kWrongOutput; break;
        default: answer.status = TrialStatus::kCrash; break;
      }
      answer.error = answer.reply.error();
      return answer;
    }
    if (result == ReadResult::kTimeout) {
      // A program that waits for something uses no CPU; one that is merely slow does. The system counts in hundredths.
      const double used = runner->cpu_seconds().value_or(cpu_before + timeout) - cpu_before;
      answer.status = timeout >= 0.5 && used < 0.25 * timeout ? TrialStatus::kHang : TrialStatus::kRunTimeout;
      answer.error = answer.status == TrialStatus::kHang ? fmt::format("made no progress for {} s", timeout)
                                                         : fmt::format("took longer than {} s", timeout);
      runner->end();
    } else {
      const std::string how = runner->end();
      answer.status = how.find("SIGKILL") != std::string::npos ? TrialStatus::kWorkerLost : TrialStatus::kCrash;
      answer.error = fmt::format("the runner process {}", how);
    }
    runner.reset();
    return answer;
  }

  Answer load(const BuiltModule& module, uint32_t& handle) {
    proto::RunnerRequest request;
    *request.mutable_load()->mutable_module() = to_proto(module);
    Answer answer = ask(request, options.run_timeout);
    handle = answer.reply.handle();
    return replace_dead(std::move(answer));
  }

  /// The fault handler's reply is the runner's last.
  Answer replace_dead(Answer answer) {
    if (runner && (answer.reply.status() == proto::RunnerReply::CRASH ||
                   (answer.reply.status() == proto::RunnerReply::WILD_STORE && answer.reply.handle() == 0))) {
      runner->end();
      runner.reset();
    }
    return answer;
  }

  Answer run(uint32_t handle, double min_seconds, double slow_seconds, bool check) {
    proto::RunnerRequest request;
    proto::Run& r = *request.mutable_run();
    r.set_handle(handle);
    r.set_min_seconds(min_seconds);
    r.set_slow_seconds(slow_seconds);
    r.set_check(check);
    return replace_dead(ask(request, options.run_timeout));
  }

  void unload(uint32_t handle) {
    if (runner) {
      proto::RunnerRequest request;
      request.mutable_unload()->set_handle(handle);
      ask(request, options.run_timeout);
    }
  }

  TrialResult trial(const Config& config, const Built& built) {
    TrialResult result;
    result.config = config;
    result.build_seconds = built.outcome.seconds;
    const Stopwatch watch;
    uint32_t handle = 0;
    Answer answer = load(built.outcome.module, handle);
    if (answer.status == TrialStatus::kOk) {
      answer = run(handle, options.min_seconds, best_seconds * kSlowFactor, true);
      if (answer.status == TrialStatus::kOk) {
        result.seconds.assign(answer.reply.seconds().begin(), answer.reply.seconds().end());
        const double fastest = *std::min_element(result.seconds.begin(), result.seconds.end());
        best_seconds = best_seconds == 0 ? fastest : std::min(best_seconds, fastest);
      }
      unload(handle);
    }
    result.status = answer.status;
    result.error = answer.error;
    result.run_seconds = watch.seconds();
    result.date = utc_timestamp();
    return result;
  }

  // ---- builders ---------------------------------------------------------------------------------------------------

  bool send_build(Builder& builder, size_t position, const Config& config) {
    if (builder.process && builder.process->resident_bytes() > kMaxBuilderBytes) {
      builder.process->end();
      builder.process.reset();
    }
    if (!builder.process) {
      builder.process.emplace(options.worker_program, WorkerRole::kBuilder, -1, builder_cpus);
    }
    proto::BuildRequest request;
    *request.mutable_workload() = to_proto(spec);
    request.set_target(target_text);
    request.set_threads(task.threads);
    request.mutable_choices()->Assign(config.choices.begin(), config.choices.end());
    builder.position = position;
    builder.started = steady_seconds();
    return builder.process->send(request);
  }

  /// Takes a builder's reply; a builder that died or sends nonsense is replaced and its config has failed.
  TrialResult failed_build(Builder& builder, TrialStatus status, std::string error) const {
    TrialResult result;
    result.status = status;
    result.error = std::move(error);
    result.build_seconds = steady_seconds() - builder.started;
    result.date = utc_timestamp();
    return result;
  }

  std::optional<TrialResult> receive_build(Builder& builder, Built& built) {
    proto::BuildReply reply;
    const ReadResult result = builder.process->receive(reply, options.build_timeout);
    if (result != ReadResult::kDone) {
      const std::string how = builder.process->end();
      builder.process.reset();
      const bool killed = how.find("SIGKILL") != std::string::npos;
      return failed_build(builder, killed ? TrialStatus::kWorkerLost : TrialStatus::kBuildError,
                          fmt::format("the builder process {}", how));
    }
    if (!reply.ok()) {
      return failed_build(builder, reply.invalid() ? TrialStatus::kInvalidConfig : TrialStatus::kBuildError,
                          reply.error());
    }
    built.position = *builder.position;
    built.outcome = {true, false, {}, from_proto(reply.module()), reply.seconds()};
    return std::nullopt;
  }

  const BuiltModule& build_now(const Config& config) {
    const uint64_t index = task.space.index_of(config);
    const auto it = cache.find(index);
    if (it != cache.end()) {
      return it->second;
    }
    Builder& builder = builders.front();
    Built built;
    std::optional<TrialResult> failure;
    if (!send_build(builder, 0, config)) {
      failure = failed_build(builder, TrialStatus::kWorkerLost, "the builder process is gone");
      builder.process.reset();
    } else {
      failure = receive_build(builder, built);
    }
    builder.position.reset();
    if (failure) {
      throw DeviceError(fmt::format("config {} cannot be built: {}", index, failure->error));
    }
    return cache.emplace(index, std::move(built.outcome.module)).first->second;
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
    const auto finish = [&](size_t position, TrialResult result) {
      result.config = configs[position];
      done(position, std::move(result));
    };
    while (!queue.empty() || building() || !waiting.empty()) {
      if (stop()) {
        break;
      }
      for (Builder& builder : builders) {
        if (!builder.position && !queue.empty() && waiting.size() < max_waiting) {
          const size_t position = queue.front();
          queue.pop_front();
          if (!send_build(builder, position, configs[position])) {
            builder.process->end();
            builder.process.reset();
            finish(position, failed_build(builder, TrialStatus::kWorkerLost, "the builder process is gone"));
            builder.position.reset();
          }
        }
      }
      const bool may_run = !waiting.empty() && (overlap || !building());
      collect_builds(waiting, may_run ? 0 : kPollMilliseconds, finish);
      if (may_run) {
        const Built built = std::move(waiting.front());
        waiting.pop_front();
        finish(built.position, trial(configs[built.position], built));
      }
    }
    abandon_builds();
  }

  template <typename Finish>
  void collect_builds(std::deque<Built>& waiting, int timeout_ms, Finish&& finish) {
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
      if (fds[i].revents != 0) {
        Built built;
        std::optional<TrialResult> failure = receive_build(builder, built);
        builder.position.reset();
        if (failure) {
          finish(position, std::move(*failure));
        } else {
          waiting.push_back(std::move(built));
        }
      } else if (steady_seconds() - builder.started > options.build_timeout) {
        TrialResult result = failed_build(builder, TrialStatus::kBuildTimeout,
                                          fmt::format("building took longer than {} s", options.build_timeout));
        builder.process->end();
        builder.process.reset();
        builder.position.reset();
        finish(position, std::move(result));
      }
    }
  }

  /// After a stop: a builder in the middle of a config would answer later, to the wrong question.
  void abandon_builds() {
    for (Builder& builder : builders) {
      if (builder.position) {
        builder.process->end();
        builder.process.reset();
        builder.position.reset();
      }
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

LocalMeasurer::LocalMeasurer(const Task& task, const Program& program, const WorkloadSpec& spec, int64_t terms,
                             const LocalMeasurerOptions& options)
    : impl_(std::make_unique<Impl>(task, program, spec, terms, options)) {}

LocalMeasurer::~LocalMeasurer() = default;

bool LocalMeasurer::pinned() const { return impl_->pinned; }

void LocalMeasurer::measure(std::span<const Config> configs, const Done& done, const StopQuery& stop) {
  const KeepAway away(impl_->overlap, impl_->builder_cpus);
  impl_->measure(configs, done, stop);
}

std::vector<Measurer::Compared> LocalMeasurer::compare(std::span<const Config> configs, int rounds,
                                                       const StopQuery& stop) {
  const KeepAway away(impl_->overlap, impl_->builder_cpus);
  std::vector<Compared> results(configs.size());
  std::vector<std::unique_ptr<Session>> sessions(configs.size());
  const auto failed = [&](size_t i, const DeviceError& e) {
    results[i] = {TrialStatus::kCrash, {}, e.message()};
    sessions[i].reset();
  };
  for (size_t i = 0; i < configs.size(); ++i) {
    try {
      sessions[i] = open(configs[i]);
    } catch (const DeviceError& e) {
      failed(i, e);
    }
  }
  for (int round = 0; round < rounds && !stop(); ++round) {
    for (size_t i = 0; i < configs.size(); ++i) {
      if (!sessions[i]) {
        continue;
      }
      try {
        const std::vector<double> times = sessions[i]->time(impl_->options.min_seconds / 4);
        results[i].seconds.push_back(*std::min_element(times.begin(), times.end()));
      } catch (const DeviceError& e) {
        failed(i, e);
      }
    }
  }
  return results;
}

std::unique_ptr<LocalMeasurer::Session> LocalMeasurer::open(const Config& config) {
  Impl& impl = *impl_;
  const BuiltModule& module = impl.build_now(config);
  uint32_t handle = 0;
  Impl::Answer answer = impl.load(module, handle);
  if (answer.status == TrialStatus::kOk) {
    answer = impl.run(handle, 0, 0, true);
  }
  if (answer.status != TrialStatus::kOk) {
    throw DeviceError(
        fmt::format("config {}: {}: {}", impl.task.space.index_of(config), to_string(answer.status), answer.error));
  }
  // A runner that was replaced in between does not know the handle.
  const pid_t pid = impl.runner->pid();
  const auto alive = [&impl, pid] { return impl.runner && impl.runner->pid() == pid; };
  return std::make_unique<RunnerSession>(
      [&impl, handle, alive](double min_seconds) {
        if (!alive()) {
          throw DeviceError("the runner process was replaced meanwhile");
        }
        const Impl::Answer timed = impl.run(handle, min_seconds, 0, false);
        if (timed.status != TrialStatus::kOk || timed.reply.seconds().empty()) {
          throw DeviceError(timed.error);
        }
        return std::vector<double>(timed.reply.seconds().begin(), timed.reply.seconds().end());
      },
      [&impl, handle, alive] {
        if (alive()) {
          impl.unload(handle);
        }
      });
}

}  // namespace tensmith
