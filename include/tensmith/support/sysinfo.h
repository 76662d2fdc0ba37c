#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tensmith {

/// What this machine is. Nothing here throws: what the system does not tell has a stated fallback.

/// CPUs this process may run on, in rising order; at least one.
std::vector<int> allowed_cpus();
/// One allowed CPU of each physical core, in rising order: where to pin one thread a core.
std::vector<int> allowed_physical_cores();
/// Physical cores among the allowed CPUs; at least 1. The default of `--threads`.
int physical_core_count();

/// As /proc/cpuinfo names it, for example "AMD EPYC 7B13"; "unknown" when it does not.
std::string cpu_model_name();

/// Runs the calling thread on one CPU from now on. False when the system refuses (no permission, no such CPU).
bool pin_thread_to_cpu(int cpu);
/// Runs the calling thread on any of the CPUs. False when the system refuses or the list is empty.
bool pin_thread_to_cpus(const std::vector<int>& cpus);

/// Bytes of the data caches as one core sees them (l3 is shared); 0 where unknown or absent.
struct CacheSizes {
  int64_t l1d = 0;
  int64_t l2 = 0;
  int64_t l3 = 0;
};
CacheSizes cache_sizes();

/// The largest resident set of this process so far, in bytes; 0 when unknown.
int64_t peak_rss_bytes();
/// The resident set now, in bytes; 0 when unknown.
int64_t current_rss_bytes();
/// Bytes of memory that the machine has; 0 when unknown.
int64_t physical_memory_bytes();
/// Bytes of a memory page.
int64_t page_size();

}  // namespace tensmith
