#include "tensmith/ir/passes/partition.h"

#include <gtest/gtest.h>

#include <functional>

#include "ir/passes/conv_nest.h"
#include "ir/passes/run.h"
#include "tensmith/ir/parse.h"
#include "tensmith/ir/print.h"
#include "tensmith/ir/verify.h"

namespace tensmith {
namespace {

using testing::ConvNest;
using testing::count_guards;
using testing::GuardCount;
using testing::PadForm;

/// Partitions, and checks that the result is well formed and computes the same bits.
Function check(const Function& f, const PartitionOptions& options = {}) {
  Function out = f;
  out.body = partition_loops(f.body, options);
  const std::vector<Problem> problems = find_problems(out, VerifyStage::kLoopNest);
  EXPECT_TRUE(problems.empty()) << problems[0].message << "\n" << to_string(out);
  EXPECT_EQ(testing::run(f, 1), testing::run(out, 1)) << to_string(f) << "became\n" << to_string(out);
  return out;
}

void expect_text(std::string_view before, std::string_view after) {
  EXPECT_EQ(to_string(check(parse_function(before))), after);
}

TEST(PartitionTest, SplitThatDoesNotDivide) {
  expect_text(
      "func f(A: float32[13] global, out C: float32[13] global):\n"
      "  for yo in [0, 4):\n"
      "    for yi in [0, 4):\n"
      "      if yo*4 + yi < 13:\n"
      "        C[yo*4 + yi] = A[yo*4 + yi]\n",
      "func f(A: float32[13] global, out C: float32[13] global):\n"
      "  for yo in [0, 3):\n"
      "    for yi in [0, 4):\n"
      "      C[yo*4 + yi] = A[yo*4 + yi]\n"
      "  C[12] = A[12]\n");
}

TEST(PartitionTest, TwoLevelsThatDoNotDivide) {
  expect_text(
      "func f(A: float32[33] global, out C: float32[33] global):\n"
      "  for a in [0, 4):\n"
      "    for b in [0, 3):\n"
      "      for c in [0, 4):\n"
      "        if b*4 + c < 10 and a*10 + b*4 + c < 33:\n"
      "          C[a*10 + b*4 + c] = A[a*10 + b*4 + c]\n",
      "func f(A: float32[33] global, out C: float32[33] global):\n"
      "  for a in [0, 3):\n"
      "    for b in [0, 2):\n"
      "      for c in [0, 4):\n"
      "        C[a*10 + b*4 + c] = A[a*10 + b*4 + c]\n"
      "    for c in [0, 2):\n"
      "      C[a*10 + c + 8] = A[a*10 + c + 8]\n"
      "  for c in [0, 3):\n"
      "    C[c + 30] = A[c + 30]\n");
}

TEST(PartitionTest, VectorTailKeepsItsMaskAndFullVectorsHaveNone) {
  expect_text(
      "func f(A: float32[5, 13] global, out C: float32[5, 13] global):\n"
      "  for y in [0, 5):\n"
      "    for xo in [0, 2):\n"
      "      vectorized xi in [0, 8):\n"
      "        if xo*8 + xi < 13:\n"
      "          C[y, xo*8 + xi] = A[y, xo*8 + xi]\n",
      "func f(A: float32[5, 13] global, out C: float32[5, 13] global):\n"
      "  for y in [0, 5):\n"
      "    vectorized xi in [0, 8):\n"
      "      C[y, xi] = A[y, xi]\n"
      "    vectorized xi in [0, 8):\n"
      "      if xi < 5:\n"
      "        C[y, xi + 8] = A[y, xi + 8]\n");
}

TEST(PartitionTest, GuardOfOuterVariablesLeavesTheLoop) {
  expect_text(
      "func f(A: float32[7, 8] global, out C: float32[7, 8] global):\n"
      "  parallel y in [0, 8):\n"
      "    unrolled x in [0, 8):\n"
      "      C[min(y, 6), x] = 0.0\n"
      "    for k in [0, 8):\n"
      "      if y < 7 and k != 3:\n"
      "        C[y, k] = A[y, k]\n",
      "func f(A: float32[7, 8] global, out C: float32[7, 8] global):\n"
      "  parallel y in [0, 8):\n"
      "    if y < 7:\n"
      "      unrolled x in [0, 8):\n"
      "        C[y, x] = 0.0\n"
      "      for k in [0, 8):\n"
      "        if k != 3:\n"
      "          C[y, k] = A[y, k]\n"
      "    else:\n"
      "      unrolled x in [0, 8):\n"
      "        C[6, x] = 0.0\n");
}

TEST(PartitionTest, PaddingBySelectHasFreeRows) {
  const Function out =
      check(parse_function("func pad(A: float32[6, 6] global, out P: float32[8, 8] global):\n"
                           "  for y in [0, 8):\n"
                           "    for x in [0, 8):\n"
                           "      P[y, x] = select(0 < y and y < 7 and 0 < x and x < 7, A[y - 1, x - 1], 0.0)\n"));
  EXPECT_EQ(to_string(out.body),
            "for x in [0, 8):\n"
            "  P[0, x] = 0.0\n"
            "for y in [0, 6):\n"
            "  P[y + 1, 0] = 0.0\n"
            "  for x in [0, 6):\n"
            "    P[y + 1, x + 1] = A[y, x]\n"
            "  P[y + 1, 7] = 0.0\n"
            "for x in [0, 8):\n"
            "  P[7, x] = 0.0\n");
}

TEST(PartitionTest, InitialisationInsideTheReductionIsPeeled) {
  const Function out =
      check(parse_function("func f(A: float32[6, 9] global, out C: float32[6] global):\n"
                           "  for y in [0, 6):\n"
                           "    for k in [0, 9):\n"
                           "      if k == 0:\n"
                           "        C[y] = 0.0\n"
                           "      C[y] = C[y] + A[y, k]\n"));
  EXPECT_EQ(to_string(out.body),
            "for y in [0, 6):\n"
            "  C[y] = 0.0\n"
            "  C[y] = C[y] + A[y, 0]\n"
            "  for k in [0, 8):\n"
            "    C[y] = C[y] + A[y, k + 1]\n");
}

TEST(PartitionTest, ConditionsOnDataStay) {
  const std::string_view text =
      "func f(A: float32[8] global, out C: float32[8] global):\n"
      "  for y in [0, 8):\n"
      "    C[y] = 0.0\n"
      "    for k in [0, 8):\n"
      "      if A[k] < 1.0:\n"
      "        C[y] = C[y] + A[y]\n";
  expect_text(text, text);
}

TEST(PartitionTest, NothingLeft) {
  const Function f = parse_function(
      "func f(A: float32[8] global, out C: float32[8] global):\n"
      "  for y in [0, 8):\n"
      "    if y > 8:\n"
      "      C[y] = A[y]\n");
  EXPECT_FALSE(partition_loops(f.body));
  EXPECT_FALSE(partition_loops(Stmt()));
}

struct Named {
  const char* name;
  ConvNest nest;
  /// False where the last corners exceed the number of copies.
  bool free_of_guards = true;
};

class HotLoop : public ::testing::TestWithParam<Named> {};

TEST_P(HotLoop, HasNoGuard) {
  const Function f = GetParam().nest.build();
  EXPECT_GT(count_guards(f.body).guarded, 0);
  const Function out = check(f);
  const GuardCount after = count_guards(out.body);
  if (GetParam().free_of_guards) {
    EXPECT_EQ(after.guarded, 0) << to_string(out);
  }
  EXPECT_LE(after.guarded_work, 0.1 * after.work) << to_string(out);
  EXPECT_LE(after.stores, 2 * 27) << to_string(out);
}

INSTANTIATE_TEST_SUITE_P(
    Conv, HotLoop,
    ::testing::Values(
        Named{"tile1x7", {}}, Named{"tile4x7", {.tile_h = 4}}, Named{"tile4x5", {.tile_h = 4, .tile_w = 5}, false},
        Named{"stride2", {.stride = 2, .tile_w = 4}},
        Named{"dilation2", {.dilation = 2, .top = 2, .left = 2, .bottom = 2, .right = 2}},
        Named{"asymmetric",
              {.height = 17, .width = 19, .dilation = 2, .top = 1, .left = 2, .bottom = 3, .right = 0, .tile_w = 4}},
        Named{"wholeimage", {.height = 7, .width = 7, .tile_h = 7, .tile_w = 7}},
        Named{"kernel7stride2",
              {.channels = 1,
               .height = 29,
               .width = 29,
               .kernel = 7,
               .stride = 2,
               .top = 3,
               .left = 3,
               .bottom = 3,
               .right = 3,
               .tile_w = 5}},
        Named{"twolevels", {.tile_w = 6, .subtile_w = 4}},
        Named{"rowsinside", {.tile_h = 2, .order = "ihrswo", .kinds = "ssssuv"}},
        Named{"select", {.pad = PadForm::kSelect}}, Named{"selectstride2", {.stride = 2, .pad = PadForm::kSelect}},
        Named{"serialtile", {.tile_h = 2, .order = "irshwo", .kinds = "sssssv"}},
        Named{"onebyone", {.kernel = 1, .top = 0, .left = 0, .bottom = 0, .right = 0, .tile_h = 4, .tile_w = 5}}),
    [](const auto& info) { return info.param.name; });

TEST(PartitionTest, ParallelLoopStaysOne) {
  for (int64_t tile_h : {1, 4, 5}) {
    ConvNest nest;
    nest.parallel = true;
    nest.tile_h = tile_h;
    const Function out = check(nest.build());
    EXPECT_EQ(count_guards(out.body).parallel, 1) << to_string(out);
  }
}

TEST(PartitionTest, FusedAxesGetAFastVersion) {
  const Function out =
      check(parse_function("func f(A: float32[3, 12] global, out C: float32[3, 12] global):\n"
                           "  parallel f in [0, 9):\n"
                           "    for k in [0, 3):\n"
                           "      unrolled x in [0, 4):\n"
                           "        if 0 < f%3*4 + x + k and f%3*4 + x + k < 13:\n"
                           "          C[f/3, f%3*4 + x] = A[f/3, f%3*4 + x + k - 1]\n"));
  ASSERT_EQ(out.body.kind(), StmtKind::kFor);
  const auto* versions = out.body.as<For>()->body.as<If>();
  ASSERT_NE(versions, nullptr) << to_string(out);
  EXPECT_EQ(count_guards(versions->then_case).guarded, 0) << to_string(out);
}

TEST(PartitionTest, BudgetLimitsTheCopies) {
  ConvNest nest;
  nest.tile_h = 4;
  nest.tile_w = 5;
  const Function f = nest.build();
  const int before = count_guards(f.body).stores;
  for (int copies : {1, 2, 3, 9}) {
    const Function out = check(f, {.max_copies = copies});
    EXPECT_LE(count_guards(out.body).stores, before * copies * 4) << copies;  // unrolled loops are cut for free
  }
  EXPECT_LE(count_guards(check(f, {.max_nodes = 0}).body).stores, before * 4);
}

TEST(PartitionTest, WithoutBudgetSerialLoopsAreClipped) {
  ConvNest nest;
  nest.order = "ihwrso";
  nest.kinds = "sssssv";
  const Function out = check(nest.build(), {.max_copies = 1});
  EXPECT_EQ(count_guards(out.body).guarded, 0) << to_string(out);
}

TEST(PartitionTest, RowsWithALongBodyDifferInTheKernelsBoundsOnly) {
  const auto loops_of = [](const Function& f, std::string_view name) {
    std::vector<Expr> extents;
    const std::function<void(Stmt)> visit = [&](Stmt s) {
      const auto* loop = s.as<For>();
      if (loop != nullptr && loop->var->name == name) extents.push_back(loop->extent);
      for_each_child(
          s, [](Expr) {}, visit);
    };
    visit(f.body);
    return extents;
  };
  ConvNest nest;
  nest.tile_w = 14;
  const Function clipped = check(nest.build());
  EXPECT_EQ(count_guards(clipped.body).guarded, 0) << to_string(clipped);
  ASSERT_EQ(loops_of(clipped, "oho").size(), 1u) << to_string(clipped);
  for (const Expr extent : loops_of(clipped, "r")) EXPECT_FALSE(as_const_int(extent)) << to_string(clipped);
  // Rows of little work have constant bounds, and are copied for that.
  nest.tile_w = 1;
  const Function copied = check(nest.build());
  for (const Expr extent : loops_of(copied, "r")) EXPECT_TRUE(as_const_int(extent)) << to_string(copied);
}

TEST(PartitionTest, SameInputSameOutput) {
  const Function f = ConvNest{}.build();
  EXPECT_EQ(to_string(partition_loops(f.body)), to_string(partition_loops(f.body)));
  const Stmt once = partition_loops(f.body);
  EXPECT_EQ(to_string(partition_loops(once)), to_string(once));
}

/// Random shapes, tiles, orders and kinds compute what they did.
TEST(PartitionRandomTest, KeepsTheResult) {
  for (uint64_t seed = 0; seed < 150; ++seed) {
    Arena arena;
    ArenaScope scope(arena);
    Rng rng(seed);
    const auto pick = [&](int64_t low, int64_t high) { return rng.uniform_int(low, high); };
    ConvNest nest;
    nest.channels = pick(1, 2), nest.outputs = pick(1, 3);
    nest.kernel = pick(1, 4), nest.stride = pick(1, 3), nest.dilation = pick(1, 2);
    const int64_t reach = nest.dilation * (nest.kernel - 1);
    nest.top = pick(0, 3), nest.left = pick(0, 3), nest.bottom = pick(0, 3), nest.right = pick(0, 3);
    nest.height = reach + pick(1, 9), nest.width = reach + pick(1, 9);
    nest.tile_h = pick(1, 5), nest.tile_w = pick(1, 6);
    nest.subtile_w = nest.tile_w > 1 && rng.bernoulli(0.3) ? pick(1, nest.tile_w) : 0;
    nest.pad = rng.bernoulli(0.3) ? PadForm::kSelect : PadForm::kGuard;
    nest.parallel = rng.bernoulli(0.3);
    for (size_t i = nest.order.size() - 1; i > 0; --i)
      std::swap(nest.order[i], nest.order[rng.uniform_int(uint64_t{i + 1})]);
    for (char& kind : nest.kinds) kind = rng.bernoulli(0.4) ? 'u' : 's';
    const char last = nest.order.back();
    if (rng.bernoulli(0.5) && (last == 'o' || last == 'h' || last == 'w') && nest.subtile_w == 0)
      nest.kinds.back() = 'v';
    SCOPED_TRACE(seed);
    check(nest.build(), {.max_copies = static_cast<int>(pick(1, 27))});
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace tensmith
