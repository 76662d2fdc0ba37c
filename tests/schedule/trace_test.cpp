#include "tensmith/schedule/trace.h"

#include <gtest/gtest.h>

#include "schedule/check.h"
#include "schedule/programs.h"

namespace tensmith::testing {
namespace {

std::string user_error(const Program& program, std::string_view text) {
  try {
    replay_trace(program, text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Trace, PrintsEveryPrimitive) {
  const auto p = conv2d({.c = 4, .h = 8, .w = 8, .k = 32}, true);
  Schedule s(p.program);
  s[p.pad].compute_inline();
  s[p.biased].compute_inline();
  const LayoutDim layout[] = {{0, 16, 0}, {1, 1, 0}, {2, 1, 0}, {3, 1, 0}, {0, 1, 16}};
  const StageId packed = s.layout_transform(p.weights, layout, PackWhen::kAhead);
  const StageId cache = s.cache_read(p.data, MemoryScope::kGlobal);
  s.cache_write(s[p.out], MemoryScope::kGlobal);
  const auto [co, ci] = s[p.conv].split(p.c, 2);
  const StageId rf = s.rfactor(co);
  const auto [ko, ki] = s[rf].split(s[rf].axis(2), 16);
  s[rf].reorder({ko, s[rf].axis(4), s[rf].axis(3), ki});
  s[rf].prefetch(packed, s[rf].axis(3), ko, 1, 2);
  s.set_scope(rf, MemoryScope::kShared);
  s.compute_at(cache, s[rf], ko);
  s.compute_root(cache);
  const AxisId f = s[p.out].fuse(s[p.out].axis(0), s[p.out].axis(1));
  const auto [fo, fi] = s[p.out].split_nparts(f, 4);
  s[p.out].parallel(fo).unroll(fi).vectorize(s[p.out].axis(3));
  const std::string text = print_trace(s);
  EXPECT_EQ(text,
            "compute_inline P\n"
            "compute_inline biased\n"
            "layout_transform W ahead 0/16 1 2 3 0%16 -> W_packed\n"
            "cache_read X global -> X_global\n"
            "cache_write out global -> out_global\n"
            "split O.c 2 -> O.c.0 O.c.1\n"
            "rfactor O.c.0 at 0 -> O_rf\n"
            "split O_rf.k 16 -> O_rf.k.0 O_rf.k.1\n"
            "reorder O_rf k.0 ow oh k.1\n"
            "prefetch O_rf W_packed at O_rf.oh by O_rf.k.0 1 L2\n"
            "set_scope O_rf shared\n"
            "compute_at X_global O_rf.k.0\n"
            "compute_root X_global\n"
            "fuse out.n out.k -> out.(n*k)\n"
            "split out.(n*k) parts 4 -> out.(n*k).0 out.(n*k).1\n"
            "parallel out.(n*k).0\n"
            "unroll out.(n*k).1\n"
            "vectorize out.ow\n");
  const Schedule again = replay_trace(p.program, text);
  EXPECT_EQ(print_trace(again), text);
  EXPECT_EQ(nest_text(again), nest_text(s));
  EXPECT_TRUE(std::equal(s.trace().begin(), s.trace().end(), again.trace().begin(), again.trace().end()));
  expect_same_as_definition(again);
}

TEST(Trace, TensorizeAndReaders) {
  const auto p = matmul(12, 32, 6);
  const std::string text =
      "cache_read B local C -> B_local\n"
      "split C.x 16 -> C.x.0 C.x.1\n"
      "reorder C x.0 k y x.1\n"
      "tensorize C.y outer_product_16_f32\n";
  const Schedule s = replay_trace(p.program, text);
  EXPECT_EQ(print_trace(s), text);
  expect_same_as_definition(s);
}

TEST(Trace, NamesMayBeChosen) {
  const auto p = matmul(8, 8, 6);
  const Schedule s = replay_trace(p.program,
                                  "# a tile\n"
                                  "\n"
                                  "  cache_write C local -> sums\n"
                                  "split C.y 4 -> C.yo C.yi\n"
                                  "split C.x 4\n"
                                  "reorder C yo x.0 yi x.1\n"
                                  "compute_at sums C.x.0\n");
  EXPECT_EQ(print_trace(s),
            "cache_write C local -> C_local\n"
            "split C.y 4 -> C.y.0 C.y.1\n"
            "split C.x 4 -> C.x.0 C.x.1\n"
            "reorder C y.0 x.0 y.1 x.1\n"
            "compute_at C_local C.x.0\n");
}

TEST(Trace, ErrorsTellLineAndReason) {
  const auto p = matmul(8, 6, 4);
  EXPECT_EQ(user_error(p.program, "split C.y 4\nsplitt C.x 2"),
            "trace line 2: unknown primitive 'splitt' in 'splitt C.x 2' (hint: did you mean 'split'?)");
  EXPECT_EQ(user_error(p.program, "split C.z 4"),
            "trace line 1: stage 'C' has no axis 'z' (its loops: y (8), x (6), k (4) reduction) in 'split C.z 4'");
  EXPECT_EQ(user_error(p.program, "split D.y 4"), "trace line 1: unknown stage 'D' in 'split D.y 4'");
  EXPECT_EQ(user_error(p.program, "split C.y"), "trace line 1: a factor is missing in 'split C.y'");
  EXPECT_EQ(user_error(p.program, "split C.y four"),
            "trace line 1: 'four' is no number (a factor) in 'split C.y four'");
  EXPECT_EQ(user_error(p.program, "split C.y 4 4"), "trace line 1: '4' is one word too many in 'split C.y 4 4'");
  EXPECT_EQ(user_error(p.program, "split C.y 4 -> C.a"),
            "trace line 1: 1 names stand right of '->' and split makes 2 in 'split C.y 4 -> C.a'");
  EXPECT_EQ(user_error(p.program, "split C.y 4 ->"), "trace line 1: nothing stands right of '->' in 'split C.y 4 ->'");
  EXPECT_EQ(user_error(p.program, "\n\nsplit C.y 9"),
            "trace line 3: split 'C.y': factor 9 is larger than the loop's extent 8 (loops of C: y (8), x (6), k (4) "
            "reduction) (hint: use at most 8)");
  EXPECT_EQ(
      user_error(p.program, "set_scope C registers"),
      "trace line 1: unknown memory scope 'registers' in 'set_scope C registers' (hint: one of global, shared, local)");
  EXPECT_EQ(user_error(p.program, "rfactor C.k 0"),
            "trace line 1: '0' stands where 'at' is expected in 'rfactor C.k 0'");
  EXPECT_EQ(user_error(p.program, "unroll C"), "trace line 1: 'C' is no axis in 'unroll C' (hint: write STAGE.AXIS)");
  EXPECT_EQ(user_error(p.program, "layout_transform B soon 0 1"),
            "trace line 1: 'soon' is neither 'ahead' nor 'inside' in 'layout_transform B soon 0 1'");
  EXPECT_EQ(user_error(p.program, "prefetch C B at C.k by C.k 1 L4"),
            "trace line 1: 'L4' is none of L1, L2, L3 in 'prefetch C B at C.k by C.k 1 L4'");
}

}  // namespace
}  // namespace tensmith::testing
