#include <gtest/gtest.h>

#include "ir/passes/run.h"
#include "tensmith/ir/parse.h"
#include "tensmith/ir/passes/flatten_storage.h"
#include "tensmith/ir/passes/narrow_indices.h"
#include "tensmith/ir/passes/unroll.h"
#include "tensmith/ir/passes/vectorize.h"
#include "tensmith/ir/print.h"
#include "tensmith/ir/verify.h"
#include "tensmith/support/error.h"

/// What each pass promises in its header, on the shortest programs that show it.

namespace tensmith {
namespace {

constexpr std::string_view kHead =
    "func f(A: float32[64] global, out C: float32[64] global, out D: float32[64] global):\n";

/// Runs a pass over the body of a function of A, C and D. The values must stay.
template <typename Pass>
std::string after(std::string_view body, Pass&& pass, VerifyStage stage = VerifyStage::kFlat) {
  const Function f = parse_function(std::string(kHead) + std::string(body));
  Function out = f;
  out.body = pass(f.body);
  const std::vector<Problem> problems = find_problems(out, stage);
  EXPECT_TRUE(problems.empty()) << problems[0].message << "\n" << to_string(out);
  EXPECT_EQ(testing::run(f, 1), testing::run(out, 1)) << to_string(out);
  return to_string(out.body);
}

std::string vectorized(std::string_view body) {
  return after(
      body, [](Stmt s) { return vectorize_loops(s); }, VerifyStage::kVectorized);
}

/// The loop stays one, a serial one.
void expect_serial(const std::string& body) {
  const std::string text = vectorized(body);
  EXPECT_EQ(text.find("vectorized"), std::string::npos) << text;
  EXPECT_EQ(text.rfind("for ", 0), 0u) << text;
}

TEST(FlattenTest, IndicesBecomeOneByTheStrides) {
  const Function f = parse_function(
      "func f(A: float32[4, 8] global strides [10, 1], B: float32[6] global strides [3], s: float32[] global, out C: "
      "float32[4, 2, 3] global):\n"
      "  for i in [0, 4):\n"
      "    prefetch A[i, 7] into L1\n"
      "    C[i, 1, i%3] = A[i, i + 1] + B[i] + s[]\n");
  Function out = f;
  out.body = flatten_storage(f.body);
  EXPECT_EQ(to_string(out.body),
            "for i in [0, 4):\n"
            "  prefetch A[i*10 + 7] into L1\n"
            "  C[i*6 + 3 + i%3] = A[i*10 + (i + 1)] + B[i*3] + s[0]\n");
  EXPECT_NO_THROW(verify(out, VerifyStage::kFlat));
  EXPECT_EQ(testing::run(f, 1), testing::run(out, 1));
  EXPECT_FALSE(flatten_storage(Stmt()));
}

TEST(FlattenTest, AStridedVectorAloneIsRunAsToldByItsUser) {
  const Function f = parse_function(
      "func f(B: float32[6] global strides [3], out C: float32[6] global strides [2]):\n"
      "  for i in [0, 6):\n"
      "    C[i] = B[i]\n");
  Function out = f;
  out.body = flatten_storage(f.body);
  std::vector<float> b(16), dimensional(11), flat(11);
  for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i);
  interpret(f, std::vector<void*>{b.data(), dimensional.data()});
  interpret(out, std::vector<void*>{b.data(), flat.data()}, {.flat = true});
  EXPECT_EQ(dimensional[10], 15.0f);
  EXPECT_EQ(flat, dimensional);
}

TEST(VectorizeTest, TheVariableBecomesARampAndAGuardAMask) {
  EXPECT_EQ(vectorized("  for y in [0, 2):\n    vectorized x in [0, 8):\n      C[y*8 + x] = A[y*8 + x] + A[y]\n"),
            "for y in [0, 2):\n"
            "  C[ramp(y*8, 1, 8)] = A[ramp(y*8, 1, 8)] + broadcast(A[y], 8)\n");
  EXPECT_EQ(vectorized("  vectorized x in [0, 4):\n    if x < 3:\n      C[x] = A[x*2]\n    else:\n      C[x] = 0.0\n"),
            "C[ramp(0, 1, 4) if ramp(0, 1, 4) < broadcast(3, 4)] = A[ramp(0, 2, 4) if ramp(0, 1, 4) < broadcast(3, "
            "4)]\n"
            "C[ramp(0, 1, 4) if not ramp(0, 1, 4) < broadcast(3, 4)] = broadcast(0.0, 4)\n");
  EXPECT_EQ(vectorized("  vectorized x in [0, 1):\n    C[x] = A[x]\n"), "C[0] = A[0]\n");
}

TEST(VectorizeTest, LetsOfTheLaneAreReplacedInPrefetchesToo) {
  EXPECT_EQ(
      vectorized("  vectorized x in [0, 4):\n    let t = x*2 + 1:\n      prefetch A[t] into L1\n      C[x] = A[t]\n"),
      "prefetch A[0*2 + 1] into L1\n"
      "C[ramp(0, 1, 4)] = A[ramp(1, 2, 4)]\n");
}

TEST(VectorizeTest, WhatHasNoVectorFormRunsSerially) {
  // One element from all lanes; an extent or an allocation of the lane.
  expect_serial("  vectorized x in [0, 4):\n    C[0] = A[0]\n");
  expect_serial("  vectorized x in [0, 4):\n    for k in [0, x):\n      C[x] = A[k]\n");
  expect_serial("  vectorized x in [0, 4):\n    alloc T: float32[4] local:\n      T[x] = A[x]\n      C[x] = T[x]\n");
  // Data that would be read again after the store.
  expect_serial("  vectorized x in [0, 4):\n    let t: float32 = A[x]:\n      C[x] = t\n      D[x] = t\n");
  expect_serial("  vectorized x in [0, 4):\n    C[x] = A[x]\n    if C[x] < 1.0:\n      C[x] = 5.0\n      D[x] = 7.0\n");
  expect_serial(
      "  vectorized x in [0, 4):\n    if x < 3:\n      let t: float32 = A[0]:\n        C[x] = t\n        D[x] = t\n");
  // A prefetch that would read where the mask is false.
  expect_serial(
      "  vectorized x in [0, 4):\n    if 0 < x:\n      prefetch A[int64(A[x - 1])] into L1\n      C[x] = A[x]\n");
  // Vectors already.
  expect_serial("  vectorized x in [0, 4):\n    C[ramp(x*4, 1, 4)] = A[ramp(x*4, 1, 4)]\n");
  // A loop inside is vectorized first, and its lanes meet the outer lane.
  EXPECT_EQ(vectorized("  vectorized x in [0, 4):\n    vectorized y in [0, 4):\n      C[x*4 + y] = A[y]\n"),
            "for x in [0, 4):\n"
            "  C[ramp(x*4, 1, 4)] = A[ramp(0, 1, 4)]\n");
}

TEST(VectorizeTest, AConditionOnOtherDataIsAMask) {
  EXPECT_EQ(vectorized("  vectorized x in [0, 4):\n    C[x] = 0.0\n    if A[x] < 1.0:\n      C[x] = 5.0\n"),
            "C[ramp(0, 1, 4)] = broadcast(0.0, 4)\n"
            "C[ramp(0, 1, 4) if A[ramp(0, 1, 4)] < broadcast(1.0, 4)] = broadcast(5.0, 4)\n");
}

TEST(UnrollTest, CopiesInOrderWithFreshVariables) {
  const auto unrolled = [](std::string_view body) { return after(body, [](Stmt s) { return unroll_loops(s); }); };
  EXPECT_EQ(unrolled("  unrolled i in [0, 2):\n    for k in [0, 2):\n      C[i*2 + k] = A[i]\n"),
            "for k in [0, 2):\n"
            "  C[0*2 + k] = A[0]\n"
            "for k in [0, 2):\n"
            "  C[1*2 + k] = A[1]\n");
  EXPECT_EQ(unrolled("  for n in [0, 3):\n    unrolled i in [0, n):\n      C[i] = A[n]\n"),
            "for n in [0, 3):\n"
            "  for i in [0, n):\n"
            "    C[i] = A[n]\n");
  EXPECT_EQ(unrolled("  unrolled i in [0, 0):\n    C[i] = A[i]\n  D[0] = A[0]\n"), "D[0] = A[0]\n");
}

TEST(UnrollTest, TheLimitHoldsForAllLoopsTogether) {
  const Function f = parse_function(std::string(kHead) +
                                    "  unrolled i in [0, 4):\n    unrolled k in [0, 4):\n      C[i*4 + k] = A[i]\n"
                                    "  unrolled j in [0, 8):\n    D[j] = A[j]\n");
  EXPECT_TRUE(unroll_loops(f.body, {.max_statements = 28}));
  try {
    unroll_loops(f.body, {.max_statements = 20});
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.message(), "unrolling loop 'j' (8 iterations of 1 statements) passes the limit of 20 statements");
  }
}

TEST(NarrowTest, AllOrNothing) {
  const auto narrowed = [](std::string_view body) { return after(body, [](Stmt s) { return narrow_indices(s); }); };
  const auto is_narrow = [&](std::string_view body) {
    Function f = parse_function(std::string(kHead) + std::string(body));
    bool wide = false;
    walk(
        narrow_indices(f.body), [&](Expr e) { wide = wide || e.type().element() == kInt64; }, [](Stmt) {});
    EXPECT_FALSE(narrowed(body).empty());
    return !wide;
  };
  EXPECT_TRUE(is_narrow("  for i in [0, 8):\n    let t = i*2:\n      if t < 9:\n        C[t] = A[t + 1]\n"));
  EXPECT_TRUE(is_narrow("  for i in [0, 8):\n    C[i] = float32(i*3 - 4)\n")) << "a cast of an index keeps its value";
  EXPECT_FALSE(is_narrow("  for i in [0, 8):\n    C[i*1000000000/1000000000] = A[i]\n")) << "an intermediate value";
  EXPECT_FALSE(is_narrow("  for i in [0, 8):\n    C[min(max(int64(A[i]), 0), 7)] = 1.0\n")) << "data";
  EXPECT_FALSE(narrow_indices(Stmt()));
}

}  // namespace
}  // namespace tensmith
