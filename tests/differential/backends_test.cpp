#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "differential/run_program.h"
#include "schedule/random_schedule.h"
#include "tensmith/codegen/llvm/host_target.h"
#include "tensmith/ops/templates.h"
#include "tensmith/schedule/reference.h"
#include "tensmith/schedule/trace.h"
#include "tensmith/support/rng.h"

namespace tensmith {
namespace {

/// Runs one schedule through a back end; the failure text, or nothing.
std::string difference(Backend backend, const LoweredModule& module, const Target& target, const Program& program,
                       Operands& operands, const DoubleTensor& expected, double tolerance = 1e-4) {
  try {
    run(backend, module, target, operands);
  } catch (const std::exception& e) {
    return e.what();
  }
  const Buffer output = program.outputs[0]->buffer;
  const DoubleTensor got = to_doubles(output->type, operands.of(output), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    if (!(std::fabs(got[i] - expected[i]) <= tolerance)) {
      return fmt::format("element {} is {} instead of {}", i, got[i], expected[i]);
    }
  }
  return {};
}

void check_workload(const Workload& workload, int threads, int llvm_configs, int c_configs) {
  const Task task = make_task(workload, parse_target("llvm"), threads);
  const Program program = definition(workload);
  Operands operands(program, 5);
  const DoubleTensor expected = evaluate_program(program, operands.inputs()).at(0);
  Rng rng(static_cast<uint64_t>(threads) * 1000 + task.space.size());
  Config config = task.default_config;
  for (int i = 0; i < llvm_configs; ++i) {
    Arena arena;
    ArenaScope scope(arena);
    LowerOptions options;
    options.verify = true;
    const LoweredModule module = lower(task.instantiate(config), "f", options);
    for (Backend backend : {Backend::kInterpreter, Backend::kLlvm, Backend::kC}) {
      if (backend == Backend::kC && i >= c_configs) continue;
      const std::string failure = difference(backend, module, task.target, program, operands, expected);
      if (!failure.empty()) {
        ADD_FAILURE() << failure << "\nkept in " << keep_failure(task, config, backend, failure);
        return;
      }
    }
    do {
      config = task.space.at(rng.uniform_int(task.space.size()));
    } while (!task.space.valid(config));
  }
}

class Backends : public ::testing::TestWithParam<const char*> {};

TEST_P(Backends, AgreeOnRandomConfigs) {
  check_workload(parse_workload(GetParam()), 1, 10, 2);
  check_workload(parse_workload(GetParam()), 3, 3, 1);
}

INSTANTIATE_TEST_SUITE_P(Shapes, Backends,
                         ::testing::Values("conv2d:c=1,h=1,w=1,k=1,r=1,s=1", "conv2d:c=16,h=8,w=9,k=32,r=3,s=3,pad=1",
                                           "conv2d:c=3,h=13,w=12,k=16,r=7,s=7,pad=3,stride=2",
                                           "conv2d:n=2,c=13,h=7,w=11,k=16,r=3,s=3,pad=1",
                                           "conv2d:c=8,h=9,w=7,k=12,r=3,s=3,pad=1:2:3:0,dilation=2",
                                           "conv2d:c=32,h=6,w=6,k=48,r=1,s=1,stride=2",
                                           "conv2d:c=16,h=6,w=5,k=20,r=3,s=3,pad=1,layout=nchw,weights=plain",
                                           "conv2d:c=16,h=5,w=5,k=32,r=3,s=3,pad=1,epilogue=bias+relu",
                                           "matmul:m=13,n=37,k=11", "matmul:m=1,n=9,k=33,ta=1",
                                           "matmul:m=30,n=70,k=130,tb=1", "matmul:m=9,n=3,k=1,ta=1,tb=1",
                                           "matmul:m=127,n=127,k=127", "matmul:m=8,n=20,k=130,epilogue=bias+relu"));

TEST(Backends, AgreeOnFreeExpressions) {
  const FreeExpression softmax{
      "M[y] = max(k: A[y,k]); E[y,x] = exp(A[y,x] - M[y]); S[y] = sum(k: E[y,k]); O[y,x] = E[y,x]/S[y]",
      {parse_named_shape("A=6x21")},
      {}};
  const FreeExpression blur{
      "P[y,x] = select(y >= 1 and y < 10 and x >= 1 and x < 14, A[y-1,x-1], 0); B[i,j] = sum(r,s: P[i+r,j+s]*W[r,s])",
      {parse_named_shape("A=9x13"), parse_named_shape("W=3x3")},
      {parse_named_extent("y=11"), parse_named_extent("x=15"), parse_named_extent("i=9"), parse_named_extent("j=13")}};
  check_workload({softmax}, 1, 12, 3);
  check_workload({blur}, 2, 12, 3);
}

/// Random schedules of random programs of float32, float64 and int32.
TEST(Backends, AgreeOnRandomSchedules) {
  constexpr uint64_t kSchedules = 32;
  const Target target = parse_target("llvm");
  int given_up = 0;
  for (uint64_t seed = 1; seed <= kSchedules && !HasFailure(); ++seed) {
    Arena arena;
    ArenaScope scope(arena);
    const Program program = testing::random_program(seed);
    const Schedule schedule = testing::RandomSchedule(program, seed).make(40);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + print_trace(schedule));
    Operands operands(program, seed, true);
    const DoubleTensor expected = evaluate_program(program, operands.inputs()).at(0);
    LowerOptions options;
    options.verify = true;
    LoweredModule module;
    try {
      module = lower(schedule, "f", options);
      run(Backend::kInterpreter, module, target, operands, 100000);
    } catch (const InternalError& error) {
      ADD_FAILURE() << error.what();
      continue;
    } catch (const std::runtime_error&) {
      ++given_up;  // too much work, or too much code
      continue;
    }
    if (!module.main.body) continue;
    for (Backend backend : {Backend::kInterpreter, Backend::kLlvm, Backend::kC}) {
      if (backend == Backend::kC && seed % 2 == 0) continue;
      EXPECT_EQ(difference(backend, module, target, program, operands, expected, 0), "") << name_of(backend);
    }
  }
  EXPECT_LT(given_up, static_cast<int>(kSchedules) / 5);
}

}  // namespace
}  // namespace tensmith
