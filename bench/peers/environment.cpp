#include "environment.h"

#include <fmt/format.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>

#include "tensmith/support/error.h"
#include "tensmith/support/sysinfo.h"

namespace tensmith::peers {
namespace {

// Marks the second life of the process.
constexpr const char* kSettled = "TENSMITH_PEER_SETTLED";

void set_when_unset(const char* name, const std::string& value) { setenv(name, value.c_str(), 0); }
void set(const char* name, const std::string& value) { setenv(name, value.c_str(), 1); }

// Left alone, some versions take a far older kernel on CPUs they do not know by name.
const char* best_openblas_kernel() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl")) {
    return "SKYLAKEX";
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return __builtin_cpu_is("amd") ? "ZEN" : "HASWELL";
  }
#endif
  return nullptr;
}

std::vector<pid_t> thread_ids() {
  std::vector<pid_t> ids;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", error)) {
    ids.push_back(static_cast<pid_t>(std::stol(entry.path().filename().string())));
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

}  // namespace

void settle_environment(const Settings& settings, const std::vector<int>& cpus, char** argv) {
  if (getenv(kSettled) != nullptr) {
    unsetenv(kSettled);
    return;
  }
  const std::string threads = std::to_string(settings.threads);
  set("OMP_NUM_THREADS", threads);
  set("OMP_DYNAMIC", "false");
  set("OMP_WAIT_POLICY", "passive");
  // OpenBLAS starts its threads when it is loaded, which it is whoever the peer; those of others would sit on our CPUs.
  set("OPENBLAS_NUM_THREADS", settings.peer == PeerKind::kOpenblas ? threads : "1");
  // 2^4 cycles, the least it takes, until an idle thread sleeps instead of spinning.
  set_when_unset("OPENBLAS_THREAD_TIMEOUT", "4");
  if (const char* kernel = best_openblas_kernel()) set_when_unset("OPENBLAS_CORETYPE", kernel);
  set(kSettled, "1");
  // OpenBLAS makes no more threads than the CPUs it sees, so all of them before it is loaded, and one each afterwards.
  pin_thread_to_cpus(cpus);
  execv("/proc/self/exe", argv);
  execv(argv[0], argv);
  throw WorkError(fmt::format("cannot execute {} again: {}", argv[0], std::strerror(errno)));
}

bool pin_every_thread(const std::vector<int>& cpus) {
  if (cpus.empty()) return false;
  bool all = true;
  std::size_t next = 0;
  for (const pid_t id : thread_ids()) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<std::size_t>(cpus[next++ % cpus.size()]), &set);
    all = sched_setaffinity(id, sizeof set, &set) == 0 && all;
  }
  return all && next > 0;
}

int count_threads() { return static_cast<int>(thread_ids().size()); }

}  // namespace tensmith::peers
