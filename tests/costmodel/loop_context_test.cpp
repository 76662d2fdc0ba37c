#include "tensmith/costmodel/loop_context.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "costmodel/nests.h"
#include "tensmith/ir/visit.h"

namespace tensmith {
namespace {

class LoopContexts : public testing::Test {
 protected:
  const NestContext& analyze(std::string_view text) {
    function_ = parse_function(text);
    return analyzer_.analyze(function_);
  }

  const LoopContext& loop(const NestContext& nest, std::string_view name) {
    for (const LoopContext& l : nest.loops) {
      if (l.var->name == name) return l;
    }
    throw std::runtime_error("no loop " + std::string(name));
  }

  /// The first touch of a buffer in a loop's body, in a statement with arithmetic if there is one.
  const TouchContext& touch(const NestContext& nest, std::string_view loop_name, std::string_view buffer) {
    const LoopContext& l = loop(nest, loop_name);
    const Touch* found = nullptr;
    for (const Touch& t : nest.touches_of(l)) {
      if (t.buffer->name != buffer) continue;
      if (found == nullptr ||
          (nest.statements[found->statement].ops.total() == 0 && nest.statements[t.statement].ops.total() > 0)) {
        found = &t;
      }
    }
    if (found == nullptr) throw std::runtime_error("no touch of " + std::string(buffer));
    return nest.context(*found, l.level);
  }

  Arena arena_;
  ArenaScope scope_{arena_};
  Function function_;
  NestAnalyzer analyzer_;
};

// The numbers printed in Figure 3b of the paper.
TEST_F(LoopContexts, FigureThree) {
  const NestContext& nest = analyze(test::kMatmul8);
  ASSERT_EQ(nest.loops.size(), 3U);
  struct Row {
    const char* loop;
    double c, a, b, outer;
  };
  for (const Row& row : {Row{"y", 64, 64, 64, 1}, Row{"x", 8, 8, 64, 8}, Row{"k", 1, 8, 8, 64}}) {
    EXPECT_EQ(touch(nest, row.loop, "C").count, row.c) << row.loop;
    EXPECT_EQ(touch(nest, row.loop, "A").count, row.a) << row.loop;
    EXPECT_EQ(touch(nest, row.loop, "B").count, row.b) << row.loop;
    EXPECT_EQ(loop(nest, row.loop).outer, row.outer) << row.loop;
  }
}

TEST_F(LoopContexts, StridesReuseAndProducts) {
  const NestContext& nest = analyze(test::kMatmul8);
  EXPECT_EQ(touch(nest, "y", "A").stride, 1);
  EXPECT_EQ(touch(nest, "y", "B").stride, 0);
  EXPECT_EQ(touch(nest, "y", "C").stride, 8);
  EXPECT_EQ(touch(nest, "x", "A").stride, 0);
  EXPECT_EQ(touch(nest, "x", "B").stride, 1);
  EXPECT_EQ(touch(nest, "k", "A").stride, 8);
  EXPECT_EQ(touch(nest, "k", "B").stride, 8);
  EXPECT_EQ(touch(nest, "k", "C").stride, 0);
  EXPECT_EQ(touch(nest, "k", "C").reuse, 8);
  EXPECT_EQ(touch(nest, "y", "A").reuse, 8);
  EXPECT_EQ(touch(nest, "x", "A").reuse, 8);
  EXPECT_EQ(touch(nest, "k", "A").reuse, 1);
  EXPECT_EQ(loop(nest, "k").level, 2);
  EXPECT_EQ(loop(nest, "k").topdown, 512);
  EXPECT_EQ(loop(nest, "k").bottomup, 8);
  EXPECT_EQ(loop(nest, "y").bottomup, 512);
  EXPECT_EQ(loop(nest, "y").ops.add, 1);
  EXPECT_EQ(loop(nest, "y").ops.mul, 1);
  EXPECT_EQ(loop(nest, "y").ops.fma, 1);
  EXPECT_EQ(loop(nest, "k").flops, 16);
  EXPECT_EQ(loop(nest, "y").flops, 1024);
  // Rows of 32 bytes: two share a line.
  EXPECT_EQ(touch(nest, "y", "A").lines, 4);
  EXPECT_EQ(touch(nest, "k", "A").lines, 4);
  EXPECT_EQ(touch(nest, "x", "C").lines, 1);
  EXPECT_EQ(loop(nest, "y").bytes, 3 * 4 * 64);
}

TEST_F(LoopContexts, Statements) {
  const NestContext& nest = analyze(test::kMatmul8);
  ASSERT_EQ(nest.statements.size(), 2U);
  EXPECT_EQ(nest.statements[0].iterations, 64);
  EXPECT_FALSE(nest.statements[0].updates);
  EXPECT_EQ(nest.statements[1].iterations, 512);
  EXPECT_TRUE(nest.statements[1].updates);
  EXPECT_EQ(nest.statements[1].depth, 3);
  EXPECT_EQ(nest.touches_of(nest.statements[1]).size(), 4U);
  EXPECT_EQ(nest.touches_of(nest.statements[1])[0].kind, TouchKind::kStore);
  EXPECT_EQ(&nest.loop_at(nest.statements[1], 2), &loop(nest, "k"));
}

TEST_F(LoopContexts, TrueStridesOfNestedSplits) {
  const NestContext& nest = analyze(R"(
func f(A: float32[64, 32] global, out C: float32[64, 32] global):
  for io in [0, 4):
    for jo in [0, 2):
      for ii in [0, 16):
        for ji in [0, 16):
          C[io*16 + ii, jo*16 + ji] = A[63 - (io*16 + ii), jo*16 + ji]
)");
  EXPECT_EQ(touch(nest, "io", "C").stride, 16 * 32);
  EXPECT_EQ(touch(nest, "jo", "C").stride, 16);
  EXPECT_EQ(touch(nest, "ii", "A").stride, -32);
  EXPECT_EQ(touch(nest, "ji", "A").stride, 1);
  EXPECT_EQ(touch(nest, "jo", "A").count, 512);
  EXPECT_EQ(touch(nest, "ii", "A").lines, 16);
  EXPECT_EQ(touch(nest, "io", "A").lines, 128);
}

TEST_F(LoopContexts, WindowsOverlap) {
  const NestContext& nest = analyze(R"(
func f(A: float32[30] global, W: float32[3] global, out C: float32[14] global):
  for x in [0, 14):
    for r in [0, 3):
      C[x] = C[x] + A[x*2 + r]*W[r]
)");
  EXPECT_EQ(touch(nest, "r", "A").count, 3);
  EXPECT_EQ(touch(nest, "x", "A").count, 29);  // 0 .. 28, not 14 * 3
  EXPECT_DOUBLE_EQ(touch(nest, "x", "A").reuse, 42.0 / 29);
}

TEST_F(LoopContexts, DivisionAndModuloOfAFusedLoop) {
  const NestContext& nest = analyze(R"(
func f(A: float32[8, 100] global, out C: float32[8, 8] global):
  for fo in [0, 16):
    for fi in [0, 4):
      C[(fo*4 + fi)/8, (fo*4 + fi)%8] = A[(fo*4 + fi)/8, (fo*4 + fi)%8]
)");
  EXPECT_EQ(touch(nest, "fi", "C").count, 4);
  EXPECT_EQ(touch(nest, "fi", "C").stride, 1);
  EXPECT_EQ(touch(nest, "fi", "C").mod, 0);
  EXPECT_EQ(touch(nest, "fo", "C").count, 64);
  EXPECT_EQ(touch(nest, "fo", "C").reuse, 1);
  EXPECT_EQ(touch(nest, "fo", "C").stride, 4);
  EXPECT_EQ(touch(nest, "fo", "C").mod, 2);
  EXPECT_EQ(touch(nest, "fo", "A").count, 64);
}

TEST_F(LoopContexts, WrapAround) {
  const NestContext& nest = analyze(R"(
func f(A: float32[8] global, out C: float32[64] global):
  for i in [0, 64):
    C[i] = A[i%8] + A[i/16]
)");
  const std::span<const Touch> touches = nest.touches_of(nest.statements[0]);
  ASSERT_EQ(touches.size(), 3U);
  EXPECT_EQ(nest.context(touches[1], 0).count, 8);
  EXPECT_EQ(nest.context(touches[1], 0).reuse, 8);
  EXPECT_EQ(nest.context(touches[1], 0).mod, 8);
  EXPECT_EQ(nest.context(touches[1], 0).stride, 1);
  EXPECT_EQ(nest.context(touches[2], 0).count, 4);
  EXPECT_DOUBLE_EQ(nest.context(touches[2], 0).stride, 1.0 / 16);
}

TEST_F(LoopContexts, RelativeToTheThreadsChunk) {
  const NestContext& nest = analyze(test::kTiledMatmul);
  const TouchContext& a = touch(nest, "yo", "A");
  EXPECT_EQ(a.count, 96 * 64);
  EXPECT_EQ(a.thread_count, 24);
  EXPECT_EQ(a.thread_reuse, 1);
  const TouchContext& p = touch(nest, "yo", "P");
  EXPECT_EQ(p.thread_count, 1);
  EXPECT_EQ(p.thread_reuse, 24);
  EXPECT_EQ(touch(nest, "xo", "A").thread_count, 0);
  EXPECT_EQ(touch(nest, "po", "P").thread_count, 0);
}

TEST_F(LoopContexts, RegistersStayOutOfTheWorkingSet) {
  const NestContext& nest = analyze(test::kTiledMatmul);
  // k: a row of A for each of 4 rows (256 bytes) and a panel of P, prefetched a little beyond its end.
  EXPECT_EQ(loop(nest, "k").bytes, 4 * 256 + 64 * 64);
  ASSERT_EQ(nest.allocations.size(), 2U);
  EXPECT_EQ(nest.allocations[0].bytes, 8 * 64 * 16 * 4);
  EXPECT_EQ(nest.statements.size(), 5U);
  EXPECT_TRUE(nest.statements[2].is_prefetch);
}

TEST_F(LoopContexts, GuardsTellTheUsefulShare) {
  const NestContext& nest = analyze(R"(
func f(A: float32[13] global, out C: float32[13] global):
  for io in [0, 4):
    for ii in [0, 4):
      if io*4 + ii < 13:
        C[io*4 + ii] = A[io*4 + ii]
  for x in [0, 13):
    C[x] = select(0 <= x - 1 and x < 12, A[x], 0.0)
)");
  EXPECT_EQ(nest.branches, 1U);
  EXPECT_EQ(nest.statements[0].guards, 1);
  EXPECT_EQ(nest.statements[0].guard_depth, 2);
  EXPECT_DOUBLE_EQ(nest.statements[0].useful, 13.0 / 16);
  EXPECT_EQ(nest.statements[1].guards, 1);
  EXPECT_EQ(nest.statements[1].useful, 1);
  EXPECT_EQ(nest.statements[1].ops.select, 1);
}

TEST_F(LoopContexts, BothArmsOfABranch) {
  const NestContext& nest = analyze(R"(
func f(out C: float32[10] global):
  for x in [0, 10):
    if x < 8:
      C[x] = 1.0
    else:
      C[x] = 2.0
)");
  ASSERT_EQ(nest.statements.size(), 2U);
  EXPECT_DOUBLE_EQ(nest.statements[0].useful, 0.8);
  EXPECT_NEAR(nest.statements[1].useful, 0.2, 1e-12);
}

TEST_F(LoopContexts, LetsAndClampsAndGathers) {
  const NestContext& nest = analyze(R"(
func f(A: float32[64] global, I: int64[16] global, out C: float32[16] global):
  for x in [0, 16):
    let p = x*4 + 1:
      C[x] = A[min(p, 63)] + A[I[x]] + A[x*x]
)");
  const std::span<const Touch> touches = nest.touches_of(nest.statements[0]);
  ASSERT_EQ(touches.size(), 5U);  // C, A, I, A, A
  EXPECT_EQ(nest.context(touches[1], 0).stride, 4);
  EXPECT_FALSE(touches[1].gather);
  EXPECT_EQ(touches[2].buffer->name, "I");
  EXPECT_EQ(nest.context(touches[2], 0).stride, 1);
  EXPECT_TRUE(touches[3].gather);
  EXPECT_EQ(nest.context(touches[3], 0).count, 16);
  EXPECT_EQ(nest.context(touches[3], 0).lines, 16);
  EXPECT_TRUE(touches[4].gather);
  EXPECT_EQ(nest.context(touches[4], 0).count, 16);
}

TEST_F(LoopContexts, GathersOfGathers) {
  const NestContext& nest = analyze(R"(
func f(A: float32[64] global, I: int64[16] global, J: int64[16] global, out C: float32[16] global):
  for x in [0, 16):
    C[I[x]] = A[I[J[x]]]
)");
  std::string order;
  for (const Touch& t : nest.touches_of(nest.statements[0]))
    order += std::string(t.buffer->name) + (t.gather ? "* " : " ");
  EXPECT_EQ(order, "I C* J I* A* ");
}

TEST_F(LoopContexts, ExtentsOfZeroAndOne) {
  const NestContext& nest = analyze(R"(
func f(A: float32[4, 0] global, out C: float32[4] global):
  for y in [0, 4):
    for one in [0, 1):
      for k in [0, 0):
        C[y + one] = C[y + one] + A[y, k]
)");
  ASSERT_EQ(nest.loops.size(), 3U);
  EXPECT_EQ(loop(nest, "y").topdown, 4);
  EXPECT_EQ(loop(nest, "k").topdown, 0);
  EXPECT_EQ(touch(nest, "k", "A").count, 0);
  EXPECT_EQ(touch(nest, "k", "A").reuse, 0);
  EXPECT_EQ(touch(nest, "y", "A").count, 0);
  EXPECT_EQ(loop(nest, "y").bytes, 0);
  EXPECT_EQ(nest.statements[0].iterations, 0);
}

TEST_F(LoopContexts, NothingAtAll) {
  const NestContext& nest = analyzer_.analyze(Function{});
  EXPECT_TRUE(nest.loops.empty());
  EXPECT_EQ(nest.touched_bytes, 0);
}

TEST_F(LoopContexts, NoLoops) {
  const NestContext& nest = analyze(R"(
func f(A: float32[1] global, out C: float32[1] global):
  C[0] = A[0]*2.0
)");
  EXPECT_TRUE(nest.loops.empty());
  ASSERT_EQ(nest.statements.size(), 1U);
  EXPECT_EQ(nest.statements[0].iterations, 1);
  EXPECT_EQ(nest.touched_bytes, 128);
}

TEST_F(LoopContexts, PaddedRowsAndFlatAccesses) {
  const NestContext& nest = analyze(R"(
func f(A: float32[4, 8] global strides [16, 1], out C: float32[4, 8] global):
  for i in [0, 4):
    for j in [0, 8):
      C[i*8 + j] = A[i, j]
)");
  EXPECT_EQ(touch(nest, "i", "A").stride, 16);
  EXPECT_EQ(touch(nest, "i", "A").lines, 4);
  EXPECT_EQ(touch(nest, "i", "C").stride, 8);
  EXPECT_EQ(touch(nest, "j", "C").stride, 1);
  EXPECT_EQ(touch(nest, "i", "C").count, 32);
  EXPECT_EQ(touch(nest, "i", "C").lines, 2);
}

TEST_F(LoopContexts, ManyLoopsAndDimensions) {
  // Deeper than the terms that an index keeps apart, and of a higher rank: nothing breaks.
  std::string text = "func f(out C: float32[2, 2, 2, 2, 2, 2, 2, 2, 2, 2] global):\n";
  std::string indent = "  ";
  for (int i = 0; i < 80; ++i) {
    text += indent + "for v" + std::to_string(i) + " in [0, 2):\n";
    indent += "  ";
  }
  text += indent + "C[v0, v1, v2, v3, v4, v5, v6, v7, v8, v79] = 1.0\n";
  const NestContext& nest = analyze(text);
  EXPECT_EQ(nest.loops.size(), 80U);
  EXPECT_EQ(nest.statements[0].iterations, std::ldexp(1.0, 80));
}

TEST_F(LoopContexts, ReusedMemoryGivesTheSameNumbers) {
  NestAnalyzer fresh;
  const std::string expected = format_loop_context(fresh.analyze(parse_function(test::kMatmul8)));
  analyze(test::kTiledMatmul);
  EXPECT_EQ(format_loop_context(analyze(test::kMatmul8)), expected);
}

TEST_F(LoopContexts, Text) {
  const std::string text = format_loop_context(analyze(R"(
func fill(out C: float32[4, 16] global):
  parallel i in [0, 4):
    for j in [0, 16):
      C[i, j] = 1.0
)"));
  EXPECT_EQ(
      text,
      "parallel i length=4 outer=1 topdown=4 bottomup=64 flops=0 bytes=256 | C= stride=16 count=64 reuse=1 lines=4 "
      "thread_count=4 thread_reuse=1\n"
      "  for j length=16 outer=4 topdown=64 bottomup=16 flops=0 bytes=64 | C= stride=1 count=16 reuse=1 lines=1\n");
}

/// Counts by running the loops.
class Oracle {
 public:
  void run(const NestContext& nest, const StatementContext& statement, const Array<Expr>& indices, Buffer buffer,
           size_t level) {
    std::vector<int64_t> values(statement.depth, 0);
    visit(nest, statement, indices, buffer, level, values);
  }
  size_t distinct() const { return seen_.size(); }

 private:
  void visit(const NestContext& nest, const StatementContext& s, const Array<Expr>& indices, Buffer buffer,
             size_t level, std::vector<int64_t>& values) {
    if (level < s.depth) {
      for (int64_t v = 0; v < static_cast<int64_t>(nest.loop_at(s, level).length); ++v) {
        values[level] = v;
        visit(nest, s, indices, buffer, level + 1, values);
      }
      return;
    }
    int64_t flat = 0;
    for (size_t d = 0; d < indices.size(); ++d) flat += eval(nest, s, indices[d], values) * buffer_stride(buffer, d);
    seen_.insert(flat);
  }
  int64_t eval(const NestContext& nest, const StatementContext& s, Expr e, const std::vector<int64_t>& values) {
    if (const IntImm* n = e.as<IntImm>()) return n->value;
    if (const Var* n = e.as<Var>()) {
      for (size_t l = 0; l < s.depth; ++l) {
        if (nest.loop_at(s, l).var == n) return values[l];
      }
    }
    const Binary* n = e.as<Binary>();
    const int64_t a = eval(nest, s, n->a, values), b = eval(nest, s, n->b, values);
    switch (n->op) {
      case BinaryOp::kAdd: return a + b;
      case BinaryOp::kMul: return a * b;
      case BinaryOp::kDiv: return a / b;
      case BinaryOp::kMod: return a % b;
      default: throw std::runtime_error("unexpected operation");
    }
  }
  std::set<int64_t> seen_;
};

// Tiles, windows and fused loops of exact sizes: what is counted is what the loops touch.
TEST_F(LoopContexts, CountsAgreeWithRunningTheLoops) {
  const char* indices[] = {"a*4 + b, c",
                           "a, b*3 + c",
                           "c*12 + b*3 + a, 0",
                           "a + c, b",
                           "(a*4 + b)/2, (a*4 + b)%2",
                           "b*5 + c, a",
                           "(b*5 + c)/4, (b*5 + c)%4",
                           "0, 0",
                           "a*2 + b, 1",
                           "b, (a*5 + c)%3"};
  for (const char* index : indices) {
    const NestContext& nest =
        analyze(std::string("func f(out C: float32[100, 40] global):\n  for a in [0, 3):\n    for b in [0, 4):\n") +
                "      for c in [0, 5):\n        C[" + index + "] = 1.0\n");
    const Store* store = nullptr;
    walk(
        function_.body, [](Expr) {},
        [&](Stmt s) {
          if (s.as<Store>() != nullptr) store = s.as<Store>();
        });
    for (size_t level = 0; level < 3; ++level) {
      Oracle oracle;
      oracle.run(nest, nest.statements[0], store->indices, store->buffer, level);
      EXPECT_EQ(nest.context(nest.touches[0], level).count, static_cast<double>(oracle.distinct()))
          << index << " level " << level;
    }
  }
}

}  // namespace
}  // namespace tensmith
