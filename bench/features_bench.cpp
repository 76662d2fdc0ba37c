// Features and scores of candidate programs, one thread: both are on the hot path of the search.

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "tensmith/costmodel/features.h"
#include "tensmith/costmodel/gbt.h"
#include "tensmith/ir/parse.h"
#include "tensmith/support/rng.h"

namespace tensmith {
namespace {

/// A 3x3 convolution on channel-blocked data as its template makes it: packed operands, accumulators in registers, a
/// tile of 1 x 7 x 2 vectors, padding skipped, weights prefetched, a copy out with an epilogue.
constexpr std::string_view kConv2d = R"(
func conv(data: float32[1, 8, 28, 28, 16] global, weights: float32[4, 8, 3, 3, 16, 32] global, bias: float32[128] global, out result: float32[1, 8, 28, 28, 16] global):
  parallel no in [0, 4):
    for oho in [0, 7):
      for owo in [0, 4):
        for ohm in [0, 4):
          for one in [0, 1):
            alloc acc: float32[1, 7, 2, 16] local:
              unrolled i0 in [0, 1):
                unrolled i1 in [0, 7):
                  unrolled i2 in [0, 2):
                    vectorized i3 in [0, 16):
                      acc[i0, i1, i2, i3] = 0.0
              for co in [0, 8):
                for kh in [0, 3):
                  if 0 <= oho*4 + ohm + kh - 1 and oho*4 + ohm + kh - 1 < 28:
                    for kw in [0, 3):
                      prefetch weights[no, co, kh, kw, 8, 0] into L2
                      for cio in [0, 4):
                        unrolled cii in [0, 4):
                          unrolled y in [0, 1):
                            unrolled x in [0, 7):
                              unrolled nv in [0, 2):
                                vectorized v in [0, 16):
                                  if 0 <= owo*7 + x + kw - 1 and owo*7 + x + kw - 1 < 28:
                                    acc[y, x, nv, v] = acc[y, x, nv, v] + data[0, co, oho*4 + ohm + y + kh - 1, owo*7 + x + kw - 1, cio*4 + cii]*weights[no, co, kh, kw, cio*4 + cii, nv*16 + v]
              unrolled r0 in [0, 1):
                unrolled r1 in [0, 7):
                  unrolled r2 in [0, 2):
                    vectorized r3 in [0, 16):
                      result[0, no*2 + r2, oho*4 + ohm + r0, owo*7 + r1, r3] = max(acc[r0, r1, r2, r3] + bias[(no*2 + r2)*16 + r3], 0.0)
)";

void BM_Features(benchmark::State& state) {
  Arena arena;
  ArenaScope scope(arena);
  const Function nest = parse_function(kConv2d);
  FeatureExtractor extractor({}, static_cast<FeatureSet>(state.range(0)));
  std::vector<float> row(extractor.size());
  for (auto _ : state) {
    extractor.extract(nest, row);
    benchmark::DoNotOptimize(row.data());
  }
  state.SetItemsProcessed(state.iterations());
  state.counters["columns"] = static_cast<double>(row.size());
}
BENCHMARK(BM_Features)->ArgName("set")->DenseRange(0, 2);

void BM_LoopContext(benchmark::State& state) {
  Arena arena;
  ArenaScope scope(arena);
  const Function nest = parse_function(kConv2d);
  NestAnalyzer analyzer;
  for (auto _ : state) benchmark::DoNotOptimize(&analyzer.analyze(nest));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_LoopContext);

/// Rows with as many distinct values as features of one space have.
std::vector<float> synthetic_rows(size_t rows, size_t columns) {
  Rng rng(1);
  std::vector<float> values(rows * columns);
  for (float& x : values) x = static_cast<float>(rng.uniform_int(uint64_t{12}));
  return values;
}

std::vector<double> synthetic_labels(const std::vector<float>& values, size_t rows, size_t columns) {
  std::vector<double> labels(rows, 0.0);
  for (size_t i = 0; i < rows; ++i) {
    for (size_t j = 0; j + 1 < 12; ++j) labels[i] += values[i * columns + j] * values[i * columns + j + 1] / 1000;
  }
  return labels;
}

void BM_Predict(benchmark::State& state) {
  if (!gbt_available()) return state.SkipWithError("built without XGBoost");
  const size_t columns = feature_names().size(), rows = 512, batch = static_cast<size_t>(state.range(0));
  const std::vector<float> values = synthetic_rows(rows, columns);
  auto model = make_gbt();
  model->fit(FeatureMatrix(values, columns), synthetic_labels(values, rows, columns));
  std::vector<float> scores(batch);
  for (auto _ : state) model->predict(FeatureMatrix(values.data(), batch, columns), scores);
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(batch));
}
BENCHMARK(BM_Predict)->ArgName("batch")->Arg(1)->Arg(128);

void BM_Fit(benchmark::State& state) {
  if (!gbt_available()) return state.SkipWithError("built without XGBoost");
  // Within one space about a third of the columns vary.
  const size_t columns = feature_names().size() / 3, rows = static_cast<size_t>(state.range(0));
  const std::vector<float> values = synthetic_rows(rows, columns);
  const std::vector<double> labels = synthetic_labels(values, rows, columns);
  auto model = make_gbt({.objective = static_cast<GbtObjective>(state.range(1))});
  for (auto _ : state) model->fit(FeatureMatrix(values, columns), labels);
}
BENCHMARK(BM_Fit)
    ->ArgNames({"rows", "objective"})
    ->ArgsProduct({{64, 512, 2048}, {0, 1}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tensmith

BENCHMARK_MAIN();
