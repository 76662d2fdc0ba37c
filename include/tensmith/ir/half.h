#pragma once

#include <bit>
#include <cstdint>

/// Bit patterns of the 16-bit floating-point formats. Conversions to 16 bits round to nearest, ties to even, once:
/// a double is not rounded to float on the way. NaN becomes a quiet NaN of the same sign, overflow becomes infinity,
/// subnormals are kept.

namespace tensmith {

namespace detail {

/// Encodes `value` with `kExponentBits` and `kMantissaBits` (IEEE 754 layout, sign first).
template <int kExponentBits, int kMantissaBits>
constexpr uint32_t narrow_float(double value) {
  constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  constexpr int kMinExponent = 1 - kBias;
  constexpr uint32_t kInfinity = ((1u << kExponentBits) - 1) << kMantissaBits;
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  const uint32_t sign = static_cast<uint32_t>(bits >> 63) << (kExponentBits + kMantissaBits);
  const int raw_exponent = static_cast<int>((bits >> 52) & 0x7ff);
  const uint64_t fraction = bits & ((uint64_t{1} << 52) - 1);
  if (raw_exponent == 0x7ff) {
    return sign | kInfinity | (fraction != 0 ? 1u << (kMantissaBits - 1) : 0u);
  }
  const int exponent = raw_exponent - 1023;
  if (exponent > kBias) {
    return sign | kInfinity;
  }
  const bool subnormal = exponent < kMinExponent;
  const int shift = 52 - kMantissaBits + (subnormal ? kMinExponent - exponent : 0);
  if (raw_exponent == 0 || shift > 53) {
    return sign;
  }
  const uint64_t full = fraction | (uint64_t{1} << 52);
  const uint64_t rest = full & ((uint64_t{1} << shift) - 1);
  const uint64_t half = uint64_t{1} << (shift - 1);
  uint64_t kept = full >> shift;
  if (rest > half || (rest == half && (kept & 1) != 0)) {
    ++kept;
  }
  // `kept` holds the hidden bit of a normal number, so a carry out of the mantissa moves into the exponent by itself.
  const uint64_t exponent_field = subnormal ? 0 : static_cast<uint64_t>(exponent + kBias - 1) << kMantissaBits;
  return sign | static_cast<uint32_t>(exponent_field + kept);
}

}  // namespace detail

constexpr uint16_t float16_bits(double value) { return static_cast<uint16_t>(detail::narrow_float<5, 10>(value)); }
constexpr uint16_t bfloat16_bits(double value) { return static_cast<uint16_t>(detail::narrow_float<8, 7>(value)); }

constexpr float float16_value(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1f;
  const uint32_t fraction = bits & 0x3ff;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return sign != 0 ? -magnitude : magnitude;
  }
  const uint32_t wide_exponent = exponent == 0x1f ? 0xff : exponent + (127 - 15);
  return std::bit_cast<float>(sign | (wide_exponent << 23) | (fraction << 13));
}
constexpr float bfloat16_value(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

}  // namespace tensmith
