#include <gtest/gtest.h>

#include "tensmith/codegen/storage.h"
#include "tensmith/ir/parse.h"

namespace tensmith {
namespace {

class StoragePlans : public ::testing::Test {
 protected:
  Arena arena_;
  ArenaScope scope_{arena_};
};

TEST_F(StoragePlans, ScopeAndSizeDecide) {
  const Function f = parse_function(
      "func f(A: float32[4] global, out C: float32[4] global):\n"
      "  alloc small: float32[16384] local:\n"
      "    alloc large: float32[16385] local:\n"
      "      alloc tile: float32[4] shared:\n"
      "        alloc packed: float32[4] global:\n"
      "          C[0] = A[0]\n");
  const StoragePlan plan = plan_storage(f.body, false);
  ASSERT_EQ(plan.stack.size(), 2U);
  EXPECT_EQ(plan.stack[0]->name, "small");
  EXPECT_EQ(plan.stack[1]->name, "tile");
  ASSERT_EQ(plan.heap.size(), 2U);
  EXPECT_EQ(plan.heap[0]->name, "large");
  EXPECT_EQ(plan.heap[1]->name, "packed");
  EXPECT_TRUE(uses_runtime(f));
}

TEST_F(StoragePlans, TheFrameHasALimit) {
  const Function f = parse_function(
      "func f(A: float32[4] global, out C: float32[4] global):\n"
      "  alloc a: float32[16384] local:\n"
      "    alloc b: float32[16384] local:\n"
      "      alloc c: float32[16384] local:\n"
      "        alloc d: float32[16384] local:\n"
      "          alloc e: float32[1] local:\n"
      "            C[0] = A[0]\n");
  const StoragePlan plan = plan_storage(f.body, false);
  EXPECT_EQ(plan.stack.size(), 4U);
  EXPECT_EQ(plan.heap.size(), 1U);
}

TEST_F(StoragePlans, ParallelLoopsKeepTheirOwn) {
  const Function f = parse_function(
      "func f(A: float32[4] global, out C: float32[4] global):\n"
      "  alloc outer: float32[4] global:\n"
      "    parallel i in [0, 4):\n"
      "      alloc inner: float32[4] global:\n"
      "        C[i] = A[i]\n");
  EXPECT_EQ(plan_storage(f.body, false).heap.size(), 1U);
  EXPECT_EQ(plan_storage(f.body, true).heap.size(), 2U);
}

TEST_F(StoragePlans, RuntimeIsForHeapAndThreadsOnly) {
  EXPECT_FALSE(
      uses_runtime(parse_function("func f(A: float32[4] global, out C: float32[4] global):\n"
                                  "  alloc t: float32[4] local:\n"
                                  "    for i in [0, 4):\n"
                                  "      C[i] = A[i]\n")));
  EXPECT_TRUE(
      uses_runtime(parse_function("func f(A: float32[4] global, out C: float32[4] global):\n"
                                  "  parallel i in [0, 4):\n"
                                  "    C[i] = A[i]\n")));
  EXPECT_FALSE(uses_runtime(parse_function("func f(A: float32[4] global, out C: float32[4] global):\n  pass\n")));
}

TEST_F(StoragePlans, OneFlatAccessSaysForAll) {
  EXPECT_FALSE(accesses_are_flat(parse_function("func f(A: float32[4] global, out C: float32[4] global):\n"
                                                "  C[0] = A[0]\n")
                                     .body));
  EXPECT_TRUE(accesses_are_flat(parse_function("func f(A: float32[4] global, out C: float32[2, 2] global):\n"
                                               "  C[3] = A[0]\n")
                                    .body));
  EXPECT_FALSE(accesses_are_flat(Stmt()));
}

}  // namespace
}  // namespace tensmith
