#include <benchmark/benchmark.h>

#include <string>

#include <fmt/format.h>

#include "tensmith/explore/database.h"
#include "tensmith/explore/database_tools.h"
#include "tensmith/explore/strategy.h"
#include "tensmith/support/file.h"

/// How long the parts of a search take that are neither lowering, model nor measuring: opening and asking a database of
/// 100,000 records, and proposing a batch.

namespace {

using namespace tensmith;

Record record_of(int key, int trial) {
  Record record;
  record.key.workload = fmt::format(
      "conv2d:n=1,c=128,h=28,w=28,k={},r=3,s=3,stride=1:1,pad=1:1:1:1,dilation=1:1,groups=1,layout=nchw16c,"
      "weights=packed,type=float32,epilogue=none",
      16 * (key + 1));
  record.key.target_kind = "llvm";
  record.key.cpu = "skylake-avx512";
  for (int i = 0; i < 60; ++i) record.key.features.push_back(fmt::format("+feature{:02}", i));
  record.space = "conv2d_cpu/1";
  record.space_fingerprint = 0x0123456789abcdef;
  for (int i = 0; i < 12; ++i) record.knobs.push_back({fmt::format("knob_{}", i), {{(trial >> i) % 7, 16}, ""}});
  record.trace =
      "split ow 6; split oc 16; reorder n oco oh owo ci kh kw owi oci; vectorize oci; unroll owi; parallel n";
  if (trial % 8 == 7) {
    record.status = TrialStatus::kBuildTimeout;
    record.error = "the build took longer than 10 s";
  } else {
    for (int i = 0; i < 8; ++i) record.seconds.push_back(1e-4 * (1.0 + (trial * 7919 % 1000) * 1e-3 + i * 1e-4));
  }
  record.date = "2025-01-31T12:34:56Z";
  record.cpu_model = "Some CPU @ 2.60GHz";
  record.tensmith_version = "0.1.0";
  record.llvm_version = "19.1.4";
  record.trial = trial;
  return record;
}

constexpr int kKeys = 200;
constexpr int kTrials = 500;

const std::filesystem::path& database_path() {
  static const TempDir directory;
  static const std::filesystem::path path = [] {
    std::filesystem::path file = directory.path() / "db.jsonl";
    Database database(file, Database::Missing::kIsEmpty);
    for (int trial = 0; trial < kTrials; ++trial) {
      for (int key = 0; key < kKeys; ++key) database.add(record_of(key, trial));
    }
    return file;
  }();
  return path;
}

void open_database(benchmark::State& state) {
  const std::filesystem::path& path = database_path();
  for (auto _ : state) {
    const Database database(path);
    if (database.size() != kKeys * kTrials) state.SkipWithError("records are missing");
  }
}
BENCHMARK(open_database)->Unit(benchmark::kMillisecond);

void best_of_a_key(benchmark::State& state) {
  const Database database(database_path());
  for (auto _ : state) benchmark::DoNotOptimize(database.best(record_of(17, 0).key));
}
BENCHMARK(best_of_a_key)->Unit(benchmark::kMillisecond);

void records_of_a_key(benchmark::State& state) {
  const Database database(database_path());
  for (auto _ : state) benchmark::DoNotOptimize(database.records(record_of(17, 0).key));
}
BENCHMARK(records_of_a_key)->Unit(benchmark::kMillisecond);

void lookup_of_an_unknown_key(benchmark::State& state) {
  const Database database(database_path());
  for (auto _ : state) benchmark::DoNotOptimize(database.lookup(record_of(kKeys, 0).key));
}
BENCHMARK(lookup_of_an_unknown_key)->Unit(benchmark::kMillisecond);

void stats_of_all(benchmark::State& state) {
  const Database database(database_path());
  for (auto _ : state) benchmark::DoNotOptimize(database_stats(database));
}
BENCHMARK(stats_of_all)->Unit(benchmark::kMillisecond);

void append(benchmark::State& state) {
  const TempDir directory;
  Database database(directory.path() / "db.jsonl", Database::Missing::kIsEmpty);
  const Record record = record_of(0, 0);
  for (auto _ : state) database.add(record);
}
BENCHMARK(append)->Unit(benchmark::kMicrosecond);

/// Rounds of annealing over a score that costs nothing; reports scored candidates a second.
void anneal(benchmark::State& state) {
  ConfigSpace space;
  const std::vector<int64_t> choices = {1, 2, 3, 4, 6, 8, 12, 16};
  for (int i = 0; i < 12; ++i) space.add(int_knob("k" + std::to_string(i), choices));
  space.add_constraint("not too many",
                       [](const ConfigSpace& s, const Config& c) { return s.get(c, 0) * s.get(c, 1) <= 64; });
  int64_t scored = 0;
  FunctionScorer scorer([&](std::span<const Config> configs, std::span<float> scores) {
    scored += static_cast<int64_t>(configs.size());
    for (size_t i = 0; i < configs.size(); ++i) {
      float sum = 0.0f;
      for (uint16_t choice : configs[i].choices) sum -= static_cast<float>((choice - 5) * (choice - 5));
      scores[i] = sum;
    }
  });
  const auto strategy = make_annealing_search(space, scorer, {});
  for (auto _ : state) benchmark::DoNotOptimize(strategy->propose(64));
  state.counters["candidates"] = benchmark::Counter(static_cast<double>(scored), benchmark::Counter::kIsRate);
}
BENCHMARK(anneal)->Unit(benchmark::kMillisecond);

}  // namespace
