// What the search spends on one candidate of ResNet-18's C6, one thread: schedule, loop nest, features and score. A
// round of annealing asks for up to chains * steps of them.

#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

#include "tensmith/codegen/llvm/host_target.h"
#include "tensmith/costmodel/gbt.h"
#include "tensmith/operator/task_features.h"
#include "tensmith/ops/templates.h"
#include "tensmith/ops/workload.h"
#include "tensmith/schedule/loop_nest.h"
#include "tensmith/support/rng.h"

namespace tensmith {
namespace {

constexpr size_t kConfigs = 2048;

struct Fixture {
  Fixture() : task(make_task(parse_workload("resnet18.C6"), parse_target("llvm"), 1)) {
    Rng rng(1);
    while (configs.size() < kConfigs) {
      Config config = task.space.at(rng.uniform_int(task.space.size()));
      if (!task.space.check(config)) configs.push_back(std::move(config));
    }
  }
  Task task;
  std::vector<Config> configs;
};

Fixture& fixture() {
  static Fixture f;
  return f;
}

/// Calls make(schedule) for one config after the other.
template <typename Make>
void each_schedule(benchmark::State& state, Make make) {
  Fixture& f = fixture();
  Arena arena;
  size_t i = 0;
  for (auto _ : state) {
    arena.reset();
    ArenaScope scope(arena);
    make(f.task.instantiate(f.configs[i++ % kConfigs]));
  }
  state.SetItemsProcessed(state.iterations());
}

void schedule_only(benchmark::State& state) {
  each_schedule(state, [](const Schedule& schedule) { benchmark::DoNotOptimize(&schedule); });
}
BENCHMARK(schedule_only);

void schedule_and_nest(benchmark::State& state) {
  each_schedule(state, [](const Schedule& s) { benchmark::DoNotOptimize(build_loop_nest(s, "nest")); });
}
BENCHMARK(schedule_and_nest);

void whole_candidate(benchmark::State& state) {
  Fixture& f = fixture();
  const std::unique_ptr<CostModel> model = make_gbt({});
  Learner learner(*model, task_features(f.task));
  // A model as large as one of a real search; what it has learned does not matter to the time.
  Rng rng(2);
  std::vector<Observation> results;
  for (size_t i = 0; i < 256; ++i) {
    Observation& o = results.emplace_back();
    o.config = f.configs[i];
    o.status = TrialStatus::kOk;
    o.seconds = 1e-3 * (1 + rng.uniform_real());
  }
  learner.learn(results);
  std::vector<float> scores(kConfigs);
  for (auto _ : state) learner.score(f.configs, scores);
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kConfigs));
}
BENCHMARK(whole_candidate)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tensmith

BENCHMARK_MAIN();
