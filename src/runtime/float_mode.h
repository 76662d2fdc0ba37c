#pragma once

/// How the calling thread treats denormal floats.

#include <cstdint>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace tensmith::runtime {

#if defined(__SSE2__)

using FloatMode = std::uint32_t;  // MXCSR
inline constexpr bool kHasFlushToZero = true;
inline constexpr FloatMode kFlushBits = 0x8040;  // FTZ (results) and DAZ (operands)
inline FloatMode read_float_mode() { return _mm_getcsr(); }
inline void write_float_mode(FloatMode mode) { _mm_setcsr(mode); }

#elif defined(__aarch64__)

using FloatMode = std::uint64_t;  // FPCR
inline constexpr bool kHasFlushToZero = true;
inline constexpr FloatMode kFlushBits = std::uint64_t{1} << 24;  // FZ
inline FloatMode read_float_mode() {
  FloatMode mode;
  asm volatile("mrs %0, fpcr" : "=r"(mode));
  return mode;
}
inline void write_float_mode(FloatMode mode) { asm volatile("msr fpcr, %0" : : "r"(mode)); }

#else

using FloatMode = std::uint32_t;
inline constexpr bool kHasFlushToZero = false;
inline constexpr FloatMode kFlushBits = 0;
inline FloatMode read_float_mode() { return 0; }
inline void write_float_mode(FloatMode) {}

#endif

/// Flushes denormals for its lifetime, then restores the thread's mode.
class FlushToZeroScope {
 public:
  FlushToZeroScope() : before_(read_float_mode()) { write_float_mode(before_ | kFlushBits); }
  ~FlushToZeroScope() { write_float_mode(before_); }
  FlushToZeroScope(const FlushToZeroScope&) = delete;
  FlushToZeroScope& operator=(const FlushToZeroScope&) = delete;

 private:
  FloatMode before_;
};

}  // namespace tensmith::runtime
