#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tensmith/ir/ir.h"

/// Files that are handed to users of an operator that was compiled ahead of time.

namespace tensmith {

/// What to write. Machine code and its texts come from llvm_codegen.h; a text that is empty is not written.
struct ArtifactRequest {
  std::filesystem::path directory;  ///< made when it is missing
  std::string name;                 ///< of the files: NAME.o, NAME.h, NAME.ll, NAME.s, NAME.c, NAME_example.c
  /// The operator, and then what packs its operands (LoweredModule).
  std::span<const Function> functions;

  std::string_view object;
  std::string_view ll;
  std::string_view assembly;
  bool header = false;
  bool c_source = false;
  bool example = false;          ///< also writes the header, which it includes
  bool supported_entry = false;  ///< the object holds NAME_supported (CompileOptions::supported_entry)

  /// Where the code came from (workload, target, record), for the head of the text files.
  std::string comment;
};

/// Writes the files and returns their paths in the order obj, header, ll, asm, c, example. Throws UserError for a name
/// that is no C identifier, WorkError when a file cannot be written.
std::vector<std::filesystem::path> write_artifacts(const ArtifactRequest& request);

struct CExampleOptions {
  std::string_view files;        ///< NAME of the files that it goes with
  bool object = true;            ///< they hold NAME.o; where not, NAME.c
  bool supported_entry = false;  ///< it first asks whether this CPU can run the code
  std::string_view comment;      ///< as in ArtifactRequest
};

/// A C program that fills plain inputs with numbers, packs what the operator wants packed, calls it and prints a sum of
/// each output; how to build it stands at its head. `functions` are as in ArtifactRequest: one that writes an operand
/// of the first function by name makes that operand.
std::string c_example(std::span<const Function> functions, const CExampleOptions& options);

/// A name for an operator's functions from a workload's text: "conv2d:c=64" gives "conv2d_c_64_" and a hash of the
/// text, so that different operators can share a library. A text that is a C identifier already stays as it is.
std::string operator_symbol(std::string_view text);

}  // namespace tensmith
