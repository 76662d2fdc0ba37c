/* The run-time library of compiled operators: memory, buffers, devices, and the threads of `parallel` loops.
 *
 * This header is C11 and C++; a program that calls an operator compiled ahead of time includes it and links
 * libtensmith_runtime (static or shared), which itself needs nothing but libc and its threads.
 *
 * Conventions: functions that can fail return a tensmith_status (0 is success) and leave their outputs untouched on
 * failure. Sizes are in bytes unless a name says elements. Nothing here prints, exits, or throws.
 */
#ifndef TENSMITH_RUNTIME_RUNTIME_H
#define TENSMITH_RUNTIME_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define TENSMITH_RUNTIME_API __attribute__((visibility("default")))
#else
#define TENSMITH_RUNTIME_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Status ---------------------------------------------------------------------------------------------------- */

typedef enum tensmith_status {
  TENSMITH_OK = 0,
  TENSMITH_INVALID_ARGUMENT = 1, /* a null pointer, a negative extent, a CPU that does not exist, ... */
  TENSMITH_OUT_OF_MEMORY = 2,
  TENSMITH_NOT_PERMITTED = 3, /* the system refuses (pinning in a sandbox); the work goes on without */
  TENSMITH_BUSY = 4,          /* asked from inside a parallel section */
  TENSMITH_UNSUPPORTED = 5,   /* this CPU or device cannot */
  TENSMITH_DEVICE_FAILED = 6
} tensmith_status;

/* An English phrase for a status; never null, also for values that are not in the list. */
TENSMITH_RUNTIME_API const char* tensmith_status_text(int status);

/* ---- Memory ---------------------------------------------------------------------------------------------------- */

/* Every tensor starts on this boundary: a cache line, and the widest vector register. Generated code relies on it. */
#define TENSMITH_ALIGNMENT 64

/* `bytes` of uninitialized memory on a TENSMITH_ALIGNMENT boundary, or null when there is none. 0 bytes gives a
 * pointer that may not be read but must be freed. Safe from any thread. */
TENSMITH_RUNTIME_API void* tensmith_alloc(size_t bytes);

/* Gives back what tensmith_alloc returned; null is allowed. */
TENSMITH_RUNTIME_API void tensmith_free(void* pointer);

/* ---- Devices --------------------------------------------------------------------------------------------------- */

typedef struct tensmith_device tensmith_device;

/* What a device must be able to do. A device of another kind (a GPU) is a table of these functions and a context;
 * it is handed to whoever needs it and is entered in no list. All functions may be called from any thread. */
typedef struct tensmith_device_api {
  /* A short name for messages ("cpu"); lives as long as the device. */
  const char* (*name)(const tensmith_device* device);
  /* Writes to *out memory of the device, on a TENSMITH_ALIGNMENT boundary. */
  tensmith_status (*alloc)(const tensmith_device* device, size_t bytes, void** out);
  /* Gives back what alloc wrote; null is allowed. Work that was submitted before and uses it must have finished. */
  tensmith_status (*free)(const tensmith_device* device, void* pointer);
  /* Host to device. The host range may be reused when the call returns. */
  tensmith_status (*copy_to)(const tensmith_device* device, void* to, const void* from_host, size_t bytes);
  /* Device to host, after all work submitted before. The host range holds the bytes when the call returns. */
  tensmith_status (*copy_from)(const tensmith_device* device, void* to_host, const void* from, size_t bytes);
  /* Returns when all submitted work is done, with the first failure of any of it. */
  tensmith_status (*synchronize)(const tensmith_device* device);
} tensmith_device_api;

struct tensmith_device {
  const tensmith_device_api* api;
  void* context; /* the device's own; null for the CPU */
};

/* The processor that runs the caller: memory is tensmith_alloc's, copies are memcpy, nothing is asynchronous. */
TENSMITH_RUNTIME_API const tensmith_device* tensmith_cpu_device(void);

/* ---- Buffers --------------------------------------------------------------------------------------------------- */

typedef enum tensmith_type_code {
  TENSMITH_TYPE_INT = 0,
  TENSMITH_TYPE_UINT = 1,
  TENSMITH_TYPE_FLOAT = 2,  /* IEEE 754 */
  TENSMITH_TYPE_BFLOAT = 3, /* the upper half of a float32 */
  TENSMITH_TYPE_BOOL = 4    /* one byte, 0 or 1 */
} tensmith_type_code;

/* An element type: {TENSMITH_TYPE_FLOAT, 32} is float32. A bool has 8 bits. */
typedef struct tensmith_dtype {
  uint8_t code; /* a tensmith_type_code */
  uint8_t bits; /* 8, 16, 32 or 64 */
} tensmith_dtype;

#define TENSMITH_MAX_DIMS 12

/* A tensor in memory: a view, which owns nothing unless tensmith_buffer_create made it.
 * Element (i0, i1, ...) lies at data + (i0 * strides[0] + i1 * strides[1] + ...) elements.
 * A buffer of no dimensions is a scalar; one with an extent of 0 is empty. */
typedef struct tensmith_buffer {
  void* data;
  const tensmith_device* device; /* where data lives; null means the CPU */
  int32_t ndim;                  /* 0..TENSMITH_MAX_DIMS */
  tensmith_dtype dtype;
  int64_t shape[TENSMITH_MAX_DIMS];
  int64_t strides[TENSMITH_MAX_DIMS]; /* in elements */
} tensmith_buffer;

/* A row-major view of memory that the caller owns. */
TENSMITH_RUNTIME_API tensmith_status tensmith_buffer_view(void* data, const tensmith_device* device,
                                                          tensmith_dtype dtype, int32_t ndim, const int64_t* shape,
                                                          tensmith_buffer* out);

/* A row-major tensor in new, uninitialized memory of `device` (null: the CPU). Give it back with
 * tensmith_buffer_destroy. */
TENSMITH_RUNTIME_API tensmith_status tensmith_buffer_create(const tensmith_device* device, tensmith_dtype dtype,
                                                            int32_t ndim, const int64_t* shape, tensmith_buffer* out);

/* Frees a created buffer's memory and clears the struct, so that a second call does nothing. Null is allowed. */
TENSMITH_RUNTIME_API tensmith_status tensmith_buffer_destroy(tensmith_buffer* buffer);

/* Number of elements; 1 for a scalar. */
TENSMITH_RUNTIME_API int64_t tensmith_buffer_elements(const tensmith_buffer* buffer);

/* Whether the elements lie in row-major order without gaps (strides of extent-1 dimensions do not matter). */
TENSMITH_RUNTIME_API int tensmith_buffer_is_contiguous(const tensmith_buffer* buffer);

/* ---- Threads --------------------------------------------------------------------------------------------------- */

/* One pool serves the whole process. The thread that calls tensmith_parallel_for is always one of its threads, so
 * `n` threads means n - 1 workers; these are started by the first section that can use them, sleep in the kernel
 * between sections (they never spin), and block all signals.
 *
 * fork: the child has the same settings but no workers, and starts its own when it needs them. A child forked from
 * inside a loop body must not return from that body (it may exec or _exit).
 * exit and dlclose: the workers are joined.
 *
 * Linked statically into two shared libraries, the runtime is there twice, with a pool each; link the shared
 * libtensmith_runtime where that matters. */

#define TENSMITH_MAX_THREADS 1024

/* Runs body over [0, extent), split in contiguous chunks, one for each thread and at most `extent` of them, whose sizes
 * differ by one at most. The chunks depend on nothing but the extent and the thread count. Returns when all are done:
 * 0, or the non-zero result of the failing chunk with the lowest begin (a failure does not stop the other chunks).
 *
 * A call from inside a body, or while another thread's section has the pool, or with one thread, runs
 * body(0, extent) in the caller. An extent of 0 or less calls nothing and returns 0.
 *
 * While a body runs, its thread flushes denormals to zero (see tensmith_set_flush_to_zero); the calling thread's own
 * mode is restored afterwards. A body must not throw, longjmp out, or end its thread. */
TENSMITH_RUNTIME_API int tensmith_parallel_for(int64_t extent, int (*body)(int64_t begin, int64_t end, void* closure),
                                               void* closure);

/* Sets the thread count, the caller included, clamped to TENSMITH_MAX_THREADS; 0 or less restores the default, which
 * is the environment's TENSMITH_NUM_THREADS or else the number of physical cores this process may use. Waits for a
 * section of another thread to end; TENSMITH_BUSY from inside one. */
TENSMITH_RUNTIME_API tensmith_status tensmith_set_num_threads(int count);

/* The count of threads that a section may use. If the system refuses to start that many, sections run on fewer. */
TENSMITH_RUNTIME_API int tensmith_get_num_threads(void);

/* Pins the calling thread to cpus[0] and worker i to cpus[i % n], now and after later changes of the count. A null
 * list or n of 0 undoes it: the calling thread gets back the CPUs it had before the first pinning.
 * TENSMITH_NOT_PERMITTED when the system forbids it, TENSMITH_INVALID_ARGUMENT when a CPU does not exist or is not
 * ours to use: in both cases everything goes on as before the call. */
TENSMITH_RUNTIME_API tensmith_status tensmith_pin_threads(const int* cpus, int n);

/* Joins the workers; the next section starts them anew. For a program that is about to unload this library or wants
 * to be single-threaded for a while. TENSMITH_BUSY from inside a section. */
TENSMITH_RUNTIME_API tensmith_status tensmith_stop_threads(void);

/* Sets whether the calling thread reads and writes denormal floats as zero (FTZ and DAZ on x86, FZ on AArch64), and
 * returns what it was before: 1, 0, or -1 where the CPU has no such mode. Denormals cost up to a hundred times the
 * usual, so operators are tuned and timed with them off; call this once in a thread that runs operators that have no
 * parallel loop. */
TENSMITH_RUNTIME_API int tensmith_set_flush_to_zero(int on);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TENSMITH_RUNTIME_RUNTIME_H */
