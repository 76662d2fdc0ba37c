/* matmul 64x64x64
 * tuned on some machine */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of Tensmith: compile with -IPATH/include and link libtensmith_runtime.a and -lpthread. */
#include "tensmith/runtime/runtime.h"

struct matmul_parallel0_closure {
  const float* A;
  const float* B;
  float* C;
};

static int matmul_parallel0(int64_t begin, int64_t end, void* closure) {
  const float* restrict const A = ((const struct matmul_parallel0_closure*)closure)->A;
  const float* restrict const B = ((const struct matmul_parallel0_closure*)closure)->B;
  float* restrict const C = ((const struct matmul_parallel0_closure*)closure)->C;
  for (int64_t yo = begin; yo < end; ++yo) {
    for (int64_t xo = 0; xo < 4; ++xo) {
      _Alignas(64) float acc[64];
      for (int64_t yi = 0; yi < 4; ++yi) /* unrolled */ {
        for (int64_t l = 0; l < 16; ++l) acc[yi*16 + l] = 0.0f;
      }
      for (int64_t k = 0; k < 64; ++k) {
        for (int64_t yi = 0; yi < 4; ++yi) /* unrolled */ {
          for (int64_t l = 0; l < 16; ++l) acc[yi*16 + l] = acc[yi*16 + l] + A[(yo*4 + yi)*64 + k] * B[k*64 + xo*16 + l];
        }
      }
      for (int64_t yi = 0; yi < 4; ++yi) /* unrolled */ {
        for (int64_t l = 0; l < 16; ++l) C[(yo*4 + yi)*64 + xo*16 + l] = acc[yi*16 + l];
      }
    }
  }
  return 0;
}

int matmul(const float* restrict A, const float* restrict B, float* restrict C) {
  int status = 0;
  {
    struct matmul_parallel0_closure closure = {A, B, C};
    status = tensmith_parallel_for(16, matmul_parallel0, &closure);
    if (status != 0) goto done;
  }
  done:
  return status;
}

int matmul_packed(void* const* args) {
  return matmul(args[0], args[1], args[2]);
}
