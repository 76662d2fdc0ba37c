#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include <atomic>
#include <cstdint>

#include "runtime/float_mode.h"
#include "runtime/futex.h"
#include "runtime/physical_cores.h"
#include "tensmith/runtime/runtime.h"

// How a section runs. The caller describes it in plain fields, opens one claim a chunk, and wakes the workers. Every
// thread takes its own chunk if it can, then whichever chunks nobody has begun; the caller takes part, and sleeps only
// until chunks that others have begun are done. So a worker that is slow to wake, or was never started, delays nobody.
//
// A worker may look at a section that has already ended, or at the next one while it is being described. Claims make
// that harmless: a claim is opened for one epoch (2 * epoch) and taken by compare-and-swap (2 * epoch + 1), and the
// fields are read only by a thread that holds a claim, during which the section cannot end.

namespace tensmith::runtime {
namespace {

using Body = int (*)(std::int64_t, std::int64_t, void*);

constexpr int kMaxThreads = TENSMITH_MAX_THREADS;

struct alignas(64) Claim {
  std::atomic<std::uint64_t> ticket{0};
};

// Static storage, so that sections allocate nothing and a forked child has nothing to give back.
struct Pool {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;  // held by a section's caller and by changes of the settings

  std::atomic<int> threads{0};  // as set; 0: not yet decided
  int default_threads = 0;      // 0: not yet computed
  pthread_t workers[kMaxThreads - 1] = {};
  int worker_count = 0;
  int pins[kMaxThreads] = {};
  int pin_count = 0;
  cpu_set_t affinity_before_pinning = {};

  Body body = nullptr;
  void* closure = nullptr;
  std::int64_t extent = 0;

  alignas(64) std::atomic<std::uint64_t> epoch{0};
  std::atomic<std::uint32_t> chunks{0};
  std::atomic<std::uint32_t> signal{0};  // changes with every event that workers must look at; they sleep on it
  std::atomic<bool> stopping{false};
  alignas(64) std::atomic<std::uint32_t> pending{0};  // chunks not yet done; the caller sleeps on it
  std::atomic<std::uint64_t> failure{UINT64_MAX};     // chunk << 32 | result of the failed chunk that comes first
  Claim claims[kMaxThreads];
};

constinit Pool pool;

// initial-exec needs no __tls_get_addr, whose library would be one more that we depend on.
[[gnu::tls_model("initial-exec")]] thread_local bool in_section = false;

class SectionScope {
 public:
  SectionScope() { in_section = true; }
  ~SectionScope() { in_section = false; }
  SectionScope(const SectionScope&) = delete;
  SectionScope& operator=(const SectionScope&) = delete;

 private:
  FlushToZeroScope flush_;
};

class PoolLock {
 public:
  PoolLock() { pthread_mutex_lock(&pool.mutex); }
  ~PoolLock() { pthread_mutex_unlock(&pool.mutex); }
  PoolLock(const PoolLock&) = delete;
  PoolLock& operator=(const PoolLock&) = delete;
};

int clamp_threads(long count) { return count > kMaxThreads ? kMaxThreads : count < 1 ? 1 : static_cast<int>(count); }

// Needs the lock.
int default_threads() {
  if (pool.default_threads == 0) {
    long count = 0;
    if (const char* text = getenv("TENSMITH_NUM_THREADS")) {
      char* end = nullptr;
      count = strtol(text, &end, 10);
      if (end == text || *end != '\0') count = 0;
    }
    pool.default_threads = clamp_threads(count > 0 ? count : allowed_physical_cores());
  }
  return pool.default_threads;
}

void run_chunk(std::uint32_t chunk) {
  const std::int64_t chunks = pool.chunks.load(std::memory_order_relaxed);
  const std::int64_t size = pool.extent / chunks;
  const std::int64_t longer = pool.extent % chunks;  // so many chunks have one more
  const std::int64_t begin = chunk * size + (chunk < longer ? chunk : longer);
  const std::int64_t end = begin + size + (chunk < longer ? 1 : 0);
  const int result = pool.body(begin, end, pool.closure);
  if (result == 0) return;
  const std::uint64_t failure = std::uint64_t{chunk} << 32 | static_cast<std::uint32_t>(result);
  std::uint64_t first = pool.failure.load(std::memory_order_relaxed);
  while (failure < first && !pool.failure.compare_exchange_weak(first, failure, std::memory_order_relaxed)) {
  }
}

// Runs every chunk of section `epoch` that can still be had, this thread's own first.
void take_part(std::uint64_t epoch, std::uint32_t thread) {
  const std::uint32_t chunks = pool.chunks.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < chunks; ++i) {
    const std::uint32_t chunk = (thread + i) % chunks;
    std::uint64_t open = epoch * 2;
    if (!pool.claims[chunk].ticket.compare_exchange_strong(open, open + 1, std::memory_order_acq_rel)) continue;
    run_chunk(chunk);
    if (pool.pending.fetch_sub(1, std::memory_order_acq_rel) == 1) futex_wake(pool.pending, 1);
  }
}

// The status of giving the calling thread the CPU.
tensmith_status pin_this_thread(int cpu) {
  if (cpu < 0 || cpu >= CPU_SETSIZE) return TENSMITH_INVALID_ARGUMENT;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (sched_setaffinity(0, sizeof set, &set) == 0) return TENSMITH_OK;
  return errno == EINVAL ? TENSMITH_INVALID_ARGUMENT : TENSMITH_NOT_PERMITTED;
}

void* worker_main(void* argument) {
  const auto thread = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(argument));
  char name[16];
  snprintf(name, sizeof name, "tensmith-%u", thread);
  pthread_setname_np(pthread_self(), name);
  // pool.pins changes only while there are no workers. Pinning was found to work when it was asked for; should it
  // fail by now, the worker runs where the system puts it.
  if (pool.pin_count > 0) pin_this_thread(pool.pins[thread % static_cast<std::uint32_t>(pool.pin_count)]);
  const SectionScope always;

  std::uint64_t seen = 0;
  for (;;) {
    const std::uint32_t signal = pool.signal.load(std::memory_order_acquire);
    if (pool.stopping.load(std::memory_order_acquire)) return nullptr;
    const std::uint64_t epoch = pool.epoch.load(std::memory_order_acquire);
    if (epoch != seen) {
      seen = epoch;
      take_part(epoch, thread);
    } else {
      futex_wait(pool.signal, signal);
    }
  }
}

void notify_workers(int count) {
  pool.signal.fetch_add(1, std::memory_order_release);
  futex_wake(pool.signal, count);
}

// Needs the lock, hence no section is running.
void stop_workers() {
  if (pool.worker_count == 0) return;
  pool.stopping.store(true, std::memory_order_release);
  notify_workers(INT_MAX);
  for (int i = 0; i < pool.worker_count; ++i) pthread_join(pool.workers[i], nullptr);
  pool.worker_count = 0;
  pool.stopping.store(false, std::memory_order_release);
}

// In the child only the forking thread exists, and the lock may have been held by one that does not.
void forget_workers_in_child() {
  pool.mutex = PTHREAD_MUTEX_INITIALIZER;
  pool.worker_count = 0;
  pool.stopping.store(false, std::memory_order_relaxed);
  // Chunks of the parent's section that nobody had begun must not look open to the child's workers.
  pool.epoch.fetch_add(1, std::memory_order_relaxed);
}

// Needs the lock. Starts what it can; sections manage with fewer.
void start_workers(int count) {
  if (pool.worker_count >= count) return;
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, [] { pthread_atfork(nullptr, nullptr, forget_workers_in_child); });
  // Signals are for the program's own threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  while (pool.worker_count < count) {
    void* thread = reinterpret_cast<void*>(static_cast<std::uintptr_t>(pool.worker_count) + 1);
    if (pthread_create(&pool.workers[pool.worker_count], nullptr, worker_main, thread) != 0) break;
    ++pool.worker_count;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// Needs the lock, more than one thread and an extent of more than 1.
int run_section(std::int64_t extent, int threads, Body body, void* closure) {
  start_workers(threads - 1);
  const auto chunks = static_cast<std::uint32_t>(extent < threads ? extent : threads);
  const std::uint64_t epoch = pool.epoch.load(std::memory_order_relaxed) + 1;
  pool.body = body;
  pool.closure = closure;
  pool.extent = extent;
  pool.chunks.store(chunks, std::memory_order_relaxed);
  pool.failure.store(UINT64_MAX, std::memory_order_relaxed);
  pool.pending.store(chunks, std::memory_order_relaxed);
  for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
    pool.claims[chunk].ticket.store(epoch * 2, std::memory_order_release);
  }
  pool.epoch.store(epoch, std::memory_order_release);
  notify_workers(static_cast<int>(chunks) - 1);
  take_part(epoch, 0);
  while (const std::uint32_t pending = pool.pending.load(std::memory_order_acquire)) {
    futex_wait(pool.pending, pending);
  }
  const std::uint64_t failure = pool.failure.load(std::memory_order_relaxed);
  return failure == UINT64_MAX ? 0 : static_cast<int>(static_cast<std::uint32_t>(failure));
}

// At exit, and when the library is unloaded. A thread that exits the program from inside a body cannot wait for itself.
[[gnu::destructor]] void stop_workers_at_exit() {
  if (in_section || pthread_mutex_trylock(&pool.mutex) != 0) return;
  stop_workers();
  pthread_mutex_unlock(&pool.mutex);
}

}  // namespace
}  // namespace tensmith::runtime

using namespace tensmith::runtime;

extern "C" int tensmith_parallel_for(int64_t extent, int (*body)(int64_t, int64_t, void*), void* closure) {
  if (extent <= 0) return 0;
  if (in_section) return body(0, extent, closure);
  const int threads = tensmith_get_num_threads();
  const SectionScope scope;
  if (threads == 1 || extent == 1 || pthread_mutex_trylock(&pool.mutex) != 0) return body(0, extent, closure);
  const int result = run_section(extent, threads, body, closure);
  pthread_mutex_unlock(&pool.mutex);
  return result;
}

extern "C" tensmith_status tensmith_set_num_threads(int count) {
  if (in_section) return TENSMITH_BUSY;
  const PoolLock lock;
  const int threads = count > 0 ? clamp_threads(count) : default_threads();
  if (pool.worker_count >= threads) stop_workers();
  pool.threads.store(threads, std::memory_order_relaxed);
  return TENSMITH_OK;
}

extern "C" int tensmith_get_num_threads(void) {
  int threads = pool.threads.load(std::memory_order_relaxed);
  if (threads != 0) return threads;
  const PoolLock lock;
  threads = pool.threads.load(std::memory_order_relaxed);  // another thread may have set it by now
  if (threads == 0) {
    threads = default_threads();
    pool.threads.store(threads, std::memory_order_relaxed);
  }
  return threads;
}

extern "C" tensmith_status tensmith_pin_threads(const int* cpus, int n) {
  if (in_section) return TENSMITH_BUSY;
  if (n < 0 || n > kMaxThreads) return TENSMITH_INVALID_ARGUMENT;
  const PoolLock lock;
  // The default counts the CPUs this thread may use, which is about to become one.
  default_threads();
  if (cpus == nullptr || n == 0) {
    if (pool.pin_count == 0) return TENSMITH_OK;
    stop_workers();
    pool.pin_count = 0;
    const bool restored = sched_setaffinity(0, sizeof pool.affinity_before_pinning, &pool.affinity_before_pinning) == 0;
    return restored ? TENSMITH_OK : TENSMITH_NOT_PERMITTED;
  }
  cpu_set_t before;
  if (sched_getaffinity(0, sizeof before, &before) != 0) return TENSMITH_NOT_PERMITTED;
  // Each CPU is tried, from the last to the first, where this thread then stays.
  for (int i = n; i-- > 0;) {
    const tensmith_status status = pin_this_thread(cpus[i]);
    if (status != TENSMITH_OK) {
      sched_setaffinity(0, sizeof before, &before);
      return status;
    }
  }
  stop_workers();
  if (pool.pin_count == 0) pool.affinity_before_pinning = before;
  for (int i = 0; i < n; ++i) pool.pins[i] = cpus[i];
  pool.pin_count = n;
  return TENSMITH_OK;
}

extern "C" tensmith_status tensmith_stop_threads(void) {
  if (in_section) return TENSMITH_BUSY;
  const PoolLock lock;
  stop_workers();
  return TENSMITH_OK;
}
