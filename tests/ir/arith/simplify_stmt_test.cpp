#include <gtest/gtest.h>

#include <string_view>

#include "tensmith/ir/arith/simplify.h"
#include "tensmith/ir/parse.h"
#include "tensmith/ir/print.h"

namespace tensmith {
namespace {

/// The body of `func f(A: float32[64], I: int32[64], out C: float32[64])`, simplified.
std::string simple(std::string_view body, const SimplifyOptions& options = {}) {
  const std::string head = "func f(A: float32[64] global, I: int32[64] global, out C: float32[64] global):\n";
  Function f = parse_function(head + std::string(body));
  f.body = simplify(f.body, options);
  const std::string text = to_string(f);
  Function again = f;
  again.body = simplify(f.body, options);
  EXPECT_TRUE(again.body.same_as(f.body)) << text << "\nthen\n" << to_string(again);
  return text.substr(text.find('\n') + 1);
}

TEST(SimplifyStmtTest, LoopsThatRunOnceBecomeTheirBody) {
  EXPECT_EQ(simple("  for y in [0, 1):\n    parallel x in [0, 8):\n      C[y*8 + x] = A[y + x]\n"),
            "  parallel x in [0, 8):\n    C[x] = A[x]\n");
  EXPECT_EQ(simple("  for y in [0, 1):\n    for x in [0, 8):\n      C[y*8 + x] = A[x]\n", {.keep_unit_loops = true}),
            "  for y in [0, 1):\n    for x in [0, 8):\n      C[x] = A[x]\n");
}

TEST(SimplifyStmtTest, LoopsThatNeverRunVanish) {
  EXPECT_EQ(simple("  for y in [0, 0):\n    C[y] = A[y]\n  C[3] = A[3]\n"), "  C[3] = A[3]\n");
  EXPECT_EQ(simple("  for y in [0, 4):\n    for x in [0, y - 4):\n      C[y] = A[y]\n"), "  pass\n");
  EXPECT_EQ(simple("  for y in [0, 4):\n    for x in [0, y - 2):\n      C[y] = A[y]\n"),
            "  for y in [0, 4):\n    for x in [0, y - 2):\n      C[y] = A[y]\n");
}

TEST(SimplifyStmtTest, ConditionsProvenByLoops) {
  EXPECT_EQ(simple("  for y in [0, 4):\n    for x in [0, 8):\n      if y*8 + x < 32 and x < 8:\n        C[y] = A[y]\n"),
            "  for y in [0, 4):\n    for x in [0, 8):\n      C[y] = A[y]\n");
  EXPECT_EQ(simple("  for y in [0, 4):\n    if y > 3:\n      C[y] = A[y]\n    else:\n      C[y] = 0.0\n"),
            "  for y in [0, 4):\n    C[y] = 0.0\n");
  EXPECT_EQ(simple("  for y in [0, 4):\n    C[y] = select(y < 4, A[y], 0.0)\n"),
            "  for y in [0, 4):\n    C[y] = A[y]\n");
}

TEST(SimplifyStmtTest, ConditionsProvenByBranches) {
  EXPECT_EQ(simple("  for y in [0, 9):\n    if y < 5:\n      C[y] = select(y < 6, A[y], 0.0)\n    else:\n      C[y] = "
                   "select(y < "
                   "5, A[y], 1.0)\n"),
            "  for y in [0, 9):\n    if y < 5:\n      C[y] = A[y]\n    else:\n      C[y] = 1.0\n");
  EXPECT_EQ(simple("  for y in [0, 9):\n    if y < 5:\n      if y > 2:\n        C[y] = A[y]\n"),
            "  for y in [0, 9):\n    if y < 5 and 2 < y:\n      C[y] = A[y]\n");
}

TEST(SimplifyStmtTest, ConditionsProvenBySymbolicBounds) {
  EXPECT_EQ(
      simple(
          "  for y in [0, 4):\n    for x in [0, min(4, 13 - y*4)):\n      if y*4 + x < 13 and x < 4:\n        C[y*4 + "
          "x] = A[y*4 + x]\n"),
      "  for y in [0, 4):\n    for x in [0, min(13 - y*4, 4)):\n      C[y*4 + x] = A[y*4 + x]\n");
}

TEST(SimplifyStmtTest, ConditionsOnDataKeepTheirOrder) {
  // I[y + 1] may only be read where y < 63.
  const std::string_view text = "  for y in [0, 64):\n    if y < 63:\n      if I[y + 1] < 3:\n        C[y] = A[y]\n";
  EXPECT_EQ(simple(text), text);
}

TEST(SimplifyStmtTest, EmptyBranches) {
  EXPECT_EQ(
      simple("  for y in [0, 9):\n    if y < 5:\n      if y > 6:\n        C[y] = A[y]\n    else:\n      C[y] = 0.0\n"),
      "  for y in [0, 9):\n    if 4 < y:\n      C[y] = 0.0\n");
  EXPECT_EQ(simple("  for y in [0, 9):\n    if y < 5:\n      if y > 6:\n        C[y] = A[y]\n"), "  pass\n");
}

TEST(SimplifyStmtTest, Lets) {
  EXPECT_EQ(simple("  for y in [0, 8):\n    let t = 3:\n      let u = t + 1:\n        C[y + u] = A[t]\n"),
            "  for y in [0, 8):\n    C[y + 4] = A[3]\n");
  EXPECT_EQ(simple("  for y in [0, 8):\n    let t = y:\n      C[t] = A[t]\n"), "  for y in [0, 8):\n    C[y] = A[y]\n");
  EXPECT_EQ(simple("  for y in [0, 8):\n    let t = y*2:\n      C[y] = A[y]\n"),
            "  for y in [0, 8):\n    C[y] = A[y]\n");
  const std::string_view used = "  for y in [0, 8):\n    let t = y*2:\n      C[t] = A[t]\n";
  EXPECT_EQ(simple(used), used);
  EXPECT_EQ(simple(used, {.inline_index_lets = true}), "  for y in [0, 8):\n    C[y*2] = A[y*2]\n");
  EXPECT_EQ(simple("  for y in [0, 8):\n    let t = y*2:\n      if t < 16:\n        C[t] = A[t]\n"), used);
  const std::string_view data = "  for y in [0, 8):\n    let t: int32 = I[y]:\n      C[y] = A[int64(t)]\n";
  EXPECT_EQ(simple(data, {.inline_index_lets = true}), data);
}

TEST(SimplifyStmtTest, FactsAboutDataEndWithAStore) {
  const std::string_view stores =
      "  C[0] = 1.0\n  if C[0] < 3.0:\n    C[0] = 5.0\n    if C[0] < 3.0:\n      C[1] = 7.0\n";
  EXPECT_EQ(simple(stores), stores);
  EXPECT_EQ(
      simple(
          "  for y in [0, 8):\n    if y < 3 and A[y] < 1.0:\n      C[y] = 1.0\n      if y < 4:\n        C[y] = 2.0\n"),
      "  for y in [0, 8):\n    if y < 3 and A[y] < 1.0:\n      C[y] = 1.0\n      C[y] = 2.0\n");
}

TEST(SimplifyStmtTest, ALetOfDataMayWrap) {
  const std::string text =
      simple("  let t = int64(A[0]):\n    if min(t, 0) - 1 < 0:\n      C[0] = 1.0\n      C[1] = float32(t)\n");
  EXPECT_NE(text.find("if "), std::string::npos) << text;
}

TEST(SimplifyStmtTest, ADivisionStaysInsideItsGuard) {
  const std::string_view text = "  for y in [0, 8):\n    if 0 < y:\n      if 7/y < 3:\n        C[y] = 1.0\n";
  EXPECT_EQ(simple(text), text);
}

TEST(SimplifyStmtTest, PredicatesAndAllocations) {
  EXPECT_EQ(simple("  for y in [0, 8):\n    C[y if y < 8] = A[y if y < 8]\n"), "  for y in [0, 8):\n    C[y] = A[y]\n");
  EXPECT_EQ(simple("  for y in [0, 8):\n    C[y if y > 8] = A[y]\n"), "  pass\n");
  EXPECT_EQ(simple("  alloc T: float32[8] local:\n    for y in [0, 0):\n      T[y] = A[y]\n"), "  pass\n");
  EXPECT_EQ(simple("  for y in [0, 8):\n    prefetch A[y + y] into L1\n    C[y + 0] = A[y]\n"),
            "  for y in [0, 8):\n    prefetch A[y*2] into L1\n    C[y] = A[y]\n");
}

TEST(SimplifyStmtTest, UnchangedStatementsAreTheSameNode) {
  const Function f = parse_function(
      "func f(A: float32[64] global, out C: float32[64] global):\n"
      "  for y in [0, 8):\n    for x in [0, 8):\n      if y*8 + x < 61:\n        C[y*8 + x] = A[y*8 + x] + 1.0\n");
  EXPECT_TRUE(simplify(f.body).same_as(f.body));
}

TEST(SimplifyStmtTest, KnowsTheLoopsAround) {
  const VarRef y = make_var("y");
  VarRanges scope;
  scope.push(y, Range::of_extent(4));
  const Buffer c = make_buffer("C", kFloat32, std::vector<int64_t>{64});
  const Stmt s = parse_stmt("if y < 4:\n  C[y] = 0.0\n", std::vector<VarRef>{y}, std::vector<Buffer>{c});
  EXPECT_EQ(to_string(simplify(s, scope)), "C[y] = 0.0\n");
  EXPECT_FALSE(simplify(Stmt()));
}

}  // namespace
}  // namespace tensmith
