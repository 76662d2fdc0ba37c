#include "runtime/float_mode.h"

#include "tensmith/runtime/runtime.h"

extern "C" int tensmith_set_flush_to_zero(int on) {
  using namespace tensmith::runtime;
  if (!kHasFlushToZero) return -1;
  const FloatMode before = read_float_mode();
  write_float_mode(on != 0 ? before | kFlushBits : before & ~kFlushBits);
  return (before & kFlushBits) == kFlushBits ? 1 : 0;
}
