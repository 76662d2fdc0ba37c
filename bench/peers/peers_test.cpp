// Drives tensmith-peer through its protocol, and tests the naive computation that it checks itself against.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "problem.h"
#include "tensmith/support/error.h"
#include "tensmith/support/subprocess.h"
#include "tensmith/support/sysinfo.h"

namespace tensmith::peers {
namespace {

using nlohmann::json;

std::vector<std::string> peers_of_this_build() {
  std::vector<std::string> names;
#ifdef TENSMITH_PEER_ONEDNN
  names.push_back("onednn");
#endif
#ifdef TENSMITH_PEER_OPENBLAS
  names.push_back("openblas");
#endif
#ifdef TENSMITH_PEER_EIGEN
  names.push_back("eigen");
#endif
  return names;
}

bool has_peer(const std::string& name) {
  for (const std::string& peer : peers_of_this_build()) {
    if (peer == name) return true;
  }
  return false;
}

// A running program, one command at a time.
class Peer {
 public:
  explicit Peer(std::vector<std::string> arguments, std::vector<std::string> environment = {}) {
    int to[2];
    int from[2];
    EXPECT_EQ(pipe2(to, O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(from, O_CLOEXEC), 0);
    SpawnOptions options;
    options.argv = {TENSMITH_PEER_PROGRAM};
    options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
    options.environment = std::move(environment);
    options.fds = {{to[0], 0}, {from[1], 1}};
    options.die_with_parent = true;
    process_.emplace(Subprocess::spawn(options));
    close(to[0]);
    close(from[1]);
    commands_ = fdopen(to[1], "w");
    answers_ = fdopen(from[0], "r");
  }

  ~Peer() {
    if (commands_ != nullptr) fclose(commands_);
    fclose(answers_);
  }

  json command(const std::string& line) {
    fprintf(commands_, "%s\n", line.c_str());
    fflush(commands_);
    std::string text;
    for (int c; (c = fgetc(answers_)) != EOF && c != '\n';) text += static_cast<char>(c);
    return json::parse(text, nullptr, false);
  }

  ExitStatus end(const std::string& last_command) {
    fprintf(commands_, "%s", last_command.c_str());
    fclose(commands_);
    commands_ = nullptr;
    return process_->wait();
  }

  pid_t pid() const { return process_->pid(); }

 private:
  std::optional<Subprocess> process_;
  FILE* commands_ = nullptr;
  FILE* answers_ = nullptr;
};

void expect_correct(Peer& peer, const json& workload) {
  const json prepared = peer.command("prepare " + workload.dump());
  ASSERT_EQ(prepared.value("ok", false), true) << prepared << " for " << workload;
  const json checked = peer.command("check");
  EXPECT_EQ(checked.value("correct", false), true) << checked << " for " << workload << ", " << prepared;
}

void expect_error(Peer& peer, const std::string& command, const std::string& error) {
  const json answer = peer.command(command);
  EXPECT_EQ(answer.value("ok", true), false) << command;
  EXPECT_EQ(answer.value("error", ""), error) << command;
}

class EachPeer : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Peers, EachPeer, ::testing::ValuesIn(peers_of_this_build()),
                         [](const auto& info) { return info.param; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EachPeer);

TEST_P(EachPeer, MultipliesRight) {
  Peer peer({"--peer", GetParam()});
  for (const int ta : {0, 1}) {
    for (const int tb : {0, 1}) {
      for (const char* epilogue : {"none", "bias", "relu", "bias+relu"}) {
        expect_correct(
            peer, {{"op", "matmul"}, {"m", 33}, {"n", 47}, {"k", 65}, {"ta", ta}, {"tb", tb}, {"epilogue", epilogue}});
      }
    }
  }
  expect_correct(peer, {{"op", "matmul"}, {"m", 1}, {"n", 1}, {"k", 1}});
  expect_correct(peer, {{"op", "matmul"}, {"m", 127}, {"n", 127}, {"k", 127}, {"weights", "packed"}, {"seed", 3}});
}

TEST_P(EachPeer, MultipliesRightWithTwoThreads) {
  Peer peer({"--peer", GetParam(), "--threads", "2"});
  expect_correct(peer, {{"op", "matmul"}, {"m", 300}, {"n", 200}, {"k", 250}});
}

TEST_P(EachPeer, TimesRounds) {
  Peer peer({"--peer", GetParam()});
  const std::string workload = R"({"op":"matmul","m":64,"n":64,"k":64})";
  const json prepared = peer.command("prepare " + workload);
  EXPECT_EQ(prepared.value("peer", ""), GetParam());
  EXPECT_EQ(prepared.value("flops", 0.0), 2.0 * 64 * 64 * 64);
  EXPECT_NE(prepared.value("version", "").find('.'), std::string::npos) << prepared;
  EXPECT_FALSE(prepared.value("kernel", "").empty()) << prepared;
  for (int round = 0; round < 3; ++round) {
    const json ran = peer.command("run 0.01");
    ASSERT_EQ(ran.value("ok", false), true) << ran;
    EXPECT_GT(ran.value("seconds_min", 0.0), 0.0);
    EXPECT_LE(ran.value("seconds_min", 1.0), ran.value("seconds_median", 0.0));
    EXPECT_GE(ran.value("repeats", 0) * ran.value("calls", 0) * ran.value("seconds_median", 0.0), 0.001) << ran;
  }
  EXPECT_EQ(peer.command("run 0").value("repeats", 0), 1);
}

TEST_P(EachPeer, FlushesBeforeEachRepetition) {
  Peer peer({"--peer", GetParam()});
  const json hot = peer.command(R"(prepare {"op":"matmul","m":8,"n":4096,"k":16})");
  EXPECT_EQ(hot.value("flush", true), false);
  double hot_seconds = 1e9;
  for (int round = 0; round < 3; ++round) {
    hot_seconds = std::min(hot_seconds, peer.command("run 0.02").value("seconds_min", 0.0));
  }
  const json flushed = peer.command(R"(prepare {"op":"matmul","m":8,"n":4096,"k":16,"flush":true})");
  EXPECT_EQ(flushed.value("flush", false), true);
  const json ran = peer.command("run 0.02");
  EXPECT_EQ(ran.value("calls", 0), 1);
  EXPECT_GT(ran.value("seconds_min", 0.0), hot_seconds);
}

TEST_P(EachPeer, OneThreadIsOneThread) {
  Peer peer({"--peer", GetParam()}, {"OMP_NUM_THREADS=7", "OPENBLAS_NUM_THREADS=7", "OMP_WAIT_POLICY=active"});
  const json prepared = peer.command(R"(prepare {"op":"matmul","m":512,"n":512,"k":512})");
  EXPECT_EQ(prepared.value("threads", 0), 1) << prepared;
  EXPECT_EQ(prepared.value("process_threads", 0), 1) << prepared;
}

TEST_P(EachPeer, TwoThreadsAreTwo) {
  if (allowed_cpus().size() < 2) GTEST_SKIP() << "one CPU only";
  Peer peer({"--peer", GetParam(), "--threads", "2"});
  const json prepared = peer.command(R"(prepare {"op":"matmul","m":512,"n":512,"k":512})");
  EXPECT_EQ(prepared.value("threads", 0), 2) << prepared;
  EXPECT_EQ(prepared.value("process_threads", 0), 2) << prepared;
}

// Whether every thread of the process is seen asleep. A busy machine may take its time, but one that spins never is.
bool all_fall_asleep(pid_t pid) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  for (const auto& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task")) {
    for (;;) {
      std::ifstream file(entry.path() / "stat");
      std::string text;
      std::getline(file, text);
      const std::size_t name_end = text.rfind(')');
      if (name_end != std::string::npos && text[name_end + 2] == 'S') break;
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  return true;
}

TEST_P(EachPeer, ThreadsSleepBetweenRounds) {
  Peer peer({"--peer", GetParam(), "--threads", "2"});
  peer.command(R"(prepare {"op":"matmul","m":512,"n":512,"k":512})");
  ASSERT_EQ(peer.command("run 0.01").value("ok", false), true);
  EXPECT_TRUE(all_fall_asleep(peer.pid()));
  // By default libraries spin for some milliseconds first, which is too short to be seen reliably.
  std::ifstream file("/proc/" + std::to_string(peer.pid()) + "/environ");
  std::set<std::string> environment;
  for (std::string entry; std::getline(file, entry, '\0');) environment.insert(entry);
  EXPECT_TRUE(environment.contains("OMP_WAIT_POLICY=passive"));
  EXPECT_TRUE(environment.contains("OPENBLAS_THREAD_TIMEOUT=4"));
}

TEST_P(EachPeer, EndsWithQuitAndWithItsInput) {
  EXPECT_TRUE(Peer({"--peer", GetParam()}).end("quit\n").success());
  EXPECT_TRUE(Peer({"--peer", GetParam()}).end("").success());
}

TEST_P(EachPeer, MistakesAreAnswersAndNotTheEnd) {
  Peer peer({"--peer", GetParam(), "--no-pin"});
  expect_error(peer, "run 1", "nothing is prepared");
  expect_error(peer, "check", "nothing is prepared");
  expect_error(peer, "fly", "unknown command \"fly\": prepare, run, check and quit are known");
  expect_error(peer, "", "unknown command \"\": prepare, run, check and quit are known");
  expect_error(peer, "prepare {", "prepare takes a JSON object");
  expect_error(peer, "prepare 7", "workload: 7 is no JSON object");
  expect_error(peer, R"(prepare {"op":"sort"})", "workload: op is sort, must be one of conv2d, matmul");
  expect_error(peer, R"(prepare {"op":"matmul","m":1,"n":1})", "workload: k is missing");
  expect_error(peer, R"(prepare {"op":"matmul","m":0,"n":1,"k":1})", "workload: m is 0, must be 1 to 16777216");
  expect_error(peer, R"(prepare {"op":"matmul","m":1.5,"n":1,"k":1})", "workload: m is 1.5, no integer");
  expect_error(peer, R"(prepare {"op":"matmul","m":1,"n":1,"k":1,"ta":2})", "workload: ta is 2, must be 0 or 1");
  expect_error(peer, R"(prepare {"op":"matmul","m":1,"n":1,"k":1,"colour":2})", "workload: unknown field colour");
  expect_error(peer, R"(prepare {"op":"matmul","m":1,"n":1,"k":1,"type":"int8"})",
               "workload: type is int8, must be one of float32");
  expect_error(peer, R"(prepare {"op":"matmul","m":1,"n":1,"k":1,"flush":1})", "workload: flush must be true or false");
  expect_error(peer, R"(prepare {"op":"matmul","m":10000000,"n":10000000,"k":1})",
               "workload: an operand of 1e+14 elements is too large");
  expect_error(peer, R"(prepare {"op":"conv2d","c":1,"h":2,"w":2,"k":1,"r":3,"s":3})",
               "workload: the padded input is smaller than the kernel");
  expect_error(peer, "run 1", "nothing is prepared");
  const json prepared = peer.command(R"(prepare {"op":"matmul","m":4,"n":4,"k":4})");
  EXPECT_EQ(prepared.value("pinned", true), false);
  expect_error(peer, "run soon", "run takes a number of seconds, 0 to 3600");
  expect_error(peer, "run -1", "run takes a number of seconds, 0 to 3600");
  EXPECT_EQ(peer.command("run 0").value("ok", false), true);
}

TEST(Onednn, ConvolvesRight) {
  if (!has_peer("onednn")) GTEST_SKIP() << "this build has no oneDNN";
  Peer peer({"--peer", "onednn"});
  for (const char* layout : {"nchw16c", "nchw"}) {
    for (const char* epilogue : {"none", "bias", "relu", "bias+relu"}) {
      expect_correct(peer, {{"op", "conv2d"},
                            {"c", 32},
                            {"h", 12},
                            {"w", 11},
                            {"k", 48},
                            {"r", 3},
                            {"s", 3},
                            {"pad_t", 1},
                            {"pad_l", 1},
                            {"pad_b", 1},
                            {"pad_r", 1},
                            {"layout", layout},
                            {"epilogue", epilogue}});
    }
    expect_correct(peer, {{"op", "conv2d"},
                          {"c", 8},
                          {"h", 17},
                          {"w", 19},
                          {"k", 12},
                          {"r", 3},
                          {"s", 3},
                          {"pad_t", 1},
                          {"pad_l", 2},
                          {"pad_b", 3},
                          {"dil_h", 2},
                          {"dil_w", 2},
                          {"layout", layout}});
    expect_correct(peer, {{"op", "conv2d"},
                          {"n", 2},
                          {"c", 3},
                          {"h", 23},
                          {"w", 20},
                          {"k", 16},
                          {"r", 7},
                          {"s", 5},
                          {"stride_h", 2},
                          {"stride_w", 3},
                          {"pad_t", 3},
                          {"pad_b", 3},
                          {"layout", layout}});
    expect_correct(peer,
                   {{"op", "conv2d"}, {"c", 1}, {"h", 1}, {"w", 1}, {"k", 1}, {"r", 1}, {"s", 1}, {"layout", layout}});
  }
}

TEST(Onednn, KeepsPlainLayoutsWhenAskedTo) {
  if (!has_peer("onednn")) GTEST_SKIP() << "this build has no oneDNN";
  Peer peer({"--peer", "onednn"});
  const json prepared =
      peer.command(R"(prepare {"op":"conv2d","c":64,"h":14,"w":14,"k":64,"r":3,"s":3,"layout":"nchw"})");
  const std::string layouts = prepared.value("layouts", "");
  EXPECT_EQ(layouts.find("src abcd "), 0u) << layouts;
  EXPECT_NE(layouts.find("dst abcd"), std::string::npos) << layouts;
}

TEST(Openblas, TakesTheKernelItIsGivenAndElseAGoodOne) {
  if (!has_peer("openblas")) GTEST_SKIP() << "this build has no OpenBLAS";
  const std::string prepare = R"(prepare {"op":"matmul","m":4,"n":4,"k":4})";
  EXPECT_EQ(Peer({"--peer", "openblas"}, {"OPENBLAS_CORETYPE=NEHALEM"}).command(prepare).value("kernel", ""),
            "sgemm Nehalem");
#if defined(__x86_64__)
  if (getenv("OPENBLAS_CORETYPE") == nullptr && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    const std::string kernel = Peer({"--peer", "openblas"}).command(prepare).value("kernel", "");
    EXPECT_TRUE(kernel == "sgemm SkylakeX" || kernel == "sgemm Zen" || kernel == "sgemm Haswell") << kernel;
  }
#endif
}

TEST(Libraries, WithoutAConvolutionSaySo) {
  for (const std::string name : {"openblas", "eigen"}) {
    if (!has_peer(name)) continue;
    Peer peer({"--peer", name});
    expect_error(peer, R"(prepare {"op":"conv2d","c":1,"h":3,"w":3,"k":1,"r":1,"s":1})", name + " has no conv2d");
  }
}

TEST(Program, ListsItsPeers) {
  SpawnOptions options;
  options.argv = {TENSMITH_PEER_PROGRAM, "--list"};
  const CapturedRun run = run_captured(options, 60);
  EXPECT_EQ(json::parse(run.out, nullptr, false), json({{"peers", peers_of_this_build()}}));
}

TEST(Program, UsageErrorsEndWithTwo) {
  const auto run = [](std::vector<std::string> arguments) {
    SpawnOptions options;
    options.argv = {TENSMITH_PEER_PROGRAM};
    options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
    return run_captured(options, 60);
  };
  const CapturedRun unknown = run({"--peer", "mkl"});
  EXPECT_EQ(unknown.status.code, 2);
  EXPECT_EQ(unknown.err, "tensmith-peer: error: this build has no peer \"mkl\" (--list shows those it has)\n");
  EXPECT_EQ(run({"--peer", "eigen", "--threads", "0"}).status.code, 2);
  EXPECT_EQ(run({"--peer", "eigen", "--sideways"}).status.code, 2);
}

TEST(NaiveResult, IsTheDefinition) {
  Problem problem = read_problem(json::parse(R"({"op":"matmul","m":1,"n":2,"k":2,"epilogue":"bias+relu"})"));
  problem.first = {1, 2};
  problem.second = {3, -4, 5, -6};
  problem.bias_values = {1, 1};
  EXPECT_EQ(naive_result(problem), (std::vector<float>{14, 0}));

  // 1x1x2x2 data, 2x2 kernel, one row of padding above: the upper output sees the upper data row in its lower taps.
  Problem conv = read_problem(json::parse(R"({"op":"conv2d","c":1,"h":2,"w":2,"k":1,"r":2,"s":2,"pad_t":1})"));
  conv.first = {1, 2, 3, 4};
  conv.second = {1, 10, 100, 1000};
  EXPECT_EQ(naive_result(conv), (std::vector<float>{2100, 4321}));
}

TEST(ReadProblem, SameSeedSameInputs) {
  const auto first = [](int seed) {
    return read_problem({{"op", "matmul"}, {"m", 5}, {"n", 5}, {"k", 5}, {"seed", seed}}).first;
  };
  EXPECT_EQ(first(1), first(1));
  EXPECT_NE(first(1), first(2));
}

}  // namespace
}  // namespace tensmith::peers
