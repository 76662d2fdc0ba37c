#include "explore/measure/kernel/shim.h"

#include <fmt/format.h>

namespace tensmith {
namespace {

std::string c_type(DataType type) {
  if (type.is_bool()) return "_Bool";
  if (type.is_float()) return type.bits == 64 ? "double" : "float";
  // Macros of the compiler itself: no header of ours comes before those of the source.
  return fmt::format("__{}INT{}_TYPE__", type.is_uint() ? "U" : "", type.bits);
}

std::string quoted(const std::string& path) {
  std::string out;
  for (char c : path) out += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return "\"" + out + "\"";
}

}  // namespace

std::string kernel_shim_source(const KernelSpec& spec) {
  std::string call;
  for (size_t i = 0; i < spec.arguments.size(); ++i) {
    const KernelArgument& argument = spec.arguments[i];
    if (!call.empty()) call += ", ";
    // A pointer without a type fits every parameter that is a pointer, and no other.
    call += argument.is_buffer() ? fmt::format("a[{}]", i) : fmt::format("*({}*)a[{}]", c_type(argument.type), i);
  }
  return fmt::format("#include {}\n#line 1 \"--args\"\nvoid {}(void** a) {{ {}({}); }}\n",
                     quoted(std::filesystem::absolute(spec.source)), kKernelShimName, spec.entry, call);
}

}  // namespace tensmith
