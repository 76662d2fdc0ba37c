#include "tensmith/ir/ir.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tensmith/ir/ops.h"
#include "tensmith/ir/visit.h"
#include "tensmith/support/error.h"

namespace tensmith {
namespace {

std::vector<int64_t> dims(std::initializer_list<int64_t> d) { return d; }

template <typename F>
void expect_internal(F&& f, const std::string& part) {
  try {
    f();
    FAIL() << "no error: " << part;
  } catch (const InternalError& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(Buffer, StridesAndSize) {
  const Buffer dense = make_buffer("A", kFloat32, dims({2, 3, 4}));
  EXPECT_EQ(buffer_stride(dense, 0), 12);
  EXPECT_EQ(buffer_stride(dense, 2), 1);
  EXPECT_EQ(buffer_size(dense), 24);
  const Buffer strided = make_buffer("A", kFloat32, dims({2, 3}), MemoryScope::kGlobal, dims({10, 2}));
  EXPECT_EQ(buffer_stride(strided, 0), 10);
  EXPECT_EQ(buffer_size(strided), 15);
  EXPECT_EQ(buffer_size(make_buffer("A", kFloat32, {})), 1);
  EXPECT_EQ(buffer_size(make_buffer("A", kFloat32, dims({5, 0, 4}))), 0);
  EXPECT_EQ(buffer_size(make_buffer("A", kFloat32, dims({5, 0}), MemoryScope::kGlobal, dims({0, 1}))), 0);
  expect_internal([&] { buffer_stride(dense, 3); }, "has no dimension 3");
}

TEST(Buffer, TooLargeIsTheUsersMistake) {
  const Buffer huge = make_buffer("big", kFloat32, dims({1LL << 40, 1LL << 40}));
  try {
    buffer_size(huge);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(
        error.message(),
        "buffer 'big' with shape [1099511627776, 1099511627776] has more elements than a 64-bit index can address");
  }
  const Buffer strided = make_buffer("s", kFloat32, dims({3}), MemoryScope::kGlobal, dims({1LL << 62}));
  EXPECT_THROW(buffer_size(strided), UserError);
  EXPECT_EQ(buffer_size(make_buffer("z", kFloat32, dims({0, 1LL << 40, 1LL << 40}))), 0);
}

TEST(Factories, ConstantsFitTheirTypes) {
  EXPECT_EQ(make_int(int_type(8), 200).as<IntImm>()->value, -56);
  EXPECT_EQ(make_int(uint_type(8), -1).as<IntImm>()->value, 255);
  EXPECT_EQ(make_int(kBool, 7).as<IntImm>()->value, 1);
  EXPECT_EQ(make_float(kFloat32, 0.1).as<FloatImm>()->value, static_cast<double>(0.1F));
  const Expr vector = make_int(int_type(32, 4), 3);
  EXPECT_EQ(vector.kind(), ExprKind::kBroadcast);
  EXPECT_EQ(as_const_int(vector), 3);
  EXPECT_TRUE(is_const_int(vector, 3));
  EXPECT_EQ(make_const(float_type(32, 8), 1.5).type(), float_type(32, 8));
  EXPECT_EQ(as_const_int(make_const(kInt32, -3.0)), -3);
  EXPECT_FALSE(as_const_int(make_var("x")));
}

TEST(Factories, RejectWhatIsIllTyped) {
  const Expr i = make_var("i"), n = make_var("n", kInt32), f = make_var("f", kFloat32), p = make_var("p", kBool);
  const Expr v = make_broadcast(i, 4);
  const VarRef var = make_var("x");
  const Buffer b = make_buffer("B", kFloat32, dims({4, 4}));
  const Expr ii[] = {i, i};
  const Stmt store = make_store(b, ii, f);
  expect_internal([&] { make_binary(BinaryOp::kAdd, i, n); }, "operands of '+' have types int64 and int32");
  expect_internal([&] { make_binary(BinaryOp::kAdd, Expr(), n); }, "lacks an operand");
  expect_internal([&] { make_binary(BinaryOp::kAdd, p, p); }, "'+' of bool operands");
  expect_internal([&] { make_binary(BinaryOp::kAnd, i, i); }, "'and' of int64 operands");
  expect_internal([&] { make_binary(BinaryOp::kMod, f, f); }, "'%' of float32 operands");
  expect_internal([&] { make_not(i); }, "'not' needs a bool");
  expect_internal([&] { make_select(i, f, f); }, "select of float32 by int64");
  expect_internal([&] { make_select(make_true(4), f, f); }, "select of float32 by boolx4");
  expect_internal([&] { make_select(p, f, i); }, "arms of select");
  expect_internal([&] { make_cast(int_type(32, 4), i); }, "cast from int64 to int32x4");
  expect_internal([&] { make_ramp(i, n, 4); }, "a ramp needs");
  expect_internal([&] { make_ramp(v, v, 4); }, "a ramp needs");
  expect_internal([&] { make_ramp(i, i, 70000); }, "a ramp of 70000 lanes");
  expect_internal([&] { make_broadcast(v, 2); }, "broadcast of int64x4");
  expect_internal([&] { make_call(Intrinsic::kExp, {}); }, "exp of 0 arguments");
  expect_internal([&] { make_call(Intrinsic::kExp, {&i, 1}); }, "exp needs floating-point arguments");
  expect_internal([&] { make_load(b, std::vector<Expr>{i, i, i}); }, "2 dimensions and is accessed with 3");
  expect_internal([&] { make_load(b, std::vector<Expr>{f, i}); }, "index 0 of buffer 'B' is not an integer");
  expect_internal([&] { make_load(b, std::vector<Expr>{v, i}); }, "a vector and not the last");
  expect_internal(
      [&] {
        make_load(b, std::vector<Expr>{i, v}, p);
      },
      "predicate of an access to 'B' is bool, not boolx4");
  expect_internal([&] { make_store(b, ii, i); }, "store of int64 to 1 elements of 'B'");
  expect_internal([&] { make_for(var, n, LoopKind::kSerial, store); }, "the extent of loop 'x'");
  expect_internal([&] { make_for(var, i, LoopKind::kSerial, Stmt()); }, "loop 'x' has no body");
  expect_internal([&] { make_if(i, store); }, "not a scalar bool");
  expect_internal([&] { make_let(var, f, store); }, "a let needs");
  expect_internal([&] { make_prefetch(b, ii, 0); }, "prefetch with locality 0");
  expect_internal([&] { make_reduce(ReduceOp::kSum, {}, p); }, "a reduction needs a numeric value");
  expect_internal([&] { make_var("v", float_type(32, 4)); }, "variable 'v' of type float32x4");
  expect_internal([&] { make_buffer("b", float_type(32, 4), dims({4})); }, "buffer 'b' of type float32x4");
  expect_internal([&] { make_buffer("b", kFloat32, dims({-1})); }, "extent -1");
}

TEST(Factories, OneLaneIsAScalar) {
  const Expr i = make_var("i");
  EXPECT_TRUE(make_broadcast(i, 1).same_as(i));
  EXPECT_TRUE(make_ramp(i, make_index(1), 1).same_as(i));
  EXPECT_TRUE(make_cast(kInt64, i).same_as(i));
}

TEST(Factories, SequencesAreFlat) {
  const Buffer b = make_buffer("B", kInt64, {});
  const auto store = [&](int64_t v) { return make_store(b, {}, make_index(v)); };
  const Stmt a = store(1), c = store(2), d = store(3);
  EXPECT_FALSE(make_seq({}));
  EXPECT_FALSE(make_seq(std::vector<Stmt>{Stmt(), Stmt()}));
  EXPECT_TRUE(make_seq(std::vector<Stmt>{Stmt(), a}).same_as(a));
  const Stmt ac = make_seq(std::vector<Stmt>{a, c});
  EXPECT_TRUE(make_seq(std::vector<Stmt>{ac, Stmt()}).same_as(ac));
  const Stmt all = make_seq(std::vector<Stmt>{ac, Stmt(), d});
  ASSERT_EQ(all.as<Seq>()->stmts.size(), 3u);
  EXPECT_TRUE(all.as<Seq>()->stmts[0].same_as(a));
  EXPECT_TRUE(all.as<Seq>()->stmts[2].same_as(d));
}

TEST(Reduce, Identities) {
  EXPECT_EQ(reduce_identity(ReduceOp::kSum, kFloat32).as<FloatImm>()->value, 0.0);
  EXPECT_EQ(reduce_identity(ReduceOp::kMax, float_type(16)).as<FloatImm>()->value, -INFINITY);
  EXPECT_EQ(reduce_identity(ReduceOp::kMin, bfloat_type()).as<FloatImm>()->value, INFINITY);
  EXPECT_EQ(as_const_int(reduce_identity(ReduceOp::kMax, int_type(8))), -128);
  EXPECT_EQ(as_const_int(reduce_identity(ReduceOp::kMin, int_type(8))), 127);
  EXPECT_EQ(as_const_int(reduce_identity(ReduceOp::kMin, kInt64)), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(as_const_int(reduce_identity(ReduceOp::kMax, uint_type(16))), 0);
  EXPECT_EQ(as_const_int(reduce_identity(ReduceOp::kMin, uint_type(16))), 65535);
  EXPECT_EQ(reduce_combiner(ReduceOp::kSum), BinaryOp::kAdd);
}

TEST(Visit, MapChildrenKeepsWhatDoesNotChange) {
  const VarRef x = make_var("x"), y = make_var("y");
  const Buffer b = make_buffer("B", kInt64, dims({8, 8}));
  const Expr left = Expr(x) * 3 + 1;
  const Expr e = make_select(left < 4, min(left, y), Expr(y) % 5);
  const Binding to_seven[] = {{y, make_index(7)}};
  const Binding nothing[] = {{make_var("z"), make_index(7)}};
  EXPECT_TRUE(substitute(e, nothing).same_as(e));
  const Expr replaced = substitute(e, to_seven);
  ASSERT_FALSE(replaced.same_as(e));
  EXPECT_TRUE(replaced.as<Select>()->condition.same_as(e.as<Select>()->condition)) << "the untouched arm is shared";
  EXPECT_FALSE(uses_var(replaced, y));
  EXPECT_TRUE(uses_var(replaced, x));

  const Expr at_x[] = {x, make_index(0)}, at_y[] = {x, y};
  const Stmt first = make_store(b, at_x, x), second = make_store(b, at_y, x);
  const Stmt body = make_seq(std::vector<Stmt>{first, second});
  const Stmt loop = make_for(x, make_index(8), LoopKind::kSerial, body);
  EXPECT_TRUE(substitute(loop, nothing).same_as(loop));
  const Stmt changed = substitute(loop, to_seven);
  const Array<Stmt> stmts = changed.as<For>()->body.as<Seq>()->stmts;
  EXPECT_TRUE(stmts[0].same_as(first));
  EXPECT_FALSE(stmts[1].same_as(second));
  EXPECT_FALSE(uses_var(changed, y));
  EXPECT_TRUE(uses_var(loop, y));
}

TEST(Visit, SubstituteReachesEveryNode) {
  const VarRef x = make_var("x"), t = make_var("t"), k = make_var("k");
  const Buffer b = make_buffer("B", kFloat32, dims({8}));
  const Expr ramp = make_ramp(x, make_index(1), 4);
  const Expr condition = make_not(Expr(x) < 3);
  const Expr load = make_load(b, {&ramp, 1}, make_broadcast(condition, 4));
  const Expr one = make_float(kFloat32, 1.0);
  const Expr at[] = {x};
  const ReduceAxis axis[] = {{k, 3}};
  const Expr sum = make_reduce(ReduceOp::kSum, axis, cast(kFloat32, x) + exp(cast(kFloat32, Expr(x) - k)));
  const Stmt inner = make_seq(std::vector<Stmt>{
      make_store(b, {&ramp, 1}, load, make_broadcast(condition, 4)),
      make_prefetch(b, at, 1),
      make_if(condition, make_store(b, at, one), make_store(b, at, sum)),
  });
  const Stmt s = make_let(t, x, make_for(make_var("j"), x, LoopKind::kSerial, make_allocate(b, inner)));
  const Binding binding[] = {{x, make_index(2)}};
  const Stmt replaced = substitute(s, binding);
  EXPECT_TRUE(uses_var(s, x));
  EXPECT_FALSE(uses_var(replaced, x));
  int nodes = 0, nodes_after = 0, stmts = 0;
  walk(
      s, [&](Expr) { ++nodes; }, [&](Stmt) { ++stmts; });
  walk(
      replaced, [&](Expr) { ++nodes_after; }, [](Stmt) {});
  EXPECT_EQ(nodes, nodes_after);
  EXPECT_EQ(stmts, 9);
}

TEST(Visit, DroppingABodyDropsItsLoop) {
  const VarRef x = make_var("x");
  const Buffer b = make_buffer("B", kInt64, dims({8}));
  const Expr at[] = {x};
  const Stmt store = make_store(b, at, x);
  const auto keep = [](Expr e) { return e; };
  const auto drop = [](Stmt) { return Stmt(); };
  EXPECT_FALSE(map_children(make_for(x, make_index(8), LoopKind::kSerial, store), keep, drop));
  EXPECT_FALSE(map_children(make_allocate(b, store), keep, drop));
  EXPECT_FALSE(map_children(make_let(x, make_index(1), store), keep, drop));
  const Stmt other = make_store(b, at, make_index(1));
  const Stmt branch = make_if(Expr(x) < 3, store, other);
  const Stmt rest = map_children(branch, keep, [&](Stmt s) { return s.same_as(store) ? Stmt() : s; });
  ASSERT_TRUE(rest.as<If>());
  EXPECT_EQ(rest.as<If>()->condition.kind(), ExprKind::kNot);
  EXPECT_TRUE(rest.as<If>()->then_case.same_as(other));
}

TEST(Ops, LiteralsAndBroadcasts) {
  const Expr n = make_var("n", kInt32), f = make_var("f", kFloat32);
  EXPECT_EQ((n + 1).type(), kInt32);
  EXPECT_EQ((f * 2).type(), kFloat32);
  EXPECT_EQ((n + make_index(1)).type(), kInt32);
  EXPECT_EQ((make_index(1) + n).type(), kInt32);
  EXPECT_EQ((f + make_index(1)).as<Binary>()->b.as<FloatImm>()->value, 1.0);
  EXPECT_EQ((make_broadcast(n, 4) + n).type(), int_type(32, 4));
  EXPECT_EQ((n < make_broadcast(n, 4)).type(), bool_type(4));
  EXPECT_EQ(cast(float_type(32, 4), n).type(), float_type(32, 4));
  EXPECT_THROW(n + f, InternalError);
  EXPECT_EQ(select(make_broadcast(n < 3, 4), f, f).type(), float_type(32, 4));
}

TEST(Ops, FoldsConstantsAndNeutralElements) {
  const Expr i = make_var("i"), f = make_var("f", kFloat32), p = make_var("p", kBool);
  EXPECT_TRUE((i + 0).same_as(i));
  EXPECT_TRUE((make_index(0) + i).same_as(i));
  EXPECT_TRUE((i - 0).same_as(i));
  EXPECT_TRUE((i * 1).same_as(i));
  EXPECT_TRUE((f * 1).same_as(f));
  EXPECT_TRUE((i / 1).same_as(i));
  EXPECT_EQ((f + 0).kind(), ExprKind::kBinary) << "-0.0 + 0.0 is +0.0";
  EXPECT_EQ((i * 0).kind(), ExprKind::kBinary) << "left to the simplifier";
  EXPECT_EQ(as_const_int(make_index(-7) / 2), -4);
  EXPECT_EQ(as_const_int(make_index(-7) % 2), 1);
  EXPECT_EQ(as_const_int(make_index(7) % -2), -1);
  EXPECT_EQ((make_index(7) / 0).kind(), ExprKind::kBinary) << "a division by zero is not folded";
  EXPECT_EQ(as_const_int(make_int(int_type(8), 100) + make_int(int_type(8), 100)), -56);
  EXPECT_EQ(as_const_int(make_index(3) < 4), 1);
  EXPECT_EQ((make_float(kFloat32, 1.0) / make_float(kFloat32, 3.0)).as<FloatImm>()->value,
            static_cast<double>(1.0F / 3.0F));
  EXPECT_TRUE(logical_and(p, make_true()).same_as(p));
  EXPECT_TRUE(is_const_int(logical_and(p, make_false()), 0));
  EXPECT_TRUE(is_const_int(logical_or(make_true(), p), 1));
  EXPECT_TRUE(logical_or(p, make_false()).same_as(p));
  EXPECT_TRUE(logical_not(logical_not(p)).same_as(p));
  EXPECT_TRUE(is_const_int(logical_not(make_true()), 0));
  EXPECT_TRUE(select(make_true(), i, i + 1).same_as(i));
  EXPECT_EQ(cast(kFloat64, make_index(3)).as<FloatImm>()->value, 3.0);
  EXPECT_EQ((-f).as<Binary>()->op, BinaryOp::kMul) << "negation keeps the sign of zero";
}

}  // namespace
}  // namespace tensmith
