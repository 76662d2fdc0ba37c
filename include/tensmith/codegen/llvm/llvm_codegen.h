#pragma once

#include <span>
#include <string>

#include "tensmith/ir/ir.h"
#include "tensmith/schedule/target.h"

/// Machine code from lowered functions, through LLVM.
///
/// Calling convention. A function NAME(in0, ..., out0, ...) becomes these symbols of the C ABI:
///   int NAME(void* in0, ..., void* out0)    the operator
///   int NAME_packed(void* const* args)      the same with the pointers in an array, in the same order
///   int NAME_supported(void)                1 when the CPU that runs it has all the features the code was made for
///                                           (with CompileOptions::supported_entry)
/// Both entries return 0, or a tensmith_status of runtime.h when scratch memory cannot be had or a parallel section
/// fails. Every pointer is 64-byte aligned and the regions do not overlap.
///
/// Undefined symbols of the object: tensmith_alloc and tensmith_free when the function has scratch buffers on the heap,
/// tensmith_parallel_for when it has a parallel loop (all of runtime.h), memory functions (memset, memcpy) and
/// functions of libm for the intrinsics that no instruction computes.
///
/// What is kept of the schedule. Loops are neither unrolled, vectorized, interchanged nor split by LLVM; kUnrolled
/// loops of constant extent that are still there are expanded; a vectorized loop that is still there runs serially.
/// Nested parallel loops run serially inside the outermost. Buffers of local scope up to 64 KiB stand on the stack (and
/// become registers when all their indices are constant), all others come from the runtime once per call.
namespace tensmith {

struct CompileOptions {
  bool object = true;     ///< fill CompiledModule::object
  bool ll = false;        ///< fill CompiledModule::ll
  bool assembly = false;  ///< fill CompiledModule::assembly
  /// Add NAME_supported, for code that is shipped to other machines.
  bool supported_entry = false;
};

struct CompiledModule {
  std::string object;    ///< bytes of a relocatable object file (ELF), position-independent
  std::string ll;        ///< LLVM IR after our passes
  std::string assembly;  ///< what the object holds, as text

  /// Seconds in each phase.
  double emit_seconds = 0.0;      ///< our IR to LLVM IR
  double optimize_seconds = 0.0;  ///< LLVM IR passes
  double generate_seconds = 0.0;  ///< instruction selection, register allocation, encoding
};

/// Compiles `functions` into one module. Names must be C identifiers, different from each other. Indices may be
/// flattened (one per access) or not. Thread-safe: nothing is shared between calls.
/// Throws UserError for a bad name or a target that LLVM does not know, InternalError for IR that the verifier rejects.
CompiledModule compile(std::span<const Function> functions, const Target& target, const CompileOptions& options = {});

/// The version of the LLVM that is linked, for records: "19.1.7".
std::string llvm_version();

}  // namespace tensmith
