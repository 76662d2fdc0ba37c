#include "explore/measure/worker_process.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tensmith/support/clock.h"
#include "tensmith/support/error.h"

namespace tensmith {
namespace {

/// How long nothing is heard before `stop` is asked again.
constexpr double kSliceSeconds = 0.1;

std::string_view role_name(WorkerRole role) {
  switch (role) {
    case WorkerRole::kBuilder: return "builder";
    case WorkerRole::kRunner: return "runner";
    case WorkerRole::kKernelRunner: return "kernel-runner";
  }
  TENSMITH_UNREACHABLE("unknown role of a worker");
}

Subprocess start(const std::string& program, WorkerRole role, int socket, int data_fd, const std::vector<int>& cpus,
                 int threads, const std::vector<std::string>& environment) {
  SpawnOptions options;
  options.argv = {program, "worker", std::string(role_name(role)), fmt::format("{}", fmt::join(cpus, ","))};
  options.fds = {{socket, kWorkerSocketFd}};
  if (data_fd >= 0) {
    options.fds.push_back({data_fd, kWorkerDataFd});
  }
  options.environment = environment;
  options.environment.push_back(fmt::format("OMP_NUM_THREADS={}", threads));
  options.environment.push_back(fmt::format("{}=1", kWorkerVariable));
  // An OpenCL device that is this CPU has a pool of its own.
  if (role == WorkerRole::kKernelRunner)
    options.environment.push_back(fmt::format("POCL_MAX_PTHREAD_COUNT={}", threads));
  options.die_with_parent = true;
  try {
    return Subprocess::spawn(options);
  } catch (const WorkError& e) {
    throw DeviceError(fmt::format("cannot start a worker process: {}", e.message()), e.hint());
  }
}

}  // namespace

bool is_worker_process() { return std::getenv(kWorkerVariable) != nullptr; }

bool WorkerEnd::lost() const { return !killed && status.ended_from_outside(); }

std::string WorkerEnd::describe() const {
  return killed ? "broke the connection and had to be killed" : status.describe();
}

WorkerProcess::WorkerProcess(const std::string& program, WorkerRole role, int data_fd, const std::vector<int>& cpus,
                             int threads, const std::vector<std::string>& environment)
    : child_([&] {
        FdPair pair = make_socket_pair();
        socket_ = std::move(pair.first);
        return start(program, role, pair.second.get(), data_fd, cpus, threads, environment);
      }()) {}

Exchange WorkerProcess::wait_for(short events, double deadline, const StopQuery& stop) const {
  while (true) {
    if (stop()) return Exchange::kStopped;
    const double left = std::max(0.0, deadline - steady_seconds());
    pollfd entry{fd(), events, 0};
    const int ready = ::poll(&entry, 1, static_cast<int>(std::ceil(std::min(left, kSliceSeconds) * 1e3)));
    if (ready > 0) return Exchange::kDone;
    if (ready < 0 && errno != EINTR) return Exchange::kEnded;
    if (left <= 0.0) return Exchange::kTimeout;
  }
}

Exchange WorkerProcess::send(const google::protobuf::MessageLite& message, double deadline, const StopQuery& stop) {
  const std::string bytes = frame(message);
  for (size_t sent = 0; sent < bytes.size();) {
    const ssize_t now = ::send(fd(), bytes.data() + sent, bytes.size() - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (now >= 0) {
      sent += static_cast<size_t>(now);
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return Exchange::kEnded;
    if (const Exchange waited = wait_for(POLLOUT, deadline, stop); waited != Exchange::kDone) return waited;
  }
  return Exchange::kDone;
}

Exchange WorkerProcess::receive(google::protobuf::MessageLite& message, double deadline, const StopQuery& stop) {
  if (const Exchange waited = wait_for(POLLIN, deadline, stop); waited != Exchange::kDone) return waited;
  // A worker sends a reply in one go: what has begun comes at once, or something is wrong with it.
  switch (receive_message(fd(), message, std::max(1.0, deadline - steady_seconds()))) {
    case ReadResult::kDone: return Exchange::kDone;
    case ReadResult::kTimeout: return Exchange::kTimeout;
    default: return Exchange::kEnded;
  }
}

bool WorkerProcess::has_unread() const {
  char first = 0;
  return ::recv(fd(), &first, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

Exchange WorkerProcess::call(const google::protobuf::MessageLite& request, google::protobuf::MessageLite& reply,
                             double deadline, const StopQuery& stop) {
  const Exchange sent = send(request, deadline, stop);
  return sent == Exchange::kDone ? receive(reply, deadline, stop) : sent;
}

WorkerEnd WorkerProcess::end() {
  ::shutdown(fd(), SHUT_RDWR);
  if (const std::optional<ExitStatus> status = child_.wait_for(0.2)) return {*status, false};
  child_.kill();
  return {child_.wait(), true};
}

std::optional<double> WorkerProcess::cpu_seconds() const {
  std::ifstream in(fmt::format("/proc/{}/stat", child_.pid()));
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) {
    return std::nullopt;
  }
  std::istringstream rest(text.substr(name_end + 2));
  std::string skipped;
  for (int i = 0; i < 11; ++i) {
    rest >> skipped;
  }
  double user = 0, system = 0;
  rest >> user >> system;
  return rest ? std::optional((user + system) / static_cast<double>(sysconf(_SC_CLK_TCK))) : std::nullopt;
}

int64_t WorkerProcess::resident_bytes() const {
  std::ifstream in(fmt::format("/proc/{}/statm", child_.pid()));
  int64_t total = 0, resident = 0;
  in >> total >> resident;
  return in ? resident * sysconf(_SC_PAGESIZE) : 0;
}

}  // namespace tensmith
