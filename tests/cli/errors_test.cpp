#include <gtest/gtest.h>

#include <filesystem>

#include "cli/program.h"
#include "tensmith/support/file.h"

namespace tensmith {
namespace {

/// A request that is wrong: exit code 2 and one line on standard error that holds `text`.
void expect_usage_error(const std::vector<std::string>& arguments, const std::string& text) {
  const CapturedRun run = run_tensmith(arguments);
  EXPECT_TRUE(run.status.exited) << run.status.describe();
  EXPECT_EQ(run.status.code, 2) << run.err;
  EXPECT_NE(run.err.find(text), std::string::npos) << run.err;
  EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
  EXPECT_EQ(run.out, "");
}

TEST(CliErrors, UsageErrorsAreOneLineAndExitCode2) {
  expect_usage_error({}, "subcommand is required");
  expect_usage_error({"tuen"}, "tuen");
  expect_usage_error({"tune"}, "no workload is given");
  expect_usage_error({"tune", "conv3d:c=1"}, "unknown operator or alias 'conv3d'");
  expect_usage_error({"tune", "conv2d:c=0,h=4,w=4"}, "it must be at least 1");
  expect_usage_error({"tune", "conv2d:c=4,q=4"}, "'q' is no field of conv2d");
  expect_usage_error({"tune", "resnet18.C6", "--target=riscv"}, "riscv");
  expect_usage_error({"tune", "resnet18.C6", "--target=llvm:mcpu=pentium9"}, "pentium9");
  expect_usage_error({"tune", "resnet18.C6", "--trials=0"}, "--trials");
  expect_usage_error({"tune", "resnet18.C6", "--model=magic"}, "--model");
  expect_usage_error({"tune", "resnet18.C6", "--time-budget=soon"}, "time 'soon' is not understood");
  expect_usage_error({"tune", "--expr", "C[y] = A[y", "--shape", "A=4"}, "expression, line 1 column 11");
  expect_usage_error({"tune", "--expr", "C[y] = A[y+1]", "--shape", "A=4", "--extent", "y=4"}, "out of bounds");
  expect_usage_error({"tune", "--expr", "C[y] = A[y]", "--shape", "A=x"}, "shape 'A=x'");
  expect_usage_error({"tune", "resnet18.C6", "--expr", "C[y] = A[y]"}, "both a workload and --expr");
  expect_usage_error({"show", "resnet18.C6", "--config=99999999999999"}, "outside the space");
  expect_usage_error({"show", "resnet18.C6", "--config=worst"}, "config 'worst' is not understood");
  expect_usage_error({"show", "resnet18.C6", "--print-after=magic"}, "unknown pass 'magic'");
  expect_usage_error({"db", "stats"}, "required");
}

TEST(CliErrors, WorkErrorsAreExitCode1) {
  TempDir dir;
  const std::string path = (dir.path() / "t.db").string();
  CapturedRun run = run_tensmith({"db", "stats", path});
  EXPECT_EQ(run.status.code, 1) << run.err;
  EXPECT_NE(run.err.find(path), std::string::npos) << run.err;
  run = run_tensmith({"tune", "matmul:m=8,n=8,k=8", "--trials=2", "--db=" + dir.path().string()});
  EXPECT_EQ(run.status.code, 1) << "a directory is no database: " << run.err;
  run = run_tensmith({"tune", "matmul:m=8,n=8,k=8", "--trials=2", "--db=/proc/nowhere/t.db"});
  EXPECT_EQ(run.status.code, 1) << run.err;
}

TEST(CliErrors, VersionAndHelp) {
  EXPECT_NE(run_tensmith({"--version"}).out.find("tensmith "), std::string::npos);
  for (const char* verb : {"tune", "compile", "bench", "show", "db", "targets"}) {
    const CapturedRun run = run_tensmith({verb, "--help"});
    EXPECT_EQ(run.status.code, 0) << verb;
    EXPECT_NE(run.out.find("Usage"), std::string::npos) << verb;
  }
}

}  // namespace
}  // namespace tensmith
