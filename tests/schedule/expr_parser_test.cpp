#include "tensmith/schedule/expr_parser.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "tensmith/schedule/reference.h"
#include "tensmith/support/error.h"

namespace tensmith {
namespace {

std::vector<NamedShape> shapes(std::initializer_list<const char*> texts) {
  std::vector<NamedShape> out;
  for (const char* text : texts) out.push_back(parse_named_shape(text));
  return out;
}

std::string error_of(const char* text, std::initializer_list<const char*> inputs,
                     std::vector<NamedExtent> extents = {}) {
  try {
    parse_program(text, shapes(inputs), extents);
  } catch (const UserError& e) {
    return e.message() + "\n" + e.excerpt();
  }
  return "no error";
}

/// Evaluates a float32 program on inputs 0, 1, 2, ... per tensor.
std::vector<double> run(const char* text, std::initializer_list<const char*> inputs,
                        std::vector<NamedExtent> extents = {}) {
  const Program program = parse_program(text, shapes(inputs), extents);
  std::vector<std::vector<float>> data;
  std::vector<const void*> pointers;
  for (const Tensor& input : program.inputs) {
    data.emplace_back(static_cast<size_t>(buffer_size(input->buffer)));
    std::iota(data.back().begin(), data.back().end(), 0.0F);
  }
  for (const auto& d : data) pointers.push_back(d.data());
  return evaluate_program(program, pointers).at(0);
}

TEST(ExprParser, MatmulOfTheFirstFigure) {
  const Program program = parse_program("C[y,x] = sum(k: A[k,y]*B[k,x])", shapes({"A=5x3", "B=5x4"}));
  ASSERT_EQ(program.inputs.size(), 2u);
  ASSERT_EQ(program.stages.size(), 1u);
  EXPECT_EQ(program.stages[0]->axes.size(), 2u);
  EXPECT_EQ(program.stages[0]->axes[0].extent, 3);
  EXPECT_EQ(program.stages[0]->axes[1].extent, 4);
  EXPECT_EQ(program.stages[0]->reduce[0].extent, 5);
}

TEST(ExprParser, PrecedenceAndUnaryMinus) {
  EXPECT_EQ(run("C[i] = A[i] + 2*A[i] - 1", {"A=3"}), (std::vector<double>{-1, 2, 5}));
  EXPECT_EQ(run("C[i] = -A[i]*A[i] + 10/(2 + 3)", {"A=3"}), (std::vector<double>{2, 1, -2}));
  EXPECT_EQ(run("C[i] = select(not (i < 1) and i != 2 or i == 3, 1, 0)", {}, {{"i", 4}}),
            (std::vector<double>{0, 1, 0, 1}));
}

TEST(ExprParser, PaddingByAConditionalRead) {
  EXPECT_EQ(run("P[y] = select(y >= 1 and y < 4, A[y-1], 0)", {"A=3"}, {{"y", 5}}),
            (std::vector<double>{0, 0, 1, 2, 0}));
}

TEST(ExprParser, ReductionsInsideExpressionsBecomeStages) {
  EXPECT_EQ(run("R[y] = max(sum(k: A[y,k]) - 5, 0) + b[y]", {"A=2x3", "b=2"}), (std::vector<double>{0, 8}));
  const Program program = parse_program("R[y] = max(sum(k: A[y,k]) - 5, 0)", shapes({"A=2x3"}));
  EXPECT_EQ(program.stages.size(), 2u);
}

TEST(ExprParser, SeveralDefinitions) {
  EXPECT_EQ(run("S[i] = A[i] + 1; T[i] = S[i]*S[i];", {"A=3"}), (std::vector<double>{1, 4, 9}));
}

TEST(ExprParser, MinAndMaxAreReductionsOnlyWithAColon) {
  EXPECT_EQ(run("M[y] = max(k: A[y,k])", {"A=2x3"}), (std::vector<double>{2, 5}));
  EXPECT_EQ(run("M[y] = min(A[y], 1)", {"A=3"}), (std::vector<double>{0, 1, 1}));
}

TEST(ExprParser, SyntaxErrorsSayWhere) {
  EXPECT_EQ(error_of("C[y = A[y]", {"A=4"}),
            "expression, line 1 column 5: expected ',' between indices, found '='\n  C[y = A[y]\n      ^");
  EXPECT_EQ(error_of("C[y] = A[y] +", {"A=4"}),
            "expression, line 1 column 14: expected a number, a name or '(', found the end\n  C[y] = A[y] +\n          "
            "     ^");
  EXPECT_NE(error_of("C[y] = A[y] $ 2", {"A=4"}).find("unexpected character '$'"), std::string::npos);
  EXPECT_NE(error_of("", {"A=4"}).find("there is no definition"), std::string::npos);
  EXPECT_NE(error_of("C[y] =\n A[y] + D[y]", {"A=4"}).find("line 2 column 9: unknown tensor 'D'"), std::string::npos);
}

TEST(ExprParser, MeaningErrorsSayWhatIsWrong) {
  EXPECT_NE(error_of("C[y] = A[y,0]", {"A=4"}).find("'A' has 1 dimensions and is read with 2 indices"),
            std::string::npos);
  EXPECT_NE(error_of("C[y] = B[y]*A[y]", {"A=4", "B=5"})
                .find("index 'y' runs over 5 elsewhere and over 4 in dimension 0 of 'A'"),
            std::string::npos);
  EXPECT_NE(error_of("C[y] = A[y+1-1]", {"A=4"}).find("the extent of index 'y' is unknown"), std::string::npos);
  EXPECT_NE(error_of("C[y] = A[y]; C[y] = A[y]", {"A=4"}).find("'C' is defined already"), std::string::npos);
  EXPECT_NE(error_of("C[y] = foo(A[y])", {"A=4"}).find("unknown function 'foo'"), std::string::npos);
  EXPECT_NE(error_of("C[y] = A[z]", {"A=4"}, {{"y", 4}}).find("unknown index 'z'"), std::string::npos);
  EXPECT_NE(error_of("C[y] = A[y] % 0", {"A=4:int32"}).find("division by zero"), std::string::npos);
  EXPECT_NE(error_of("C[y] = A[y] + B[y]", {"A=4", "B=4:int8"}).find("'+' of float32 and int8"), std::string::npos);
  EXPECT_NE(error_of("C[y] = A[y]", {"A=4", "B=4"}).find("input 'B' has a shape but is never read"), std::string::npos);
  EXPECT_NE(error_of("C[y] = A[y]", {"A=4"}, {{"q", 4}}).find("'q', which is no index"), std::string::npos);
}

TEST(ExprParser, ReadsOutOfBoundsAreRefusedWithTheIndex) {
  const std::string error = error_of("C[y] = A[y+1]", {"A=4"}, {{"y", 4}});
  EXPECT_NE(
      error.find(
          "reads 'A' out of bounds: index y + 1 of dimension 0 takes values in [1, 4], the dimension holds [0, 4)"),
      std::string::npos)
      << error;
  EXPECT_EQ(error_of("C[y] = select(y < 3, A[y+1], 0)", {"A=4"}, {{"y", 4}}), "no error");
  EXPECT_NE(error_of("C[y] = select(y < 4, A[y+1], 0)", {"A=4"}, {{"y", 5}}), "no error");
}

TEST(ExprParser, ShapesAndExtents) {
  const NamedShape shape = parse_named_shape("W=2x3x4:float16");
  EXPECT_EQ(shape.name, "W");
  EXPECT_EQ(shape.shape, (std::vector<int64_t>{2, 3, 4}));
  EXPECT_EQ(shape.type, float_type(16));
  for (const char* bad : {"W", "=3", "W=", "W=3x", "W=-1", "W=3xx4", "W=3:float31", "3=4"}) {
    EXPECT_THROW(parse_named_shape(bad), UserError) << bad;
  }
  EXPECT_TRUE(parse_named_shape("a=:float64").shape.empty());
  EXPECT_EQ(parse_named_extent("y=3").extent, 3);
  for (const char* bad : {"y", "y=", "y=x", "=3", "y=-1"}) {
    EXPECT_THROW(parse_named_extent(bad), UserError) << bad;
  }
}

TEST(ExprParser, ANumberInACastHasThatType) {
  const Program program = parse_program("C[y] = A[y] + int8(3); D[y] = int8(300) + A[y]; E[y] = -inf * float64(A[y])",
                                        shapes({"A=4:int8"}));
  EXPECT_EQ(as_const_int(program.stages[0]->body.as<Binary>()->b), 3);
  EXPECT_EQ(program.stages[1]->body.as<Binary>()->a.kind(), ExprKind::kCast);
  EXPECT_EQ(program.stages[2]->body.as<Binary>()->a.as<FloatImm>()->value, -std::numeric_limits<double>::infinity());
}

TEST(ExprParser, DeepNestingIsAnErrorAndNoCrash) {
  const std::string text = "C[y] = " + std::string(100000, '(') + "A[y]" + std::string(100000, ')');
  EXPECT_THROW(parse_program(text, shapes({"A=4"})), UserError);
}

TEST(ExprParser, WhateverParsesHasACanonicalTextThatParses) {
  const auto s = shapes({"A=4"});
  const auto chain = [](int operators) {
    std::string text = "C[y] = A[y]";
    for (int i = 0; i < operators; ++i) text += i % 2 == 0 ? " + A[y]" : " * -A[y]";
    return text;
  };
  for (int operators : {1, 10, 700}) {
    const std::string canonical = canonical_expression(chain(operators), s, {});
    EXPECT_EQ(canonical_expression(canonical.substr(5, canonical.rfind(';') - 5), s, {}), canonical) << operators;
  }
  EXPECT_THROW(parse_program(chain(1000), s), UserError);
}

TEST(ExprParser, CanonicalTextIgnoresWhiteSpace) {
  const auto s = shapes({"A=5x3", "B=5x4"});
  EXPECT_EQ(canonical_expression("C[y,x]=sum(k:A[k,y]*B[k,x])", s, {}),
            canonical_expression(" C[ y, x ] = sum( k : A[k,y] * B[k,x] ) ", s, {}));
  EXPECT_NE(canonical_expression("C[y,x]=sum(k:A[k,y]*B[k,x])", s, {}),
            canonical_expression("C[y,x]=sum(k:A[k,y]+B[k,x])", s, {}));
}

}  // namespace
}  // namespace tensmith
