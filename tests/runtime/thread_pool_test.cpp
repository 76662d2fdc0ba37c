#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tensmith/runtime/runtime.h"

namespace {

using Range = std::pair<int64_t, int64_t>;

// Calls tensmith_parallel_for with a C++ callable.
template <typename F>
int parallel_for(int64_t extent, F&& f) {
  const auto call = [](int64_t begin, int64_t end, void* closure) -> int {
    return (*static_cast<std::remove_reference_t<F>*>(closure))(begin, end);
  };
  return tensmith_parallel_for(extent, call, &f);
}

std::set<Range> chunks_of(int64_t extent) {
  std::mutex mutex;
  std::set<Range> chunks;
  EXPECT_EQ(parallel_for(extent,
                         [&](int64_t begin, int64_t end) {
                           const std::lock_guard lock(mutex);
                           EXPECT_TRUE(chunks.emplace(begin, end).second) << begin << ".." << end << " ran twice";
                           return 0;
                         }),
            0);
  return chunks;
}

class ThreadPool : public ::testing::Test {
 protected:
  void TearDown() override {
    tensmith_pin_threads(nullptr, 0);
    tensmith_set_num_threads(0);
  }
};

TEST_F(ThreadPool, CoversTheRangeOnceAtAnyThreadCount) {
  for (const int threads : {1, 2, 3, 7, 16, 2, 33, 1, 5}) {
    ASSERT_EQ(tensmith_set_num_threads(threads), TENSMITH_OK);
    EXPECT_EQ(tensmith_get_num_threads(), threads);
    for (const int64_t extent : {1, 2, 3, 16, 100, 1001}) {
      std::vector<std::atomic<int>> visits(static_cast<std::size_t>(extent));
      EXPECT_EQ(parallel_for(extent,
                             [&](int64_t begin, int64_t end) {
                               for (int64_t i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
                               return 0;
                             }),
                0);
      for (const auto& count : visits) ASSERT_EQ(count, 1) << threads << " threads, extent " << extent;
    }
  }
}

TEST_F(ThreadPool, ChunksDependOnExtentAndThreadCountOnly) {
  tensmith_set_num_threads(4);
  const std::set<Range> expected = {{0, 3}, {3, 6}, {6, 8}, {8, 10}};
  for (int i = 0; i < 50; ++i) EXPECT_EQ(chunks_of(10), expected);
}

TEST_F(ThreadPool, FewerIterationsThanThreads) {
  tensmith_set_num_threads(8);
  EXPECT_EQ(chunks_of(3), (std::set<Range>{{0, 1}, {1, 2}, {2, 3}}));
  EXPECT_EQ(chunks_of(1), (std::set<Range>{{0, 1}}));
}

TEST_F(ThreadPool, EmptyAndNegativeExtentsCallNothing) {
  tensmith_set_num_threads(4);
  EXPECT_TRUE(chunks_of(0).empty());
  EXPECT_TRUE(chunks_of(-5).empty());
}

TEST_F(ThreadPool, LargeExtentsDoNotOverflow) {
  tensmith_set_num_threads(3);
  const int64_t extent = INT64_MAX;
  const std::set<Range> chunks = chunks_of(extent);
  ASSERT_EQ(chunks.size(), 3u);
  EXPECT_EQ(chunks.begin()->first, 0);
  EXPECT_EQ(chunks.rbegin()->second, extent);
}

TEST_F(ThreadPool, ThreadsRunAtTheSameTime) {
  tensmith_set_num_threads(4);
  // Every chunk waits for all others to have begun, which only different threads can do.
  std::atomic<int> begun{0};
  EXPECT_EQ(parallel_for(4,
                         [&](int64_t, int64_t) {
                           ++begun;
                           while (begun < 4) std::this_thread::yield();
                           return 0;
                         }),
            0);
}

TEST_F(ThreadPool, FirstFailingChunkDecidesTheResult) {
  tensmith_set_num_threads(4);
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> ran{0};
    const int result = parallel_for(4, [&](int64_t begin, int64_t) {
      ++ran;
      return begin == 0 ? 0 : static_cast<int>(-begin);
    });
    EXPECT_EQ(result, -1);
    EXPECT_EQ(ran, 4) << "a failure does not stop the others";
  }
  EXPECT_EQ(parallel_for(4, [](int64_t, int64_t) { return 0; }), 0) << "a failure is forgotten afterwards";
}

TEST_F(ThreadPool, ResultsOfSerialRunsAreReturned) {
  tensmith_set_num_threads(1);
  EXPECT_EQ(parallel_for(4, [](int64_t begin, int64_t end) { return static_cast<int>(end - begin); }), 4);
}

TEST_F(ThreadPool, NestedCallsRunInTheCaller) {
  tensmith_set_num_threads(4);
  std::atomic<int> inner_calls{0};
  std::atomic<int64_t> covered{0};
  EXPECT_EQ(parallel_for(8,
                         [&](int64_t begin, int64_t end) {
                           const std::thread::id self = std::this_thread::get_id();
                           for (int64_t i = begin; i < end; ++i) {
                             const int result = parallel_for(100, [&](int64_t from, int64_t to) {
                               EXPECT_EQ(std::this_thread::get_id(), self);
                               ++inner_calls;
                               covered += to - from;
                               return 0;
                             });
                             EXPECT_EQ(result, 0);
                           }
                           return 0;
                         }),
            0);
  EXPECT_EQ(inner_calls, 8);
  EXPECT_EQ(covered, 800);
}

TEST_F(ThreadPool, SettingsCannotChangeInsideASection) {
  for (const int threads : {1, 3}) {
    tensmith_set_num_threads(threads);
    EXPECT_EQ(parallel_for(3,
                           [&](int64_t, int64_t) {
                             const int cpu = 0;
                             EXPECT_EQ(tensmith_set_num_threads(7), TENSMITH_BUSY);
                             EXPECT_EQ(tensmith_pin_threads(&cpu, 1), TENSMITH_BUSY);
                             EXPECT_EQ(tensmith_stop_threads(), TENSMITH_BUSY);
                             EXPECT_EQ(tensmith_get_num_threads(), threads);
                             return 0;
                           }),
              0);
    EXPECT_EQ(tensmith_get_num_threads(), threads);
  }
}

TEST_F(ThreadPool, CountIsClampedAndDefaultsToWhatTheProcessMayUse) {
  ASSERT_EQ(tensmith_set_num_threads(TENSMITH_MAX_THREADS + 1), TENSMITH_OK);
  EXPECT_EQ(tensmith_get_num_threads(), TENSMITH_MAX_THREADS);
  ASSERT_EQ(tensmith_set_num_threads(0), TENSMITH_OK);
  EXPECT_GE(tensmith_get_num_threads(), 1);
  if (getenv("TENSMITH_NUM_THREADS") == nullptr) {
    EXPECT_LE(tensmith_get_num_threads(), static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
  }
}

TEST_F(ThreadPool, ManyThreadsAndManySections) {
  tensmith_set_num_threads(64);
  std::atomic<int64_t> sum{0};
  for (int round = 0; round < 200; ++round) {
    parallel_for(round + 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) sum += i;
      return 0;
    });
  }
  int64_t expected = 0;
  for (int64_t round = 0; round < 200; ++round) expected += round * (round + 1) / 2;
  EXPECT_EQ(sum, expected);
}

TEST_F(ThreadPool, CallersOfSeveralThreadsDoNotDisturbEachOther) {
  tensmith_set_num_threads(3);
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&wrong, caller] {
      for (int round = 0; round < 300; ++round) {
        const int64_t extent = 1 + (round + caller) % 17;
        std::atomic<int64_t> covered{0};
        const int result = parallel_for(extent, [&](int64_t begin, int64_t end) {
          covered += end - begin;
          return 0;
        });
        if (result != 0 || covered != extent) ++wrong;
      }
    });
  }
  for (int round = 0; round < 100; ++round) tensmith_set_num_threads(1 + round % 5);
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

// The state letter of a thread of this process: S while it sleeps, R while it runs or could.
char thread_state(const std::string& id) {
  std::ifstream file("/proc/self/task/" + id + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(')');
  return name_end == std::string::npos ? '?' : text[name_end + 2];
}

// A busy machine may take its time to let a thread go to sleep, but one that spins is never seen asleep.
bool falls_asleep(const std::string& id) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (std::chrono::steady_clock::now() < deadline) {
    if (thread_state(id) == 'S') return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

TEST_F(ThreadPool, WorkersSleepBetweenSections) {
  tensmith_set_num_threads(4);
  EXPECT_EQ(chunks_of(4).size(), 4u);
  const std::string self = std::to_string(gettid());
  int others = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    const std::string id = entry.path().filename();
    if (id == self) continue;
    ++others;
    EXPECT_TRUE(falls_asleep(id)) << "thread " << id << " is in state " << thread_state(id);
  }
  EXPECT_GE(others, 3);
}

TEST_F(ThreadPool, CallerSleepsWhileOthersFinish) {
  tensmith_set_num_threads(2);
  const pid_t caller = gettid();
  std::atomic<bool> worker_has_one{false};
  std::atomic<bool> caller_is_done{false};
  EXPECT_EQ(parallel_for(2,
                         [&](int64_t, int64_t) {
                           if (gettid() == caller) {
                             while (!worker_has_one) std::this_thread::yield();
                             caller_is_done = true;
                             return 0;
                           }
                           worker_has_one = true;
                           while (!caller_is_done) std::this_thread::yield();
                           return falls_asleep(std::to_string(caller)) ? 0 : 1;
                         }),
            0);
}

TEST_F(ThreadPool, StopAndStartAgain) {
  tensmith_set_num_threads(3);
  EXPECT_EQ(chunks_of(3).size(), 3u);
  EXPECT_EQ(tensmith_stop_threads(), TENSMITH_OK);
  EXPECT_EQ(tensmith_stop_threads(), TENSMITH_OK);
  EXPECT_EQ(tensmith_get_num_threads(), 3);
  EXPECT_EQ(chunks_of(3).size(), 3u);
}

TEST_F(ThreadPool, WorkersBlockSignals) {
  tensmith_set_num_threads(2);
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<bool> checked{false};
  EXPECT_EQ(parallel_for(2,
                         [&](int64_t, int64_t) {
                           if (std::this_thread::get_id() == caller) {
                             while (!checked) std::this_thread::yield();
                             return 0;
                           }
                           sigset_t blocked;
                           pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
                           EXPECT_EQ(sigismember(&blocked, SIGINT), 1);
                           EXPECT_EQ(sigismember(&blocked, SIGTERM), 1);
                           checked = true;
                           return 0;
                         }),
            0);
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  EXPECT_EQ(sigismember(&blocked, SIGINT), 0) << "the caller's own mask is left alone";
}

std::vector<int> allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

TEST_F(ThreadPool, PinningGivesEachThreadItsCpu) {
  const std::vector<int> before = allowed_cpus();
  tensmith_set_num_threads(2);
  const int last = before.back();
  const int cpus[] = {last, before.front()};
  const tensmith_status status = tensmith_pin_threads(cpus, 2);
  if (status == TENSMITH_NOT_PERMITTED) GTEST_SKIP() << "this system does not permit pinning";
  ASSERT_EQ(status, TENSMITH_OK);
  EXPECT_EQ(allowed_cpus(), std::vector<int>{last});
  std::atomic<int> begun{0};
  const std::thread::id caller = std::this_thread::get_id();
  EXPECT_EQ(parallel_for(2,
                         [&](int64_t, int64_t) {
                           ++begun;
                           while (begun < 2) std::this_thread::yield();
                           const int expected = std::this_thread::get_id() == caller ? last : before.front();
                           EXPECT_EQ(allowed_cpus(), std::vector<int>{expected});
                           return 0;
                         }),
            0);
  EXPECT_EQ(tensmith_pin_threads(nullptr, 0), TENSMITH_OK);
  EXPECT_EQ(allowed_cpus(), before);
}

TEST_F(ThreadPool, PinningToWhatDoesNotExistChangesNothing) {
  const std::vector<int> before = allowed_cpus();
  for (const int nowhere : {-1, CPU_SETSIZE - 1, CPU_SETSIZE}) {
    const int cpus[] = {before.front(), nowhere};
    const tensmith_status status = tensmith_pin_threads(cpus, 2);
    EXPECT_TRUE(status == TENSMITH_INVALID_ARGUMENT || status == TENSMITH_NOT_PERMITTED) << status;
    EXPECT_EQ(allowed_cpus(), before);
  }
  EXPECT_EQ(tensmith_pin_threads(nullptr, -1), TENSMITH_INVALID_ARGUMENT);
}

// The thread sanitizer refuses threads in a child of a process that has some.
#if !defined(__SANITIZE_THREAD__)
TEST_F(ThreadPool, AForkedChildHasAPoolOfItsOwn) {
  tensmith_set_num_threads(3);
  EXPECT_EQ(chunks_of(3).size(), 3u);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    std::atomic<int> begun{0};
    const int result = parallel_for(3, [&](int64_t, int64_t) {
      ++begun;
      while (begun < 3) std::this_thread::yield();
      return 0;
    });
    _exit(result == 0 && tensmith_get_num_threads() == 3 && tensmith_stop_threads() == TENSMITH_OK ? 0 : 1);
  }
  ASSERT_GT(child, 0);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(chunks_of(3).size(), 3u) << "the parent's pool goes on";
}

TEST_F(ThreadPool, ForkDuringAnotherThreadsSection) {
  tensmith_set_num_threads(2);
  std::atomic<bool> running{false};
  std::atomic<bool> release{false};
  std::thread other([&] {
    parallel_for(2, [&](int64_t, int64_t) {
      running = true;
      while (!release) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return 0;
    });
  });
  while (!running) std::this_thread::yield();
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    std::atomic<int64_t> covered{0};
    parallel_for(10, [&](int64_t begin, int64_t end) {
      covered += end - begin;
      return 0;
    });
    _exit(covered == 10 && tensmith_set_num_threads(1) == TENSMITH_OK ? 0 : 1);
  }
  release = true;
  other.join();
  ASSERT_GT(child, 0);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST_F(ThreadPool, WorksWhereNoThreadCanBeStarted) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    // A stack larger than the address space that is left makes every pthread_create fail.
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, std::size_t{1} << 46);
    pthread_setattr_default_np(&attributes);
    tensmith_set_num_threads(4);
    std::atomic<int64_t> covered{0};
    std::atomic<int> calls{0};
    const int result = parallel_for(10, [&](int64_t begin, int64_t end) {
      ++calls;
      covered += end - begin;
      return 0;
    });
    _exit(result == 0 && covered == 10 && calls == 4 ? 0 : 1);
  }
  ASSERT_GT(child, 0);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}
#endif

TEST(ThreadPoolExit, ExitingFromABodyDoesNotHang) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "sanitizers report at exit what a thread was still using";
#endif
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        alarm(20);
        tensmith_set_num_threads(2);
        parallel_for(2, [](int64_t, int64_t) {
          static std::atomic<int> entered{0};
          if (entered++ == 0) exit(7);
          for (;;) pause();
          return 0;
        });
      },
      ::testing::ExitedWithCode(7), "");
}

TEST(ThreadPoolExit, EnvironmentSetsTheDefault) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        setenv("TENSMITH_NUM_THREADS", "5", 1);
        exit(tensmith_get_num_threads());
      },
      ::testing::ExitedWithCode(5), "");
  EXPECT_EXIT(
      {
        setenv("TENSMITH_NUM_THREADS", "many", 1);
        const int threads = tensmith_get_num_threads();
        exit(threads >= 1 && threads <= static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)) ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
