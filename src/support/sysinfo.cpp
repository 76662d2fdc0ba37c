#include "tensmith/support/sysinfo.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <fstream>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "tensmith/support/strings.h"

namespace tensmith {
namespace {

std::optional<std::string> first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  return std::string(trim(line));
}

std::optional<int64_t> number_in(const std::string& path) {
  const auto line = first_line(path);
  return line ? parse_int64(*line) : std::nullopt;
}

// The value of "key   : value" in a file of such lines.
std::optional<std::string> field_in(const std::string& path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (colon != std::string::npos && trim(std::string_view(line).substr(0, colon)) == key) {
      return std::string(trim(std::string_view(line).substr(colon + 1)));
    }
  }
  return std::nullopt;
}

// "48K", "2M" or plain bytes.
int64_t parse_cache_size(std::string_view text) {
  int64_t unit = 1;
  if (!text.empty() && (text.back() == 'K' || text.back() == 'M')) {
    unit = text.back() == 'K' ? 1024 : 1024 * 1024;
    text.remove_suffix(1);
  }
  return parse_int64(text).value_or(0) * unit;
}

int64_t cache_size_from_sys(int64_t level) {
  for (int index = 0; index < 16; ++index) {
    const std::string base = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", index);
    const auto found = number_in(base + "level");
    if (!found) break;
    const auto type = first_line(base + "type");
    const auto size = first_line(base + "size");
    if (*found == level && type && *type != "Instruction" && size) return parse_cache_size(*size);
  }
  return 0;
}

int64_t status_kib(std::string_view key) {
  const auto field = field_in("/proc/self/status", key);
  if (!field) return 0;
  return parse_int64(split_string(*field, ' ').front()).value_or(0) * 1024;
}

// A machine may have more CPUs than the fixed set of the C library holds.
class CpuSet {
 public:
  explicit CpuSet(int cpus) : bytes_(CPU_ALLOC_SIZE(cpus)), set_(CPU_ALLOC(cpus)) { CPU_ZERO_S(bytes_, set_); }
  ~CpuSet() { CPU_FREE(set_); }
  CpuSet(const CpuSet&) = delete;
  CpuSet& operator=(const CpuSet&) = delete;

  void add(int cpu) { CPU_SET_S(cpu, bytes_, set_); }
  bool has(int cpu) const { return CPU_ISSET_S(cpu, bytes_, set_); }
  size_t bytes() const { return bytes_; }
  cpu_set_t* get() const { return set_; }

 private:
  size_t bytes_;
  cpu_set_t* set_;
};

constexpr int kMaxCpus = 8192;

}  // namespace

std::vector<int> allowed_cpus() {
  std::vector<int> cpus;
  const CpuSet set(kMaxCpus);
  if (::sched_getaffinity(0, set.bytes(), set.get()) == 0) {
    for (int cpu = 0; cpu < kMaxCpus; ++cpu) {
      if (set.has(cpu)) cpus.push_back(cpu);
    }
  }
  if (cpus.empty()) {
    const long online = ::sysconf(_SC_NPROCESSORS_ONLN);
    for (int cpu = 0; cpu < (online > 0 ? online : 1); ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

std::vector<int> allowed_physical_cores() {
  std::vector<int> cores;
  std::set<std::pair<int64_t, int64_t>> seen;
  for (int cpu : allowed_cpus()) {
    const std::string base = fmt::format("/sys/devices/system/cpu/cpu{}/topology/", cpu);
    const auto package = number_in(base + "physical_package_id");
    const auto core = number_in(base + "core_id");
    // A machine that does not tell its topology counts every CPU as a core.
    if (!core || seen.insert({package.value_or(0), *core}).second) cores.push_back(cpu);
  }
  return cores;
}

int physical_core_count() { return static_cast<int>(allowed_physical_cores().size()); }

std::string cpu_model_name() {
  const auto name = field_in("/proc/cpuinfo", "model name");
  return name && !name->empty() ? *name : "unknown";
}

bool pin_thread_to_cpu(int cpu) { return pin_thread_to_cpus({cpu}); }

bool pin_thread_to_cpus(const std::vector<int>& cpus) {
  if (cpus.empty()) return false;
  CpuSet set(kMaxCpus);
  for (int cpu : cpus) {
    if (cpu < 0 || cpu >= kMaxCpus) return false;
    set.add(cpu);
  }
  return ::pthread_setaffinity_np(::pthread_self(), set.bytes(), set.get()) == 0;
}

CacheSizes cache_sizes() {
  const auto size = [](int name, int64_t level) -> int64_t {
    const long told = ::sysconf(name);
    return told > 0 ? told : cache_size_from_sys(level);
  };
  return {size(_SC_LEVEL1_DCACHE_SIZE, 1), size(_SC_LEVEL2_CACHE_SIZE, 2), size(_SC_LEVEL3_CACHE_SIZE, 3)};
}

// getrusage's figure survives exec, so that a small child of a large process would report its parent's peak.
int64_t peak_rss_bytes() { return status_kib("VmHWM"); }

int64_t current_rss_bytes() { return status_kib("VmRSS"); }

int64_t physical_memory_bytes() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  return pages > 0 ? pages * page_size() : 0;
}

int64_t page_size() {
  const long size = ::sysconf(_SC_PAGESIZE);
  return size > 0 ? size : 4096;
}

}  // namespace tensmith
