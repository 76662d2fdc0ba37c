#include "codegen/cases.h"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

namespace tensmith::test {
namespace {

const char* const kIntegerTypes[] = {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"};
const char* const kFloatTypes[] = {"float16", "bfloat16", "float32", "float64"};

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

const char* const kTypes[] = {"int8",   "int16", "int32",   "int64",    "uint8",   "uint16", "uint32",
                              "uint64", "bool",  "float16", "bfloat16", "float32", "float64"};

void integers_wrap(Cases& cases) {
  for (const char* type : kIntegerTypes) {
    for (int lanes : {1, 16}) {
      for (const char* expression : {"$A + $B", "$A - $B", "$A * $B", "min($A, $B)", "max($A, $B)"}) {
        cases.add(elementwise(type, lanes, type, expression), {.fill = Fill::kAny});
      }
    }
  }
}

void comparisons(Cases& cases) {
  for (const char* type : {"int8", "uint8", "int32", "uint64", "float16", "bfloat16", "float32", "float64"}) {
    for (int lanes : {1, 8}) {
      for (const char* op : {"==", "!=", "<", "<=", ">", ">="}) {
        cases.add(elementwise(type, lanes, "bool", fmt::format("$A {} $B", op)), {.fill = Fill::kAny});
      }
    }
  }
}

void logic(Cases& cases) {
  for (int lanes : {1, 8}) {
    for (const char* expression : {"$A and $B", "$A or $B", "not $A", "not ($A or $B) and $A"}) {
      cases.add(elementwise("bool", lanes, "bool", expression));
    }
  }
}

void floats(Cases& cases) {
  for (const char* type : kFloatTypes) {
    for (int lanes : {1, 8}) {
      for (const char* expression : {"$A + $B", "$A - $B", "$A * $B", "$A / $B", "min($A, $B)", "max($A, $B)"}) {
        cases.add(elementwise(type, lanes, type, expression), {.fill = Fill::kAny});
      }
    }
  }
}

void half_floats_round_after_every_operation(Cases& cases) {
  for (const char* type : {"float16", "bfloat16"}) {
    for (uint64_t seed : {1, 2, 3}) {
      cases.add(elementwise(type, 8, type, "($A + $B) * $A - $B / $A"), {.fill = Fill::kAny, .seed = seed});
    }
  }
}

void floor_division_by_constants(Cases& cases) {
  for (const char* type : {"int8", "int16", "int32", "int64"}) {
    for (int divisor : {1, -1, 2, -2, 3, -3, 7, -7, 8, -8, 64, 100, -100, 127}) {
      for (int lanes : {1, 8}) {
        const std::string literal =
            lanes == 1 ? fmt::format("{}", divisor) : fmt::format("broadcast({}i{}, 8)", divisor, type + 3);
        // Weighted so that a quotient that is off by one and its remainder cannot make up for each other.
        const std::string expression = lanes == 1 ? fmt::format("$A / {}*5 + $A % {}", literal, literal)
                                                  : fmt::format("$A / {}*$B + $A % {}", literal, literal);
        cases.add(elementwise(type, lanes, type, expression), {.fill = Fill::kAny});
      }
    }
  }
  for (const char* type : {"uint8", "uint64"}) {
    for (int divisor : {1, 2, 3, 128, 255}) {
      cases.add(elementwise(type, 1, type, fmt::format("$A / {} + $A % {}", divisor, divisor)), {.fill = Fill::kAny});
    }
  }
}

void floor_division_by_variables(Cases& cases) {
  // A zero divisor is undefined, so zeros become 3; the lowest value over -1 wraps.
  for (const char* type : kIntegerTypes) {
    const bool is_unsigned = type[0] == 'u';
    const std::string suffix = fmt::format("{}{}", is_unsigned ? "u" : "i", type + (is_unsigned ? 4 : 3));
    for (const char* op : {"/", "%"}) {
      for (uint64_t seed : {1, 2}) {
        const std::string scalar = fmt::format("$A {} select($B == 0{}, 3{}, $B)", op, suffix, suffix);
        cases.add(elementwise(type, 1, type, scalar), {.fill = Fill::kAny, .seed = seed});
        const std::string vector =
            fmt::format("$A {} select($B == broadcast(0{}, 4), broadcast(3{}, 4), $B)", op, suffix, suffix);
        cases.add(elementwise(type, 4, type, vector), {.fill = Fill::kAny, .seed = seed});
      }
    }
  }
}

void division_of_loop_variables(Cases& cases) {
  // Known bounds choose unsigned instructions; sums that may be negative must not.
  for (const char* index :
       {"i / 7", "i % 7", "(i - 20) / 7 + 8", "(i - 20) % 7", "(i - 20) / -7 + 20", "(i*3 - 50) / 8 + 20",
        "(i*3 - 50) % 8", "min(i, 5) / 3", "max(i - 90, 0) / 3", "(20 - i) / 16 + 10"}) {
    cases.add(
        fmt::format("func f(A: float32[96] global, out C: float32[96] global):\n"
                    "  for i in [0, 96):\n"
                    "    C[i] = A[{}]\n",
                    index));
  }
}

void lazy_select_protects_division(Cases& cases) {
  for (const auto& [type, suffix] : {std::pair("int32", "i32"), std::pair("uint8", "u8"), std::pair("int64", "i64")}) {
    const std::string zero = fmt::format("broadcast(0{}, 4)", suffix);
    cases.add(elementwise(type, 1, type, "select($B != 0, $A / $B, $A)"));
    cases.add(elementwise(type, 4, type, fmt::format("select($B != {}, $A % $B, $A)", zero)));
    cases.add(elementwise(type, 4, type, fmt::format("select($B == {}, $A, $A / $B)", zero)));
  }
}

void exact_intrinsics(Cases& cases) {
  for (const char* type : kFloatTypes) {
    for (int lanes : {1, 8}) {
      for (const char* expression : {"sqrt($A)", "abs($A)", "floor($A)", "ceil($A)", "round($A)"}) {
        cases.add(elementwise(type, lanes, type, expression), {.fill = Fill::kAny});
      }
    }
  }
}

void fused_multiply_add(Cases& cases) {
  for (const char* type : {"float32", "float64"}) {
    cases.add(elementwise(type, 8, type, "fma($A, $B, $A)"), {.fill = Fill::kAny});
    cases.add(elementwise(type, 1, type, "fma($A, $B, $A)"), {.fill = Fill::kAny});
  }
}

void library_intrinsics(Cases& cases) {
  for (const char* type : kFloatTypes) {
    for (int lanes : {1, 4}) {
      for (const char* expression : {"exp($A)", "log($A)", "tanh($A)", "erf($A)", "pow($A, $B)"}) {
        cases.add(elementwise(type, lanes, type, expression));
      }
    }
  }
}

void products_that_are_added_may_fuse(Cases& cases) {
  // Only a tolerance can be asked for: one rounding or two.
  cases.add(elementwise("float32", 8, "float32", "$A * $B + $A * $A"), {.relative_tolerance = 1e-5});
}

void odd_lane_counts(Cases& cases) {
  for (int lanes : {2, 3, 6, 12, 24, 48}) {
    cases.add(elementwise("float32", lanes, "float32", "$A * $B"));
    cases.add(elementwise("uint8", lanes, "bool", "$A < $B"), {.fill = Fill::kAny});
    cases.add(elementwise("bfloat16", lanes, "bfloat16", "$A + $B"), {.fill = Fill::kAny});
  }
}

void every_pair_of_types(Cases& cases) {
  for (const char* from : kTypes) {
    for (int lanes : {1, 8}) {
      const std::string index = lanes == 1 ? "i" : "ramp(i*8, 1, 8)";
      std::string text = fmt::format("func f(A: {}[240] global", from);
      for (const char* to : kTypes) text += fmt::format(", out C_{}: {}[240] global", to, to);
      text += fmt::format("):\n  for i in [0, {}):\n", 240 / lanes);
      for (const char* to : kTypes) {
        const std::string type = lanes == 1 ? std::string(to) : fmt::format("{}x8", to);
        const std::string value = fmt::format("A[{}]", index);
        text += fmt::format("    C_{}[{}] = {}\n", to, index,
                            std::string_view(from) == to ? value : fmt::format("{}({})", type, value));
      }
      cases.add(text, {.fill = Fill::kAny, .seed = 7});
    }
  }
}

constexpr CaseGroup kGroups[] = {
    {"IntegersWrap", &integers_wrap},
    {"Comparisons", &comparisons},
    {"Logic", &logic},
    {"Floats", &floats},
    {"HalfFloatsRoundAfterEveryOperation", &half_floats_round_after_every_operation},
    {"FloorDivisionByConstants", &floor_division_by_constants},
    {"FloorDivisionByVariables", &floor_division_by_variables},
    {"DivisionOfLoopVariables", &division_of_loop_variables},
    {"LazySelectProtectsDivision", &lazy_select_protects_division},
    {"ExactIntrinsics", &exact_intrinsics},
    {"FusedMultiplyAdd", &fused_multiply_add},
    {"LibraryIntrinsics", &library_intrinsics},
    {"ProductsThatAreAddedMayFuse", &products_that_are_added_may_fuse},
    {"OddLaneCounts", &odd_lane_counts},
    {"EveryPairOfTypes", &every_pair_of_types},
};

}  // namespace

std::string cast_function(std::string_view from, std::string_view to, int lanes, int64_t count) {
  const std::string index = lanes == 1 ? "i" : fmt::format("ramp(i*{}, 1, {})", lanes, lanes);
  const std::string type = lanes == 1 ? std::string(to) : fmt::format("{}x{}", to, lanes);
  return fmt::format(
      "func f(A: {0}[{5}] global, out C: {1}[{5}] global):\n"
      "  for i in [0, {2}):\n"
      "    C[{3}] = {4}(A[{3}])\n",
      from, to, count / lanes, index, type, count);
}

std::span<const CaseGroup> arithmetic_groups() { return kGroups; }

}  // namespace tensmith::test
