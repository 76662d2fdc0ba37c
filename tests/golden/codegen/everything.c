#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Of Tensmith: compile with -IPATH/include and link libtensmith_runtime.a and -lpthread. */
#include "tensmith/runtime/runtime.h"

/* Quotient rounded towards minus infinity. */
static inline int64_t ts_floordiv(int64_t a, int64_t b) {
  if (b == -1) return (int64_t)(0 - (uint64_t)a);
  int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

static inline float ts_max_f32(float a, float b) { return a > b ? a : b; }

/* Truncates and saturates to [low, high]; NaN gives 0. */
static inline int64_t ts_to_int(double x, int64_t low, int64_t high) {
  if (x != x) return 0;
  if (x <= (double)low) return low;
  if (x >= (double)high) return high;
  return (int64_t)x;
}

static inline float ts_f16_to_f32(uint16_t h) {
  const uint32_t exponent = (h >> 10) & 0x1f;
  const uint32_t fraction = h & 0x3ff;
  if (exponent == 0) return (h & 0x8000 ? -1.0f : 1.0f) * ((float)fraction * 0x1p-24f);
  const uint32_t bits = (uint32_t)(h & 0x8000) << 16 | (exponent == 0x1f ? 0xff : exponent + 112) << 23 |
                        fraction << 13;
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

#if defined(__GNUC__)
#define TS_PREFETCH(address, locality) __builtin_prefetch((const void*)(address), 0, locality)
#else
#define TS_PREFETCH(address, locality) ((void)(address))
#endif

int mixed(const float* restrict A, const uint16_t* restrict H, const int32_t* restrict I, float* restrict C, int8_t* restrict D, uint8_t* restrict E) {
  int status = 0;
  float* restrict P = NULL;
  P = tensmith_alloc(160);
  if (P == NULL) {
    status = 2; /* out of memory */
    goto done;
  }
  for (int64_t i = 0; i < 40; ++i) {
    const int64_t j = i / 3 + i % 3;
    P[i] = i >= 2 && i < 38 ? A[i - 2] : -1.5f;
    D[i] = (int8_t)ts_to_int(A[i], INT64_C(-128), INT64_C(127));
    E[i] = (int32_t)((uint32_t)I[i] + (uint32_t)1) > (int32_t)ts_floordiv(I[j], -7);
  }
  TS_PREFETCH(&P[8], 2);
  for (int64_t i = 0; i < 5; ++i) {
    if (i < 4) {
      for (int64_t l = 0; l < 8; ++l) if (i*8 + l < 30) C[i*8 + l] = ts_max_f32(P[i*8 + l], ts_f16_to_f32(H[i*8 + l]));
    } else {
      {
        float lanes[7];
        for (int64_t l = 0; l < 7; ++l) lanes[l] = C[32 + l] + expf(A[33 + l]);
        for (int64_t l = 0; l < 7; ++l) C[33 + l] = lanes[l];
      }
    }
  }
  done:
  tensmith_free(P);
  return status;
}

int mixed_packed(void* const* args) {
  return mixed(args[0], args[1], args[2], args[3], args[4], args[5]);
}
