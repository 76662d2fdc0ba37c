#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "codegen/run_cases.h"
#include "tensmith/codegen/llvm/host_target.h"
#include "tensmith/codegen/llvm/jit.h"
#include "tensmith/codegen/llvm/llvm_codegen.h"
#include "tensmith/ir/half.h"
#include "tensmith/ir/parse.h"

namespace tensmith::test {
namespace {

/// Runs a cast over given bit patterns and compares with half.h.
template <typename From, typename Make>
void check_narrowing(std::string_view from, std::string_view to, const std::vector<From>& values, Make&& expected) {
  Arena arena;
  ArenaScope scope(arena);
  const auto count = static_cast<int64_t>(values.size());
  for (const char* target : {"llvm", "llvm:mcpu=x86-64"}) {
    const Function function = parse_function(cast_function(from, to, 8, count));
    const CompiledModule compiled = compile({&function, 1}, parse_target(target));
    const LoadedModule module = LoadedModule::load(compiled.object);
    GuardedArray in(function.inputs[0]);
    GuardedArray out(function.outputs[0]);
    std::memcpy(in.data(), values.data(), in.bytes());
    void* args[] = {in.data(), out.data()};
    ASSERT_EQ(module.packed_entry("f")(args), 0);
    for (size_t i = 0; i < values.size(); ++i) {
      uint16_t bits = 0;
      std::memcpy(&bits, out.span().data() + 2 * i, 2);
      ASSERT_EQ(bits, expected(values[i])) << from << " " << values[i] << " to " << to << " on " << target;
    }
  }
}

TEST(LlvmConvert, NarrowingRoundsOnce) {
  // Just beside, on, and half-way between neighbours of both formats, for every exponent of either.
  std::vector<float> floats;
  std::vector<double> doubles;
  for (int exponent = -30; exponent <= 20; ++exponent) {
    for (double fraction :
         {1.0, 1.0 + 0x1p-11, 1.0 + 0x1p-11 + 0x1p-23, 1.0 + 0x1p-11 - 0x1p-23, 1.0 + 0x3p-11, 1.0 + 0x1p-8,
          1.0 + 0x1p-8 + 0x1p-23, 1.0 + 0x3p-8, 2.0 - 0x1p-11, 2.0 - 0x1p-12, 2.0 - 0x1p-23}) {
      for (double sign : {1.0, -1.0}) {
        floats.push_back(static_cast<float>(sign * std::ldexp(fraction, exponent)));
        doubles.push_back(sign * std::ldexp(fraction, exponent));
        doubles.push_back(sign * std::ldexp(fraction + 0x1p-45, exponent));
        doubles.push_back(sign * std::ldexp(fraction - 0x1p-45, exponent));
      }
    }
  }
  while (floats.size() % 8 != 0) floats.push_back(0.0F);
  while (doubles.size() % 8 != 0) doubles.push_back(0.0);
  check_narrowing("float32", "float16", floats, [](float v) { return float16_bits(static_cast<double>(v)); });
  check_narrowing("float32", "bfloat16", floats, [](float v) { return bfloat16_bits(static_cast<double>(v)); });
  check_narrowing("float64", "float16", doubles, [](double v) { return float16_bits(v); });
  check_narrowing("float64", "bfloat16", doubles, [](double v) { return bfloat16_bits(v); });
}

TEST(LlvmConvert, EveryHalfFloatWidens) {
  Arena arena;
  ArenaScope scope(arena);
  for (const char* target : {"llvm", "llvm:mcpu=x86-64"}) {
    for (const char* type : {"float16", "bfloat16"}) {
      const Function function = parse_function(cast_function(type, "float32", 8, 65536));
      const CompiledModule compiled = compile({&function, 1}, parse_target(target));
      const LoadedModule module = LoadedModule::load(compiled.object);
      GuardedArray in(function.inputs[0]);
      GuardedArray out(function.outputs[0]);
      std::vector<uint16_t> patterns(65536);
      for (size_t i = 0; i < patterns.size(); ++i) patterns[i] = static_cast<uint16_t>(i);
      std::memcpy(in.data(), patterns.data(), in.bytes());
      void* args[] = {in.data(), out.data()};
      ASSERT_EQ(module.packed_entry("f")(args), 0);
      for (uint16_t bits : patterns) {
        float got = 0;
        std::memcpy(&got, out.span().data() + size_t{4} * bits, 4);
        const float want = std::string_view(type) == "float16" ? float16_value(bits) : bfloat16_value(bits);
        if (std::isnan(want)) {
          ASSERT_TRUE(std::isnan(got)) << type << " bits " << bits;
        } else {
          ASSERT_EQ(got, want) << type << " bits " << bits;
        }
      }
    }
  }
}

}  // namespace
}  // namespace tensmith::test
