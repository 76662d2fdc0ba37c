#include "codegen/cases.h"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

namespace tensmith::test {
namespace {

void loops_of_every_kind(Cases& cases) {
  for (const char* kind : {"for", "unrolled", "vectorized", "parallel"}) {
    for (int extent : {0, 1, 2, 7}) {
      cases.add(
          fmt::format("func f(A: float32[7, 4] global, out C: float32[7, 4] global):\n"
                      "  {} y in [0, {}):\n"
                      "    for x in [0, 4):\n"
                      "      C[y, x] = A[y, x] + A[6 - y, x]\n",
                      kind, extent));
    }
  }
}

void extents_from_memory(Cases& cases) {
  for (const char* kind : {"for", "unrolled", "parallel"}) {
    cases.add(
        fmt::format("func f(N: int32[16] global, out C: int32[16, 9] global):\n"
                    "  for y in [0, 16):\n"
                    "    {} x: int32 in [0, N[y]):\n"
                    "      C[y, x] = x + N[y]\n",
                    kind));
  }
}

void triangular_loops(Cases& cases) {
  cases.add(
      "func f(A: float32[8, 8] global, out C: float32[8, 8] global):\n"
      "  for y in [0, 8):\n"
      "    for x in [0, y):\n"
      "      for z in [0, min(y - x, 3) - 1):\n"
      "        C[y, x] = A[z, x] + A[y, z]\n");
}

void branches_and_lets(Cases& cases) {
  cases.add(
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

void conditions_on_unrolled_loops_fold(Cases& cases) {
  cases.add(
      "func f(A: float32[10] global, out C: float32[8] global):\n"
      "  unrolled i in [0, 8):\n"
      "    if i >= 1 and i < 6:\n"
      "      C[i] = A[i - 1] + A[i + 1]\n"
      "    else:\n"
      "      C[i] = select(i == 0, A[0], A[9])\n");
}

void register_tiles(Cases& cases) { cases.add(register_tile()); }

void scratch_buffers(Cases& cases) {
  for (const char* scope : {"global", "local", "shared"}) {
    for (int extent : {1, 100, 20000}) {
      cases.add(
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

void parallel_closures_capture_everything(Cases& cases) {
  cases.add(
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

void parallel_inside_constant_loop(Cases& cases) {
  cases.add(
      "func f(A: float32[4, 8] global, out C: float32[4, 8] global):\n"
      "  unrolled b in [0, 4):\n"
      "    parallel y in [0, 8):\n"
      "      C[b, y] = A[3 - b, y]\n");
}

void prefetch(Cases& cases) {
  cases.add(
      "func f(A: float32[64] global, out C: float32[64] global):\n"
      "  for i in [0, 8):\n"
      "    prefetch A[i*8 + 1000] into L1\n"
      "    prefetch A[i*8 - 64] into L2\n"
      "    C[ramp(i*8, 1, 8)] = A[ramp(i*8, 1, 8)]\n");
}

void empty_body(Cases& cases) { cases.add("func f(A: float32[4] global, out C: float32[4] global):\n  pass\n"); }

constexpr CaseGroup kGroups[] = {
    {"LoopsOfEveryKind", &loops_of_every_kind, true},
    {"ExtentsFromMemory", &extents_from_memory, true},
    {"TriangularLoops", &triangular_loops},
    {"BranchesAndLets", &branches_and_lets},
    {"ConditionsOnUnrolledLoopsFold", &conditions_on_unrolled_loops_fold},
    {"RegisterTiles", &register_tiles},
    {"ScratchBuffers", &scratch_buffers, true},
    {"ParallelClosuresCaptureEverything", &parallel_closures_capture_everything, true},
    {"ParallelInsideConstantLoop", &parallel_inside_constant_loop, true},
    {"Prefetch", &prefetch},
    {"EmptyBody", &empty_body},
};

}  // namespace

std::string register_tile() {
  return "func tile(A: float32[8] global, B: float32[8, 16] global, out C: float32[4, 16] global):\n"
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
}

std::span<const CaseGroup> statement_groups() { return kGroups; }

std::vector<CaseGroup> all_groups() {
  std::vector<CaseGroup> all;
  for (std::span<const CaseGroup> part : {arithmetic_groups(), memory_groups(), statement_groups()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace tensmith::test
