#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

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
  expect_usage_error({"tune", "conv2d:c=64"}, "conv2d without field 'h'");
  expect_usage_error({"tune", "matmul:m=4,n=4,k=4,ta=2"}, "at position 23: 'ta' is 2 (hint: use 0 or 1)");
  expect_usage_error({"tune", "conv2d:c=4,groups=2"}, "at position 19: 'groups' of 2 is not available");
  expect_usage_error({"tune", "matmul:m=4,n=4"}, "matmul without field 'k'");
  expect_usage_error({"tune", "resnet18.C6", "--target=riscv"}, "riscv");
  expect_usage_error({"tune", "resnet18.C6", "--target=llvm:mcpu=pentium9"}, "pentium9");
  expect_usage_error({"tune", "resnet18.C6", "--trials=0"}, "--trials");
  expect_usage_error({"tune", "resnet18.C6", "--model=magic"},
                     "--model: 'magic' is not known (hint: choose one of gbt, gp, none)");
  expect_usage_error({"tune", "resnet18.C6", "--time-budget=soon"}, "--time-budget: 'soon' is no positive time");
  for (const char* option : {"--time-budget", "--run-timeout", "--build-timeout", "--min-seconds"}) {
    for (const char* value : {"0", "nan"}) {
      expect_usage_error(
          {"tune", "resnet18.C6", fmt::format("{}={}", option, value)},
          fmt::format("{}: '{}' is no positive time (hint: write for example 0.5, 90s, 10m or 2h)", option, value));
    }
  }
  for (const char* value : {"-1", "inf", "1e300", "5x", "s"}) {
    expect_usage_error({"tune", "resnet18.C6", fmt::format("--run-timeout={}", value)},
                       fmt::format("--run-timeout: '{}' is no positive time", value));
  }
  for (const char* seed : {"-1", "99999999999999999999", "one"}) {
    expect_usage_error({"tune", "resnet18.C6", fmt::format("--seed={}", seed)},
                       fmt::format("--seed: '{}' is no whole number from 0 to 2^63 - 1", seed));
  }
  expect_usage_error({"show", "resnet18.C6", "--as=c", "--print-after=all"}, "--as excludes --print-after");
  expect_usage_error({"bench", "resnet18.C6", "--min-seconds=0"}, "--min-seconds: '0' is no positive time");
  for (const char* value : {"foo", "1"}) {
    const std::string unknown = fmt::format("'{}' is not known (hint: choose one of ", value);
    expect_usage_error({"tune", "resnet18.C6", fmt::format("--strategy={}", value)},
                       "--strategy: " + unknown + "annealing, grid, genetic, random, first-mls, best-mls,");
    expect_usage_error({"show", "resnet18.C6", fmt::format("--as={}", value)},
                       "--as: " + unknown + "schedule, ir, features, asm, ll, c, space)");
    expect_usage_error({"db", "export", "--db=t.db", fmt::format("--format={}", value)},
                       "--format: " + unknown + "jsonl, csv, kernel-tuner, t4)");
  }
  expect_usage_error({"db", "foo"}, "unknown command 'foo' (hint: there are stats, best, import, merge, export)");
  expect_usage_error(
      {"tuen"}, "there are tune, tune-kernel, compile, bench, show, db, targets, race, hyperparameters, landscape");
  expect_usage_error({"tune", "--expr", "C[y] = A[y]", "--shape", "A=x"}, "shape 'A=x'");
  expect_usage_error({"tune", "resnet18.C6", "--expr", "C[y] = A[y]"}, "both a workload and --expr");
  expect_usage_error({"show", "resnet18.C6", "--config=99999999999999"}, "outside the space");
  expect_usage_error({"show", "resnet18.C6", "--config=worst"}, "config 'worst' is not understood");
  expect_usage_error({"show", "resnet18.C6", "--print-after=magic"}, "unknown pass 'magic'");
  expect_usage_error({"db", "stats"}, "required");
}

TEST(CliErrors, ExpressionsShowThePlaceUnderTheLine) {
  const CapturedRun syntax = run_tensmith({"tune", "--expr", "C[y] = A[y", "--shape", "A=4"});
  EXPECT_EQ(syntax.status.code, 2);
  EXPECT_EQ(syntax.err,
            "tensmith: error: expression, line 1 column 11: expected ',' or ']', found the end\n"
            "  C[y] = A[y\n"
            "            ^\n");
  const CapturedRun bounds = run_tensmith({"tune", "--expr", "C[y] = A[y+1]", "--shape", "A=4", "--extent", "y=4"});
  EXPECT_EQ(bounds.status.code, 2);
  EXPECT_NE(bounds.err.find("out of bounds"), std::string::npos) << bounds.err;
  EXPECT_TRUE(bounds.err.ends_with("\n  C[y] = A[y+1]\n  ^\n")) << bounds.err;
}

TEST(CliErrors, InputsThatAreNotThereAreExitCode2) {
  TempDir dir;
  const std::string none = (dir.path() / "none").string(), kernel = none + ".c";
  const std::string text = "tensmith: error: cannot read " + none;
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"db", "stats", "--db", none},
                                             {"db", "best", "--db", none},
                                             {"db", "export", "--db", none},
                                             {"db", "import", none, "--db", none + ".db"},
                                             {"db", "merge", none, "-o", none + ".db"},
                                             {"landscape", "--db", none},
                                             {"show", "matmul:m=8,n=8,k=8", "--db", none},
                                             {"compile", "matmul:m=8,n=8,k=8", "--db", none},
                                             {"bench", "matmul:m=8,n=8,k=8", "--db", none},
                                             {"bench", "matmul:m=8,n=8,k=8", "--against=db:" + none},
                                             {"tune-kernel", kernel}}) {
    expect_usage_error(arguments, text);
  }
  expect_usage_error({"db", "stats", "--db", dir.path().string()}, ": Is a directory");
}

TEST(CliErrors, WorkErrorsAreExitCode1) {
  TempDir dir;
  CapturedRun run = run_tensmith({"tune", "matmul:m=8,n=8,k=8", "--trials=2", "--db=" + dir.path().string()});
  EXPECT_EQ(run.status.code, 1) << "a directory is no database: " << run.err;
  run = run_tensmith({"tune", "matmul:m=8,n=8,k=8", "--trials=2", "--db=/proc/nowhere/t.db"});
  EXPECT_EQ(run.status.code, 1) << run.err;
}

TEST(CliErrors, OperandsThatNoMachineHolds) {
  for (const char* verb : {"tune", "bench"}) {
    const CapturedRun run = run_tensmith({verb, "matmul:m=40000000,n=4000000,k=4", "--threads=1"});
    EXPECT_EQ(run.status.code, 1) << verb << run.err;
    EXPECT_NE(run.err.find("the operands need "), std::string::npos) << verb << run.err;
    EXPECT_NE(run.err.find(" GiB, this machine has "), std::string::npos) << verb << run.err;
  }
}

TEST(QuickStart, ReadsItsOptionsBeforeItInstallsAnything) {
  const std::string script = "exec " TENSMITH_SOURCE_DIR "/scripts/quickstart.sh ";
  const CapturedRun help = run_script(script + "--help");
  EXPECT_EQ(help.status.code, 0) << help.err;
  EXPECT_EQ(help.out.find("usage: scripts/quickstart.sh [WORKLOAD]"), 0u) << help.out;
  for (const char* arguments : {"--trials=4", "-x", "resnet18.C6 resnet18.C7"}) {
    const CapturedRun run = run_script(script + arguments);
    EXPECT_EQ(run.status.code, 2) << arguments;
    EXPECT_EQ(run.err.find("error: "), 0u) << run.err;
    EXPECT_EQ(run.out, "") << arguments;
  }
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
