#include <gtest/gtest.h>

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include <fmt/format.h>

#include "cli/program.h"
#include "tensmith/support/clock.h"
#include "tensmith/support/fd.h"
#include "tensmith/support/file.h"
#include "tensmith/support/strings.h"

namespace tensmith {
namespace {

class Tune : public ::testing::Test {
 protected:
  std::string db() const { return (dir_.path() / "tune.db").string(); }
  CapturedRun tune(std::vector<std::string> arguments, const std::string& database = {}) {
    arguments.insert(arguments.begin(),
                     {"tune", "--threads=1", "--min-seconds=0.0005", "--db=" + (database.empty() ? db() : database)});
    return run_tensmith(arguments);
  }
  nlohmann::json result(const CapturedRun& run) {
    const nlohmann::json json = json_of(run);
    EXPECT_TRUE(json.is_object() && json.contains("results")) << run.out << run.err;
    return json.is_object() ? json["results"][0] : nlohmann::json();
  }
  size_t lines() const {
    std::ifstream in(db());
    return static_cast<size_t>(std::count(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>(), '\n'));
  }
  TempDir dir_;
};

TEST_F(Tune, TunesRecordsAndRepeatsWithoutMeasuring) {
  const std::vector<std::string> command{"matmul:m=24,n=40,k=32", "--trials=10", "--json"};
  const CapturedRun first = tune(command);
  ASSERT_EQ(first.status.code, 0) << first.err;
  const nlohmann::json r = result(first);
  EXPECT_EQ(r["trials"], 10);
  EXPECT_EQ(r["valid"], 10) << "every output was right";
  EXPECT_GT(r["best"]["gflops"].get<double>(), 0);
  EXPECT_GE(r["best"]["gflops"].get<double>(), r["default"]["gflops"].get<double>());
  EXPECT_TRUE(r["best"]["config"]["knobs"].contains("tile_m"));
  const size_t before = lines();
  const CapturedRun again = tune(command);
  EXPECT_EQ(again.status.code, 0) << again.err;
  EXPECT_EQ(lines(), before) << "a finished command measures nothing new";
  EXPECT_EQ(result(again)["best"]["config"], r["best"]["config"]);
  EXPECT_EQ(result(tune({"matmul:m=24,n=40,k=32", "--trials=14", "--json"}))["trials"], 14)
      << "more trials go on from there";
}

TEST_F(Tune, TheResultIsExplained) {
  const std::vector<std::string> command{"matmul:m=24,n=40,k=32", "--trials=8"};
  const CapturedRun run = tune(command);
  ASSERT_EQ(run.status.code, 0) << run.err;
  EXPECT_NE(run.out.find("\nmatmul:m=24,n=40,k=32: config "), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("fastest single trial "), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("\n  tensmith show matmul:m=24,n=40,k=32 --threads=1 --db=" + db() + " --as=schedule\n"),
            std::string::npos)
      << run.out;
  const nlohmann::json r = result(tune({command[0], command[1], "--json"}));
  EXPECT_EQ(r["threads"], 1);
  EXPECT_EQ(r["target"], "llvm");
  for (const char* which : {"default", "best", "best_trial"}) {
    EXPECT_GT(r[which]["seconds"].get<double>(), 0) << which;
    EXPECT_NEAR(r[which]["gflops"].get<double>() * r[which]["seconds"].get<double>() * 1e9, 2.0 * 24 * 40 * 32, 1e-6);
  }
}

TEST_F(Tune, WhatIsNotKeptIsTold) {
  const std::vector<std::string> command{"tune", "matmul:m=24,n=40,k=32", "--threads=1", "--min-seconds=0.0005"};
  std::vector<std::string> few = command;
  few.push_back("--trials=2");
  const CapturedRun run = run_tensmith(few);
  EXPECT_EQ(run.status.code, 0) << run.err;
  EXPECT_NE(run.err.find("nothing is kept, for there is no --db"), std::string::npos) << run.err;
  EXPECT_EQ(run.out.find("--as=schedule"), std::string::npos) << "no command would find the result: " << run.out;

  const CapturedRun interrupted = run_script(
      "$T tune matmul:m=24,n=40,k=32 --threads=1 --trials=1000000 & sleep 1; kill -TERM $!; wait $!; echo code $?");
  EXPECT_NE(interrupted.err.find("interrupted; nothing is kept, for there is no --db"), std::string::npos)
      << interrupted.err;
  EXPECT_EQ(interrupted.err.find("everything measured is kept"), std::string::npos) << interrupted.err;
}

/// The expected output of this expression takes minutes.
TEST_F(Tune, AHugeReferenceIsAnnouncedAndEnds) {
  const double start = steady_seconds();
  const CapturedRun run = tune({"--expr", "C[y,x] = sum(k: exp(A[y,k]*B[k,x]))", "--shape", "A=2048x2048", "--shape",
                                "B=2048x2048", "--trials=2", "--time-budget=3s"});
  EXPECT_LT(steady_seconds() - start, 60);
  EXPECT_EQ(run.status.code, 1);
  EXPECT_NE(run.err.find("computing the output to expect, "), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("no trial was made within the time budget"), std::string::npos) << run.err;
}

TEST_F(Tune, EveryStrategy) {
  for (const char* strategy : {"random", "grid", "genetic", "annealing", "first-mls", "pso", "racing"}) {
    const CapturedRun run =
        tune({"matmul:m=8,n=16,k=8", "--trials=12", "--json", fmt::format("--strategy={}", strategy)},
             (dir_.path() / strategy).string());
    EXPECT_EQ(run.status.code, 0) << run.err;
    EXPECT_EQ(result(run)["valid"], 12) << strategy;
  }
}

TEST_F(Tune, AFreeExpression) {
  const CapturedRun run = tune({"--expr", "C[y,x] = max(sum(k: A[k,y]*B[k,x]), 0)", "--shape", "A=20x12", "--shape",
                                "B=20x30", "--trials=12", "--json"});
  ASSERT_EQ(run.status.code, 0) << run.err;
  EXPECT_EQ(result(run)["valid"], 12);
  EXPECT_NE(run_tensmith({"db", "stats", "--db", db()}).out.find(" GFLOP/s"), std::string::npos) << "as tune tells it";
}

TEST_F(Tune, OddShapes) {
  for (const char* workload :
       {"conv2d:c=1,h=1,w=1,k=1,r=1,s=1", "conv2d:c=8,h=17,w=19,k=12,r=3,s=3,pad=1:2:3:0,dilation=2",
        "matmul:m=3,n=5,k=1", "conv2d:n=2,c=13,h=71,w=59,k=16,r=3,s=3,pad=1", "matmul:m=127,n=127,k=127"}) {
    const CapturedRun run = tune({workload, "--trials=6", "--json"});
    EXPECT_EQ(run.status.code, 0) << workload << run.err;
    EXPECT_EQ(result(run)["valid"], result(run)["trials"]) << workload;
  }
}

TEST_F(Tune, ASpaceThatIsSmallerThanTheTrialsIsTold) {
  const std::vector<std::string> command{"--expr", "C[y] = sum(k: A[y,k])", "--shape", "A=5x1", "--trials=40"};
  const CapturedRun run = tune(command);
  EXPECT_EQ(run.status.code, 0) << run.err;
  EXPECT_NE(run.out.find("every config of its space was tried"), std::string::npos) << run.out;
}

TEST_F(Tune, NothingToTuneIsNoError) {
  for (const char* workload : {"matmul:m=4,n=4,k=0", "matmul:m=0,n=4,k=4", "conv2d:n=0,c=1,h=4,w=4,k=1,r=1,s=1"}) {
    const CapturedRun run = tune({workload, "--json"});
    EXPECT_EQ(run.status.code, 0) << workload << run.err;
    EXPECT_NE(run.err.find("nothing to tune"), std::string::npos) << run.err;
    EXPECT_EQ(result(run)["trials"], 0);
  }
}

TEST_F(Tune, WhenEveryTrialFailsTheCommonestReasonIsTold) {
  const CapturedRun run = tune({"matmul:m=64,n=64,k=64", "--trials=4", "--run-timeout=0.000001"});
  EXPECT_EQ(run.status.code, 1);
  EXPECT_NE(run.err.find("trials failed"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("took longer than"), std::string::npos) << run.err;
}

/// Processes whose command line ends in `worker ROLE ...` and whose parent is `parent`.
std::vector<pid_t> workers_of(pid_t parent, const std::string& role) {
  std::vector<pid_t> found;
  DIR* proc = opendir("/proc");
  while (const dirent* entry = readdir(proc)) {
    const pid_t pid = std::atoi(entry->d_name);
    if (pid <= 0) continue;
    std::ifstream stat(fmt::format("/proc/{}/stat", pid)), cmdline(fmt::format("/proc/{}/cmdline", pid));
    std::string text((std::istreambuf_iterator<char>(stat)), std::istreambuf_iterator<char>());
    std::string command((std::istreambuf_iterator<char>(cmdline)), std::istreambuf_iterator<char>());
    const size_t end = text.rfind(')');
    int ppid = 0;
    if (end != std::string::npos && std::sscanf(text.c_str() + end + 2, "%*c %d", &ppid) == 1 && ppid == parent &&
        command.find(std::string("worker") + '\0' + role) != std::string::npos) {
      found.push_back(pid);
    }
  }
  closedir(proc);
  return found;
}

TEST_F(Tune, KilledWorkersCostATrialAndCtrlCLosesNothing) {
  SpawnOptions options;
  options.argv = {TENSMITH_PROGRAM,  "tune",         "matmul:m=64,n=64,k=64", "--threads=1",
                  "--trials=100000", "--db=" + db(), "--min-seconds=0.0005"};
  UniqueFd null(open("/dev/null", O_WRONLY | O_CLOEXEC));
  options.fds = {{null.get(), 1}, {null.get(), 2}};
  Subprocess process = Subprocess::spawn(options);
  const double start = steady_seconds();
  const auto wait_for_lines = [&](size_t count) {
    while (lines() < count && steady_seconds() - start < 100)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ASSERT_GE(lines(), count);
  };
  wait_for_lines(5);
  for (const char* role : {"runner", "builder"}) {
    for (pid_t pid : workers_of(process.pid(), role)) kill(pid, SIGKILL);
    wait_for_lines(lines() + 5);
  }
  process.kill(SIGINT);
  const auto status = process.wait_for(60);
  ASSERT_TRUE(status.has_value()) << "Ctrl-C ends it";
  EXPECT_EQ(status->describe(), "exited with 130");
  const size_t kept = lines();
  const nlohmann::json stats = json_of(run_tensmith({"db", "stats", "--db", db(), "--json"}));
  EXPECT_EQ(stats["damaged_lines"], 0);
  EXPECT_EQ(stats["records"], kept);
  EXPECT_GE(stats["valid"].get<size_t>() + 4, stats["trials"].get<size_t>()) << "at most the killed ones failed";
}

TEST_F(Tune, TheProgressLineFitsTheTerminal) {
  UniqueFd terminal(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  ASSERT_TRUE(terminal.valid());
  ASSERT_EQ(grantpt(terminal.get()), 0);
  ASSERT_EQ(unlockpt(terminal.get()), 0);
  for (unsigned short columns : {200, 80, 30}) {
    winsize size{};
    size.ws_col = columns;
    ASSERT_EQ(ioctl(terminal.get(), TIOCSWINSZ, &size), 0);
    UniqueFd err(open(ptsname(terminal.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
    UniqueFd null(open("/dev/null", O_WRONLY | O_CLOEXEC));
    SpawnOptions options;
    options.argv = {TENSMITH_PROGRAM,
                    "tune",
                    "matmul:m=8,n=8,k=8",
                    "--threads=1",
                    "--trials=4",
                    "--min-seconds=0.0005",
                    fmt::format("--db={}{}", db(), columns)};
    options.fds = {{null.get(), 1}, {err.get(), 2}};
    Subprocess process = Subprocess::spawn(options);
    const auto status = process.wait_for(60);
    ASSERT_TRUE(status && status->success());
    std::string shown(1 << 16, '\0');
    shown.resize(static_cast<size_t>(std::max<ssize_t>(read(terminal.get(), shown.data(), shown.size()), 0)));
    EXPECT_NE(shown.find("4/4 trials"), std::string::npos) << shown;
    EXPECT_EQ(shown.find("[####") != std::string::npos, columns == 200) << "the bar goes first: " << shown;
    for (std::string_view line : split_string(shown, '\r')) {
      EXPECT_LT(line.substr(line.starts_with("\033[K") ? 3 : 0).size(), columns) << line;
    }
  }
}

TEST_F(Tune, AnInterruptedSetTellsWhatWasNotTuned) {
  SpawnOptions options;
  const std::string out = (dir_.path() / "out.json").string();
  options.argv = {
      "/bin/sh",
      "-c",
      "exec \"$0\" tune matmul:m=64,n=64,k=64 matmul:m=8,n=8,k=8 --threads=1 --trials=100000 --json --db=\"$1\" "
      ">\"$2\" 2>/dev/null",
      TENSMITH_PROGRAM,
      db(),
      out};
  Subprocess process = Subprocess::spawn(options);
  const double start = steady_seconds();
  while (lines() < 3 && steady_seconds() - start < 100) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  process.kill(SIGTERM);
  const auto status = process.wait_for(60);
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(status->describe(), "exited with 143");
  const nlohmann::json json = nlohmann::json::parse(read_file(out), nullptr, false);
  ASSERT_TRUE(json.is_object());
  EXPECT_EQ(json["interrupted"], true);
  EXPECT_EQ(json["results"][0]["note"], "interrupted");
  EXPECT_EQ(json["results"][1]["note"], "not tuned: interrupted");
}

TEST_F(Tune, EveryFailingWorkloadIsTold) {
  const CapturedRun run =
      tune({"matmul:m=64,n=64,k=64", "matmul:m=32,n=64,k=64", "--trials=2", "--run-timeout=0.000001", "--json"});
  EXPECT_EQ(run.status.code, 1);
  EXPECT_NE(run.err.find("error: matmul:m=64,n=64,k=64: all of 2 trials failed"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("error: matmul:m=32,n=64,k=64: all of 2 trials failed"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("2 of 2 workloads failed"), std::string::npos) << run.err;
  for (const nlohmann::json& result : json_of(run)["results"]) {
    EXPECT_NE(result["error"].get<std::string>().find("took longer than"), std::string::npos) << result;
  }
}

TEST_F(Tune, TheTimeBudgetIsOfTheWholeCommand) {
  const CapturedRun run =
      tune({"matmul:m=64,n=64,k=64", "matmul:m=8,n=8,k=8", "--trials=100000", "--time-budget=3s", "--json"});
  const nlohmann::json json = json_of(run);
  ASSERT_TRUE(json.is_object() && json.contains("results")) << run.err;
  EXPECT_EQ(json["interrupted"], false);
  ASSERT_EQ(json["results"].size(), 2u);
  EXPECT_LT(json["results"][0]["trials"].get<int>(), 100000);
  EXPECT_LT(json["results"][1]["seconds"].get<double>(), json["results"][0]["seconds"].get<double>())
      << "the second has what the first left";
}

TEST_F(Tune, NoTimeIsTold) {
  const CapturedRun run = tune({"matmul:m=8,n=8,k=8", "--trials=4", "--time-budget=0.000001s", "--json"});
  EXPECT_EQ(run.status.code, 1);
  EXPECT_EQ(result(run)["trials"], 0);
  EXPECT_EQ(result(run)["error"], "no trial was made within the time budget");
}

TEST_F(Tune, AFinishedTuneNeedsNoWritableDatabase) {
  const std::vector<std::string> command{"matmul:m=8,n=8,k=8", "--trials=3", "--json"};
  ASSERT_EQ(tune(command).status.code, 0);
  std::filesystem::permissions(db(), std::filesystem::perms::owner_read);
  const auto before = std::filesystem::last_write_time(db());
  const CapturedRun again = tune(command);
  EXPECT_EQ(again.status.code, 0) << again.err;
  EXPECT_EQ(result(again)["trials"], 3);
  EXPECT_EQ(std::filesystem::last_write_time(db()), before);
}

TEST_F(Tune, ANoteTellsWhenOnlyTheThreadsDiffer) {
  ASSERT_EQ(tune({"matmul:m=8,n=8,k=8", "--trials=3"}).status.code, 0);
  const CapturedRun run = run_tensmith({"show", "matmul:m=8,n=8,k=8", "--threads=2", "--db=" + db()});
  EXPECT_EQ(run.status.code, 0);
  EXPECT_NE(run.err.find("add --threads=1"), std::string::npos) << run.err;
  EXPECT_EQ(run_tensmith({"show", "matmul:m=8,n=8,k=8", "--threads=1", "--db=" + db()}).err, "");
}

TEST_F(Tune, DatabaseTools) {
  ASSERT_EQ(tune({"matmul:m=8,n=8,k=8", "--trials=3"}).status.code, 0);
  const std::string other = (dir_.path() / "other.db").string();
  EXPECT_EQ(json_of(run_tensmith({"db", "merge", db(), "-o", other, "--json"}))["added"], lines());
  EXPECT_EQ(json_of(run_tensmith({"db", "import", "--db", other, db(), "--json"}))["added"], 0);
  EXPECT_NE(run_tensmith({"db", "export", "--db", other, "--format=csv"}).out.find("matmul:m=8,n=8,k=8"),
            std::string::npos);
  const nlohmann::json exported = json_of(run_tensmith({"db", "export", "--db", other, "--json"}));
  ASSERT_TRUE(exported.is_object());
  EXPECT_NE(exported["text"].get<std::string>().find("matmul:m=8,n=8,k=8"), std::string::npos);
  EXPECT_EQ(json_of(run_tensmith({"db", "best", "--db", other, "--json"}))["results"].size(), 1u);
  std::ofstream(other, std::ios::app) << "{\"torn";
  const nlohmann::json stats = json_of(run_tensmith({"db", "stats", "--db", other, "--json"}));
  EXPECT_EQ(stats["damaged_lines"], 1);
  EXPECT_EQ(stats["trials"], 3);
}

}  // namespace
}  // namespace tensmith
