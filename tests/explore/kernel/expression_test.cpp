#include "tensmith/explore/kernel/expression.h"

#include <gtest/gtest.h>

#include <limits>

#include <fmt/format.h>

#include "tensmith/support/error.h"
#include "tensmith/support/rng.h"

namespace tensmith {
namespace {

const std::vector<ExpressionName> kNames{{"x", {}}, {"y", {}}, {"order", {"ijk", "kij"}}};

KernelExpression parse(std::string_view text) { return KernelExpression::parse(text, "--restrict", kNames); }

/// With x = 7, y = 2 and order = kij.
ExpressionValue value_of(std::string_view text) {
  const int64_t values[] = {7, 2, 1};
  return parse(text).evaluate(values);
}

std::string error_of(std::string_view text) {
  try {
    parse(text);
  } catch (const UserError& e) {
    return e.what();
  }
  return "no error";
}

TEST(KernelExpressionTest, ComputesAsInC) {
  const std::pair<const char*, int64_t> kCases[] = {{"42", 42},
                                                    {" x ", 7},
                                                    {"x+y*3", 13},
                                                    {"(x+y)*3", 27},
                                                    {"x-y-1", 4},
                                                    {"x/y", 3},
                                                    {"x%y", 1},
                                                    {"x/y*y", 6},
                                                    {"-x", -7},
                                                    {"--x", 7},
                                                    {"+x", 7},
                                                    {"!x", 0},
                                                    {"!0", 1},
                                                    {"x<y", 0},
                                                    {"x>y", 1},
                                                    {"x<=7", 1},
                                                    {"x>=8", 0},
                                                    {"x==7", 1},
                                                    {"x!=7", 0},
                                                    {"x==7&&y==2", 1},
                                                    {"x==7 && y==3", 0},
                                                    {"x==0||y==2", 1},
                                                    {"x==0 or y == 2", 1},
                                                    {"x==7 and y==3", 0},
                                                    {"not x==7", 0},
                                                    {"not not x", 1},
                                                    {"min(x,y)", 2},
                                                    {"max(x, y+6)", 8},
                                                    {"5 && 7", 1},
                                                    {"0 || 3", 1},
                                                    {"1 || 0 && 0", 1},
                                                    {"1+1==2", 1},
                                                    {"-x/y", -4},
                                                    {"-x%y", 1},
                                                    {"x % -2", -1},
                                                    {"x/-1", -7},
                                                    {"x%-1", 0},
                                                    {"order == \"kij\"", 1},
                                                    {"'ijk' != order", 1},
                                                    {"order != 'kij'", 0},
                                                    {"x*y<=1024", 1},
                                                    {"!(x==7)", 0},
                                                    {"x + -1 == 6", 1}};
  for (const auto& [text, expected] : kCases) {
    EXPECT_EQ(value_of(text).value, expected) << text;
    EXPECT_TRUE(value_of(text).ok()) << text;
  }
}

TEST(KernelExpressionTest, FaultsAreValues) {
  EXPECT_EQ(value_of("x/(y-2)").fault, ExpressionFault::kDivisionByZero);
  EXPECT_EQ(value_of("x%0").fault, ExpressionFault::kDivisionByZero);
  EXPECT_FALSE(value_of("1/0 == 1/0").truth());
  EXPECT_EQ(value_of("9223372036854775807 + 1").fault, ExpressionFault::kOverflow);
  EXPECT_EQ(value_of("9223372036854775807 * y").fault, ExpressionFault::kOverflow);
  EXPECT_EQ(value_of("(-9223372036854775807 - 1) / -1").fault, ExpressionFault::kOverflow);
  EXPECT_EQ(value_of("(-9223372036854775807 - 1) % -1").value, 0);
  EXPECT_EQ(value_of("-(-9223372036854775807 - 1)").fault, ExpressionFault::kOverflow);
}

TEST(KernelExpressionTest, TheRightSideIsOnlyLookedAtWhenItMatters) {
  EXPECT_EQ(value_of("y != 2 && x / (y - 2) == 1").value, 0);
  EXPECT_TRUE(value_of("y != 2 && x / (y - 2) == 1").ok());
  EXPECT_EQ(value_of("y == 2 || x / (y - 2) == 1").value, 1);
  EXPECT_EQ(value_of("y == 2 && x / (y - 2) == 1").fault, ExpressionFault::kDivisionByZero);
}

TEST(KernelExpressionTest, MistakesShowThePlace) {
  EXPECT_EQ(error_of("x * (y + 1"),
            "--restrict: column 11: ')' is expected for what begins at column 5\n  x * (y + 1\n            ^");
  EXPECT_EQ(error_of("x <= z"),
            "--restrict: column 6: unknown name 'z' (hint: known are x, y, order)\n  x <= z\n       ^");
  EXPECT_EQ(error_of("8 <= x <= 64"),
            "--restrict: column 8: comparisons do not chain (hint: join two with &&: 32 <= x && x <= 1024)\n"
            "  8 <= x <= 64\n         ^");
  const std::pair<const char*, const char*> kCases[] = {
      {"", "the expression is empty"},
      {"  ", "the expression is empty"},
      {"x = 7", "'=' is no comparison (hint: write ==)"},
      {"x +", "the expression ends too early"},
      {"x y", "unexpected 'y'"},
      {"x)", "there is one ')' too many"},
      {"x & y", "write && and ||"},
      {"x * 1.5", "only whole decimal numbers are possible"},
      {"0x10", "only whole decimal numbers are possible"},
      {"99999999999999999999",
       "the number is too large (hint: numbers have 64 bits: the greatest is 9223372036854775807)"},
      {"order", "the values of order are texts (hint: compare it with one of them: order == \"ijk\")"},
      {"order + 1", "the values of order are texts"},
      {"order < 'ijk'", "texts have no order for '<'"},
      {"order == 'jki'", "'jki' is no value of order (hint: it has ijk, kij)"},
      {"x == 'ijk'", "a text is compared with something else"},
      {"order == 3", "a text is compared with something else"},
      {"'ijk'", "a text can only be compared with a parameter"},
      {"order == 'ijk", "the text has no closing quote"},
      {"min(x)", "',' is expected for what begins at column 1"},
      {"$", "a number or a name is expected, not '$'"},
      {"x \xff", "unexpected byte 0xff"},
      {"ordr == 'ijk'", "did you mean 'order'?"}};
  for (const auto& [text, expected] : kCases) {
    EXPECT_NE(error_of(text).find(expected), std::string::npos) << text << ": " << error_of(text);
  }
}

TEST(KernelExpressionTest, NoTextUsesUpTheStack) {
  EXPECT_NE(error_of(std::string(1000, '(') + "x")
                .find("nested deeper than 200 (hint: write it with fewer parentheses and signs within each other)"),
            std::string::npos);
  EXPECT_NE(error_of(std::string(1000, '-') + "x").find("nested deeper than 200"), std::string::npos);
  std::string nots;
  for (int i = 0; i < 900; ++i) nots += "not ";
  EXPECT_NE(error_of(nots + "x").find("nested deeper than 200"), std::string::npos);
  EXPECT_NE(error_of(std::string(5000, '1')).find("longer than 4096 characters (hint: make it shorter; "),
            std::string::npos);
  std::string sum = "x";
  for (int i = 0; i < 2000; ++i) sum += "+1";
  EXPECT_EQ(value_of(sum).value, 2007);
}

TEST(KernelExpressionTest, ConstantsAndTexts) {
  EXPECT_EQ(parse("  x * 2 ").text(), "x * 2");
  EXPECT_EQ(KernelExpression(5).evaluate({}).value, 5);
  EXPECT_EQ(KernelExpression().evaluate({}).value, 0);
}

/// A random expression and its value, computed beside it. Nothing where it has a fault.
struct Made {
  std::string text;
  std::optional<int64_t> value;
};

Made make(Rng& rng, int depth) {
  if (depth == 0 || rng.bernoulli(0.2)) {
    const uint64_t which = rng.uniform_int(uint64_t{3});
    if (which == 0) return {"x", 7};
    if (which == 1) return {"y", 2};
    const int64_t number = rng.uniform_int(int64_t{0}, int64_t{9});
    return {fmt::format("{}", number), number};
  }
  const Made a = make(rng, depth - 1), b = make(rng, depth - 1);
  const uint64_t op = rng.uniform_int(uint64_t{9});
  constexpr const char* kOps[] = {"+", "-", "*", "/", "%", "<", "==", "&&", "||"};
  Made out{fmt::format("({}{}{})", a.text, kOps[op], b.text), std::nullopt};
  if (!a.value) return out;
  const int64_t l = *a.value;
  if (op == 7 && l == 0) out.value = 0;
  if (op == 8 && l != 0) out.value = 1;
  if (out.value || !b.value) return out;
  const int64_t r = *b.value;
  const auto floor_mod = [](int64_t n, int64_t d) { return ((n % d) + d) % d; };
  switch (op) {
    case 0: out.value = l + r; break;
    case 1: out.value = l - r; break;
    case 2: out.value = l * r; break;
    case 3:
      if (r != 0) out.value = (l - (r > 0 ? floor_mod(l, r) : -floor_mod(-l, -r))) / r;
      break;
    case 4:
      if (r != 0) out.value = r > 0 ? floor_mod(l, r) : -floor_mod(-l, -r);
      break;
    case 5: out.value = l < r; break;
    case 6: out.value = l == r; break;
    default: out.value = r != 0; break;
  }
  return out;
}

TEST(KernelExpressionTest, RandomExpressionsHaveTheirValue) {
  Rng rng(11);
  int faults = 0;
  for (int i = 0; i < 3000; ++i) {
    const Made made = make(rng, 4);
    const ExpressionValue value = value_of(made.text);
    EXPECT_EQ(value.ok(), made.value.has_value()) << made.text;
    EXPECT_EQ(value.value, made.value.value_or(0)) << made.text;
    faults += value.ok() ? 0 : 1;
  }
  EXPECT_GT(faults, 50);
}

TEST(KernelExpressionTest, RandomTextsAreRefusedOrUnderstood) {
  Rng rng(5);
  constexpr std::string_view kPieces[] = {"x",  "y",   "order", "7",  "(",  ")",   "+", "-",  "*",   "/",   "%",
                                          "<",  "<=",  "==",    "!=", "&&", "||",  "!", ",",  "min", "not", "and",
                                          "or", "max", "'ijk'", "\"", "'",  "0.5", " ", "\t", "=",   "\xc3"};
  int understood = 0;
  for (int i = 0; i < 8000; ++i) {
    std::string text;
    const uint64_t pieces = rng.uniform_int(uint64_t{7});
    for (uint64_t j = 0; j < pieces; ++j) text += kPieces[rng.uniform_int(uint64_t{std::size(kPieces)})];
    try {
      const int64_t values[] = {std::numeric_limits<int64_t>::min(), -1, 0};
      parse(text).evaluate(values);
      ++understood;
    } catch (const UserError&) {
    }
  }
  EXPECT_GT(understood, 100);
}

}  // namespace
}  // namespace tensmith
