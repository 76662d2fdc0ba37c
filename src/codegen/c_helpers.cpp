#include "codegen/c_helpers.h"

#include <array>

namespace tensmith {

namespace {

struct Definition {
  const char* name;
  const char* text;
};

constexpr std::array<Definition, static_cast<size_t>(CHelper::kCount)> kDefinitions{{
    {"ts_floordiv",
     "/* Quotient rounded towards minus infinity. */\n"
     "static inline int64_t ts_floordiv(int64_t a, int64_t b) {\n"
     "  if (b == -1) return (int64_t)(0 - (uint64_t)a);\n"
     "  int64_t q = a / b;\n"
     "  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;\n"
     "}\n"},
    {"ts_floormod",
     "/* Remainder with the sign of the divisor. */\n"
     "static inline int64_t ts_floormod(int64_t a, int64_t b) {\n"
     "  if (b == -1) return 0;\n"
     "  int64_t r = a % b;\n"
     "  return r != 0 && (r < 0) != (b < 0) ? r + b : r;\n"
     "}\n"},
    {"ts_min_i64", "static inline int64_t ts_min_i64(int64_t a, int64_t b) { return a < b ? a : b; }\n"},
    {"ts_max_i64", "static inline int64_t ts_max_i64(int64_t a, int64_t b) { return a > b ? a : b; }\n"},
    {"ts_min_u64", "static inline uint64_t ts_min_u64(uint64_t a, uint64_t b) { return a < b ? a : b; }\n"},
    {"ts_max_u64", "static inline uint64_t ts_max_u64(uint64_t a, uint64_t b) { return a > b ? a : b; }\n"},
    {"ts_min_f32", "static inline float ts_min_f32(float a, float b) { return a < b ? a : b; }\n"},
    {"ts_max_f32", "static inline float ts_max_f32(float a, float b) { return a > b ? a : b; }\n"},
    {"ts_min_f64", "static inline double ts_min_f64(double a, double b) { return a < b ? a : b; }\n"},
    {"ts_max_f64", "static inline double ts_max_f64(double a, double b) { return a > b ? a : b; }\n"},
    {"ts_to_int",
     "/* Truncates and saturates to [low, high]; NaN gives 0. */\n"
     "static inline int64_t ts_to_int(double x, int64_t low, int64_t high) {\n"
     "  if (x != x) return 0;\n"
     "  if (x <= (double)low) return low;\n"
     "  if (x >= (double)high) return high;\n"
     "  return (int64_t)x;\n"
     "}\n"},
    {"ts_to_uint",
     "/* Truncates and saturates to [0, high]; NaN gives 0. */\n"
     "static inline uint64_t ts_to_uint(double x, uint64_t high) {\n"
     "  if (!(x > 0.0)) return 0;\n"
     "  if (x >= (double)high) return high;\n"
     "  return (uint64_t)x;\n"
     "}\n"},
    {"ts_narrow",
     "/* The bits of the 16-bit float nearest to x, ties to even, with so many bits of exponent and mantissa. */\n"
     "static inline uint16_t ts_narrow(double x, int exponent_bits, int mantissa_bits) {\n"
     "  const int bias = (1 << (exponent_bits - 1)) - 1;\n"
     "  const uint32_t infinity = ((1u << exponent_bits) - 1) << mantissa_bits;\n"
     "  uint64_t bits;\n"
     "  memcpy(&bits, &x, sizeof bits);\n"
     "  const uint32_t sign = (uint32_t)(bits >> 63) << 15;\n"
     "  const int field = (int)((bits >> 52) & 0x7ff);\n"
     "  const uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);\n"
     "  if (field == 0x7ff) return (uint16_t)(sign | infinity | (fraction != 0 ? 1u << (mantissa_bits - 1) : 0u));\n"
     "  const int exponent = field - 1023;\n"
     "  if (exponent > bias) return (uint16_t)(sign | infinity);\n"
     "  const int tiny = exponent < 1 - bias;\n"
     "  const int shift = 52 - mantissa_bits + (tiny ? 1 - bias - exponent : 0);\n"
     "  if (field == 0 || shift > 53) return (uint16_t)sign;\n"
     "  const uint64_t whole = fraction | (UINT64_C(1) << 52);\n"
     "  const uint64_t rest = whole & ((UINT64_C(1) << shift) - 1);\n"
     "  const uint64_t tie = UINT64_C(1) << (shift - 1);\n"
     "  uint64_t kept = whole >> shift;\n"
     "  if (rest > tie || (rest == tie && (kept & 1) != 0)) ++kept;\n"
     "  const uint64_t base = tiny ? 0 : (uint64_t)(exponent + bias - 1) << mantissa_bits;\n"
     "  return (uint16_t)(sign | (uint32_t)(base + kept));\n"
     "}\n"},
    {"ts_f16_to_f32",
     "static inline float ts_f16_to_f32(uint16_t h) {\n"
     "  const uint32_t exponent = (h >> 10) & 0x1f;\n"
     "  const uint32_t fraction = h & 0x3ff;\n"
     "  if (exponent == 0) return (h & 0x8000 ? -1.0f : 1.0f) * ((float)fraction * 0x1p-24f);\n"
     "  const uint32_t bits = (uint32_t)(h & 0x8000) << 16 | (exponent == 0x1f ? 0xff : exponent + 112) << 23 |\n"
     "                        fraction << 13;\n"
     "  float x;\n"
     "  memcpy(&x, &bits, sizeof x);\n"
     "  return x;\n"
     "}\n"},
    {"ts_f64_to_f16", "static inline uint16_t ts_f64_to_f16(double x) { return ts_narrow(x, 5, 10); }\n"},
    {"ts_bf16_to_f32",
     "static inline float ts_bf16_to_f32(uint16_t h) {\n"
     "  const uint32_t bits = (uint32_t)h << 16;\n"
     "  float x;\n"
     "  memcpy(&x, &bits, sizeof x);\n"
     "  return x;\n"
     "}\n"},
    {"ts_f64_to_bf16", "static inline uint16_t ts_f64_to_bf16(double x) { return ts_narrow(x, 8, 7); }\n"},
    {"ts_sticky_i64",
     "/* x as a double that rounds to a 16-bit float as x itself does: beyond 2^40 the low bits become one. */\n"
     "static inline double ts_sticky_i64(int64_t x) {\n"
     "  if (x > -(INT64_C(1) << 40) && x < INT64_C(1) << 40) return (double)x;\n"
     "  return (double)(int64_t)(((uint64_t)x & ~UINT64_C(0xffff)) | (((uint64_t)x & 0xffff) != 0 ? 0x8000 : 0));\n"
     "}\n"},
    {"ts_sticky_u64",
     "/* x as a double that rounds to a 16-bit float as x itself does: beyond 2^40 the low bits become one. */\n"
     "static inline double ts_sticky_u64(uint64_t x) {\n"
     "  if (x < UINT64_C(1) << 40) return (double)x;\n"
     "  return (double)((x & ~UINT64_C(0xffff)) | ((x & 0xffff) != 0 ? 0x8000 : 0));\n"
     "}\n"},
    {"TS_PREFETCH",
     "#if defined(__GNUC__)\n"
     "#define TS_PREFETCH(address, locality) __builtin_prefetch((const void*)(address), 0, locality)\n"
     "#else\n"
     "#define TS_PREFETCH(address, locality) ((void)(address))\n"
     "#endif\n"},
}};

}  // namespace

const char* helper_name(CHelper helper) { return kDefinitions[static_cast<size_t>(helper)].name; }

const char* CHelperSet::use(CHelper helper) {
  used_ |= uint64_t{1} << static_cast<int>(helper);
  if (helper == CHelper::kFloatToHalf || helper == CHelper::kFloatToBfloat) use(CHelper::kNarrow);
  return helper_name(helper);
}

std::string CHelperSet::preamble() const {
  std::string out;
  if (math_) out += "#include <math.h>\n";
  out += "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n";
  if (has(CHelper::kNarrow) || has(CHelper::kHalfToFloat) || has(CHelper::kBfloatToFloat))
    out += "#include <string.h>\n";
  if (runtime_) {
    out +=
        "\n/* Of Tensmith: compile with -IPATH/include and link libtensmith_runtime.a and -lpthread. */\n"
        "#include \"tensmith/runtime/runtime.h\"\n";
  }
  for (size_t i = 0; i < kDefinitions.size(); ++i) {
    if (has(static_cast<CHelper>(i))) out += std::string("\n") + kDefinitions[i].text;
  }
  return out;
}

}  // namespace tensmith
