#include "tensmith/ir/print.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tensmith/ir/ops.h"

namespace tensmith {
namespace {

std::vector<int64_t> dims(std::initializer_list<int64_t> d) { return d; }

TEST(Print, ProgramReadsLikeTheFigure) {
  const Buffer a = make_buffer("A", kFloat32, dims({4, 8}));
  const Buffer w = make_buffer("W", kFloat32, dims({8, 16}));
  const Buffer c = make_buffer("C", kFloat32, dims({4, 16}));
  const Buffer acc = make_buffer("acc", kFloat32, dims({8}), MemoryScope::kLocal);
  const VarRef y = make_var("y"), k = make_var("k"), x = make_var("x");
  const Expr cyx[] = {y, x}, ayk[] = {y, k}, wkx[] = {k, x};
  const Stmt update = make_store(c, cyx, make_load(c, cyx) + make_load(a, ayk) * make_load(w, wkx));
  const Stmt nest = make_for(
      y, make_index(4), LoopKind::kParallel,
      make_for(k, make_index(8), LoopKind::kSerial, make_for(x, make_index(16), LoopKind::kVectorized, update)));
  const Function f{"conv", make_array({a, w}), make_array({c}), make_allocate(acc, nest)};
  EXPECT_EQ(to_string(f),
            "func conv(A: float32[4, 8] global, W: float32[8, 16] global, out C: float32[4, 16] global):\n"
            "  alloc acc: float32[8] local:\n"
            "    parallel y in [0, 4):\n"
            "      for k in [0, 8):\n"
            "        vectorized x in [0, 16):\n"
            "          C[y, x] = C[y, x] + A[y, k]*W[k, x]\n");
}

TEST(Print, ParenthesesOnlyWhereNeeded) {
  const Expr a = make_var("a"), b = make_var("b"), c = make_var("c");
  const Expr p = make_var("p", kBool), q = make_var("q", kBool);
  EXPECT_EQ(to_string(a + b + c), "a + b + c");
  EXPECT_EQ(to_string(a + (b + c)), "a + (b + c)");
  EXPECT_EQ(to_string(a - (b - c)), "a - (b - c)");
  EXPECT_EQ(to_string((a - b) * c), "(a - b)*c");
  EXPECT_EQ(to_string(a * (b / c)), "a*(b/c)");
  EXPECT_EQ(to_string(a * b / c % a), "a*b/c%a");
  EXPECT_EQ(to_string(a + b < c * a), "a + b < c*a");
  EXPECT_EQ(to_string(equal(a < b, b < c)), "(a < b) == (b < c)");
  EXPECT_EQ(to_string(logical_or(logical_and(p, q), logical_not(p))), "p and q or not p");
  EXPECT_EQ(to_string(logical_and(p, logical_or(q, p))), "p and (q or p)");
  EXPECT_EQ(to_string(logical_not(a < b)), "not a < b");
  EXPECT_EQ(to_string(make_binary(BinaryOp::kEq, make_not(p), q)), "(not p) == q");
  EXPECT_EQ(to_string(logical_not(logical_and(p, q))), "not (p and q)");
  EXPECT_EQ(to_string(min(a, max(b + 1, c)) * 2), "min(a, max(b + 1, c))*2");
  EXPECT_EQ(to_string(a + make_index(-3)), "a + -3");
}

TEST(Print, ConstantsAreExact) {
  EXPECT_EQ(to_string(make_index(5)), "5");
  EXPECT_EQ(to_string(make_int(kInt32, -5)), "-5i32");
  EXPECT_EQ(to_string(make_int(uint_type(64), -1)), "18446744073709551615u64");
  EXPECT_EQ(to_string(make_index(std::numeric_limits<int64_t>::min())), "-9223372036854775808");
  EXPECT_EQ(to_string(make_true()), "true");
  EXPECT_EQ(to_string(make_float(kFloat32, 0.1)), "0.1");
  EXPECT_EQ(to_string(make_float(kFloat64, 0.1)), "0.1f64");
  EXPECT_EQ(to_string(make_float(float_type(16), 0.1)), "0.1f16");
  EXPECT_EQ(to_string(make_float(bfloat_type(), 1.0 / 3.0)), "0.334bf16");
  EXPECT_EQ(to_string(make_float(kFloat32, 1.0)), "1.0");
  EXPECT_EQ(to_string(make_float(kFloat32, -0.0)), "-0.0");
  EXPECT_EQ(to_string(make_float(kFloat32, 1e30)), "1e+30");
  EXPECT_EQ(to_string(make_float(kFloat32, INFINITY)), "inf");
  EXPECT_EQ(to_string(make_float(float_type(16), -INFINITY)), "-inff16");
  EXPECT_EQ(to_string(make_float(kFloat64, -static_cast<double>(NAN))), "nanf64");
}

TEST(Print, ALiteralTakesTheTypeBesideIt) {
  const Expr i = make_var("i", kInt32), d = make_var("d", kFloat64);
  EXPECT_EQ(to_string(i * 3 + 1), "i*3 + 1");
  EXPECT_EQ(to_string(d * make_float(kFloat64, 0.5)), "d*0.5");
  EXPECT_EQ(to_string(make_binary(BinaryOp::kAdd, make_int(kInt32, 1), make_int(kInt32, 2))), "1i32 + 2i32");
  EXPECT_EQ(to_string(make_ramp(i, make_int(kInt32, 1), 8)), "ramp(i, 1, 8)");
  EXPECT_EQ(to_string(make_broadcast(make_int(kInt32, 1), 8)), "broadcast(1i32, 8)");
}

TEST(Print, EveryExpression) {
  const Buffer b = make_buffer("B", kFloat32, dims({10}));
  const VarRef i = make_var("i"), k = make_var("k");
  const Expr ramp = make_ramp(i, make_index(1), 4);
  const Expr load = make_load(b, {&ramp, 1}, make_broadcast(Expr(i) < 3, 4));
  EXPECT_EQ(to_string(load), "B[ramp(i, 1, 4) if broadcast(i < 3, 4)]");
  EXPECT_EQ(to_string(make_cast(float_type(64, 4), load)), "float64x4(B[ramp(i, 1, 4) if broadcast(i < 3, 4)])");
  EXPECT_EQ(to_string(make_select(Expr(i) < 3, make_float(kFloat32, 1), make_float(kFloat32, 0))),
            "select(i < 3, 1.0, 0.0)");
  const Expr k_index[] = {k};
  const ReduceAxis axis[] = {{k, 10}};
  EXPECT_EQ(to_string(make_reduce(ReduceOp::kMax, axis, make_load(b, k_index))), "max(k in [0, 10): B[k])");
  const Expr three[] = {make_float(kFloat32, 1), make_float(kFloat32, 2), make_float(kFloat32, 3)};
  EXPECT_EQ(to_string(make_call(Intrinsic::kFma, three)), "fma(1.0, 2.0, 3.0)");
}

TEST(Print, EveryStatement) {
  const Buffer b = make_buffer("B", kFloat32, dims({10, 8}), MemoryScope::kShared, dims({9, 1}));
  EXPECT_EQ(to_string(b), "B: float32[10, 8] shared strides [9, 1]");
  const VarRef i = make_var("i", kInt32), t = make_var("t", kFloat32);
  const Expr at[] = {make_index(1), make_index(2)};
  const Expr row[] = {make_index(1), make_ramp(make_index(0), make_index(1), 2)};
  const Expr broadcast = make_broadcast(t, 2);
  const std::vector<Stmt> stmts = {make_prefetch(b, at, 3), make_store(b, row, broadcast, make_true(2))};
  const Stmt body = make_if(Expr(i) < 3, make_seq(stmts), make_store(b, at, t));
  const Stmt loop = make_for(i, make_int(kInt32, 7), LoopKind::kUnrolled, body);
  EXPECT_EQ(to_string(make_let(t, make_float(kFloat32, 2), loop)),
            "let t: float32 = 2.0:\n"
            "  unrolled i: int32 in [0, 7):\n"
            "    if i < 3:\n"
            "      prefetch B[1, 2] into L1\n"
            "      B[1, ramp(0, 1, 2) if broadcast(true, 2)] = broadcast(t, 2)\n"
            "    else:\n"
            "      B[1, 2] = t\n");
}

TEST(Print, SharedNamesAreToldApart) {
  const Buffer b = make_buffer("x", kInt64, dims({10}));
  const VarRef x1 = make_var("x"), x2 = make_var("x"), x3 = make_var("x");
  const Expr at[] = {Expr(x1) + x2};
  const Stmt store = make_store(b, at, x3);
  const Stmt nest =
      make_for(x1, make_index(2), LoopKind::kSerial, make_for(x2, make_index(2), LoopKind::kSerial, store));
  EXPECT_EQ(to_string(nest),
            "for x_2 in [0, 2):\n"
            "  for x_3 in [0, 2):\n"
            "    x[x_2 + x_3] = x_1\n");
}

TEST(Print, ANameIsFreeAgainAfterItsScope) {
  const Buffer b = make_buffer("B", kInt64, dims({10}));
  const VarRef x1 = make_var("x"), x2 = make_var("x");
  const Expr at1[] = {x1}, at2[] = {x2};
  const Stmt loops[] = {make_for(x1, make_index(2), LoopKind::kSerial, make_store(b, at1, x1)),
                        make_for(x2, make_index(2), LoopKind::kSerial, make_store(b, at2, x2))};
  EXPECT_EQ(to_string(make_seq(loops)),
            "for x in [0, 2):\n"
            "  B[x] = x\n"
            "for x in [0, 2):\n"
            "  B[x] = x\n");
}

TEST(Print, NamesBecomeIdentifiers) {
  EXPECT_EQ(to_string(Expr(make_var("y.outer"))), "y.outer");
  EXPECT_EQ(to_string(Expr(make_var("a b-c"))), "a_b_c");
  EXPECT_EQ(to_string(Expr(make_var(""))), "v");
  EXPECT_EQ(to_string(Expr(make_var("0"))), "_0");
  for (const char* word : {"for", "min", "float32", "inf", "nanf16", "boolx4", "true"}) {
    EXPECT_EQ(to_string(Expr(make_var(word))), std::string(word) + "_");
  }
}

TEST(Print, MissingPartsShow) {
  EXPECT_EQ(to_string(Expr()), "<missing>");
  EXPECT_EQ(to_string(Stmt()), "pass\n");
  const Binary broken{{ExprKind::kBinary, kInt64}, BinaryOp::kAdd, Expr(), make_index(1)};
  EXPECT_EQ(to_string(Expr(&broken)), "<missing> + 1");
}

}  // namespace
}  // namespace tensmith
