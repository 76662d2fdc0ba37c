#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tensmith/ir/ir.h"

/// C11 from lowered functions: the second back end, independent of LLVM, and the readable form of generated code.
///
/// A function NAME(in0, ..., out0, ...) becomes `int NAME(const T* in0, ..., T* out0)` and `int NAME_packed(void* const* args)`, and `int NAME_supported(void)`,
/// with the calling convention of codegen/llvm/llvm_codegen.h. Vector operations are loops over lanes, which compilers turn into
/// vectors again. float16 and bfloat16 are held as uint16_t in memory. Compile with -ffp-contract=off for exactly the
/// operations that are written, and link libm; programs with parallel loops or heap scratch need tensmith/runtime/runtime.h.

namespace tensmith {

struct CSourceOptions {
  /// Text put in a comment at the top, such as the workload.
  std::string_view comment;
};

/// Source of all functions. They must be flattened or not; reductions must be lowered. Throws InternalError otherwise, and
/// UserError for names that are no C identifiers.
std::string c_source(std::span<const Function> functions, const CSourceOptions& options = {});

/// A header with the declarations, usable from C and C++, which tells shapes, element types and alignment.
std::string c_header(std::span<const Function> functions, std::string_view guard, const CSourceOptions& options = {});

/// A small C program that includes `header`, packs what is packed ahead, calls `main` on made-up data and prints a sum of each output.
std::string c_example(const Function& main, std::span<const Function> packs, std::string_view header);

}  // namespace tensmith
