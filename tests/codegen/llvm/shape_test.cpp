#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "codegen/cases.h"
#include "support/golden.h"
#include "tensmith/codegen/llvm/host_target.h"
#include "tensmith/codegen/llvm/llvm_codegen.h"
#include "tensmith/ir/parse.h"

/// What the code looks like: that LLVM keeps the schedule, and that hot loops hold nothing but what they need.

namespace tensmith {
namespace {

size_t count(std::string_view text, std::string_view what) {
  size_t n = 0;
  for (size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + what.size())) ++n;
  return n;
}

/// The innermost loop that holds fused multiply-adds: from its label to the jump back.
std::string hot_loop(const std::string& assembly) {
  const size_t fma = assembly.find("vfmadd");
  if (fma == std::string::npos) return "";
  const size_t label = assembly.rfind("\n.LBB", fma);
  const std::string name = assembly.substr(label + 1, assembly.find(':', label) - label - 1);
  const size_t jump = assembly.find(name + "\n", fma);
  return assembly.substr(label, jump - label);
}

class LlvmShape : public ::testing::Test {
 protected:
  CompiledModule build(const std::string& text, const char* target) {
    const Function f = parse_function(text);
    return compile({&f, 1}, parse_target(target), {.object = false, .ll = true, .assembly = true});
  }
  Arena arena_;
  ArenaScope scope_{arena_};
};

/// C[rows, vectors*lanes] += A[k, rows] * B[k, vectors*lanes], the tile in registers.
std::string matmul_kernel(int rows, int vectors, int lanes, bool rows_outer) {
  const auto tile = [&](const std::string& indent, const std::string& statement) {
    const std::string y = fmt::format("unrolled y in [0, {}):\n", rows);
    const std::string x = fmt::format("unrolled x in [0, {}):\n", vectors);
    return indent + (rows_outer ? y : x) + indent + "  " + (rows_outer ? x : y) + indent + "    " + statement + "\n";
  };
  const std::string element = fmt::format("acc[y, ramp(x*{}, 1, {})]", lanes, lanes);
  const std::string vector = fmt::format("ramp(x*{}, 1, {})", lanes, lanes);
  return fmt::format(
             "func mm(A: float32[256, {}] global, B: float32[256, {}] global, out C: float32[{}, {}] global):\n", rows,
             vectors * lanes, rows, vectors * lanes) +
         fmt::format("  alloc acc: float32[{}, {}] local:\n", rows, vectors * lanes) +
         tile("    ", fmt::format("{} = broadcast(0.0, {})", element, lanes)) + "    for k in [0, 256):\n" +
         tile("      ", fmt::format("{} = {} + broadcast(A[k, y], {})*B[k, {}]", element, element, lanes, vector)) +
         tile("    ", fmt::format("C[y, {}] = {}", vector, element));
}

TEST_F(LlvmShape, MatmulKernelStaysInRegisters) {
  const CompiledModule m = build(matmul_kernel(6, 2, 8, true), "llvm:mcpu=haswell");
  const std::string loop = hot_loop(m.assembly);
  EXPECT_EQ(count(loop, "vfmadd"), 12U) << loop;
  EXPECT_EQ(count(loop, "vbroadcastss"), 6U) << loop;
  EXPECT_EQ(count(m.assembly, "32-byte Spill"), 0U);
  EXPECT_EQ(count(loop, "(%rsp)"), 0U) << loop;
  // One row of A is 24 bytes and one of B 64: that is what the pointers step.
  EXPECT_EQ(count(loop, "imul"), 0U) << loop;
}

TEST_F(LlvmShape, Avx512KernelStaysInRegisters) {
  const CompiledModule m = build(matmul_kernel(14, 2, 16, true), "llvm:mcpu=skylake-avx512");
  const std::string loop = hot_loop(m.assembly);
  EXPECT_EQ(count(loop, "vfmadd"), 28U) << loop;
  EXPECT_EQ(count(loop, "zmm") > 0, true);
  EXPECT_EQ(count(m.assembly, "64-byte Spill"), 0U);
}

TEST_F(LlvmShape, AccessesShareAPointerWhateverTheirIndexHolds) {
  // The bound of a clipped loop is no sum: it must count as one term of all nine indices.
  std::string text =
      "func f(A: float32[4096] global, out C: float32[64] global):\n"
      "  for y in [0, 8):\n"
      "    alloc acc: float32[9] local:\n"
      "      unrolled i in [0, 9):\n"
      "        acc[i] = 0.0\n"
      "      for r in [0, min(9 - y, 3) - max(1 - y, 0)):\n"
      "        unrolled i in [0, 9):\n"
      "          acc[i] = acc[i] + A[y*448 + (r + max(1 - y, 0))*64 + i*7]*2.0\n"
      "      unrolled i in [0, 8):\n"
      "        C[y*8 + i] = acc[i]\n";
  const CompiledModule m = build(text, "llvm:mcpu=haswell");
  const std::string loop = hot_loop(m.assembly);
  EXPECT_EQ(count(loop, "vfmadd"), 8U) << loop;
  // One pointer and the index of the loop are stepped.
  EXPECT_LE(count(loop, "\tadd") + count(loop, "\tinc") + count(loop, "\tdec") + count(loop, "\tlea"), 2U) << loop;
}

TEST_F(LlvmShape, LoadsAreRepeatedWhereRegistersAreShort) {
  // Vectors outside rows: six broadcasts would have to stay while twelve accumulators do. They are loaded again.
  const CompiledModule m = build(matmul_kernel(6, 2, 8, false), "llvm:mcpu=haswell");
  EXPECT_EQ(count(hot_loop(m.assembly), "vbroadcastss"), 12U) << hot_loop(m.assembly);
  EXPECT_EQ(count(m.assembly, "32-byte Spill"), 0U) << m.assembly;
  // With 32 registers they may stay.
  const CompiledModule wide = build(matmul_kernel(6, 2, 16, false), "llvm:mcpu=skylake-avx512");
  EXPECT_EQ(count(hot_loop(wide.assembly), "vbroadcastss"), 6U) << hot_loop(wide.assembly);
}

TEST_F(LlvmShape, UnrolledKernelWidthDoesNotSpill) {
  const CompiledModule m = build(
      "func conv(A: float32[16, 14, 14, 8] global, W: float32[16, 3, 3, 8, 16] global, out C: float32[12, 12, 16] "
      "global):\n"
      "  for oh in [0, 12):\n"
      "    for owo in [0, 2):\n"
      "      alloc acc: float32[6, 16] local:\n"
      "        unrolled y in [0, 6):\n"
      "          unrolled x in [0, 2):\n"
      "            acc[y, ramp(x*8, 1, 8)] = broadcast(0.0, 8)\n"
      "        for icb in [0, 16):\n"
      "          for kh in [0, 3):\n"
      "            unrolled kw in [0, 3):\n"
      "              unrolled ic in [0, 8):\n"
      "                unrolled y in [0, 6):\n"
      "                  unrolled x in [0, 2):\n"
      "                    acc[y, ramp(x*8, 1, 8)] = acc[y, ramp(x*8, 1, 8)] + "
      "broadcast(A[icb, oh + kh, owo*6 + y + kw, ic], 8)*W[icb, kh, kw, ic, ramp(x*8, 1, 8)]\n"
      "        unrolled y in [0, 6):\n"
      "          unrolled x in [0, 2):\n"
      "            C[oh, owo*6 + y, ramp(x*8, 1, 8)] = acc[y, ramp(x*8, 1, 8)]\n",
      "llvm:mcpu=haswell");
  EXPECT_EQ(count(hot_loop(m.assembly), "vfmadd"), 288U);
  EXPECT_EQ(count(m.assembly, "32-byte Spill"), 0U);
}

TEST_F(LlvmShape, VectorWidthIsTheTargets) {
  const std::string text =
      "func f(A: float32[64] global, out C: float32[64] global):\n"
      "  for i in [0, 4):\n"
      "    C[ramp(i*16, 1, 16)] = A[ramp(i*16, 1, 16)]*A[ramp(i*16, 1, 16)]\n";
  EXPECT_GT(count(build(text, "llvm:mcpu=skylake-avx512").assembly, "%zmm"), 0U);
  EXPECT_GT(count(build(text, "llvm:mcpu=haswell").assembly, "%ymm"), 0U);
  EXPECT_EQ(count(build(text, "llvm:mcpu=haswell").assembly, "%zmm"), 0U);
  EXPECT_EQ(count(build(text, "llvm:mcpu=x86-64").assembly, "%ymm"), 0U);
}

TEST_F(LlvmShape, AlignmentIsProvedFromTheIndex) {
  const auto ll = [&](const char* index) {
    return build(fmt::format("func f(A: float32[1024] global, out C: float32[8] global):\n"
                             "  for i in [0, 4):\n"
                             "    for j in [0, 2):\n"
                             "      C[ramp(0, 1, 8)] = A[ramp({}, 1, 8)]\n",
                             index),
                 "llvm:mcpu=haswell")
        .ll;
  };
  EXPECT_EQ(count(ll("i*16"), "load <8 x float>, ptr %0, align 64"), 1U) << ll("i*16");
  EXPECT_GE(count(ll("i*16 + j*8"), ", align 32"), 1U);
  EXPECT_GE(count(ll("i*16 + j*4 + 8"), ", align 16"), 1U);
  EXPECT_GE(count(ll("i*3 + j"), ", align 4"), 1U);
  EXPECT_GE(count(ll("i / 3 * 16"), ", align 64"), 1U);
}

TEST_F(LlvmShape, LoopsStayAsTheyAre) {
  // A loop that LLVM would love to vectorize and unroll, or to turn into a call of memset.
  const CompiledModule m = build(
      "func f(A: float32[64] global, out C: float32[64] global):\n"
      "  for i in [0, 64):\n"
      "    C[i] = A[i]*2.0\n"
      "  for i in [0, 64):\n"
      "    C[i] = 0.0\n",
      "llvm:mcpu=haswell");
  EXPECT_EQ(count(m.ll, " x float>"), 0U) << m.ll;
  EXPECT_EQ(count(m.ll, "memset"), 0U) << m.ll;
  EXPECT_EQ(count(m.ll, "br i1"), 2U) << m.ll;
}

TEST_F(LlvmShape, DivisionByAPowerOfTwoIsAShift) {
  const std::string text = build(
                               "func f(A: int32[64] global, out C: int32[64] global, out D: int32[64] global):\n"
                               "  for i in [0, 64):\n"
                               "    C[i] = A[i] / 8\n"
                               "    D[i] = A[i] % 8\n",
                               "llvm")
                               .ll;
  EXPECT_EQ(count(text, "ashr"), 1U) << text;
  EXPECT_EQ(count(text, " and "), 1U) << text;
  EXPECT_EQ(count(text, "sdiv") + count(text, "srem"), 0U) << text;
}

TEST_F(LlvmShape, KnownSignsSpareTheCorrection) {
  const std::string text = build(
                               "func f(A: float32[64] global, out C: float32[64] global):\n"
                               "  for i in [0, 64):\n"
                               "    C[i] = A[i / 7 + i % 5]\n",
                               "llvm")
                               .ll;
  EXPECT_EQ(count(text, "udiv"), 1U) << text;
  EXPECT_EQ(count(text, "urem"), 1U) << text;
  EXPECT_EQ(count(text, "sdiv") + count(text, "select"), 0U) << text;
}

TEST_F(LlvmShape, KernelGolden) {
  std::string text = build(matmul_kernel(2, 1, 8, true), "llvm:mcpu=haswell").ll;
  // Of this LLVM's version and default triple the golden text shall not depend.
  for (const char* line : {"target triple", "target datalayout"}) {
    const size_t at = text.find(line);
    if (at != std::string::npos) text.erase(at, text.find('\n', at) + 1 - at);
  }
  text.erase(text.find("attributes #0"));
  testing::expect_golden("codegen/matmul.ll", text);
}

}  // namespace
}  // namespace tensmith
