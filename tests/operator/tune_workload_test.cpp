#include "tensmith/operator/tune_workload.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "tensmith/codegen/llvm/host_target.h"
#include "tensmith/explore/measure/worker.h"
#include "tensmith/operator/operator.h"
#include "tensmith/operator/worker_main.h"
#include "tensmith/support/error.h"
#include "tensmith/support/file.h"

namespace tensmith {
namespace {

TuneSettings few_trials(int trials) {
  TuneSettings settings;
  settings.trials = trials;
  settings.threads = 1;
  settings.measuring.min_seconds = 0.001;
  return settings;
}

TEST(TuneWorkload, ATunedOperatorUsesItsRecord) {
  const TempDir dir("tune_workload");
  Database database(dir.path() / "records.db", Database::Missing::kIsEmpty);
  const Workload workload = parse_workload("expr:C[y,x] = sum(k: A[y,k]*B[k,x]); A=32x32:float32 B=32x32:float32");
  const Target target = parse_target("llvm");
  int told = 0;
  TuneSettings settings = few_trials(6);
  settings.progress = [&](const TuneProgress& progress) { told = progress.trials; };
  const TuneResult result = tune_workload(workload, target, &database, settings);
  EXPECT_EQ(result.end, TuneEnd::kTrialsDone);
  EXPECT_EQ(result.trials, 6);
  EXPECT_EQ(result.valid(), 6) << result.commonest_failure;
  EXPECT_EQ(told, 6);
  ASSERT_TRUE(result.best);
  Operator tuned(workload, target, 1, &database);
  EXPECT_EQ(tuned.config().source, ChosenConfig::Source::kRecord);
  EXPECT_EQ(tuned.config().config, result.best->config);
}

TEST(TuneWorkload, ItsResultCanBeUsedWithoutADatabase) {
  const Workload workload = parse_workload("matmul:m=16,n=16,k=16");
  const Target target = parse_target("llvm");
  const TuneResult result = tune_workload(workload, target, nullptr, few_trials(3));
  ASSERT_TRUE(result.best);
  EXPECT_EQ(Operator(workload, target, 1, result.best->config).config().config, result.best->config);
  Config other = result.best->config;
  other.choices.pop_back();
  EXPECT_THROW(Operator(workload, target, 1, other), UserError);
}

TEST(TuneWorkload, EveryStrategyWorksWithoutADatabase) {
  for (const TuneStrategy strategy :
       {TuneStrategy::kAnnealing, TuneStrategy::kAlgorithm, TuneStrategy::kGrid, TuneStrategy::kGenetic}) {
    TuneSettings settings = few_trials(2);
    settings.strategy = strategy;
    settings.algorithm = Algorithm::kDualAnnealing;
    const TuneResult result =
        tune_workload(parse_workload("matmul:m=16,n=16,k=16"), parse_target("llvm"), nullptr, settings);
    EXPECT_EQ(result.trials, 2);
    EXPECT_TRUE(result.best) << result.commonest_failure;
  }
}

TEST(TuneWorkload, SettingsThatMakeNoSenseAreTold) {
  EXPECT_THROW(tune_workload(parse_workload("matmul:m=4,n=4,k=4"), parse_target("llvm"), nullptr, few_trials(0)),
               UserError);
}

// Without the guard a program would start itself without end.
TEST(TuneWorkload, AWorkerThatMeasuresIsToldWhatMainLacks) {
  ::setenv(kWorkerVariable, "1", 1);
  std::string message;
  try {
    tune_workload(parse_workload("matmul:m=4,n=4,k=4"), parse_target("llvm"), nullptr, few_trials(1));
  } catch (const UserError& e) {
    message = e.what();
  }
  ::unsetenv(kWorkerVariable);
  EXPECT_NE(message.find("begin its main with"), std::string::npos) << message;
  EXPECT_NE(message.find("run_worker_if_asked(argc, argv)) return *code;"), std::string::npos) << message;
}

TEST(TuneWorkload, OnlyAWorkerServes) {
  char program[] = "program", worker[] = "worker", runner[] = "runner";
  char* arguments[] = {program, worker, runner};
  EXPECT_EQ(run_worker_if_asked(3, arguments), std::nullopt);
}

}  // namespace
}  // namespace tensmith

int main(int argc, char** argv) {
  if (const std::optional<int> code = tensmith::run_worker_if_asked(argc, argv)) return *code;
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
