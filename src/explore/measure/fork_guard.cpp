#include "explore/measure/fork_guard.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>

namespace tensmith {
namespace {

/// In a page that the system clears in every copy, however it was made. Asking for the process's number instead would
/// take longer than a short kernel.
volatile char* original = nullptr;
/// In a page that copies share.
std::atomic<bool>* came_back = nullptr;

void* page(int sharing) {
  void* memory =
      mmap(nullptr, static_cast<size_t>(sysconf(_SC_PAGESIZE)), PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

}  // namespace

void watch_forks() {
  came_back = static_cast<std::atomic<bool>*>(page(MAP_SHARED));
  void* cleared = page(MAP_PRIVATE);
  if (came_back == nullptr || cleared == nullptr) return;
  if (madvise(cleared, static_cast<size_t>(sysconf(_SC_PAGESIZE)), MADV_WIPEONFORK) != 0) return;
  original = static_cast<volatile char*>(cleared);
  *original = 1;
}

bool is_fork_copy() { return original != nullptr && *original == 0; }

void end_fork_copy() {
  if (!is_fork_copy()) return;
  came_back->store(true);
  _exit(0);
}

bool has_forked() {
  if (came_back != nullptr && came_back->load()) return true;
  siginfo_t info{};
  return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

}  // namespace tensmith
