#include "peak.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <vector>

#include <fmt/format.h>

#include "tensmith/codegen/llvm/jit.h"
#include "tensmith/codegen/llvm/llvm_codegen.h"
#include "tensmith/ir/ops.h"
#include "tensmith/runtime/runtime.h"
#include "tensmith/schedule/lower.h"
#include "tensmith/support/clock.h"
#include "workloads.h"

namespace tensmith::cli {
namespace {

constexpr int64_t kSteps = 200000;
/// Long enough for a core to reach its clock rate.
constexpr double kSeconds = 0.3;

/// parallel t: local acc[chains * lanes]; for step: each chain: acc = acc * m + m.
Function make_kernel(const Target& target, DataType type, int threads, int64_t chains) {
  const int64_t lanes = target.lanes(type.bits);
  const int64_t out_shape[] = {threads, chains * lanes};
  const int64_t factor_shape[] = {lanes};
  const int64_t acc_shape[] = {chains, lanes};
  const Buffer factor = make_buffer("factor", type, factor_shape);
  const Buffer out = make_buffer("out", type, out_shape);
  const Buffer acc = make_buffer("acc", type, acc_shape, MemoryScope::kLocal);
  const auto over_tile = [&](auto&& body) {
    const VarRef chain = make_var("chain"), lane = make_var("lane");
    return make_for(chain, make_index(chains), LoopKind::kUnrolled,
                    make_for(lane, make_index(lanes), LoopKind::kVectorized, body(Expr(chain), Expr(lane))));
  };
  const Stmt init = over_tile([&](Expr c, Expr l) {
    const Expr at[] = {c, l};
    return make_store(acc, at, make_float(type, 1.0));
  });
  const VarRef step = make_var("step"), thread = make_var("thread");
  const Stmt work = make_for(step, make_index(kSteps), LoopKind::kSerial, over_tile([&](Expr c, Expr l) {
                               const Expr at[] = {c, l};
                               const Expr m = make_load(factor, {&l, 1});
                               return make_store(acc, at, make_load(acc, at) * m + m);
                             }));
  const Stmt finish = over_tile([&](Expr c, Expr l) {
    const Expr at[] = {c, l};
    const Expr to[] = {Expr(thread), c * lanes + l};
    return make_store(out, to, make_load(acc, at));
  });
  const Stmt all[] = {init, work, finish};
  const Stmt body = make_for(thread, make_index(threads), threads > 1 ? LoopKind::kParallel : LoopKind::kSerial,
                             make_allocate(acc, make_seq(all)));
  return lower_function({"tensmith_peak", make_array({factor}), make_array({out}), body});
}

double measure(const Target& target, DataType type, const std::vector<int>& cpus) {
  const auto threads = static_cast<int>(cpus.size());
  Arena arena;
  ArenaScope scope(arena);
  // Two units with a latency of four or five cycles: ten independent chains keep both busy.
  constexpr int64_t kChains = 10;
  const Function kernel = make_kernel(target, type, threads, kChains);
  const CompiledModule compiled = compile({&kernel, 1}, target);
  const NativeSymbol symbols[] = {{"tensmith_parallel_for", reinterpret_cast<void*>(&tensmith_parallel_for)}};
  const LoadedModule loaded = LoadedModule::load(compiled.object, symbols);
  const PackedEntry entry = loaded.packed_entry("tensmith_peak");
  const auto lanes = static_cast<size_t>(target.lanes(type.bits));
  const size_t factor_bytes = lanes * static_cast<size_t>(type.element_bytes());
  const auto allocate = [](size_t bytes) {
    std::unique_ptr<void, void (*)(void*)> block(tensmith_alloc(bytes), tensmith_free);
    if (!block) throw std::bad_alloc();
    std::memset(block.get(), 0, bytes);  // 1 * 0 + 0 takes as long as any other product
    return block;
  };
  const auto factor = allocate(factor_bytes), out = allocate(factor_bytes * static_cast<size_t>(threads * kChains));
  void* arguments[] = {factor.get(), out.get()};
  tensmith_set_num_threads(threads);
  // Free to move, two threads may share a core for as long as this takes.
  tensmith_pin_threads(cpus.data(), threads);
  double best = std::numeric_limits<double>::infinity();
  const Stopwatch watch;
  while (watch.seconds() < kSeconds) {
    const double start = steady_seconds();
    entry(arguments);
    best = std::min(best, steady_seconds() - start);
  }
  tensmith_pin_threads(nullptr, 0);
  const double flops = 2.0 * static_cast<double>(kSteps) * kChains * static_cast<double>(lanes) * threads;
  return flops / best * 1e-9;
}

}  // namespace

Peaks::Peaks(const Target& target, int threads) : target_(target), cpus_(operator_cpus(threads)) {}

void Peaks::reached(double useful_gflops, DataType type) {
  if (type != kFloat32 && type != kFloat64) return;
  const auto entry = gflops_.try_emplace(type.bits, 0).first;
  // Other work on the machine only makes it slower; and no peak lies below what was reached.
  constexpr int kAttempts = 3;
  for (int i = 0; i < kAttempts && (entry->second == 0 || entry->second < useful_gflops); ++i) {
    entry->second = std::max(entry->second, measure(target_, type, cpus_));
  }
  entry->second = std::max(entry->second, useful_gflops);
}

std::string Peaks::percent(double useful_gflops, DataType type) const {
  const auto entry = gflops_.find(type.bits);
  if (entry == gflops_.end() || !type.is_float() || useful_gflops <= 0) return "-";
  return fmt::format("{:.0f}", 100 * useful_gflops / entry->second);
}

std::string Peaks::text() const {
  std::string out;
  for (const auto& [bits, gflops] : gflops_) {
    out += fmt::format("measured peak: {:.1f} GFLOP/s (float{}, {} thread{})\n", gflops, bits, cpus_.size(),
                       cpus_.size() == 1 ? "" : "s");
  }
  if (!out.empty()) out += "% of peak: without the multiply-adds of padding, which GFLOP/s count\n";
  return out;
}

}  // namespace tensmith::cli
