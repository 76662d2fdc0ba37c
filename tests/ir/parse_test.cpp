#include "tensmith/ir/parse.h"

#include <gtest/gtest.h>

#include <string>

#include "tensmith/ir/ops.h"
#include "tensmith/ir/print.h"
#include "tensmith/ir/structural.h"
#include "tensmith/support/error.h"

namespace tensmith {
namespace {

constexpr const char* kMatmul =
    "func matmul(A: float32[4, 8] global, B: float32[8, 16] global strides [17, 1], out C: float32[4, 16] global):\n"
    "  alloc acc: float32[16] local:\n"
    "    parallel y in [0, 4):\n"
    "      vectorized x in [0, 16):\n"
    "        acc[x] = 0.0\n"
    "      for k in [0, 8):\n"
    "        prefetch B[k, 0] into L2\n"
    "        vectorized x in [0, 16):\n"
    "          acc[x] = acc[x] + A[y, k]*B[k, x]\n"
    "      if y < 3 and not y == 1:\n"
    "        C[y, ramp(0, 1, 16)] = acc[ramp(0, 1, 16)]\n"
    "      else:\n"
    "        let t: float32 = acc[0]:\n"
    "          unrolled x in [0, 16):\n"
    "            C[y, x] = select(x < 8, t, inf)\n";

TEST(Parse, FunctionComesBack) {
  const Function f = parse_function(kMatmul);
  EXPECT_EQ(f.name, "matmul");
  EXPECT_EQ(f.inputs.size(), 2u);
  EXPECT_EQ(f.outputs.size(), 1u);
  EXPECT_EQ(to_string(f), kMatmul);
  EXPECT_TRUE(structural_equal(f, parse_function(kMatmul)));
}

TEST(Parse, CommentsBlankLinesAndBrokenBracketsAreFine) {
  const Function f = parse_function(
      "# a comment\n"
      "func f(A: int8[2] global,   # inputs\n"
      "       out C: int8[2] global):\n"
      "\n"
      "     # deeper comment\n"
      "   for i in [0, 2):  # half open\n"
      "        C[i] = A[\n"
      "   i]\n"
      "\n"
      "# the end");
  EXPECT_EQ(to_string(f),
            "func f(A: int8[2] global, out C: int8[2] global):\n"
            "  for i in [0, 2):\n"
            "    C[i] = A[i]\n");
}

TEST(Parse, EmptyBody) {
  const char* text = "func f(out C: int8[0] global):\n  pass\n";
  EXPECT_FALSE(parse_function(text).body);
  EXPECT_EQ(to_string(parse_function(text)), text);
}

TEST(Parse, LiteralsTakeTheTypeBesideThem) {
  const VarRef vars[] = {make_var("i", kInt32), make_var("u", uint_type(8)), make_var("h", float_type(16)),
                         make_var("d", kFloat64)};
  EXPECT_EQ(parse_expr("i + 1", vars).as<Binary>()->b.type(), kInt32);
  EXPECT_EQ(parse_expr("1 < u", vars).as<Binary>()->a.type(), uint_type(8));
  EXPECT_EQ(parse_expr("h*2", vars).as<Binary>()->b.type(), float_type(16));
  EXPECT_EQ(parse_expr("d + 0.1", vars).as<Binary>()->b.as<FloatImm>()->value, 0.1);
  EXPECT_EQ(parse_expr("min(i, 3)", vars).type(), kInt32);
  EXPECT_EQ(parse_expr("select(true, 1.5, d)", vars).type(), kFloat64);
  EXPECT_EQ(parse_expr("3").type(), kInt64);
  EXPECT_EQ(parse_expr("3.0").type(), kFloat32);
  EXPECT_EQ(parse_expr("-128i8").as<IntImm>()->value, -128);
  EXPECT_EQ(parse_expr("18446744073709551615u64").as<IntImm>()->value, -1);
  EXPECT_EQ(parse_expr("1.00000005960464481").as<FloatImm>()->value, 1.0 + 0x1p-23) << "rounded once, from the text";
}

TEST(Parse, PrecedenceAndAssociativity) {
  const VarRef vars[] = {make_var("a"), make_var("b"), make_var("c")};
  const Expr a = vars[0], b = vars[1], c = vars[2];
  EXPECT_TRUE(structural_equal(parse_expr("a - b - c", vars), (a - b) - c));
  EXPECT_TRUE(structural_equal(parse_expr("a - b*c", vars), a - b * c));
  EXPECT_TRUE(structural_equal(parse_expr("a < b or b < c and not c < a", vars),
                               logical_or(a < b, logical_and(b < c, logical_not(c < a)))));
  EXPECT_TRUE(structural_equal(parse_expr("a - -3", vars), a - make_index(-3)));
}

/// The message of the error that `text` raises.
std::string message_of(const std::string& text) {
  try {
    parse_function(text);
  } catch (const UserError& error) {
    return error.message();
  }
  return "no error";
}

std::string expression_message(const std::string& text) {
  const VarRef vars[] = {make_var("i"), make_var("f", kFloat32), make_var("p", kBool)};
  const int64_t shape[] = {4, 8};
  const Buffer buffers[] = {make_buffer("A", kFloat32, shape)};
  try {
    parse_expr(text, vars, buffers);
  } catch (const UserError& error) {
    return error.message();
  }
  return "no error";
}

TEST(Parse, ErrorShowsLineColumnAndCaret) {
  EXPECT_EQ(message_of("func f(out C: int8[2] global):\n"
                       "  for i in [0, 2:\n"
                       "    C[i] = 1\n"),
            "line 2, column 17: expected ')', found ':'\n"
            "    for i in [0, 2:\n"
            "                  ^");
  const std::string one_line = [] {
    try {
      parse_function("func f()\n");
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string();
  }();
  EXPECT_EQ(one_line.find('\n'), std::string::npos);
}

TEST(Parse, LongLinesAreShortened) {
  const std::string message = expression_message("i" + std::string(5000, ' ') + "+ + " + std::string(5000, 'x'));
  EXPECT_LT(message.size(), 400u);
  EXPECT_NE(message.find("line 1, column 5004: expected an expression, found '+'"), std::string::npos) << message;
}

TEST(Parse, EachMistakeIsNamed) {
  const auto has = [](const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  has(message_of(""), "expected 'func', found the end of the text");
  has(message_of("func f(out C: int8[2] global):\n"), "expected an indented block");
  has(message_of("func f(out C: int8[2] global):\nC[0] = 1\n"), "expected an indented block, found 'C'");
  has(message_of("func f(out C: int8[2] global):\n  C[0] = 1\n C[1] = 2\n"), "matches no enclosing block");
  has(message_of("func f(out C: int8[2] global):\n  C[0] = 1\n    C[1] = 2\n"), "expected a statement, found a deeper");
  has(message_of("func f(out C: int8[2] global):\n\tC[0] = 1\n"), "unexpected byte 0x09");
  has(message_of("func f(out C: int8[2] global):\n  C[0] = 1\nx"), "expected the end of the text, found 'x'");
  has(message_of("func f(out C: int8[2] global, A: int8[2] global):\n  pass\n"), "inputs come before outputs");
  has(message_of("func f(A: int8[2] global, A: int8[2] global):\n  pass\n"), "'A' is already in use");
  has(message_of("func for():\n  pass\n"), "the reserved word 'for'");
  has(message_of("func f(A: int9[2] global):\n  pass\n"), "'int9' is not an element type");
  has(message_of("func f(A: int8x4[2] global):\n  pass\n"), "elements of a buffer are scalars");
  has(message_of("func f(A: int8[2] nowhere):\n  pass\n"), "expected 'global', 'shared' or 'local'");
  has(message_of("func f(A: int8[-2] global):\n  pass\n"), "expected an extent, found '-'");
  has(message_of("func f(A: int8[2, 2] global strides [1]):\n  pass\n"), "2 dimensions and 1 strides");
  has(message_of("func f(A: int8[4611686018427387904, 4] global):\n  pass\n"), "more elements than a 64-bit index");
  const std::string head = "func f(A: float32[2] global, out C: int8[2] global):\n";
  has(message_of(head + "  for i: float32 in [0, 2):\n    C[i] = 1\n"), "a loop variable is an integer");
  has(message_of(head + "  for i in [1, 2):\n    C[i] = 1\n"), "expected 0, where every loop starts, from 0 to 0");
  has(message_of(head + "  for i in [0, 2i32):\n    C[i] = 1\n"), "the extent is int32 and the loop variable int64");
  has(message_of(head + "  for i in [0, 2):\n    pass\n"), "a loop needs a statement other than 'pass'");
  has(message_of(head + "  for i in [0, 2):\n    for i in [0, 2):\n      C[i] = 1\n"), "'i' is already in use");
  has(message_of(head + "  let t = 1.5:\n    C[0] = 1\n"), "the value is float32 and 't' is int64");
  has(message_of(head + "  let t = A[0]:\n    C[0] = 1\n"), "the value is float32 and 't' is int64");
  has(message_of(head + "  if 1:\n    C[0] = 1\n"), "the condition of an if is a bool, this is int64");
  has(message_of(head + "  C[0] = A[0]\n"), "float32 cannot be stored where int8 belongs");
  has(message_of(head + "  C[0] = 200\n"), "the number 200 does not fit in int8");
  has(message_of(head + "  C[ramp(0, 1, 2)] = 1\n"), "int64 cannot be stored where int8x2 belongs");
  has(message_of(head + "  prefetch C[ramp(0, 1, 2)] into L1\n"), "a prefetch has no vector index");
  has(message_of(head + "  prefetch C[0] into L4\n"), "expected 'L1', 'L2' or 'L3', found 'L4'");
  has(message_of(head + "  D[0] = 1\n"), "unknown buffer 'D'");
  has(message_of(head + "  C[0] == 1\n"), "expected '=', found '=='");
}

TEST(Parse, EachExpressionMistakeIsNamed) {
  const auto has = [](const std::string& text, const std::string& part) {
    const std::string message = expression_message(text);
    EXPECT_NE(message.find(part), std::string::npos) << text << ": " << message;
  };
  has("i +", "expected an expression, found the end of the line");
  has("j", "unknown name 'j'");
  has("A", "'A' is a buffer: expected '[' after it");
  has("i[0]", "'i' is not a buffer");
  has("A[1, 2, 3]", "'A' has 2 dimensions and is accessed with 3 indices");
  has("A[f, 0]", "an index is an integer, this is float32");
  has("A[ramp(0, 1, 4), 0]", "only the last index may be a vector");
  has("A[0, 0 if i]", "the predicate of this access is bool, not int64");
  has("i + f", "the operands of '+' have types int64 and float32");
  has("i + 1.5", "the operands of '+' have types int64 and float32");
  has("p + p", "'+' does not apply to bool");
  has("f % f", "'%' does not apply to float32");
  has("i and p", "the operands of 'and' have types int64 and bool");
  has("i and i", "'and' does not apply to int64");
  has("not i", "expected a bool after 'not'");
  has("i < i < i", "comparisons do not chain");
  has("-i", "expected a number after '-', found 'i'");
  has("3q8", "'q8' is not the suffix of a number");
  has("3e", "expected the digits of an exponent");
  has("1e999", "does not fit in float32");
  has("1e6f16", "the number 1e6 does not fit in float16");
  has("300u8", "the number 300 does not fit in uint8");
  has("-1u8", "the number -1 does not fit in uint8");
  has("99999999999999999999", "does not fit in int64");
  has("1.5i32", "expected a number of type int32, found 1.5");
  has("float32x4(i)", "cast from int64 to float32x4: the lanes differ");
  has("float33(i)", "'float33' is not an element type");
  has("select(i, 1, 2)", "int64 cannot decide a select of int64");
  has("select(p, i, f)", "the arms of this select have types int64 and float32");
  has("ramp(f, f, 4)", "a ramp needs two scalar integers");
  has("ramp(i, 1, 1)", "a vector has at least 2 lanes");
  has("ramp(i, 1, 70000)", "expected a number of lanes from 0 to 65535");
  has("broadcast(broadcast(i, 2), 2)", "only a scalar can be broadcast");
  has("exp(i)", "the arguments of exp are floating-point values of one type");
  has("exp(f, f)", "exp takes 1 argument, not 2");
  has("fma()", "fma takes 3 arguments, not 0");
  has("sum(k in [0, 3): p)", "a bool cannot be reduced");
  has("i $ i", "unexpected character '$'");
  has("for", "expected an expression, found 'for'");
  has("(i", "expected ')'");
}

TEST(Parse, DeepNestsAreRefused) {
  EXPECT_NE(expression_message(std::string(100'000, '(') + "i" + std::string(100'000, ')')).find("nest more than"),
            std::string::npos);
  std::string nots;
  for (int i = 0; i < 100'000; ++i) nots += "not ";
  EXPECT_NE(expression_message(nots + "p").find("nest more than"), std::string::npos);
  std::string chain = "i";
  for (int i = 0; i < 100'000; ++i) chain += " + i";
  EXPECT_NE(expression_message(chain).find("operations deep"), std::string::npos);
  std::string nest = "func f(out C: int8[2] global):\n";
  for (int i = 0; i < 1000; ++i) {
    nest += std::string(static_cast<size_t>(i) + 1, ' ') + "if true:\n";
  }
  EXPECT_NE(message_of(nest).find("statements nest more than"), std::string::npos);
  EXPECT_NE(message_of(std::string(20 << 20, '#')).find("bytes long"), std::string::npos);
}

TEST(Parse, AnyBytesAreSafe) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string text(3, static_cast<char>(byte));
    EXPECT_THROW(parse_function(text), UserError);
  }
}

}  // namespace
}  // namespace tensmith
