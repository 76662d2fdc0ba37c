#include <string.h>

#include "tensmith/runtime/runtime.h"

namespace {

bool is_element_type(tensmith_dtype dtype) {
  switch (dtype.code) {
    case TENSMITH_TYPE_INT:
    case TENSMITH_TYPE_UINT: return dtype.bits == 8 || dtype.bits == 16 || dtype.bits == 32 || dtype.bits == 64;
    case TENSMITH_TYPE_FLOAT: return dtype.bits == 16 || dtype.bits == 32 || dtype.bits == 64;
    case TENSMITH_TYPE_BFLOAT: return dtype.bits == 16;
    case TENSMITH_TYPE_BOOL: return dtype.bits == 8;
    default: return false;
  }
}

// Fills a row-major description without data and computes its size, which must be addressable.
tensmith_status describe(const tensmith_device* device, tensmith_dtype dtype, int32_t ndim, const int64_t* shape,
                         tensmith_buffer* out, int64_t* bytes) {
  if (ndim < 0 || ndim > TENSMITH_MAX_DIMS || (ndim > 0 && shape == nullptr)) return TENSMITH_INVALID_ARGUMENT;
  if (!is_element_type(dtype)) return TENSMITH_INVALID_ARGUMENT;
  memset(out, 0, sizeof *out);
  out->device = device;
  out->ndim = ndim;
  out->dtype = dtype;
  int64_t elements = 1;
  for (int32_t d = ndim; d-- > 0;) {
    if (shape[d] < 0) return TENSMITH_INVALID_ARGUMENT;
    out->shape[d] = shape[d];
    out->strides[d] = elements;
    if (__builtin_mul_overflow(elements, shape[d], &elements)) return TENSMITH_INVALID_ARGUMENT;
  }
  if (__builtin_mul_overflow(elements, static_cast<int64_t>(dtype.bits / 8), bytes)) return TENSMITH_INVALID_ARGUMENT;
  return TENSMITH_OK;
}

const tensmith_device* device_or_cpu(const tensmith_device* device) {
  return device != nullptr ? device : tensmith_cpu_device();
}

}  // namespace

extern "C" tensmith_status tensmith_buffer_view(void* data, const tensmith_device* device, tensmith_dtype dtype,
                                                int32_t ndim, const int64_t* shape, tensmith_buffer* out) {
  if (out == nullptr) return TENSMITH_INVALID_ARGUMENT;
  tensmith_buffer buffer;
  int64_t bytes = 0;
  const tensmith_status status = describe(device, dtype, ndim, shape, &buffer, &bytes);
  if (status != TENSMITH_OK) return status;
  if (data == nullptr && bytes != 0) return TENSMITH_INVALID_ARGUMENT;
  buffer.data = data;
  *out = buffer;
  return TENSMITH_OK;
}

extern "C" tensmith_status tensmith_buffer_create(const tensmith_device* device, tensmith_dtype dtype, int32_t ndim,
                                                  const int64_t* shape, tensmith_buffer* out) {
  if (out == nullptr) return TENSMITH_INVALID_ARGUMENT;
  tensmith_buffer buffer;
  int64_t bytes = 0;
  tensmith_status status = describe(device, dtype, ndim, shape, &buffer, &bytes);
  if (status != TENSMITH_OK) return status;
  const tensmith_device* owner = device_or_cpu(device);
  status = owner->api->alloc(owner, static_cast<size_t>(bytes), &buffer.data);
  if (status != TENSMITH_OK) return status;
  *out = buffer;
  return TENSMITH_OK;
}

extern "C" tensmith_status tensmith_buffer_destroy(tensmith_buffer* buffer) {
  if (buffer == nullptr) return TENSMITH_OK;
  const tensmith_device* owner = device_or_cpu(buffer->device);
  const tensmith_status status = owner->api->free(owner, buffer->data);
  memset(buffer, 0, sizeof *buffer);
  return status;
}

extern "C" int64_t tensmith_buffer_elements(const tensmith_buffer* buffer) {
  int64_t elements = 1;
  for (int32_t d = 0; d < buffer->ndim; ++d) elements *= buffer->shape[d];
  return elements;
}

extern "C" int tensmith_buffer_is_contiguous(const tensmith_buffer* buffer) {
  int64_t expected = 1;
  for (int32_t d = buffer->ndim; d-- > 0;) {
    if (buffer->shape[d] == 0) return 1;
    if (buffer->shape[d] != 1 && buffer->strides[d] != expected) return 0;
    expected *= buffer->shape[d];
  }
  return 1;
}
