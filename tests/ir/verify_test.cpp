#include "tensmith/ir/verify.h"

#include <gtest/gtest.h>

#include "tensmith/ir/ops.h"
#include "tensmith/ir/parse.h"
#include "tensmith/support/error.h"

namespace tensmith {
namespace {

std::vector<int64_t> dims(std::initializer_list<int64_t> d) { return d; }

struct Fixture : ::testing::Test {
  Buffer a = make_buffer("A", kInt64, dims({4, 4}));
  Buffer c = make_buffer("C", kInt64, dims({4, 4}));
  VarRef i = make_var("i");
  VarRef j = make_var("j");

  Function function(Stmt body) { return {"f", make_array({a}), make_array({c}), body}; }
  Stmt store(Expr y, Expr x, Expr value) {
    const Expr at[] = {y, x};
    return make_store(c, at, value);
  }
  Stmt loop(VarRef var, Stmt body) { return make_for(var, make_index(4), LoopKind::kSerial, body); }

  void expect_problem(Stmt body, VerifyStage stage, const std::string& message, const std::string& excerpt) {
    const std::vector<Problem> problems = find_problems(function(body), stage);
    ASSERT_FALSE(problems.empty()) << message;
    EXPECT_NE(problems[0].message.find(message), std::string::npos) << problems[0].message;
    EXPECT_EQ(problems[0].excerpt, excerpt);
    EXPECT_THROW(verify(function(body), stage), InternalError);
  }
};

using Verify = Fixture;

TEST_F(Verify, SoundProgramsPass) {
  const Stmt body = loop(i, loop(j, store(i, j, Expr(i) + j)));
  EXPECT_NO_THROW(verify(function(body), VerifyStage::kLoopNest));
  EXPECT_NO_THROW(verify(function(Stmt()), VerifyStage::kVectorized));
  const Function flat = parse_function(
      "func f(A: int64[4, 4] global, out C: int64[4, 4] global):\n"
      "  for i in [0, 4):\n"
      "    C[ramp(i*4, 1, 4)] = A[ramp(i*4, 1, 4)]\n");
  EXPECT_NO_THROW(verify(flat, VerifyStage::kFlat));
  EXPECT_NO_THROW(verify(flat, VerifyStage::kVectorized));
  EXPECT_THROW(verify(flat, VerifyStage::kLoopNest), InternalError);
}

TEST_F(Verify, Scopes) {
  expect_problem(store(i, make_index(0), make_index(1)), VerifyStage::kLoopNest,
                 "variable 'i' is used outside its scope", "C[i, 0] = 1");
  const Stmt after[] = {loop(i, store(i, make_index(0), i)), store(make_index(0), make_index(0), i)};
  expect_problem(make_seq(after), VerifyStage::kLoopNest, "variable 'i' is used outside its scope", "C[0, 0] = i");
  expect_problem(make_for(i, i, LoopKind::kSerial, store(i, i, i)), VerifyStage::kLoopNest,
                 "variable 'i' is used outside its scope", "for i in [0, i):");
  expect_problem(make_let(i, Expr(i) + 1, store(i, i, i)), VerifyStage::kLoopNest, "used outside its scope",
                 "let i = i + 1:");
  const Buffer t = make_buffer("t", kInt64, dims({4}));
  const Expr zero[] = {make_index(0)};
  expect_problem(make_store(t, zero, make_index(1)), VerifyStage::kLoopNest,
                 "buffer 't' is neither a parameter nor allocated here", "t[0] = 1");
  expect_problem(store(make_index(0), make_index(0), make_load(t, zero)), VerifyStage::kLoopNest,
                 "buffer 't' is neither a parameter nor allocated here", "t[0]");
}

TEST_F(Verify, DefinitionsAreUnique) {
  expect_problem(loop(i, loop(i, store(i, i, i))), VerifyStage::kLoopNest, "'i' is defined twice", "for i in [0, 4):");
  const Stmt twice[] = {loop(i, store(i, i, i)), loop(i, store(i, i, i))};
  expect_problem(make_seq(twice), VerifyStage::kLoopNest, "'i' is defined twice", "for i in [0, 4):");
  expect_problem(make_allocate(c, store(make_index(0), make_index(0), make_index(1))), VerifyStage::kLoopNest,
                 "'C' is defined twice", "alloc C: int64[4, 4] global:");
}

TEST_F(Verify, InputsAreReadOnly) {
  const Expr at[] = {make_index(0), make_index(0)};
  expect_problem(make_store(a, at, make_index(1)), VerifyStage::kLoopNest, "store to the input 'A'", "A[0, 0] = 1");
}

TEST_F(Verify, IndicesMatchTheStage) {
  const Stmt nest = store(make_index(0), make_index(0), make_index(1));
  expect_problem(nest, VerifyStage::kFlat, "buffer 'C' is accessed with 2 indices, 1 expected", "C[0, 0] = 1");
  const Expr at[] = {make_index(0)};
  expect_problem(make_store(c, at, make_index(1)), VerifyStage::kLoopNest,
                 "buffer 'C' is accessed with 1 indices, 2 expected", "C[0] = 1");
}

TEST_F(Verify, LoweredProgramsHoldNoReductionsAndNoVectorLoops) {
  const ReduceAxis axis[] = {{j, 4}};
  expect_problem(store(make_index(0), make_index(0), make_reduce(ReduceOp::kSum, axis, j)), VerifyStage::kLoopNest,
                 "a reduction is left after lowering", "sum(j in [0, 4): j)");
  const Expr at[] = {i};
  const Stmt loop = make_for(i, make_index(4), LoopKind::kVectorized, make_store(c, at, i));
  EXPECT_NO_THROW(verify(function(loop), VerifyStage::kFlat));
  expect_problem(loop, VerifyStage::kVectorized, "a vectorized loop is left", "vectorized i in [0, 4):");
}

TEST_F(Verify, NodesMadeByHandAreChecked) {
  const auto in_store = [&](Expr e) { return store(make_index(0), make_index(0), e); };
  const Binary mixed{{ExprKind::kBinary, kInt64}, BinaryOp::kAdd, make_index(1), make_int(kInt32, 1)};
  expect_problem(in_store(&mixed), VerifyStage::kLoopNest, "operands of '+' have types int64 and int32", "1 + 1i32");
  const Binary mistyped{{ExprKind::kBinary, kInt64}, BinaryOp::kAdd, make_int(kInt32, 1), make_int(kInt32, 1)};
  expect_problem(in_store(&mistyped), VerifyStage::kLoopNest, "the value does not fit the type int64", "1i32 + 1i32");
  const IntImm wide{{ExprKind::kIntImm, int_type(8)}, 1000};
  expect_problem(in_store(make_cast(kInt64, &wide)), VerifyStage::kLoopNest, "does not fit the type int8", "1000i8");
  const FloatImm unrounded{{ExprKind::kFloatImm, kFloat32}, 0.1};
  expect_problem(in_store(make_cast(kInt64, &unrounded)), VerifyStage::kLoopNest, "does not fit the type float32",
                 "0.1");
  const Not missing{{ExprKind::kNot, kBool}, Expr()};
  expect_problem(in_store(make_cast(kInt64, &missing)), VerifyStage::kLoopNest, "an expression lacks an operand",
                 "C[0, 0] = int64(not <missing>)");
  const Stmt one = in_store(make_index(1));
  const Seq single{{StmtKind::kSeq}, Array<Stmt>(&one, 1)};
  expect_problem(&single, VerifyStage::kLoopNest, "a sequence of fewer than two statements", "C[0, 0] = 1");
  const Seq empty{{StmtKind::kSeq}, {}};
  expect_problem(&empty, VerifyStage::kLoopNest, "a sequence of fewer than two statements", "");
  const Stmt pair[] = {one, one};
  const Stmt nested[] = {make_seq(pair), one};
  const Seq outer{{StmtKind::kSeq}, Array<Stmt>(nested, 2)};
  expect_problem(&outer, VerifyStage::kLoopNest, "a sequence directly inside a sequence", "C[0, 0] = 1");
  const For bodiless{{StmtKind::kFor}, i, make_index(4), LoopKind::kSerial, Stmt()};
  expect_problem(&bodiless, VerifyStage::kLoopNest, "a statement lacks a part", "for i in [0, 4):");
}

TEST_F(Verify, ErrorNamesTheFunctionAndShowsTheCode) {
  const Stmt both[] = {store(i, i, i), store(j, j, j)};
  try {
    verify(function(make_seq(both)), VerifyStage::kLoopNest);
    FAIL();
  } catch (const InternalError& error) {
    const std::string what = error.what();
    EXPECT_NE(what.find("function 'f': variable 'i' is used outside its scope (and 5 more)\nC[i, i] = i"),
              std::string::npos)
        << what;
  }
}

TEST_F(Verify, ReportsAreLimited) {
  std::vector<Stmt> many;
  for (int n = 0; n < 100; ++n) many.push_back(store(i, i, i));
  EXPECT_EQ(find_problems(function(make_seq(many)), VerifyStage::kLoopNest).size(), 20u);
}

}  // namespace
}  // namespace tensmith
