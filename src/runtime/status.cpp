#include "tensmith/runtime/runtime.h"

extern "C" const char* tensmith_status_text(int status) {
  switch (status) {
    case TENSMITH_OK: return "success";
    case TENSMITH_INVALID_ARGUMENT: return "invalid argument";
    case TENSMITH_OUT_OF_MEMORY: return "out of memory";
    case TENSMITH_NOT_PERMITTED: return "not permitted by the system";
    case TENSMITH_BUSY: return "not possible inside a parallel section";
    case TENSMITH_UNSUPPORTED: return "not supported by this device";
    case TENSMITH_DEVICE_FAILED: return "the device failed";
    default: return "unknown status";
  }
}
