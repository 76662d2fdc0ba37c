#pragma once

#include <cstdint>
#include <vector>

#include "tensmith/ir/ir.h"

/// What all back ends agree on about memory and its addresses.

namespace tensmith {

/// Every buffer starts on this boundary, in bytes (TENSMITH_ALIGNMENT of runtime.h).
inline constexpr int64_t kBufferAlignment = 64;
/// Stands for TENSMITH_OUT_OF_MEMORY of runtime.h.
inline constexpr int kOutOfMemoryStatus = 2;

/// Bytes from the first element to one past the last.
int64_t buffer_bytes(Buffer buffer);

/// Whether the accesses of a body have one index in elements, rather than one a dimension. As in the interpreter, one
/// access with one index to a buffer of another rank says so for all.
bool accesses_are_flat(Stmt body);

/// Where the scratch buffers of one generated function live, each listed once, in order of first allocation.
struct StoragePlan {
  std::vector<Buffer> stack;  ///< local or shared scope, up to 64 KiB each and 256 KiB in all
  std::vector<Buffer> heap;   ///< all others; from the runtime once per call
};

/// Plan for a function whose body is `body`. The outermost parallel loops become functions of their own, so what they
/// allocate is theirs and not in the plan; with `inside_parallel`, the body is such a loop's, and parallel loops in it
/// are serial.
StoragePlan plan_storage(Stmt body, bool inside_parallel);

/// Variables and buffers that occur in a statement, in order of first occurrence, those defined inside included.
struct Mentioned {
  std::vector<VarRef> vars;
  std::vector<Buffer> buffers;
};
Mentioned mentioned_in(Stmt body);

/// Whether code for the function calls the runtime library: it allocates on the heap or has a parallel loop that runs.
bool uses_runtime(const Function& function);

}  // namespace tensmith
