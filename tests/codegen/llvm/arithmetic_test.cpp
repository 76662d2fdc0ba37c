#include <fmt/format.h>
#include <gtest/gtest.h>

#include "codegen/llvm/harness.h"

namespace tensmith::test {
namespace {

const char* const kIntegerTypes[] = {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"};
const char* const kFloatTypes[] = {"float16", "bfloat16", "float32", "float64"};
/// With and without AVX2 and F16C: both ways of converting float16, other instructions for nearly everything else.
const char* const kTargets[] = {"llvm", "llvm:mcpu=x86-64"};

/// func of two inputs of a type, `lanes` at a time.
std::string elementwise(std::string_view type, int lanes, std::string_view out_type, std::string_view expression) {
  const auto access = [&](char name) {
    return lanes == 1 ? fmt::format("{}[i]", name) : fmt::format("{}[ramp(i*{}, 1, {})]", name, lanes, lanes);
  };
  std::string body(expression);
  for (size_t at; (at = body.find('$')) != std::string::npos;) body.replace(at, 2, access(body[at + 1]));
  return fmt::format(
      "func f(A: {0}[96] global, B: {0}[96] global, out C: {1}[96] global):\n"
      "  for i in [0, {2}):\n"
      "    {3} = {4}\n",
      type, out_type, 96 / lanes, access('C'), body);
}

TEST(LlvmArithmetic, IntegersWrap) {
  Comparison comparison;
  for (const char* type : kIntegerTypes) {
    for (int lanes : {1, 4, 16}) {
      for (const char* expression : {"$A + $B", "$A - $B", "$A * $B", "min($A, $B)", "max($A, $B)"}) {
        comparison.add(elementwise(type, lanes, type, expression), {.fill = Fill::kAny});
      }
    }
  }
}

TEST(LlvmArithmetic, Comparisons) {
  Comparison comparison;
  for (const char* type : {"int8", "uint8", "int32", "uint64", "float16", "bfloat16", "float32", "float64"}) {
    for (int lanes : {1, 8}) {
      for (const char* op : {"==", "!=", "<", "<=", ">", ">="}) {
        comparison.add(elementwise(type, lanes, "bool", fmt::format("$A {} $B", op)), {.fill = Fill::kAny});
      }
    }
  }
}

TEST(LlvmArithmetic, Logic) {
  Comparison comparison;
  for (int lanes : {1, 8}) {
    for (const char* expression : {"$A and $B", "$A or $B", "not $A", "not ($A or $B) and $A"}) {
      comparison.add(elementwise("bool", lanes, "bool", expression));
    }
  }
}

TEST(LlvmArithmetic, Floats) {
  Comparison comparison;
  for (const char* target : kTargets) {
    for (const char* type : kFloatTypes) {
      for (int lanes : {1, 8}) {
        for (const char* expression : {"$A + $B", "$A - $B", "$A * $B", "$A / $B", "min($A, $B)", "max($A, $B)"}) {
          comparison.add(elementwise(type, lanes, type, expression), {.target = target, .fill = Fill::kAny});
        }
      }
    }
  }
}

TEST(LlvmArithmetic, HalfFloatsRoundAfterEveryOperation) {
  Comparison comparison;
  for (const char* target : kTargets) {
    for (const char* type : {"float16", "bfloat16"}) {
      for (uint64_t seed : {1, 2, 3}) {
        comparison.add(elementwise(type, 8, type, "($A + $B) * $A - $B / $A"),
                                   {.target = target, .fill = Fill::kAny, .seed = seed});
      }
    }
  }
}

TEST(LlvmArithmetic, FloorDivisionByConstants) {
  Comparison comparison;
  for (const char* type : {"int8", "int16", "int32", "int64"}) {
    for (int divisor : {1, -1, 2, -2, 3, -3, 7, -7, 8, -8, 64, 100, -100, 127}) {
      for (int lanes : {1, 8}) {
        const std::string literal = lanes == 1 ? fmt::format("{}", divisor) : fmt::format("broadcast({}i{}, 8)", divisor, type + 3);
        comparison.add(elementwise(type, lanes, type, fmt::format("$A / {}", literal)), {.fill = Fill::kAny});
        comparison.add(elementwise(type, lanes, type, fmt::format("$A % {}", literal)), {.fill = Fill::kAny});
      }
    }
  }
  for (const char* type : {"uint8", "uint64"}) {
    for (int divisor : {1, 2, 3, 128, 255}) {
      comparison.add(elementwise(type, 1, type, fmt::format("$A / {} + $A % {}", divisor, divisor)),
                                 {.fill = Fill::kAny});
    }
  }
}

TEST(LlvmArithmetic, FloorDivisionByVariables) {
  Comparison comparison;
  // A zero divisor is undefined, so zeros become 3; the lowest value over -1 wraps.
  for (const char* type : kIntegerTypes) {
    const bool is_unsigned = type[0] == 'u';
    const std::string suffix = fmt::format("{}{}", is_unsigned ? "u" : "i", type + (is_unsigned ? 4 : 3));
    for (const char* op : {"/", "%"}) {
      for (uint64_t seed : {1, 2}) {
        const std::string scalar = fmt::format("$A {} select($B == 0{}, 3{}, $B)", op, suffix, suffix);
        comparison.add(elementwise(type, 1, type, scalar), {.fill = Fill::kAny, .seed = seed});
        const std::string vector = fmt::format("$A {} select($B == broadcast(0{}, 4), broadcast(3{}, 4), $B)", op, suffix, suffix);
        comparison.add(elementwise(type, 4, type, vector), {.fill = Fill::kAny, .seed = seed});
      }
    }
  }
}

TEST(LlvmArithmetic, DivisionOfLoopVariables) {
  Comparison comparison;
  // Known bounds choose unsigned instructions; sums that may be negative must not.
  for (const char* index : {"i / 7", "i % 7", "(i - 20) / 7 + 8", "(i - 20) % 7", "(i - 20) / -7 + 20", "(i*3 - 50) / 8 + 20",
                            "(i*3 - 50) % 8", "min(i, 5) / 3", "max(i - 90, 0) / 3", "(20 - i) / 16 + 10"}) {
    comparison.add(fmt::format("func f(A: float32[96] global, out C: float32[96] global):\n"
                                           "  for i in [0, 96):\n"
                                           "    C[i] = A[{}]\n",
                                           index));
  }
}

TEST(LlvmArithmetic, LazySelectProtectsDivision) {
  Comparison comparison;
  for (const auto& [type, suffix] : {std::pair("int32", "i32"), std::pair("uint8", "u8"), std::pair("int64", "i64")}) {
    const std::string zero = fmt::format("broadcast(0{}, 4)", suffix);
    comparison.add(elementwise(type, 1, type, "select($B != 0, $A / $B, $A)"));
    comparison.add(elementwise(type, 4, type, fmt::format("select($B != {}, $A % $B, $A)", zero)));
    comparison.add(elementwise(type, 4, type, fmt::format("select($B == {}, $A, $A / $B)", zero)));
  }
}

TEST(LlvmArithmetic, ExactIntrinsics) {
  Comparison comparison;
  for (const char* target : kTargets) {
    for (const char* type : kFloatTypes) {
      for (int lanes : {1, 8}) {
        for (const char* expression : {"sqrt($A)", "abs($A)", "floor($A)", "ceil($A)", "round($A)"}) {
          comparison.add(elementwise(type, lanes, type, expression), {.target = target, .fill = Fill::kAny});
        }
      }
    }
  }
}

TEST(LlvmArithmetic, FusedMultiplyAdd) {
  Comparison comparison;
  for (const char* type : {"float32", "float64"}) {
    comparison.add(elementwise(type, 8, type, "fma($A, $B, $A)"), {.fill = Fill::kAny});
    comparison.add(elementwise(type, 1, type, "fma($A, $B, $A)"), {.target = kTargets[1], .fill = Fill::kAny});
  }
}

TEST(LlvmArithmetic, LibraryIntrinsics) {
  Comparison comparison;
  for (const char* type : kFloatTypes) {
    for (int lanes : {1, 4}) {
      for (const char* expression : {"exp($A)", "log($A)", "tanh($A)", "erf($A)", "pow($A, $B)"}) {
        comparison.add(elementwise(type, lanes, type, expression));
      }
    }
  }
}

TEST(LlvmArithmetic, ProductsThatAreAddedMayFuse) {
  // Only a tolerance can be asked for: one rounding or two.
  expect_same_as_interpreter(elementwise("float32", 8, "float32", "$A * $B + $A * $A"), {.relative_tolerance = 1e-5});
}

TEST(LlvmArithmetic, OddLaneCounts) {
  Comparison comparison;
  for (int lanes : {2, 3, 6, 12, 24, 48}) {
    comparison.add(elementwise("float32", lanes, "float32", "$A * $B"));
    comparison.add(elementwise("uint8", lanes, "bool", "$A < $B"), {.fill = Fill::kAny});
    comparison.add(elementwise("bfloat16", lanes, "bfloat16", "$A + $B"), {.fill = Fill::kAny});
  }
}

}  // namespace
}  // namespace tensmith::test
