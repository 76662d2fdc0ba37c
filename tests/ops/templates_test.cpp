#include "tensmith/ops/templates.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tensmith/ir/interpret.h"
#include "tensmith/ir/ops.h"
#include "tensmith/ir/visit.h"
#include "tensmith/schedule/lower.h"
#include "tensmith/schedule/reference.h"
#include "tensmith/schedule/trace.h"
#include "tensmith/support/error.h"
#include "tensmith/support/rng.h"

namespace tensmith {
namespace {

Target avx2() {
  Target target;
  target.cpu = "haswell";
  return target;
}

Target avx512() {
  Target target;
  target.cpu = "skylake-avx512";
  target.vector_bytes = 64;
  target.vector_registers = 32;
  target.broadcast_operand = true;
  return target;
}

using Memory = std::vector<float>;

/// The tensors of a program by name, with random inputs.
struct Data {
  std::vector<std::pair<std::string, Memory>> tensors;

  float* of(std::string_view name, size_t size) {
    for (auto& [known, memory] : tensors) {
      if (known == name) return memory.data();
    }
    tensors.emplace_back(std::string(name), Memory(size, NAN));
    return tensors.back().second.data();
  }
};

std::vector<void*> arguments(const Function& f, Data& data) {
  std::vector<void*> out;
  for (const Array<Buffer>& list : {f.inputs, f.outputs}) {
    for (Buffer b : list) out.push_back(data.of(b->name, static_cast<size_t>(buffer_size(b))));
  }
  return out;
}

/// Lowers a config and runs it in the interpreter; compares with the definition.
void check_config(const Workload& workload, const Task& task, const Config& config) {
  Arena arena;
  ArenaScope scope(arena);
  const Program program = definition(workload);
  Data data;
  data.tensors.reserve(16);
  Rng rng(7);
  std::vector<const void*> inputs;
  for (const Tensor& input : program.inputs) {
    Memory memory(static_cast<size_t>(buffer_size(input->buffer)));
    for (float& x : memory) x = static_cast<float>(rng.uniform_real() * 2 - 1);
    data.tensors.emplace_back(std::string(input->buffer->name), memory);
  }
  for (auto& [name, memory] : data.tensors) inputs.push_back(memory.data());
  const DoubleTensor expected = evaluate_program(program, inputs).at(0);

  LowerOptions options;
  options.verify = true;
  const Schedule schedule = task.instantiate(config);
  const LoweredModule lowered = lower(schedule, "f", options);
  for (const Function& pack : lowered.packs) interpret(pack, arguments(pack, data));
  interpret(lowered.main, arguments(lowered.main, data));
  const float* got = data.of(program.outputs[0]->buffer->name, expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    if (static_cast<double>(got[i]) == expected[i]) continue;  // infinities too
    ASSERT_NEAR(got[i], expected[i], 1e-4) << "element " << i << " of " << task.workload << "\n"
                                           << task.space.to_string(config) << "\n"
                                           << print_trace(schedule);
  }
}

void check_random_configs(const char* text, const Target& target, int threads, int count) {
  const Workload workload = parse_workload(text);
  const Task task = make_task(workload, target, threads);
  ASSERT_TRUE(task.space.valid(task.default_config)) << text;
  check_config(workload, task, task.default_config);
  Rng rng(5);
  int checked = 0;
  for (int drawn = 0; drawn < 1000 && checked < count && !::testing::Test::HasFatalFailure(); ++drawn) {
    const Config config = task.space.at(rng.uniform_int(task.space.size()));
    if (!task.space.valid(config)) continue;
    ++checked;
    check_config(workload, task, config);
  }
  EXPECT_EQ(checked, count) << text;
}

class Templates : public ::testing::TestWithParam<const char*> {};

TEST_P(Templates, RandomConfigsComputeTheDefinition) {
  check_random_configs(GetParam(), avx2(), 1, 4);
  check_random_configs(GetParam(), avx512(), 2, 4);
}

INSTANTIATE_TEST_SUITE_P(Shapes, Templates,
                         ::testing::Values("conv2d:c=1,h=1,w=1,k=1,r=1,s=1", "conv2d:c=16,h=5,w=6,k=32,r=3,s=3,pad=1",
                                           "conv2d:c=3,h=9,w=8,k=16,r=3,s=3,pad=1,stride=2",
                                           "conv2d:n=2,c=5,h=7,w=9,k=16,r=3,s=3,pad=1",
                                           "conv2d:c=8,h=9,w=7,k=12,r=3,s=3,pad=1:2:3:0,dilation=2",
                                           "conv2d:c=32,h=4,w=4,k=16,r=1,s=1,stride=2",
                                           "conv2d:c=16,h=6,w=5,k=16,r=3,s=1,pad=1,layout=nchw,weights=plain",
                                           "conv2d:c=16,h=4,w=5,k=32,r=2,s=3,pad=0:1:1:0,epilogue=bias+relu",
                                           "matmul:m=13,n=17,k=11", "matmul:m=1,n=9,k=33,ta=1",
                                           "matmul:m=16,n=70,k=70,tb=1", "matmul:m=9,n=3,k=1,ta=1,tb=1",
                                           "matmul:m=8,n=20,k=130,epilogue=bias"));

TEST(Templates, FreeExpressions) {
  const FreeExpression expression{"R[y,x] = max(sum(k: A[y,k]*B[k,x]) + b[x], 0)",
                                  {parse_named_shape("A=7x5"), parse_named_shape("B=5x19"), parse_named_shape("b=19")},
                                  {}};
  const Workload workload{expression};
  const Task task = make_task(workload, avx2(), 1);
  check_config(workload, task, task.default_config);
  Rng rng(3);
  for (int i = 0; i < 20; ++i) {
    check_config(workload, task, task.space.at(rng.uniform_int(task.space.size())));
  }
}

TEST(Templates, TheSpaceOfC6IsLarge) {
  const Task task = make_task(parse_workload("resnet18.C6"), avx512(), 1);
  Rng rng(1);
  int valid = 0;
  constexpr int kSamples = 2000;
  for (int i = 0; i < kSamples; ++i) {
    valid += task.space.valid(task.space.at(rng.uniform_int(task.space.size()))) ? 1 : 0;
  }
  EXPECT_GE(static_cast<double>(task.space.size()) * valid / kSamples, 1e6);
}

TEST(Templates, KnobsFollowShapesNotNames) {
  const Task alias = make_task(parse_workload("resnet18.C6"), avx2(), 1);
  const Task spelled = make_task(parse_workload("conv2d:c=128,h=28,w=28,k=128,r=3,s=3,pad=1"), avx2(), 1);
  EXPECT_EQ(alias.space.fingerprint(), spelled.space.fingerprint());
  EXPECT_EQ(alias.default_config, spelled.default_config);
}

TEST(Templates, NothingToScheduleHasOneConfig) {
  const auto check = [](const Workload& workload) {
    const Task task = make_task(workload, avx2(), 1);
    EXPECT_EQ(task.space.size(), 1u);
    check_config(workload, task, task.default_config);
  };
  for (const char* text : {"matmul:m=4,n=4,k=0", "matmul:m=4,n=0,k=4", "matmul:m=4,n=4,k=0,epilogue=bias+relu",
                           "conv2d:n=0,c=1,h=4,w=4,k=1,r=1,s=1", "conv2d:c=1,h=0,w=8,k=1,r=1,s=1,pad=1"}) {
    SCOPED_TRACE(text);
    check(parse_workload(text));
  }
  for (const char* text : {"P[y] = max(k: A[y,k])", "P[y] = min(k: A[y,k])", "P[y] = sum(k: A[y,k]) + 1"}) {
    SCOPED_TRACE(text);
    check({FreeExpression{text, {parse_named_shape("A=3x0")}, {}}});
  }
}

/// Iterations of the parallel loop with the most work inside.
int64_t parallel_iterations(const Task& task) {
  Arena arena;
  ArenaScope scope(arena);
  const LoweredModule lowered = lower(task.instantiate(task.default_config), "f");
  int64_t found = 1;
  size_t most = 0;
  const std::function<void(Stmt)> visit = [&](Stmt s) {
    const auto* loop = s.as<For>();
    if (loop != nullptr && loop->loop_kind == LoopKind::kParallel) {
      size_t size = 0;
      const std::function<void(Stmt)> count = [&](Stmt inner) {
        ++size;
        for_each_child(
            inner, [](Expr) {}, count);
      };
      count(loop->body);
      if (size > most) {
        most = size;
        found = as_const_int(loop->extent).value_or(1);
      }
    }
    for_each_child(
        s, [](Expr) {}, visit);
  };
  visit(lowered.main.body);
  return found;
}

TEST(Templates, DefaultConfigsKeepAllThreadsBusy) {
  for (const char* text : {"resnet18.C2", "resnet18.C6", "resnet18.C9", "resnet18.C12", "matmul:m=1024,n=1024,k=1024",
                           "matmul:m=4096,n=64,k=4096", "matmul:m=64,n=4096,k=512"}) {
    for (const Target& target : {avx2(), avx512()}) {
      for (int threads : {2, 4, 8, 16}) {
        const int64_t iterations = parallel_iterations(make_task(parse_workload(text), target, threads));
        const int64_t rounds = (iterations + threads - 1) / threads;
        EXPECT_GE(static_cast<double>(iterations), 0.8 * static_cast<double>(rounds * threads))
            << text << ", " << threads << " threads: " << iterations << " iterations";
      }
    }
  }
}

}  // namespace
}  // namespace tensmith
