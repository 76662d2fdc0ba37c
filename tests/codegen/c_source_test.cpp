#include "tensmith/codegen/c_source.h"

#include <gtest/gtest.h>

#include "support/golden.h"
#include "tensmith/ir/parse.h"
#include "tensmith/support/error.h"

namespace tensmith {
namespace {

class CSource : public ::testing::Test {
 protected:
  std::string source(std::string_view text, std::string_view comment = {}) {
    const Function f = parse_function(text);
    return c_source({&f, 1}, {comment});
  }
  Arena arena_;
  ArenaScope scope_{arena_};
};

TEST_F(CSource, MatmulGolden) {
  testing::expect_golden(
      "codegen/matmul.c",
      source("func matmul(A: float32[64, 64] global, B: float32[64, 64] global, out C: float32[64, 64] global):\n"
             "  parallel yo in [0, 16):\n"
             "    for xo in [0, 4):\n"
             "      alloc acc: float32[4, 16] local:\n"
             "        unrolled yi in [0, 4):\n"
             "          acc[yi, ramp(0, 1, 16)] = broadcast(0.0, 16)\n"
             "        for k in [0, 64):\n"
             "          unrolled yi in [0, 4):\n"
             "            acc[yi, ramp(0, 1, 16)] = acc[yi, ramp(0, 1, 16)] + "
             "broadcast(A[yo*4 + yi, k], 16)*B[k, ramp(xo*16, 1, 16)]\n"
             "        unrolled yi in [0, 4):\n"
             "          C[yo*4 + yi, ramp(xo*16, 1, 16)] = acc[yi, ramp(0, 1, 16)]\n",
             "matmul 64x64x64\ntuned on some machine"));
}

TEST_F(CSource, EverythingGolden) {
  testing::expect_golden(
      "codegen/everything.c",
      source("func mixed(A: float32[40] global, H: float16[40] global, I: int32[40] global, out C: float32[40] global,"
             " out D: int8[40] global, out E: bool[40] global):\n"
             "  alloc P: float32[40] global:\n"
             "    for i in [0, 40):\n"
             "      let j = i / 3 + i % 3:\n"
             "        P[i] = select(i >= 2 and i < 38, A[i - 2], -1.5)\n"
             "        D[i] = int8(A[i])\n"
             "        E[i] = I[i] + 1 > I[j] / -7\n"
             "    prefetch P[8] into L2\n"
             "    for i in [0, 5):\n"
             "      if i < 4:\n"
             "        C[ramp(i*8, 1, 8) if ramp(i*8, 1, 8) < broadcast(30, 8)] = "
             "max(P[ramp(i*8, 1, 8)], float32x8(H[ramp(i*8, 1, 8)]))\n"
             "      else:\n"
             "        C[ramp(33, 1, 7)] = C[ramp(32, 1, 7)] + exp(A[ramp(33, 1, 7)])\n"));
}

TEST_F(CSource, StandsAloneUnlessTheRuntimeIsNeeded) {
  const std::string text = source(
      "func f(A: float32[4] global, out C: float32[4] global):\n"
      "  for i in [0, 4):\n"
      "    C[i] = A[i]\n");
  EXPECT_EQ(text.find("#include \""), std::string::npos) << text;
  EXPECT_EQ(text.find("ts_"), std::string::npos) << text;
}

TEST_F(CSource, NamesThatCCannotHave) {
  const std::string text = source(
      "func f(int: float32[4] global, out double: float32[4] global):\n"
      "  for while in [0, 4):\n"
      "    let ts_narrow = while + 0:\n"
      "      double[ts_narrow] = int[while]\n");
  EXPECT_NE(text.find("int f(const float* restrict int_1, float* restrict double_1)"), std::string::npos) << text;
  EXPECT_NE(text.find("vts_narrow"), std::string::npos) << text;
}

TEST_F(CSource, CommentsCannotEndEarly) {
  const std::string text = source("func f(A: float32[4] global, out C: float32[4] global):\n  pass\n", "a */ b\nc");
  EXPECT_TRUE(text.starts_with("/* a *  b\n * c */\n")) << text;
}

TEST_F(CSource, BadNames) {
  Function f = parse_function("func f(A: float32[4] global, out C: float32[4] global):\n  pass\n");
  const auto message = [&] {
    try {
      c_source({&f, 1});
    } catch (const UserError& error) {
      return error.message();
    }
    return std::string("no error");
  };
  f.name = "1a";
  EXPECT_EQ(message(), "function name '1a' is no identifier of C");
  f.name = "while";
  EXPECT_EQ(message(), "function name 'while' is no identifier of C");
  const Function both[] = {parse_function("func g(out C: float32[4] global):\n  pass\n"),
                           parse_function("func g(out C: float32[4] global):\n  pass\n")};
  EXPECT_THROW(c_source(both), UserError);
  EXPECT_THROW(c_header(both), UserError);
}

TEST_F(CSource, HeaderGolden) {
  const Function functions[] = {parse_function("func conv(data: float32[1, 8, 28, 28] global, weights: bfloat16[8, 8] "
                                               "global strides [16, 1], out result: bool[] global):\n"
                                               "  alloc t: float32[4] global:\n"
                                               "    t[0] = 1.0\n"),
                                parse_function("func pack(out result: int64[3] global):\n  pass\n")};
  CHeaderOptions options;
  options.comment = "conv2d, target llvm";
  options.supported_entry = true;
  testing::expect_golden("codegen/header.h", c_header(functions, options));
}

}  // namespace
}  // namespace tensmith
