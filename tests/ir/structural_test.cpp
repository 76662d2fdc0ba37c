#include "tensmith/ir/structural.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>

#include "ir/random_ir.h"
#include "tensmith/ir/ops.h"
#include "tensmith/ir/parse.h"
#include "tensmith/ir/print.h"

namespace tensmith {
namespace {

bool equal(const char* a, const char* b) {
  const Function fa = parse_function(a), fb = parse_function(b);
  const bool result = structural_equal(fa, fb);
  EXPECT_EQ(result, structural_equal(fb, fa)) << "not symmetric";
  if (result) {
    EXPECT_EQ(structural_hash(fa), structural_hash(fb));
  }
  return result;
}

TEST(Structural, NamesOfWhatIsDefinedDoNotCount) {
  EXPECT_TRUE(
      equal("func f(A: int64[4] global, out C: int64[4] global):\n"
            "  alloc t: int64[4] local:\n"
            "    for i in [0, 4):\n"
            "      t[i] = A[i]\n"
            "      let k = i + 1:\n"
            "        C[i] = t[k]\n",
            "func g(X: int64[4] global, out Y: int64[4] global):\n"
            "  alloc u: int64[4] local:\n"
            "    for j in [0, 4):\n"
            "      u[j] = X[j]\n"
            "      let m = j + 1:\n"
            "        Y[j] = u[m]\n"));
}

TEST(Structural, UsesMustCorrespond) {
  EXPECT_FALSE(equal("func f(out C: int64[4] global):\n  for i in [0, 4):\n    for j in [0, 4):\n      C[i] = j\n",
                     "func f(out C: int64[4] global):\n  for i in [0, 4):\n    for j in [0, 4):\n      C[j] = i\n"));
  EXPECT_FALSE(equal("func f(out C: int64[4] global):\n  for i in [0, 4):\n    for j in [0, 4):\n      C[i] = i\n",
                     "func f(out C: int64[4] global):\n  for i in [0, 4):\n    for j in [0, 4):\n      C[i] = j\n"));
}

TEST(Structural, EveryAttributeCounts) {
  const std::string base =
      "func f(A: float32[4, 4] global, out C: float32[4, 4] global):\n"
      "  parallel i in [0, 4):\n"
      "    prefetch A[i, 0] into L1\n"
      "    C[i, ramp(0, 1, 4)] = A[i, ramp(0, 1, 4)]*broadcast(2.0, 4)\n";
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = base;
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    return text;
  };
  std::set<uint64_t> hashes = {structural_hash(parse_function(base))};
  const std::string variants[] = {
      changed("parallel", "unrolled"),
      changed("into L1", "into L2"),
      changed("2.0", "3.0"),
      changed("*", " + "),
      changed("[4, 4] global", "[4, 5] global"),
      changed("[4, 4] global", "[4, 4] shared"),
      changed("[4, 4] global", "[4, 4] global strides [8, 1]"),
      changed("ramp(0, 1, 4)]*", "ramp(0, 0, 4)]*"),
      changed("[0, 4):", "[0, 3):"),
      changed("i in", "i: int32 in"),
      changed("1, 4)] =", "1, 4) if broadcast(true, 4)] ="),
      changed("out ", ""),
  };
  for (const std::string& variant : variants) {
    EXPECT_FALSE(equal(base.c_str(), variant.c_str())) << variant;
    EXPECT_TRUE(hashes.insert(structural_hash(parse_function(variant))).second) << "hash collision: " << variant;
  }
}

TEST(Structural, FreeVariablesCountByIdentity) {
  const Expr a = make_var("x"), b = make_var("x"), c = make_var("y");
  EXPECT_TRUE(structural_equal(a + 1, a + 1));
  EXPECT_FALSE(structural_equal(a + 1, b + 1));
  EXPECT_EQ(structural_hash(a + 1), structural_hash(c + 1)) << "a hash does not depend on addresses";
  EXPECT_NE(structural_hash(a + b), structural_hash(a + a));
  EXPECT_NE(structural_hash(a - b), structural_hash((a + b) - a));
}

TEST(Structural, BoundAndFreeAreNotConfused) {
  const VarRef i = make_var("i"), j = make_var("j");
  const Buffer b = make_buffer("B", kInt64, std::vector<int64_t>{4});
  const Expr zero[] = {make_index(0)};
  const auto loop = [&](VarRef var, Expr value) {
    return make_for(var, make_index(4), LoopKind::kSerial, make_store(b, zero, value));
  };
  EXPECT_TRUE(structural_equal(loop(i, i), loop(j, j)));
  EXPECT_FALSE(structural_equal(loop(i, j), loop(j, j)));
  EXPECT_FALSE(structural_equal(loop(i, j), loop(j, i)));
  // The very same body under another binder means something else.
  const Stmt body = make_store(b, zero, i);
  EXPECT_FALSE(structural_equal(make_for(i, make_index(4), LoopKind::kSerial, body),
                                make_for(j, make_index(4), LoopKind::kSerial, body)));
}

TEST(Structural, ConstantsCompareByBits) {
  const auto f = [](double v) { return make_float(kFloat32, v); };
  EXPECT_FALSE(structural_equal(f(0.0), f(-0.0)));
  EXPECT_TRUE(structural_equal(f(NAN), f(-static_cast<double>(NAN))));
  EXPECT_EQ(structural_hash(f(NAN)), structural_hash(f(-static_cast<double>(NAN))));
  EXPECT_FALSE(structural_equal(f(1.0), make_float(kFloat64, 1.0)));
  EXPECT_TRUE(structural_equal(Expr(), Expr()));
  EXPECT_FALSE(structural_equal(Expr(), f(1.0)));
}

TEST(Structural, HashIsStable) {
  // Written into databases: these numbers may only change together with the version of what stores them.
  const VarRef x = make_var("x");
  EXPECT_EQ(structural_hash(Expr(x) * 3 + 1), 874590272908312100u);
  EXPECT_EQ(structural_hash(make_float(kFloat32, 0.5)), 11890843856924400227u);
}

TEST(Structural, RandomProgramsDiffer) {
  std::set<uint64_t> hashes;
  std::set<std::string> texts;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Arena arena;
    const ArenaScope scope(arena);
    const Function f = testing::RandomIr(seed).function();
    hashes.insert(structural_hash(f));
    texts.insert(to_string(f));
  }
  EXPECT_EQ(hashes.size(), texts.size());
}

}  // namespace
}  // namespace tensmith
