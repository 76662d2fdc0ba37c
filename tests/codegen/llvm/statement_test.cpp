#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "codegen/cases.h"
#include "tensmith/codegen/llvm/host_target.h"
#include "tensmith/codegen/llvm/jit.h"
#include "tensmith/codegen/llvm/llvm_codegen.h"
#include "tensmith/ir/parse.h"

namespace tensmith::test {
namespace {

TEST(LlvmStatements, RegisterTilesLeaveTheStack) {
  Arena arena;
  ArenaScope scope(arena);
  const Function function = parse_function(register_tile());
  const CompiledModule compiled = compile({&function, 1}, parse_target("llvm:mcpu=haswell"), {.ll = true});
  EXPECT_EQ(compiled.ll.find("alloca"), std::string::npos) << compiled.ll;
}

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
