/* Calls the run-time library the way a C program with a compiled operator does. Ends with 0 when all is right. */
#include <stdio.h>
#include <string.h>

#include "tensmith/runtime/runtime.h"

#define CHECK(condition)                                                  \
  do {                                                                    \
    if (!(condition)) {                                                   \
      fprintf(stderr, "line %d: %s is not true\n", __LINE__, #condition); \
      return 1;                                                           \
    }                                                                     \
  } while (0)

struct scale {
  const float* from;
  float* to;
  float factor;
};

static int scale_rows(int64_t begin, int64_t end, void* closure) {
  struct scale* s = closure;
  for (int64_t i = begin; i < end; ++i) s->to[i] = s->from[i] * s->factor;
  return 0;
}

int main(void) {
  const tensmith_dtype float32 = {TENSMITH_TYPE_FLOAT, 32};
  const int64_t shape[2] = {17, 31};
  tensmith_buffer from, to;
  CHECK(tensmith_buffer_create(NULL, float32, 2, shape, &from) == TENSMITH_OK);
  CHECK(tensmith_buffer_create(tensmith_cpu_device(), float32, 2, shape, &to) == TENSMITH_OK);
  CHECK((uintptr_t)from.data % TENSMITH_ALIGNMENT == 0);
  const int64_t n = tensmith_buffer_elements(&from);
  CHECK(n == 17 * 31);
  for (int64_t i = 0; i < n; ++i) ((float*)from.data)[i] = (float)i;

  CHECK(tensmith_set_num_threads(3) == TENSMITH_OK);
  CHECK(tensmith_get_num_threads() == 3);
  struct scale closure = {from.data, to.data, 2.0f};
  CHECK(tensmith_parallel_for(n, scale_rows, &closure) == 0);
  for (int64_t i = 0; i < n; ++i) CHECK(((float*)to.data)[i] == 2.0f * (float)i);

  CHECK(strcmp(tensmith_status_text(TENSMITH_OK), "success") == 0);
  CHECK(strcmp(tensmith_cpu_device()->api->name(tensmith_cpu_device()), "cpu") == 0);
  CHECK(tensmith_buffer_destroy(&from) == TENSMITH_OK);
  CHECK(tensmith_buffer_destroy(&to) == TENSMITH_OK);
  return 0;
}
