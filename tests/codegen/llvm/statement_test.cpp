#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "codegen/llvm/harness.h"
#include "tensmith/codegen/llvm/host_target.h"
#include "tensmith/ir/parse.h"

namespace tensmith::test {
namespace {

TEST(LlvmStatements, LoopsOfEveryKind) {
  Comparison comparison;
  for (const char* kind : {"for", "unrolled", "vectorized", "parallel"}) {
    for (int extent : {0, 1, 2, 7}) {
      comparison.add(
          fmt::format("func f(A: float32[7, 4] global, out C: float32[7, 4] global):\n"
                      "  {} y in [0, {}):\n"
                      "    for x in [0, 4):\n"
                      "      C[y, x] = A[y, x] + A[6 - y, x]\n",
                      kind, extent));
    }
  }
}

TEST(LlvmStatements, ExtentsFromMemory) {
  Comparison comparison;
  for (const char* kind : {"for", "unrolled", "parallel"}) {
    comparison.add(
        fmt::format("func f(N: int32[16] global, out C: int32[16, 9] global):\n"
                    "  for y in [0, 16):\n"
                    "    {} x: int32 in [0, N[y]):\n"
                    "      C[y, x] = x + N[y]\n",
                    kind));
  }
}

TEST(LlvmStatements, TriangularLoops) {
  expect_same_as_interpreter(
      "func f(A: float32[8, 8] global, out C: float32[8, 8] global):\n"
      "  for y in [0, 8):\n"
      "    for x in [0, y):\n"
      "      for z in [0, min(y - x, 3) - 1):\n"
      "        C[y, x] = A[z, x] + A[y, z]\n");
}

TEST(LlvmStatements, BranchesAndLets) {
  expect_same_as_interpreter(
      "func f(A: float32[40] global, out C: float32[40] global):\n"
      "  for i in [0, 10):\n"
      "    let j = i*4 - 2:\n"
      "      if j >= 0 and j < 30:\n"
      "        let k = j / 3:\n"
      "          C[j] = A[k] + A[j]\n"
      "      else:\n"
      "        if i == 0:\n"
      "          C[i] = A[39]\n"
      "      let v: float32 = A[i]:\n"
      "        C[i + 30] = v*v\n");
}

TEST(LlvmStatements, ConditionsOnUnrolledLoopsFold) {
  expect_same_as_interpreter(
      "func f(A: float32[10] global, out C: float32[8] global):\n"
      "  unrolled i in [0, 8):\n"
      "    if i >= 1 and i < 6:\n"
      "      C[i] = A[i - 1] + A[i + 1]\n"
      "    else:\n"
      "      C[i] = select(i == 0, A[0], A[9])\n");
}

const char* const kRegisterTile =
    "func tile(A: float32[8] global, B: float32[8, 16] global, out C: float32[4, 16] global):\n"
    "  alloc acc: float32[4, 16] local:\n"
    "    unrolled y in [0, 4):\n"
    "      unrolled x in [0, 2):\n"
    "        acc[y, ramp(x*8, 1, 8)] = broadcast(0.0, 8)\n"
    "    for k in [0, 8):\n"
    "      unrolled y in [0, 4):\n"
    "        unrolled x in [0, 2):\n"
    "          acc[y, ramp(x*8, 1, 8)] = acc[y, ramp(x*8, 1, 8)] + broadcast(A[k]*2.0, 8)*B[k, ramp(x*8, 1, 8)]\n"
    "    unrolled y in [0, 4):\n"
    "      unrolled x in [0, 2):\n"
    "        C[y, ramp(x*8, 1, 8)] = acc[y, ramp(x*8, 1, 8)]\n";

TEST(LlvmStatements, RegisterTiles) {
  expect_same_as_interpreter(kRegisterTile);
  Arena arena;
  ArenaScope scope(arena);
  const Function function = parse_function(kRegisterTile);
  const CompiledModule compiled = compile({&function, 1}, parse_target("llvm:mcpu=haswell"), {.ll = true});
  EXPECT_EQ(compiled.ll.find("alloca"), std::string::npos) << compiled.ll;
}

TEST(LlvmStatements, ScratchBuffers) {
  Comparison comparison;
  for (const char* scope : {"global", "local", "shared"}) {
    for (int extent : {1, 100, 20000}) {
      comparison.add(
          fmt::format("func f(A: float32[{0}] global, out C: float32[{0}] global):\n"
                      "  for t in [0, 2):\n"
                      "    alloc S: float32[{0}] {1}:\n"
                      "      for i in [0, {0}):\n"
                      "        S[i] = A[i] + A[0]\n"
                      "      alloc T: int8[{0}] {1}:\n"
                      "        for i in [0, {0}):\n"
                      "          T[i] = 1\n"
                      "        for i in [0, {0}):\n"
                      "          C[i] = S[{0} - 1 - i]*float32(T[i])\n",
                      extent, scope));
    }
  }
}

TEST(LlvmStatements, ParallelClosuresCaptureEverything) {
  expect_same_as_interpreter(
      "func f(A: float32[6, 8] global, S: float32[2] global, out C: float32[3, 6, 8] global):\n"
      "  for b in [0, 3):\n"
      "    let scale: float32 = S[0]:\n"
      "      let flag: bool = S[1] > 0.0:\n"
      "        let offset: int32 = int32(S[1]):\n"
      "          alloc P: float32[8] global:\n"
      "            alloc L: float32[8] local:\n"
      "              for x in [0, 8):\n"
      "                P[x] = A[b, x]\n"
      "                L[x] = A[b + 1, x]\n"
      "              parallel y in [0, 6):\n"
      "                let z = y*8 + b:\n"
      "                  alloc T: float32[8] local:\n"
      "                    alloc H: float32[8] global:\n"
      "                      for x in [0, 8):\n"
      "                        T[x] = P[x]*scale + L[x]\n"
      "                        H[x] = select(flag, T[x], float32(z))\n"
      "                      parallel x in [0, 8):\n"
      "                        C[b, y, x] = H[x] + float32(offset) + A[y, x]\n");
}

TEST(LlvmStatements, ParallelInsideConstantLoop) {
  expect_same_as_interpreter(
      "func f(A: float32[4, 8] global, out C: float32[4, 8] global):\n"
      "  unrolled b in [0, 4):\n"
      "    parallel y in [0, 8):\n"
      "      C[b, y] = A[3 - b, y]\n");
}

TEST(LlvmStatements, Prefetch) {
  expect_same_as_interpreter(
      "func f(A: float32[64] global, out C: float32[64] global):\n"
      "  for i in [0, 8):\n"
      "    prefetch A[i*8 + 1000] into L1\n"
      "    prefetch A[i*8 - 64] into L2\n"
      "    C[ramp(i*8, 1, 8)] = A[ramp(i*8, 1, 8)]\n");
}

TEST(LlvmStatements, EmptyBody) { expect_same_as_interpreter("func f(A: float32[4] global, out C: float32[4] global):\n  pass\n"); }

// ---- failures at run time ---------------------------------------------------------------------------------------

int allocations_left = 0;
int live_allocations = 0;

void* limited_alloc(size_t bytes) {
  if (allocations_left-- == 0) return nullptr;
  ++live_allocations;
  return std::aligned_alloc(64, (bytes + 63) / 64 * 64);
}

void counted_free(void* pointer) {
  if (pointer != nullptr) --live_allocations;
  std::free(pointer);
}

int failing_parallel_for(int64_t extent, int (*body)(int64_t, int64_t, void*), void* closure) {
  const int first = body(0, extent / 2, closure);
  const int second = body(extent / 2, extent, closure);
  return first != 0 ? first : second != 0 ? second : 77;
}

const char* const kThreeScratch =
    "func f(A: float32[4] global, out C: float32[4] global):\n"
    "  alloc P: float32[4] global:\n"
    "    alloc Q: float32[4] global:\n"
    "      alloc R: float32[4] global:\n"
    "        for x in [0, 4):\n"
    "          P[x] = A[x]\n"
    "          Q[x] = P[x]\n"
    "          R[x] = Q[x]\n"
    "          C[x] = R[x]\n";

TEST(LlvmStatements, OutOfMemoryIsAStatusAndLeaksNothing) {
  Arena arena;
  ArenaScope scope(arena);
  const Function function = parse_function(kThreeScratch);
  const CompiledModule compiled = compile({&function, 1}, parse_target("llvm"));
  const NativeSymbol symbols[] = {{"tensmith_alloc", reinterpret_cast<void*>(&limited_alloc)},
                                  {"tensmith_free", reinterpret_cast<void*>(&counted_free)}};
  const LoadedModule module = LoadedModule::load(compiled.object, symbols);
  alignas(64) float in[4] = {1, 2, 3, 4};
  alignas(64) float out[4] = {};
  void* args[] = {in, out};
  for (int allowed = 0; allowed < 3; ++allowed) {
    allocations_left = allowed;
    live_allocations = 0;
    EXPECT_EQ(module.packed_entry("f")(args), 2);
    EXPECT_EQ(live_allocations, 0);
    EXPECT_EQ(out[0], 0.0F);
  }
  allocations_left = 3;
  EXPECT_EQ(module.packed_entry("f")(args), 0);
  EXPECT_EQ(live_allocations, 0);
  EXPECT_EQ(out[3], 4.0F);
}

TEST(LlvmStatements, FailureOfAParallelSectionIsReturned) {
  Arena arena;
  ArenaScope scope(arena);
  const Function function = parse_function(
      "func f(A: float32[4] global, out C: float32[4] global):\n"
      "  alloc P: float32[4] global:\n"
      "    parallel x in [0, 4):\n"
      "      alloc Q: float32[4] global:\n"
      "        Q[x] = A[x]\n"
      "        P[x] = Q[x]\n"
      "        C[x] = P[x]\n"
      "    C[0] = 9.0\n");
  const CompiledModule compiled = compile({&function, 1}, parse_target("llvm"));
  const NativeSymbol symbols[] = {{"tensmith_alloc", reinterpret_cast<void*>(&limited_alloc)},
                                  {"tensmith_free", reinterpret_cast<void*>(&counted_free)},
                                  {"tensmith_parallel_for", reinterpret_cast<void*>(&failing_parallel_for)}};
  const LoadedModule module = LoadedModule::load(compiled.object, symbols);
  alignas(64) float in[4] = {1, 2, 3, 4};
  alignas(64) float out[4] = {};
  void* args[] = {in, out};
  allocations_left = 100;
  live_allocations = 0;
  EXPECT_EQ(module.packed_entry("f")(args), 77);
  EXPECT_EQ(out[3], 4.0F);
  EXPECT_EQ(out[0], 1.0F) << "what follows the section must not run";
  EXPECT_EQ(live_allocations, 0);
  // The second chunk cannot have its scratch memory.
  allocations_left = 2;
  EXPECT_EQ(module.packed_entry("f")(args), 2);
  EXPECT_EQ(live_allocations, 0);
}

}  // namespace
}  // namespace tensmith::test
