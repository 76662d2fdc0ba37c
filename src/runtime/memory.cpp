#include <stdlib.h>

#include "tensmith/runtime/runtime.h"

extern "C" void* tensmith_alloc(size_t bytes) {
  if (bytes > SIZE_MAX - TENSMITH_ALIGNMENT) return nullptr;
  // Whole lines, never zero of them: a vector store that ends in the last line stays inside, and 0 bytes have an
  // address.
  const size_t lines = bytes == 0 ? 1 : (bytes + TENSMITH_ALIGNMENT - 1) / TENSMITH_ALIGNMENT;
  return aligned_alloc(TENSMITH_ALIGNMENT, lines * TENSMITH_ALIGNMENT);
}

extern "C" void tensmith_free(void* pointer) { free(pointer); }
