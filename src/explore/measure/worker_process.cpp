#include "explore/measure/worker_process.h"

#include <sched.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tensmith/support/error.h"

namespace tensmith {
namespace {

Subprocess start(const std::string& program, WorkerRole role, int socket, int data_fd, const std::vector<int>& cpus) {
  SpawnOptions options;
  options.argv = {program, "worker", role == WorkerRole::kBuilder ? "builder" : "runner",
                  fmt::format("{}", fmt::join(cpus, ","))};
  options.fds = {{socket, kWorkerSocketFd}};
  if (data_fd >= 0) {
    options.fds.push_back({data_fd, kWorkerDataFd});
  }
  // The operator's own count decides; a library's pool must not add threads of its own.
  options.environment = {"OMP_NUM_THREADS=1"};
  options.die_with_parent = true;
  try {
    return Subprocess::spawn(options);
  } catch (const WorkError& e) {
    throw DeviceError(fmt::format("cannot start a worker process: {}", e.message()), e.hint());
  }
}

}  // namespace

WorkerProcess::WorkerProcess(const std::string& program, WorkerRole role, int data_fd, const std::vector<int>& cpus)
    : child_([&] {
        FdPair pair = make_socket_pair();
        socket_ = std::move(pair.first);
        return start(program, role, pair.second.get(), data_fd, cpus);
      }()) {}

std::string WorkerProcess::end() {
  std::optional<ExitStatus> status = child_.wait_for(0.2);
  if (!status) {
    child_.kill();
    status = child_.wait();
  }
  return status->describe();
}

std::optional<double> WorkerProcess::cpu_seconds() const {
  std::ifstream in(fmt::format("/proc/{}/stat", pid()));
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
  std::ifstream in(fmt::format("/proc/{}/statm", pid()));
  int64_t total = 0, resident = 0;
  in >> total >> resident;
  return in ? resident * sysconf(_SC_PAGESIZE) : 0;
}

std::string own_program() {
  std::array<char, 4096> path{};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size() - 1);
  if (length <= 0) {
    throw DeviceError("cannot find this program's file to start worker processes", "name it in worker_program");
  }
  return {path.data(), static_cast<size_t>(length)};
}

}  // namespace tensmith
