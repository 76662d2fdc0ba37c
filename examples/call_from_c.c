/* Calls a compiled operator from C, with the threads it was compiled for:
 *
 *     tensmith compile matmul:m=64,n=64,k=64,epilogue=bias --threads=2 --name=my_matmul -o out
 *     cc -std=c11 -Iinclude -Iout examples/call_from_c.c out/my_matmul.o build/release/lib/libtensmith_runtime.a -o demo
 *
 * out = A * B + bias, checked against three plain loops.
 */
#include <stdio.h>

#include "my_matmul.h"
#include "tensmith/runtime/runtime.h"

enum { kSize = 64 };

int main(void) {
  if (!my_matmul_supported()) {
    fprintf(stderr, "this CPU lacks instructions that my_matmul was compiled for\n");
    return 1;
  }
  float* a = tensmith_alloc(kSize * kSize * sizeof(float));
  float* b = tensmith_alloc(kSize * kSize * sizeof(float));
  float* bias = tensmith_alloc(kSize * sizeof(float));
  float* out = tensmith_alloc(kSize * kSize * sizeof(float));
  if (!a || !b || !bias || !out) {
    fprintf(stderr, "out of memory\n");
    return 1;
  }
  for (int i = 0; i < kSize * kSize; ++i) {
    a[i] = (float)(i % 7);
    b[i] = (float)(i % 5);
  }
  for (int i = 0; i < kSize; ++i) bias[i] = (float)i;

  const int status = my_matmul(a, b, bias, out);
  if (status != TENSMITH_OK) {
    fprintf(stderr, "my_matmul: %s\n", tensmith_status_text(status));
    return 1;
  }
  int wrong = 0;
  for (int m = 0; m < kSize; ++m) {
    for (int n = 0; n < kSize; ++n) {
      float sum = bias[n];
      for (int k = 0; k < kSize; ++k) sum += a[m * kSize + k] * b[k * kSize + n];
      wrong += sum != out[m * kSize + n]; /* small integers: no rounding in either order */
    }
  }
  printf("out[0] = %g, %d of %d elements are wrong\n", out[0], wrong, kSize * kSize);
  tensmith_free(a);
  tensmith_free(b);
  tensmith_free(bias);
  tensmith_free(out);
  return wrong != 0;
}
