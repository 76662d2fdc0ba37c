#include <string.h>

#include "tensmith/runtime/runtime.h"

namespace {

const char* cpu_name(const tensmith_device*) { return "cpu"; }

tensmith_status cpu_alloc(const tensmith_device*, size_t bytes, void** out) {
  if (out == nullptr) return TENSMITH_INVALID_ARGUMENT;
  void* pointer = tensmith_alloc(bytes);
  if (pointer == nullptr) return TENSMITH_OUT_OF_MEMORY;
  *out = pointer;
  return TENSMITH_OK;
}

tensmith_status cpu_free(const tensmith_device*, void* pointer) {
  tensmith_free(pointer);
  return TENSMITH_OK;
}

tensmith_status cpu_copy(const tensmith_device*, void* to, const void* from, size_t bytes) {
  if (bytes == 0) return TENSMITH_OK;
  if (to == nullptr || from == nullptr) return TENSMITH_INVALID_ARGUMENT;
  memcpy(to, from, bytes);
  return TENSMITH_OK;
}

tensmith_status cpu_synchronize(const tensmith_device*) { return TENSMITH_OK; }

constexpr tensmith_device_api kCpuApi = {cpu_name, cpu_alloc, cpu_free, cpu_copy, cpu_copy, cpu_synchronize};
constexpr tensmith_device kCpuDevice = {&kCpuApi, nullptr};

}  // namespace

extern "C" const tensmith_device* tensmith_cpu_device(void) { return &kCpuDevice; }
