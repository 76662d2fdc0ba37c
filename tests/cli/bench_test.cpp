#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "cli/program.h"
#include "tensmith/support/file.h"

namespace tensmith {
namespace {

const std::vector<std::string> kQuick{"--threads=1", "--rounds=3", "--min-seconds=0.0005"};

CapturedRun bench(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "bench");
  arguments.insert(arguments.end(), kQuick.begin(), kQuick.end());
  return run_tensmith(arguments);
}

TEST(Bench, AgainstConfigsOfTheSameSpace) {
  const CapturedRun run = bench({"matmul:m=16,n=16,k=16", "--config=default", "--against=config:default", "--json"});
  ASSERT_EQ(run.status.code, 0) << run.err;
  const nlohmann::json result = json_of(run)["results"][0];
  EXPECT_EQ(result["source"], "default");
  EXPECT_EQ(result["peers"]["config:default"]["rounds"], 3);
  const std::string index = "--config=" + result["peers"]["config:default"]["kernel"].get<std::string>().substr(7);
  const CapturedRun by_index = bench({"matmul:m=16,n=16,k=16", index.substr(0, index.find(' ')), "--json"});
  ASSERT_EQ(by_index.status.code, 0) << by_index.err;
  EXPECT_EQ(json_of(by_index)["results"][0]["source"], "index");
}

TEST(Bench, ThePeakIsOfTheWorkloadsType) {
  const CapturedRun run = bench({"matmul:m=16,n=16,k=16,type=float64", "matmul:m=16,n=16,k=16"});
  ASSERT_EQ(run.status.code, 0) << run.err;
  EXPECT_NE(run.out.find("GFLOP/s (float32, 1 thread)"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("GFLOP/s (float64, 1 thread)"), std::string::npos) << run.out;
}

TEST(Bench, UnknownPeersAreRefusedBeforeAnythingRuns) {
  for (const char* peer : {"foo", "onednn,", ",onednn", "config:", "config:worst", "config:-1", "db:"}) {
    const CapturedRun run = bench({"matmul:m=16,n=16,k=16", std::string("--against=") + peer});
    EXPECT_EQ(run.status.code, 2) << peer << run.err;
    EXPECT_NE(run.err.find("is not known (hint: there are onednn, openblas, eigen, config:INDEX, config:default and "
                           "db:FILE)"),
              std::string::npos)
        << peer << run.err;
  }
}

/// The program in a directory where `tensmith-peer` is a script.
class WithPeer : public ::testing::Test {
 protected:
  void SetUp() override {
    namespace fs = std::filesystem;
    std::error_code error;
    fs::create_hard_link(TENSMITH_PROGRAM, program(), error);
    if (error) fs::copy_file(TENSMITH_PROGRAM, program());
  }
  std::string program() const { return (dir_.path() / "tensmith").string(); }
  CapturedRun bench(const std::string& peer, std::vector<std::string> arguments) {
    const std::filesystem::path path = dir_.path() / "tensmith-peer";
    std::ofstream(path) << "#!/bin/sh\n" << peer;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    SpawnOptions options;
    options.argv = {program(), "bench", "matmul:m=16,n=16,k=16"};
    if (arguments.empty() || !arguments.front().starts_with("--against")) options.argv.push_back("--against=onednn");
    options.argv.insert(options.argv.end(), kQuick.begin(), kQuick.end());
    options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
    return run_captured(options, 120);
  }
  TempDir dir_;
};

constexpr const char* kPrepare = "read line; echo '{\"ok\":true,\"version\":\"1\",\"kernel\":\"fake\"}'\n";
constexpr const char* kRound = "read line; echo '{\"ok\":true,\"seconds_min\":0.001,\"seconds_median\":0.001}'\n";

TEST_F(WithPeer, APeerThatDiesCostsItsRoundsOnly) {
  const CapturedRun json = bench(std::string(kPrepare) + kRound + "read line; exit 3", {"--json"});
  EXPECT_EQ(json.status.code, 1);
  EXPECT_NE(json.err.find("onednn was lost in round 2: peer onednn exited with 3"), std::string::npos) << json.err;
  const nlohmann::json result = json_of(json)["results"][0];
  EXPECT_GT(result["ours"]["gflops"].get<double>(), 0) << json.out;
  EXPECT_EQ(result["peers"]["onednn"]["rounds"], 1);
  EXPECT_NE(result["peers"]["onednn"]["error"].get<std::string>().find("exited with 3"), std::string::npos);

  const CapturedRun table = bench(std::string(kPrepare) + "read line; kill -9 $$", {});
  EXPECT_EQ(table.status.code, 1);
  EXPECT_NE(table.err.find("killed by signal 9 (SIGKILL)"), std::string::npos) << table.err;
  EXPECT_NE(table.out.find("lost"), std::string::npos) << table.out;
}

TEST_F(WithPeer, APeerThatCannotStartIsLeftOut) {
  const CapturedRun alone = bench("exit 4", {"--json"});
  EXPECT_EQ(alone.status.code, 1) << "nothing was compared";
  EXPECT_NE(alone.err.find("there is nothing to time it against: onednn: peer onednn exited with 4"), std::string::npos)
      << alone.err;
  EXPECT_FALSE(json_of(alone)["results"][0].contains("ours")) << alone.out;
  const CapturedRun with_another = bench("exit 4", {"--against=onednn,config:default", "--json"});
  EXPECT_EQ(with_another.status.code, 0) << with_another.err;
  EXPECT_NE(with_another.err.find("left out: onednn: peer onednn exited with 4"), std::string::npos)
      << with_another.err;
}

TEST(Bench, ADatabaseThatIsNotThereIsToldBeforeAnythingRuns) {
  const CapturedRun run = bench({"matmul:m=16,n=16,k=16", "--against=db:/nowhere/t.db"});
  EXPECT_EQ(run.status.code, 2);
  EXPECT_NE(run.err.find("cannot read /nowhere/t.db"), std::string::npos) << run.err;
  EXPECT_EQ(run.out, "");
}

TEST(Bench, OneWorkloadsMistakeDoesNotCostTheOthersResults) {
  const CapturedRun run = run_tensmith({"bench", "matmul:m=64,n=64,k=64", "matmul:m=1,n=1,k=1", "--config=1000",
                                        "--threads=1", "--rounds=1", "--min-seconds=0.001"});
  EXPECT_EQ(run.status.code, 1);
  EXPECT_NE(run.out.find("\nmatmul:m=64,n=64,k=64   index"), std::string::npos) << run.out;
  EXPECT_NE(run.err.find("matmul:m=1,n=1,k=1: config index 1000 is outside the space"), std::string::npos) << run.err;
}

TEST(Bench, TheLegendTellsWhatIsThere) {
  const std::string alone = bench({"matmul:m=16,n=16,k=16"}).out;
  EXPECT_NE(alone.find("% of peak: "), std::string::npos) << alone;
  EXPECT_EQ(alone.find("ratio: "), std::string::npos) << alone;
  const std::string compared = bench({"matmul:m=16,n=16,k=16", "--against=config:default"}).out;
  EXPECT_NE(compared.find("\nratio: "), std::string::npos) << compared;
  EXPECT_NE(compared.find("\nratio_median: "), std::string::npos) << compared;
  EXPECT_NE(compared.find("\nmatmul:m=16,n=16,k=16, config:default: config "), std::string::npos) << compared;
}

TEST(Bench, MoreThreadsThanCoresAreWarnedOf) {
  EXPECT_EQ(bench({"matmul:m=16,n=16,k=16"}).err, "");
  const CapturedRun run = run_tensmith({"bench", "matmul:m=16,n=16,k=16", "--threads=1000", "--rounds=1", "--json"});
  EXPECT_NE(run.err.find("warning: 1000 threads on "), std::string::npos) << run.err;
}

}  // namespace
}  // namespace tensmith
