#include "tensmith/codegen/c_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "codegen/c_function.h"
#include "codegen/c_helpers.h"
#include "codegen/c_writer.h"
#include "tensmith/codegen/storage.h"

namespace tensmith {

namespace {

std::string default_guard(std::span<const Function> functions) {
  std::string guard = functions.empty() ? "operators" : std::string(functions.front().name);
  for (char& c : guard) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return "TENSMITH_" + guard + "_H";
}

/// " *   A: in, float32[3, 4], 48 bytes".
std::string describe(Buffer buffer, std::string_view role) {
  std::string text = fmt::format(" *   {} {}: {}[{}], ", role, buffer->name, to_string(buffer->type),
                                 fmt::join(buffer->shape.begin(), buffer->shape.end(), ", "));
  if (buffer->strides.empty()) {
    text += "row-major";
  } else {
    text += fmt::format("strides in elements [{}]", fmt::join(buffer->strides.begin(), buffer->strides.end(), ", "));
  }
  return text + fmt::format(", {} bytes", buffer_bytes(buffer));
}

}  // namespace

std::string c_source(std::span<const Function> functions, const CSourceOptions& options) {
  check_function_names(functions);
  CHelperSet helpers;
  std::string body;
  for (const Function& function : functions) body += "\n" + c_function_text(function, helpers);
  const std::string head = options.comment.empty() ? "" : c_comment(options.comment) + "\n";
  return head + helpers.preamble() + body;
}

std::string c_header(std::span<const Function> functions, const CHeaderOptions& options) {
  check_function_names(functions);
  const std::string guard = options.guard.empty() ? default_guard(functions) : std::string(options.guard);
  std::string out = options.comment.empty() ? "" : c_comment(options.comment) + "\n";
  out += fmt::format(
      "#ifndef {0}\n#define {0}\n\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n"
      "/* All functions return 0, or a tensmith_status of tensmith/runtime/runtime.h. Every pointer is {1}-byte "
      "aligned;\n"
      " * the regions do not overlap. bool is one byte, 0 or 1; float16 and bfloat16 are their 16 bits. */\n",
      guard, kBufferAlignment);
  for (const Function& function : functions) {
    out += fmt::format("\n/* {}\n", function.name);
    for (Buffer b : function.inputs) out += describe(b, "in ") + "\n";
    for (Buffer b : function.outputs) out += describe(b, "out") + "\n";
    out += uses_runtime(function) ? " * Needs the runtime library: link tensmith_runtime. */\n"
                                  : " * Needs no library of Tensmith. */\n";
    out += fmt::format("int {}({});\n", function.name, c_parameter_list(function, false));
    out +=
        fmt::format("/* The same with the pointers in an array, in that order. */\nint {}_packed(void* const* args);\n",
                    function.name);
    if (options.supported_entry) {
      out += fmt::format(
          "/* 1 when this CPU has all the instructions that {0} uses, 0 when calling it would crash. */\n"
          "int {0}_supported(void);\n",
          function.name);
    }
  }
  return out + "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
}

}  // namespace tensmith
