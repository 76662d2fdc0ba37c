#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "schedule/programs.h"
#include "schedule/random_schedule.h"
#include "tensmith/schedule/expr_parser.h"
#include "tensmith/support/error.h"

/// Programs made in C++ as text. to_expression itself refuses a text that means another program, so that it returns is
/// most of the test.

namespace tensmith {
namespace {

std::string text_of(const Program& program) { return to_expression(program).text; }

std::string error_of(const Program& program) {
  try {
    return "no error: " + text_of(program);
  } catch (const UserError& e) {
    return e.message();
  }
}

Program parsed(const FreeExpression& e) { return parse_program(e.text, e.shapes, e.extents); }

TEST(ExprPrinter, FigureOneReadsAsAPersonWritesIt) {
  const FreeExpression e = to_expression(testing::matmul(8, 9, 10).program);
  EXPECT_EQ(e.text, "C[y,x] = sum(k: (A[k,y] * B[k,x]))");
  EXPECT_TRUE(e.extents.empty());
  ASSERT_EQ(e.shapes.size(), 2u);
  EXPECT_EQ(e.shapes[1].name, "B");
  EXPECT_EQ(e.shapes[1].shape, (std::vector<int64_t>{10, 9}));
}

TEST(ExprPrinter, RandomProgramsComeBack) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Arena arena;
    ArenaScope scope(arena);
    const Program program = testing::random_program(seed);
    const FreeExpression e = to_expression(program);
    EXPECT_EQ(text_of(parsed(e)), e.text);
  }
}

TEST(ExprPrinter, ConvolutionsComeBack) {
  testing::ConvShape shape;
  for (const bool epilogue : {false, true}) {
    shape.stride_h = epilogue ? 2 : 1;
    const FreeExpression e = to_expression(testing::conv2d(shape, epilogue).program);
    EXPECT_EQ(parsed(e).stages.size(), epilogue ? 4u : 2u);
  }
}

/// Everything that an element can be made of.
TEST(ExprPrinter, EveryKindOfExpressionComesBack) {
  const Tensor a = placeholder("A", {4, 5});
  const Tensor h = placeholder("H", {4}, float_type(16));
  const Tensor n = placeholder("N", {4}, int_type(32));
  const Tensor d = placeholder("D", {}, kFloat64);
  const auto number = [](double value) { return make_float(kFloat32, value); };
  const std::vector<std::function<Expr(Axis)>> bodies{
      [&](Axis i) { return a(i, 0) + number(0.1) * number(1e-30); },
      [&](Axis i) { return -a(i, 4) - number(1e30); },
      [&](Axis i) { return max(a(i, i), number(-std::numeric_limits<double>::infinity())); },
      [&](Axis i) { return min(a(make_index(3) - Expr(i), 0), number(std::numeric_limits<double>::quiet_NaN())); },
      [&](Axis i) { return a(i, 1) * number(-0.0); },
      [&](Axis) { return number(3); },
      [&](Axis) { return make_float(float_type(16), 0.1); },
      [&](Axis) { return make_int(int_type(8), -3); },
      [&](Axis i) { return Expr(i) * 2 / 3 % 4; },
      [&](Axis i) { return cast(kFloat32, h(i)) + a(i, 2); },
      [&](Axis i) { return a(i, min(max(cast(kInt64, n(i)), make_index(0)), make_index(4))); },
      [&](Axis i) { return d() + cast(kFloat64, n(i)); },
      [&](Axis i) {
        return select(logical_or(logical_not(equal(Expr(i), make_index(2))), Expr(i) > 2), number(1), number(0));
      },
      [&](Axis i) {
        return select(logical_and(Expr(i) >= 1, not_equal(n(i), make_int(int_type(32), 7))), a(i, 0), number(2));
      },
      [&](Axis i) { return exp(a(i, 0)) + sqrt(tanh(number(0.5))); },
      [&](Axis i) {
        const Expr args[] = {a(i, 0), number(2), a(i, 1)};
        return make_call(Intrinsic::kFma, args) + make_call(Intrinsic::kPow, std::span(args, 2));
      },
      [&](Axis i) { return make_binary(BinaryOp::kAdd, number(1), number(2)) * a(i, 0); },
  };
  for (size_t i = 0; i < bodies.size(); ++i) {
    SCOPED_TRACE(i);
    const Program program = make_program({compute("out", {4}, bodies[i])});
    const FreeExpression e = to_expression(program);
    EXPECT_EQ(text_of(parsed(e)), e.text);
  }
}

TEST(ExprPrinter, NumbersAreShort) {
  const Tensor a = placeholder("A", {4});
  const auto text = [&](Expr factor) {
    return text_of(make_program({compute("B", {4}, [&](Axis i) { return a(i) * factor; })}));
  };
  EXPECT_EQ(text(make_float(kFloat32, 0.1)), "B[i] = (A[i] * 0.1)");
  EXPECT_EQ(text(make_float(kFloat32, -2)), "B[i] = (A[i] * (-2))");
}

// An index has one extent under one name, whatever the axes were called.
TEST(ExprPrinter, NamesOfIndicesAreMadeDistinct) {
  const Tensor a = placeholder("A", {4, 9});
  const Axis i = reduce_axis("i", 3);
  const Tensor b = compute("B", {4}, [&](Axis y) { return sum(a(y, i), i); });
  const Tensor c = compute("C", {2}, [&](Axis y) { return b(y) + b(Expr(y) + 2); });
  const FreeExpression e = to_expression(make_program({c}));
  EXPECT_EQ(e.text, "B[i] = sum(i_1: A[i,i_1]); C[i_2] = (B[i_2] + B[(i_2 + 2)])");
  ASSERT_EQ(e.extents.size(), 2u);
  EXPECT_EQ(e.extents[0].name, "i_1");
  EXPECT_EQ(e.extents[0].extent, 3);
  EXPECT_EQ(e.extents[1].name, "i_2");
}

TEST(ExprPrinter, WhatHasNoTextIsTold) {
  const Tensor a = placeholder("A", {4});
  const Tensor b = compute("B", {4}, [&](Axis i) { return a(i) + make_float(kFloat32, 1); });
  const Tensor c = compute("C", {4}, [&](Axis i) { return b(i) + make_float(kFloat32, 1); });
  EXPECT_EQ(error_of(make_program({b, c})), "output 'B' is read by another stage, which an expression cannot say");
  const Tensor odd = compute("an output", {4}, [&](Axis i) { return a(i); });
  EXPECT_EQ(error_of(make_program({odd})), "the tensor name 'an output' cannot stand in an expression");
  EXPECT_EQ(error_of(make_program({c}, {a, placeholder("Z", {1})})), "input 'Z' has a shape but is never read");
  const Tensor deep = compute("D", {4}, [&](Axis i) {
    Expr value = a(i);
    for (int n = 0; n < 500; ++n) value = value + a(i);
    return value;
  });
  EXPECT_NE(error_of(make_program({deep})).find("nested more than 400 levels deep"), std::string::npos);
}

}  // namespace
}  // namespace tensmith
