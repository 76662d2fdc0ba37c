/* conv2d, target llvm */

#ifndef TENSMITH_CONV_H
#define TENSMITH_CONV_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All functions return 0, or a tensmith_status of tensmith/runtime/runtime.h. Every pointer is 64-byte aligned;
 * the regions do not overlap. bool is one byte, 0 or 1; float16 and bfloat16 are their 16 bits. */

/* conv
 *   in  data: float32[1, 8, 28, 28], row-major, 25088 bytes
 *   in  weights: bfloat16[8, 8], strides in elements [16, 1], 240 bytes
 *   out result: bool[], row-major, 1 bytes
 * Needs the runtime library: link tensmith_runtime. */
int conv(const float* data, const uint16_t* weights, uint8_t* result);
/* The same with the pointers in an array, in that order. */
int conv_packed(void* const* args);
/* 1 when this CPU has all the instructions that conv uses, 0 when calling it would crash. */
int conv_supported(void);

/* pack
 *   out result: int64[3], row-major, 24 bytes
 * Needs no library of Tensmith. */
int pack(int64_t* result);
/* The same with the pointers in an array, in that order. */
int pack_packed(void* const* args);
/* 1 when this CPU has all the instructions that pack uses, 0 when calling it would crash. */
int pack_supported(void);

#ifdef __cplusplus
}
#endif

#endif
