#include "tensmith/explore/measure/local_measurer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <map>

#include "tensmith/codegen/llvm/host_target.h"
#include "tensmith/codegen/llvm/llvm_codegen.h"
#include "tensmith/explore/measure/worker.h"
#include "tensmith/ir/ops.h"
#include "tensmith/ir/visit.h"
#include "tensmith/ops/templates.h"
#include "tensmith/support/error.h"

namespace tensmith {
namespace {

/// What a config of the faulty space does. Values are the choices of its only knob.
enum Fault : uint16_t {
  kNone,
  kWrong,
  kUnwritten,
  kJustOutside,
  kGuardPage,
  kStoreToInput,
  kNowhere,
  kForever,
  kBuilderDies,
  kBuilderSleeps,
  kBuildThrows,
  kBuilderKilled,
  kNoScratch,
  kLonger,
  kFaultCount
};

/// out[i] = in[i] + 1 for 16 elements: the workload of the faulty space.
Program increment() {
  Tensor in = placeholder("in", {16});
  Tensor out = compute("out", {16}, [&](Axis i) { return in(i) + make_float(kFloat32, 1); });
  return make_program({&out, 1}, std::vector<Tensor>{in});
}

TaskAndProgram faulty_task(const std::string&, const std::string& target, int threads) {
  TaskAndProgram made{{}, increment()};
  made.task.workload = "faulty";
  made.task.target = parse_target(target);
  made.task.threads = threads;
  std::vector<int64_t> faults(kFaultCount);
  for (size_t i = 0; i < faults.size(); ++i) faults[i] = static_cast<int64_t>(i);
  made.task.space.add(int_knob("fault", faults));
  made.task.default_config = made.task.space.at(0);
  return made;
}

BuildOutcome build_fault(const Task& task, const Config& config, const Program& program) {
  const int64_t fault = task.space.get(config, 0);
  if (fault == kBuilderDies) std::abort();
  if (fault == kBuilderSleeps) sleep(60);
  if (fault == kBuilderKilled) std::raise(SIGKILL);
  if (fault == kBuildThrows) return {false, false, "the back end says no", {}, 0};
  Arena arena;
  ArenaScope scope(arena);
  const Buffer in = program.inputs[0]->buffer, out = program.outputs[0]->buffer;
  const VarRef i = make_var("i");
  const Expr at = Expr(i);
  const auto store = [&](Buffer buffer, Expr index, double value) {
    return make_store(buffer, {&index, 1}, make_float(kFloat32, value));
  };
  const Stmt good =
      make_for(i, make_index(fault == kUnwritten ? 15 : 16), LoopKind::kSerial,
               make_store(out, {&at, 1}, make_load(in, {&at, 1}) + make_float(kFloat32, fault == kWrong ? 2 : 1)));
  Stmt bad;
  if (fault == kJustOutside) bad = store(out, make_index(-3), 0);
  if (fault == kGuardPage) bad = store(out, make_index(20), 0);
  if (fault == kNowhere) bad = store(out, make_index(int64_t{1} << 40), 0);
  if (fault == kForever || fault == kLonger) {
    const Expr one = make_index(3);
    bad = make_for(make_var("j"), make_index(fault == kForever ? int64_t{1} << 60 : 1000), LoopKind::kSerial,
                   make_store(out, {&one, 1}, make_load(out, {&one, 1}) * make_load(in, {&one, 1})));
  }
  if (fault == kNoScratch) {
    const int64_t huge = int64_t{1} << 46;
    const Buffer scratch = make_buffer("scratch", kFloat32, {&huge, 1});
    bad = make_allocate(scratch, store(scratch, make_index(0), 0));
  }
  const Stmt both[] = {fault == kLonger ? bad : good, fault == kLonger ? good : bad};
  const Function f{"trial", make_array({in}), make_array({out}), make_seq(both)};
  BuildOutcome outcome;
  outcome.ok = true;
  outcome.module.object = compile({&f, 1}, task.target).object;
  outcome.module.function = "trial";
  outcome.module.arguments = {
      {ModuleArgument::Kind::kInput, 0},
      {fault == kStoreToInput ? ModuleArgument::Kind::kInput : ModuleArgument::Kind::kOutput, 0}};
  return outcome;
}

LocalMeasurerOptions quick() {
  LocalMeasurerOptions options;
  options.min_seconds = 1e-4;
  options.run_timeout = 2;
  options.build_timeout = 5;
  return options;
}

class FaultyMeasurer : public ::testing::Test {
 protected:
  FaultyMeasurer() : made_(faulty_task({}, "llvm", 1)), measurer_(made_.task, made_.program, 1, quick()) {}

  std::map<uint16_t, TrialResult> measure(std::vector<uint16_t> faults) {
    std::vector<Config> configs;
    for (uint16_t fault : faults) configs.push_back({{fault}});
    std::map<uint16_t, TrialResult> results;
    measurer_.measure(
        configs, [&](size_t, TrialResult r) { results[r.config.choices[0]] = r; }, [] { return false; });
    return results;
  }

  TaskAndProgram made_;
  LocalMeasurer measurer_;
};

TEST_F(FaultyMeasurer, EveryFaultHasItsStatusAndCostsOneTrial) {
  const auto results = measure({kNone, kWrong, kUnwritten, kJustOutside, kGuardPage, kStoreToInput, kNowhere, kForever,
                                kBuilderDies, kBuilderSleeps, kBuildThrows, kBuilderKilled, kNoScratch, kLonger});
  ASSERT_EQ(results.size(), size_t{kFaultCount});
  const auto expect = [&](Fault fault, TrialStatus status, const char* text) {
    EXPECT_EQ(results.at(fault).status, status)
        << fault << ": " << to_string(results.at(fault).status) << ": " << results.at(fault).error;
    EXPECT_NE(results.at(fault).error.find(text), std::string::npos) << results.at(fault).error;
  };
  EXPECT_EQ(results.at(kNone).status, TrialStatus::kOk) << results.at(kNone).error;
  EXPECT_FALSE(results.at(kNone).seconds.empty());
  expect(kWrong, TrialStatus::kWrongOutput, "16 of 16 elements are wrong");
  expect(kUnwritten, TrialStatus::kWrongOutput, "1 of 16 elements are wrong; the first is element 15");
  expect(kJustOutside, TrialStatus::kWildStore, "wrote outside an output");
  expect(kGuardPage, TrialStatus::kWildStore, "wrote behind the end of an output");
  expect(kStoreToInput, TrialStatus::kWildStore, "wrote to an input, which may only be read");
  expect(kNowhere, TrialStatus::kCrash, "died of signal 11");
  expect(kForever, TrialStatus::kRunTimeout, "took longer than 2 s");
  expect(kBuilderDies, TrialStatus::kBuildError, "SIGABRT");
  expect(kBuilderSleeps, TrialStatus::kBuildTimeout, "building took longer than 5 s");
  expect(kBuildThrows, TrialStatus::kBuildError, "the back end says no");
  expect(kBuilderKilled, TrialStatus::kWorkerLost, "SIGKILL");
  expect(kNoScratch, TrialStatus::kRunError, "the operator returned 2");
  EXPECT_EQ(results.at(kLonger).status, TrialStatus::kOk) << results.at(kLonger).error;
  EXPECT_EQ(measure({kNone}).at(kNone).status, TrialStatus::kOk) << "everything still works";
}

TEST_F(FaultyMeasurer, AStopLeavesTheRestAlone) {
  std::vector<Config> configs(20, Config{{kNone}});
  int done = 0;
  measurer_.measure(
      configs, [&](size_t, TrialResult) { ++done; }, [&] { return done >= 3; });
  EXPECT_GE(done, 3);
  EXPECT_LT(done, 20);
  EXPECT_EQ(measure({kNone}).at(kNone).status, TrialStatus::kOk);
}

TEST_F(FaultyMeasurer, ComparingTellsWhichConfigFails) {
  const std::vector<Config> configs{{{kNone}}, {{kWrong}}, {{kNone}}};
  const auto compared = measurer_.compare(configs, {5, 5}, [] { return false; });
  ASSERT_EQ(compared.size(), 3u);
  EXPECT_EQ(compared[0].seconds.size(), 5u);
  EXPECT_NE(compared[1].status, TrialStatus::kOk);
  EXPECT_EQ(compared[2].seconds.size(), 5u);
}

TEST_F(FaultyMeasurer, AFaultInAComparisonCostsOneConfig) {
  const std::vector<Config> configs{{{kNone}}, {{kGuardPage}}, {{kUnwritten}}, {{kBuildThrows}}, {{kNone}}};
  const auto compared = measurer_.compare(configs, {5, 5}, [] { return false; });
  ASSERT_EQ(compared.size(), 5u);
  for (const size_t good : {size_t{0}, size_t{4}}) {
    EXPECT_EQ(compared[good].status, TrialStatus::kOk) << compared[good].error;
    EXPECT_EQ(compared[good].seconds.size(), 5u);
  }
  EXPECT_EQ(compared[1].status, TrialStatus::kWildStore);
  EXPECT_NE(compared[1].error.find("wrote behind the end of an output"), std::string::npos) << compared[1].error;
  EXPECT_EQ(compared[2].status, TrialStatus::kWrongOutput);
  EXPECT_EQ(compared[3].status, TrialStatus::kBuildError);
  EXPECT_EQ(compared[3].error, "the back end says no");
}

TEST_F(FaultyMeasurer, ASessionOutlivesItsRunner) {
  const auto session = measurer_.open({{kNone}});
  EXPECT_FALSE(session->time(1e-4).empty());
  EXPECT_EQ(measure({kGuardPage}).at(kGuardPage).status, TrialStatus::kWildStore);
  EXPECT_FALSE(session->time(1e-4).empty());
  try {
    measurer_.open({{kNowhere}});
    FAIL() << "no error";
  } catch (const DeviceError& e) {
    EXPECT_EQ(e.message(), "config 6: crash: died of signal 11 (Segmentation fault)");
  }
}

TEST_F(FaultyMeasurer, AStopEndsWhatRuns) {
  for (const uint16_t fault : {uint16_t{kForever}, uint16_t{kBuilderSleeps}}) {
    const Config config{{fault}};
    int asked = 0;
    int done = 0;
    const auto stop = [&] { return ++asked > 8; };
    measurer_.measure(
        {&config, 1}, [&](size_t, TrialResult) { ++done; }, stop);
    EXPECT_EQ(done, 0);
    asked = 0;
    measurer_.compare({&config, 1}, {5, 5}, stop);
    EXPECT_LT(asked, 20);
  }
  EXPECT_EQ(measure({kNone}).at(kNone).status, TrialStatus::kOk);
}

TEST(LocalMeasurer, AFastOperatorIsTimedOftenButStoredBriefly) {
  const TaskAndProgram made = faulty_task({}, "llvm", 1);
  LocalMeasurerOptions options = quick();
  options.min_seconds = 0.02;
  LocalMeasurer measurer(made.task, made.program, 1, options);
  const std::vector<Config> configs{{{kNone}}, {{kLonger}}};
  std::map<size_t, TrialResult> results;
  measurer.measure(
      configs, [&](size_t i, TrialResult r) { results[i] = std::move(r); }, [] { return false; });
  ASSERT_EQ(results.size(), 2u);
  for (const auto& [position, result] : results) {
    EXPECT_EQ(result.status, TrialStatus::kOk) << result.error;
    EXPECT_GT(result.seconds.size(), 3u);
    EXPECT_LE(result.seconds.size(), 20u);
  }
  // Many times slower than the best so far, and still not timed once only.
  EXPECT_GT(results[1].seconds[0], 4 * results[0].seconds[0]);
}

TEST(LocalMeasurer, RealConfigsAreMeasuredAndRight) {
  const Workload workload = parse_workload("conv2d:c=16,h=6,w=7,k=32,r=3,s=3,pad=1,epilogue=bias+relu");
  for (int threads : {1, 2}) {
    const Task task = make_task(workload, parse_target("llvm"), threads);
    const Program program = definition(workload);
    LocalMeasurer measurer(task, program, reduction_length(workload), quick());
    std::vector<Config> configs{task.default_config};
    for (uint64_t i = 0; configs.size() < 8; i += task.space.size() / 37) {
      if (task.space.valid(task.space.at(i % task.space.size())))
        configs.push_back(task.space.at(i % task.space.size()));
    }
    size_t done = 0;
    measurer.measure(
        configs,
        [&](size_t position, TrialResult r) {
          ++done;
          EXPECT_EQ(r.status, TrialStatus::kOk) << task.space.to_string(configs[position]) << ": " << r.error;
        },
        [] { return false; });
    EXPECT_EQ(done, configs.size());
  }
}

TEST(LocalMeasurer, StopsWhileExpectedOutputsAreComputed) {
  const Workload workload = parse_workload("matmul:m=128,n=128,k=128");
  const Task task = make_task(workload, parse_target("llvm"), 1);
  LocalMeasurerOptions options = quick();
  int told = 0;
  options.preparing = [&](double, double) { ++told; };
  LocalMeasurer measurer(task, definition(workload), reduction_length(workload), options);
  const Config configs[] = {task.default_config};
  const auto never_done = [](size_t, TrialResult) { ADD_FAILURE() << "a trial was made"; };
  measurer.measure(configs, never_done, [] { return true; });
  EXPECT_EQ(told, 1);
  const std::vector<Measurer::Compared> compared = measurer.compare(configs, {}, [] { return true; });
  ASSERT_EQ(compared.size(), 1u);
  EXPECT_TRUE(compared[0].seconds.empty());
  EXPECT_FALSE(measurer.open(task.default_config)->time(0.001).empty()) << "asked again, it is done after all";
}

TEST(LocalMeasurer, AProgramThatIsNoWorkerIsTold) {
  const TaskAndProgram made = faulty_task({}, "llvm", 1);
  LocalMeasurerOptions options = quick();
  options.worker_program = "/bin/false";
  try {
    LocalMeasurer(made.task, made.program, 1, options).open(made.task.default_config);
    FAIL() << "no error";
  } catch (const DeviceError& e) {
    EXPECT_NE(std::string(e.what()).find("the runner process does not start"), std::string::npos) << e.what();
  }
}

TaskAndProgram task_of(const std::string& workload_text, const std::string& target, int threads) {
  if (workload_text == "faulty") return faulty_task(workload_text, target, threads);
  const Workload workload = parse_workload(workload_text);
  return {make_task(workload, parse_target(target), threads), definition(workload)};
}

}  // namespace
}  // namespace tensmith

int main(int argc, char** argv) {
  using namespace tensmith;  // NOLINT: the test's own program
  if (argc >= 3 && std::string_view(argv[1]) == "worker") {
    if (std::string_view(argv[2]) == "runner") return run_runner();
    if (std::string_view(argv[2]) == "kernel-runner") return run_kernel_runner();
    return run_builder(task_of, [](const Task& task, const Config& config, const Program& program) {
      return task.workload == "faulty" ? build_fault(task, config, program) : build_module(task, config, program);
    });
  }
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
