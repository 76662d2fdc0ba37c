#include "runtime/physical_cores.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

namespace tensmith::runtime {
namespace {

// The lowest-numbered hardware thread of the core that `cpu` belongs to; `cpu` itself when the system does not tell.
int first_sibling(int cpu) {
  char path[96];
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return cpu;
  char text[32] = {};
  const ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  if (length <= 0) return cpu;
  char* end = text;
  const long first = strtol(text, &end, 10);  // "0,64" or "0-1": sorted, the first number is enough
  return end != text && first >= 0 && first < CPU_SETSIZE ? static_cast<int>(first) : cpu;
}

}  // namespace

int allowed_physical_cores() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 1 ? static_cast<int>(online) : 1;
  }
  cpu_set_t cores;
  CPU_ZERO(&cores);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &allowed)) CPU_SET(first_sibling(cpu), &cores);
  }
  const int count = CPU_COUNT(&cores);
  return count > 1 ? count : 1;
}

}  // namespace tensmith::runtime
