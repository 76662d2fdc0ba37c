#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tensmith/ir/ir.h"

/// C source from lowered functions: the readable form of a program, and a second back end.
///
/// The text is C11 without extensions; a vector operation is a loop over its lanes, which compilers turn back into one.
/// It keeps the semantics of ir.h exactly: floor division, wrapping integers, saturating conversions, 16-bit floats
/// through float32, lazy selects. Whether a product that is added is contracted is the C compiler's choice
/// (`-ffp-contract=off` or `fast`).
///
/// Each function NAME becomes `int NAME(const T* in0, ..., T* out0)`, which is compatible with the machine code of
/// llvm_codegen.h, and `int NAME_packed(void* const* args)`. A file stands alone, except that heap memory and parallel
/// loops need the runtime library: only then tensmith/runtime/runtime.h is included.

namespace tensmith {

struct CSourceOptions {
  /// Text of a comment at the head of the file, such as where the schedule came from; may be empty.
  std::string_view comment;
};

/// Source text of one file with all the functions. Throws UserError for names that are no C identifiers or are not
/// different from each other.
std::string c_source(std::span<const Function> functions, const CSourceOptions& options = {});

struct CHeaderOptions {
  std::string_view guard;        ///< macro of the include guard; empty makes one of the first function's name
  std::string_view comment;      ///< as in CSourceOptions
  bool supported_entry = false;  ///< declare NAME_supported as well
};

/// Header for the functions, usable from C and C++, that tells every parameter's type, shape, layout in memory and
/// size.
std::string c_header(std::span<const Function> functions, const CHeaderOptions& options = {});

/// Whether `name` can be the name of a function in C and C++: an identifier that starts with a letter, no keyword, no
/// name of the C library or the runtime, and no "ts_...", which are helpers of generated text.
bool is_c_identifier(std::string_view name);
/// Throws UserError unless all names are C identifiers in that sense, different from each other and from the names that
/// come with the other functions (NAME_packed, NAME_supported, NAME_parallel0).
void check_function_names(std::span<const Function> functions);

}  // namespace tensmith
