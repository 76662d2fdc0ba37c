#include "peak.h"

#include <algorithm>
#include <vector>

#include "tensmith/codegen/llvm/jit.h"
#include "tensmith/codegen/llvm/llvm_codegen.h"
#include "tensmith/ir/ops.h"
#include "tensmith/runtime/runtime.h"
#include "tensmith/schedule/lower.h"
#include "tensmith/support/clock.h"

namespace tensmith::cli {
namespace {

constexpr int64_t kSteps = 200000;

/// parallel t: local acc[chains * lanes]; for step: each chain: acc = acc * m + m.
Function make_kernel(const Target& target, int threads, int64_t chains) {
  const int64_t lanes = target.lanes(32);
  const int64_t out_shape[] = {threads, chains * lanes};
  const int64_t factor_shape[] = {lanes};
  const int64_t acc_shape[] = {chains, lanes};
  const Buffer factor = make_buffer("factor", kFloat32, factor_shape);
  const Buffer out = make_buffer("out", kFloat32, out_shape);
  const Buffer acc = make_buffer("acc", kFloat32, acc_shape, MemoryScope::kLocal);
  const auto over_tile = [&](auto&& body) {
    const VarRef chain = make_var("chain"), lane = make_var("lane");
    return make_for(chain, make_index(chains), LoopKind::kUnrolled,
                    make_for(lane, make_index(lanes), LoopKind::kVectorized, body(Expr(chain), Expr(lane))));
  };
  const Stmt init = over_tile([&](Expr c, Expr l) {
    const Expr at[] = {c, l};
    return make_store(acc, at, make_float(kFloat32, 1.0));
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

double measure(const Target& target, int threads) {
  Arena arena;
  ArenaScope scope(arena);
  // Two units with a latency of four or five cycles: ten independent chains keep both busy.
  constexpr int64_t kChains = 10;
  const Function kernel = make_kernel(target, threads, kChains);
  const CompiledModule compiled = compile({&kernel, 1}, target);
  const NativeSymbol symbols[] = {{"tensmith_parallel_for", reinterpret_cast<void*>(&tensmith_parallel_for)}};
  const LoadedModule loaded = LoadedModule::load(compiled.object, symbols);
  const PackedEntry entry = loaded.packed_entry("tensmith_peak");
  const auto lanes = static_cast<size_t>(target.lanes(32));
  constexpr size_t kSlack = 16;
  std::vector<float> memory(lanes + static_cast<size_t>(threads) * kChains * lanes + 2 * kSlack, 1e-3F);
  const auto aligned = [](float* p) {
    return reinterpret_cast<float*>((reinterpret_cast<uintptr_t>(p) + 63) / 64 * 64);
  };
  float* factor = aligned(memory.data());
  float* out = aligned(factor + lanes);
  void* arguments[] = {factor, out};
  tensmith_set_num_threads(threads);
  double best = 1e30;
  for (int i = 0; i < 20; ++i) {
    const double start = steady_seconds();
    entry(arguments);
    best = std::min(best, steady_seconds() - start);
  }
  const double flops = 2.0 * static_cast<double>(kSteps) * kChains * static_cast<double>(lanes) * threads;
  return flops / best * 1e-9;
}

}  // namespace

double measured_peak_gflops(const Target& target, int threads) {
  static const double peak = measure(target, threads);
  return peak;
}

}  // namespace tensmith::cli
