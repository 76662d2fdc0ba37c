#include "tensmith/ir/arith/simplify.h"

#include <gtest/gtest.h>

#include <limits>

#include "ir/arith/scope.h"
#include "tensmith/ir/ops.h"

namespace tensmith {
namespace {

using testing::Scope;

struct Rule {
  const char* before;
  const char* after;
};

/// Each rule, and that its result stays as it is.
void check(Scope& s, std::initializer_list<Rule> rules) {
  for (const Rule& rule : rules) {
    const Expr once = simplify(s(rule.before), s.ranges());
    EXPECT_EQ(to_string(once), rule.after) << rule.before;
    EXPECT_EQ(to_string(simplify(once, s.ranges())), rule.after) << rule.before << " a second time";
  }
}

class SimplifyTest : public ::testing::Test {
 protected:
  SimplifyTest() { testing::add_common(s_); }
  Scope s_;
};

TEST_F(SimplifyTest, Sums) {
  check(s_, {{"x + 0", "x"},
             {"x + y + x", "x*2 + y"},
             {"x - x", "0"},
             {"3 + x + 4", "x + 7"},
             {"x + 1 - y - 1", "x - y"},
             {"(x + y)*3 - y*3", "x*3"},
             {"2*(x*4 + 1)", "x*8 + 2"},
             {"x*y + y*0", "x*y"},
             {"(x*2)*(y*3)", "x*y*6"},
             {"0 - x", "x*-1"},
             {"7 - x", "7 - x"},
             {"0 - x - 7", "-7 - x"},
             {"y - x - 7 + 9", "y - x + 2"},
             {"(x - y)*-1", "y - x"},
             {"3*4 + 2", "14"}});
}

TEST_F(SimplifyTest, QuotientsAndRemainders) {
  check(s_, {{"(x*8)/8", "x"},
             {"(x*8)%8", "0"},
             {"(x*8 + i)/8", "x"},
             {"(x*8 + i)%8", "i"},
             {"(x*16 + i)/8", "x*2"},
             {"(x*4 + j)/8", "x/2"},
             {"(x*4 + j)%8", "x%2*4 + j"},
             {"(x*8 + 3)/8", "x"},
             {"(x*8 - 1)/8", "x - 1"},
             {"(x + 17)/8", "(x + 1)/8 + 2"},
             {"(x - 7)%8", "(x + 1)%8"},
             {"i/8", "0"},
             {"(i + 8)/8", "1"},
             {"(i + 8)%8", "i"},
             {"i%8", "i"},
             {"x/1", "x"},
             {"x%1", "0"},
             {"x/4/3", "x/12"},
             {"(x/4 + 1)/3", "(x + 4)/12"},
             {"x%12/4", "x/4%3"},
             {"x%12%4", "x%4"},
             {"(x%12 + y)%4", "(x + y)%4"},
             {"x/7*7 + x%7", "x"},
             {"(x*4 + j)/7*7 + (x*4 + j)%7", "x*4 + j"},
             {"x/4%3*4 + x%4", "x%12"},
             {"x/12*12 + x%12/4*4 + x%4", "x"},
             {"-7/2", "-4"},
             {"-7%2", "1"},
             {"(7 - i + x*8)/8", "x"},
             {"x/y", "x/y"},
             {"(x - x)/y", "0/y"}});
}

TEST_F(SimplifyTest, MinAndMax) {
  check(s_, {{"min(x, x)", "x"},
             {"min(3, x)", "min(x, 3)"},
             {"min(min(x, 3), 5)", "min(x, 3)"},
             {"min(min(x, 5), 3)", "min(x, 3)"},
             {"max(max(x, 5), 3)", "max(x, 5)"},
             {"min(min(x, y), x)", "min(x, y)"},
             {"min(max(x, y), x)", "x"},
             {"min(i, 9)", "i"},
             {"max(i, 9)", "9"},
             {"min(x + 1, x + 3)", "x + 1"},
             {"max(x*8 + i, x*8 + 7)", "x*8 + 7"},
             {"min(x*8 + 8, 13) - x*8", "min(13 - x*8, 8)"},
             {"x - min(x, 5)", "max(x - 5, 0)"},
             {"min(j*8 + 8, 100) - j*8", "8"},
             {"max(0 - x, 2) + x", "max(x + 2, 0)"}});
}

TEST_F(SimplifyTest, Comparisons) {
  check(s_, {{"x < x", "false"},
             {"x <= x", "true"},
             {"x + 1 > x", "true"},
             {"x*8 + i < x*8 + 8", "true"},
             {"i < 8", "true"},
             {"i >= 8", "false"},
             {"i < 7", "i < 7"},
             {"7 > i", "i < 7"},
             {"x <= 7", "x < 8"},
             {"x >= 8", "7 < x"},
             {"0 <= x - 3", "2 < x"},
             {"x + 3 < 8", "x < 5"},
             {"x + 3 < y + 8", "x < y + 5"},
             {"x - y > 0", "y < x"},
             {"8*x < 13", "x < 2"},
             {"x*8 + i < 16", "x < 2"},
             {"x*8 + i < 13", "x*8 + i < 13"},
             {"x*8 + i >= 16", "1 < x"},
             {"2*x == 4", "x == 2"},
             {"2*x == 5", "false"},
             {"x + 1 != y", "x != y - 1"},
             {"0 - x == 3", "x == -3"},
             {"i == 8", "false"},
             {"x == x", "true"},
             {"x*4 + 1 == y*2", "false"}});
}

TEST_F(SimplifyTest, Logic) {
  check(s_, {{"x < 3 and true", "x < 3"},
             {"x < 3 or true", "true"},
             {"x < 3 and i < 8", "x < 3"},
             {"x < 8 and x < 5", "x < 5"},
             {"x < 5 and x < 8", "x < 5"},
             {"x < 5 or x < 8", "x < 8"},
             {"x < 5 and x < 5", "x < 5"},
             {"x < 5 and x > 6", "false"},
             {"x < 5 or x >= 5", "true"},
             {"x < y and y > x", "x < y"},
             {"not (x < 3)", "2 < x"},
             {"not (x < 3 and not (y < 2))", "not (x < 3 and 1 < y)"},
             {"not (x == y)", "x != y"},
             {"select(x < 3, true, false)", "x < 3"},
             {"select(x < 3, false, true)", "2 < x"}});
}

TEST_F(SimplifyTest, Select) {
  check(s_, {{"select(i < 8, x, y)", "x"},
             {"select(i < 0, x, y)", "y"},
             {"select(x < 3, y, y)", "y"},
             {"select(x < 3, select(x < 5, y, z), z)", "select(x < 3, y, z)"},
             {"select(x < 3, min(x, 3), 0)", "select(x < 3, x, 0)"},
             {"select(not (x < y and y < z), 1, 2)", "select(x < y and y < z, 2, 1)"}});
}

TEST_F(SimplifyTest, Vectors) {
  check(s_, {{"ramp(x, 1, 8) + broadcast(y, 8)", "ramp(x + y, 1, 8)"},
             {"broadcast(y, 8) - ramp(x, 1, 8)", "ramp(y - x, -1, 8)"},
             {"ramp(x, 1, 8) + ramp(y, 2, 8)", "ramp(x + y, 3, 8)"},
             {"ramp(x, 1, 8) - ramp(y, 1, 8)", "broadcast(x - y, 8)"},
             {"ramp(x, 2, 8)*broadcast(4, 8)", "ramp(x*4, 8, 8)"},
             {"broadcast(x, 8)*broadcast(y, 8)", "broadcast(x*y, 8)"},
             {"ramp(x, 0, 8)", "broadcast(x, 8)"},
             {"ramp(x*8, 1, 8)/broadcast(8, 8)", "broadcast(x, 8)"},
             {"ramp(x*8, 1, 8)%broadcast(8, 8)", "ramp(0, 1, 8)"},
             {"ramp(x*8, 1, 8)/broadcast(4, 8)", "ramp(x*8, 1, 8)/broadcast(4, 8)"},
             {"ramp(x, 4, 8)/broadcast(4, 8)", "ramp(x/4, 1, 8)"},
             {"ramp(x, 4, 8)%broadcast(4, 8)", "broadcast(x%4, 8)"},
             {"ramp(i, 1, 8) < broadcast(15, 8)", "broadcast(true, 8)"},
             {"ramp(i, 1, 8) >= broadcast(15, 8)", "broadcast(false, 8)"},
             {"ramp(i, 1, 8) < broadcast(14, 8)", "ramp(i, 1, 8) < broadcast(14, 8)"},
             {"min(ramp(i, 1, 8), broadcast(14, 8))", "ramp(i, 1, 8)"},
             {"max(ramp(i, 1, 8), broadcast(14, 8))", "broadcast(14, 8)"},
             {"select(broadcast(x < 3, 4), ramp(x, 1, 4), broadcast(y, 4))",
              "select(x < 3, ramp(x, 1, 4), broadcast(y, 4))"},
             {"broadcast(x < 3, 4) and broadcast(y < 3, 4)", "broadcast(x < 3 and y < 3, 4)"},
             {"int32x4(broadcast(x, 4))", "broadcast(int32(x), 4)"}});
}

TEST(SimplifyTypesTest, NarrowIntegersWrap) {
  Scope s;
  s.add("b", {}, int_type(8));
  s.add("u", {}, uint_type(8));
  check(s, {{"b + 1i8 < b", "b + 1 < b"},  // true for b = 127
            {"b + 1i8 - 1i8", "b + 1 - 1"},
            {"b + 100i8 + 100i8", "b + -56"},
            {"u + 200u8 + 100u8", "u + 44"},
            {"b*2i8/2i8", "b*2/2"},
            {"b - b", "0i8"},
            {"1i8*b", "b"},
            {"b*0i8", "0i8"},
            {"int32(b) < 128", "true"},
            {"int32(u) < 0", "false"},
            {"min(u, 255u8)", "u"},
            {"u > 255u8", "false"},
            {"int32(b)*2/2", "int32(b)"}});
}

TEST(SimplifyTypesTest, DataMayWrap) {
  Scope s;
  s.add_buffer("B", kInt32, {16});
  s.add_buffer("S", int_type(8), {16});
  s.add("i", Range::of_extent(16));
  check(s, {{"B[i] + 1 > B[i]", "B[i] < B[i] + 1"},
            {"B[i]*2/2", "B[i]*2/2"},
            {"B[i] + B[i] - B[i]", "B[i]"},
            {"max(B[i], 0) + 1 > 0", "0 < max(B[i], 0) + 1"},
            {"int64(B[i])*2/2", "int64(B[i])"},
            {"int64(B[i]) + 1 > int64(B[i])", "true"},
            {"int32(S[i])*8/8", "int32(S[i])"},
            {"B[i + 1 - 1]", "B[i]"}});
}

TEST(SimplifyTypesTest, FloatsKeepTheirBits) {
  Scope s;
  s.add_buffer("A", kFloat32, {16});
  s.add_buffer("H", float_type(16), {16});
  s.add("i", Range::of_extent(16));
  check(s, {{"A[i] + 0.0", "A[i] + 0.0"},  // -0 + 0 is +0
            {"A[i] + -0.0", "A[i]"},
            {"A[i] - 0.0", "A[i]"},
            {"A[i] - -0.0", "A[i] - -0.0"},
            {"A[i]*1.0", "A[i]"},
            {"1.0*A[i]", "A[i]"},
            {"A[i]/1.0", "A[i]"},
            {"A[i]*0.0", "A[i]*0.0"},
            {"A[i] - A[i]", "A[i] - A[i]"},
            {"max(A[i], A[i])", "A[i]"},
            {"max(0.0, A[i])", "max(0.0, A[i])"},
            {"0.1 + 0.2", "0.3"},
            {"16777216.0 + 1.0", "16777216.0"},
            {"A[i] == A[i]", "A[i] == A[i]"},
            {"not (A[i] < 1.0)", "not A[i] < 1.0"},
            {"A[i] > 1.0", "1.0 < A[i]"},
            {"float32(float64(A[i]))", "A[i]"},
            {"float16(float32(H[i]))", "H[i]"},
            {"float32(float16(A[i]))", "float32(float16(A[i]))"},
            {"A[i if i < 16]", "A[i]"},
            {"A[i if i < 0]", "0.0"}});
}

TEST(SimplifyTypesTest, ExtremesDoNotOverflow) {
  Scope s;
  s.add("x");
  s.add("w", {}, kInt32);
  const Expr x = s.vars()[0];
  const int64_t top = std::numeric_limits<int64_t>::max(), bottom = std::numeric_limits<int64_t>::min();
  for (int64_t c : {top, bottom, top - 1, bottom + 1}) {
    for (int64_t factor : {int64_t{1}, int64_t{-1}, top, bottom}) {
      for (BinaryOp op : {BinaryOp::kAdd, BinaryOp::kSub, BinaryOp::kMul, BinaryOp::kDiv, BinaryOp::kMod,
                          BinaryOp::kMin, BinaryOp::kLt, BinaryOp::kLe, BinaryOp::kEq, BinaryOp::kGe}) {
        const Expr e = make_binary(op, make_binary(BinaryOp::kMul, x, make_index(factor)), make_index(c));
        const Expr f = make_binary(op, make_index(c), make_binary(BinaryOp::kSub, x, make_index(c)));
        EXPECT_TRUE(same_expr(simplify(simplify(e)), simplify(e))) << to_string(e);
        EXPECT_TRUE(same_expr(simplify(simplify(f)), simplify(f))) << to_string(f);
      }
    }
  }
  check(s, {{"w <= 2147483647i32", "true"}, {"w < -2147483648i32", "false"}, {"w + 1 < -2147483648i32", "false"}});
}

TEST(SimplifyFactsTest, ConditionsKnownFromFacts) {
  Scope s;
  testing::add_common(s);
  s.ranges().push_fact(s("x*8 + i < 13"));
  s.ranges().push_fact(s("y < 3"), false);
  s.ranges().push_fact(s("z == 5"));
  EXPECT_EQ(s.simple("x*8 + i < 14"), "true");
  EXPECT_EQ(s.simple("i + x*8 >= 13"), "false");
  EXPECT_EQ(s.simple("y >= 3"), "true");
  EXPECT_EQ(s.simple("z + 1"), "6");
  EXPECT_EQ(s.simple("x*8 + i < 12"), "x*8 + i < 12");
}

TEST(SimplifyFactsTest, SymbolicLoopBoundsProve) {
  Scope s;
  testing::add_common(s);
  const VarRef r = make_var("r");
  // r + max(0, 1 - x) stays below 3 and, with x, from 1 to 14.
  s.ranges().push_loop(r, s("min(3, 14 - x) - max(0, 1 - x)"));
  const Expr shifted = make_binary(BinaryOp::kAdd, r, s("max(0, 1 - x)"));
  const auto holds = [&](Expr c) { return prove(c, s.ranges()); };
  EXPECT_EQ(holds(shifted < 3), Tri::kTrue);
  EXPECT_EQ(holds(shifted + s("x") < 14), Tri::kTrue);
  EXPECT_EQ(holds(shifted + s("x") >= 1), Tri::kTrue);
  EXPECT_EQ(holds(shifted >= 0), Tri::kTrue);
  EXPECT_EQ(holds(shifted < 2), Tri::kUnknown);
}

}  // namespace
}  // namespace tensmith
