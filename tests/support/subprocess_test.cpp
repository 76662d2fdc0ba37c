#include "tensmith/support/subprocess.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tensmith/support/clock.h"
#include "tensmith/support/error.h"
#include "tensmith/support/fd.h"
#include "tensmith/support/file.h"
#include "tensmith/support/strings.h"

namespace tensmith {
namespace {

SpawnOptions shell(const std::string& script) {
  SpawnOptions options;
  options.argv = {"sh", "-c", script};
  return options;
}

// Waits until the process is gone; the group's leader may be reaped before its orphans are.
bool is_gone(pid_t pid) {
  for (int i = 0; i < 500; ++i) {
    if (::kill(pid, 0) != 0 && errno == ESRCH) return true;
    std::string stat;
    try {
      stat = read_file("/proc/" + std::to_string(pid) + "/stat");
    } catch (const WorkError&) {
      return true;
    }
    // An orphan whose new parent does not reap it stays a zombie.
    if (stat.find(") Z ") != std::string::npos) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

TEST(Subprocess, TellsWhoEndedIt) {
  for (const char* signal : {"KILL", "TERM", "HUP", "INT"}) {
    EXPECT_TRUE(run_captured(shell(std::string("kill -") + signal + " $$")).status.ended_from_outside()) << signal;
  }
  for (const char* signal : {"SEGV", "ABRT", "XFSZ", "XCPU", "PIPE"}) {
    EXPECT_FALSE(run_captured(shell(std::string("kill -") + signal + " $$")).status.ended_from_outside()) << signal;
  }
  EXPECT_FALSE(run_captured(shell("exit 9")).status.ended_from_outside());
  EXPECT_FALSE(ExitStatus{}.ended_from_outside());
}

TEST(Subprocess, DescribesEveryEnd) {
  EXPECT_EQ(run_captured(shell("exit 0")).status.describe(), "exited with 0");
  EXPECT_TRUE(run_captured(shell("exit 0")).status.success());
  const CapturedRun failed = run_captured(shell("exit 3"));
  EXPECT_EQ(failed.status.describe(), "exited with 3");
  EXPECT_FALSE(failed.status.success());
  EXPECT_EQ(run_captured(shell("kill -SEGV $$")).status.describe(), "killed by signal 11 (SIGSEGV)");
  EXPECT_EQ(run_captured(shell("kill -KILL $$")).status.describe(), "killed by signal 9 (SIGKILL)");
  ExitStatus odd;
  odd.signal = 40;
  EXPECT_EQ(odd.describe(), "killed by signal 40");
  EXPECT_EQ(ExitStatus{}.describe(), "ended without a status");
}

TEST(Subprocess, CapturesBothOutputsAndGivesInput) {
  const CapturedRun run = run_captured(shell("read line; echo out $line; echo err >&2; echo more"), -1.0, "text\n");
  EXPECT_EQ(run.out, "out text\nmore\n");
  EXPECT_EQ(run.err, "err\n");
  EXPECT_FALSE(run.timed_out);
}

TEST(Subprocess, LargeOutputDoesNotBlock) {
  const CapturedRun run = run_captured(shell("head -c 1000000 /dev/zero; head -c 500000 /dev/zero >&2"), 60.0);
  EXPECT_TRUE(run.status.success());
  EXPECT_EQ(run.out.size(), 1000000u);
  EXPECT_EQ(run.err.size(), 500000u);
}

TEST(Subprocess, NoInputIsAnEmptyInput) {
  Subprocess child = Subprocess::spawn(shell("read line && exit 1; exit 0"));
  EXPECT_TRUE(child.wait().success());
}

TEST(Subprocess, ATimeoutKillsTheWholeGroup) {
  const CapturedRun run = run_captured(shell("sleep 1000 & echo $!; echo seen; wait"), 0.5);
  EXPECT_TRUE(run.timed_out);
  EXPECT_EQ(run.status.describe(), "killed by signal 9 (SIGKILL)");
  const auto lines = split_string(run.out, '\n');
  ASSERT_EQ(lines.size(), 3u) << run.out;
  EXPECT_TRUE(is_gone(static_cast<pid_t>(parse_int64(lines[0]).value())));
}

TEST(Subprocess, WhatAChildLeavesBehindIsKilled) {
  const CapturedRun run = run_captured(shell("sleep 1000 & echo $!"), 60.0);
  EXPECT_TRUE(run.status.success());
  EXPECT_TRUE(is_gone(static_cast<pid_t>(parse_int64(trim(run.out)).value())));
}

TEST(Subprocess, WaitForComesBackWithoutAStatusWhileTheChildRuns) {
  Subprocess child = Subprocess::spawn(shell("sleep 1000"));
  EXPECT_FALSE(child.wait_for(0.0));
  EXPECT_FALSE(child.wait_for(0.02));
  child.kill(SIGTERM);
  EXPECT_EQ(child.wait().describe(), "killed by signal 15 (SIGTERM)");
  EXPECT_EQ(child.wait_for(0.0)->describe(), "killed by signal 15 (SIGTERM)");
  child.kill();
}

TEST(Subprocess, DestructionEndsTheChild) {
  pid_t pid = 0;
  {
    Subprocess child = Subprocess::spawn(shell("sleep 1000"));
    Subprocess moved(std::move(child));
    pid = moved.pid();
    EXPECT_EQ(::kill(pid, 0), 0);
  }
  EXPECT_TRUE(is_gone(pid));
}

TEST(Subprocess, AMachineThatLacksDescriptorsIsNotTheProgramsFault) {
  rlimit old{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &old), 0);
  const rlimit none{3, old.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  try {
    Subprocess::spawn(shell("true"));
    ADD_FAILURE() << "started";
  } catch (const ProgramError& error) {
    ADD_FAILURE() << error.what();
  } catch (const WorkError& error) {
    EXPECT_NE(error.message().find(": Too many open files"), std::string::npos) << error.message();
    EXPECT_EQ(error.hint(), "raise the limit of open files (ulimit -n)");
  }
  setrlimit(RLIMIT_NOFILE, &old);
}

TEST(Subprocess, AProgramThatIsMissingOrNotExecutableIsAnError) {
  SpawnOptions options;
  options.argv = {"no-such-program-here"};
  try {
    Subprocess::spawn(options);
    FAIL() << "started";
  } catch (const ProgramError& error) {
    EXPECT_STREQ(error.what(), "cannot start no-such-program-here: no such program (hint: check the path or $PATH)");
  }
  const TempDir dir;
  write_file(dir.path() / "data", "not a program");
  options.argv = {(dir.path() / "data").string()};
  try {
    Subprocess::spawn(options);
    FAIL() << "started";
  } catch (const ProgramError& error) {
    EXPECT_NE(std::string(error.what()).find("Permission denied (hint: the file must be executable)"),
              std::string::npos)
        << error.what();
  }
  options.argv = {};
  EXPECT_THROW(Subprocess::spawn(options), InternalError);
}

TEST(Subprocess, MapsDescriptorsEvenWhenTheNumbersCross) {
  FdPair one = make_pipe();
  FdPair two = make_pipe();
  SpawnOptions options = shell("echo one >&5; echo two >&6");
  // Move our ends to 6 and 5, so that each final number is the other's source.
  UniqueFd first(::fcntl(one.second.get(), F_DUPFD_CLOEXEC, 20));
  UniqueFd second(::fcntl(two.second.get(), F_DUPFD_CLOEXEC, 21));
  one.second.reset();
  two.second.reset();
  options.fds = {{first.get(), 5}, {second.get(), 6}};
  Subprocess child = Subprocess::spawn(options);
  first.reset();
  second.reset();
  std::array<char, 4> text{};
  ASSERT_EQ(read_exact(one.first.get(), text.data(), 4, 60.0), ReadResult::kDone);
  EXPECT_EQ(std::string(text.data(), 4), "one\n");
  ASSERT_EQ(read_exact(two.first.get(), text.data(), 4, 60.0), ReadResult::kDone);
  EXPECT_EQ(std::string(text.data(), 4), "two\n");
  EXPECT_TRUE(child.wait().success());
}

TEST(Subprocess, SwappedDescriptorsArriveSwapped) {
  const FdPair pipe_a = make_pipe();
  const FdPair pipe_b = make_pipe();
  const int a = pipe_a.second.get();
  const int b = pipe_b.second.get();
  // By way of /proc, because the shell itself takes one-digit descriptors only.
  SpawnOptions options =
      shell("echo A > /proc/self/fd/" + std::to_string(b) + "; echo B > /proc/self/fd/" + std::to_string(a));
  options.fds = {{a, b}, {b, a}};
  Subprocess child = Subprocess::spawn(options);
  std::array<char, 2> text{};
  ASSERT_EQ(read_exact(pipe_a.first.get(), text.data(), 2, 60.0), ReadResult::kDone);
  EXPECT_EQ(text[0], 'A');
  ASSERT_EQ(read_exact(pipe_b.first.get(), text.data(), 2, 60.0), ReadResult::kDone);
  EXPECT_EQ(text[0], 'B');
  EXPECT_TRUE(child.wait().success());
}

TEST(Subprocess, EveryOtherDescriptorIsClosed) {
  const FdPair pipe = make_pipe();
  // Without close-on-exec, as a careless library would open it.
  const UniqueFd leaked(::fcntl(pipe.second.get(), F_DUPFD, 7));
  SpawnOptions options = shell("ls /proc/self/fd | tr '\\n' ' '");
  options.fds = {{pipe.second.get(), 6}};
  const CapturedRun run = run_captured(options);
  // ls itself opens 3 to list the directory.
  EXPECT_EQ(run.out, "0 1 2 3 6 ");
}

TEST(Subprocess, EnvironmentIsAddedAndReplaced) {
  ASSERT_EQ(::setenv("TENSMITH_TEST_KEPT", "kept", 1), 0);
  ASSERT_EQ(::setenv("TENSMITH_TEST_REPLACED", "old", 1), 0);
  SpawnOptions options = shell("echo $TENSMITH_TEST_KEPT $TENSMITH_TEST_REPLACED $TENSMITH_TEST_NEW");
  options.environment = {"TENSMITH_TEST_REPLACED=new", "TENSMITH_TEST_NEW=a b"};
  EXPECT_EQ(run_captured(options).out, "kept new a b\n");
}

TEST(Subprocess, LimitsHoldInTheChildOnly) {
  SpawnOptions options = shell("ulimit -v; ulimit -c");
  options.address_space_bytes = uint64_t{512} << 20;
  EXPECT_EQ(run_captured(options).out, "524288\n0\n");
}

TEST(Subprocess, ChildStartsWithStandardSignals) {
  struct sigaction ignore {};
  struct sigaction old {};
  ignore.sa_handler = SIG_IGN;
  ASSERT_EQ(::sigaction(SIGPIPE, &ignore, &old), 0);
  const CapturedRun run = run_captured(shell("kill -PIPE $$; echo survived"));
  ASSERT_EQ(::sigaction(SIGPIPE, &old, nullptr), 0);
  EXPECT_EQ(run.status.describe(), "killed by signal 13 (SIGPIPE)");
}

TEST(Subprocess, AChildDiesWithTheThreadThatAskedForIt) {
  pid_t pid = 0;
  std::optional<Subprocess> child;
  std::thread([&] {
    SpawnOptions options = shell("sleep 1000");
    options.die_with_parent = true;
    child = Subprocess::spawn(options);
    pid = child->pid();
    EXPECT_FALSE(child->wait_for(0.0));
  }).join();
  EXPECT_EQ(child->wait().describe(), "killed by signal 9 (SIGKILL)");
}

// Threads that allocate all the time hold the allocator's lock at many of the forks.
TEST(Subprocess, ManyThreadsMayStartChildrenAtOnce) {
  std::atomic<bool> stop{false};
  std::thread allocator([&] {
    while (!stop) std::vector<char>(1000, 'x').push_back('y');
  });
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 8; ++i) {
        const CapturedRun run = run_captured(shell("exit " + std::to_string(t + i)), 60.0);
        right += run.status.exited && run.status.code == t + i;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  stop = true;
  allocator.join();
  EXPECT_EQ(right, 24);
}

}  // namespace
}  // namespace tensmith
