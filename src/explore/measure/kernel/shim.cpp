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

}  // namespace

std::string kernel_shim_source(const KernelSpec& spec) {
  std::string call;
  for (size_t i = 0; i < spec.arguments.size(); ++i) {
    const KernelArgument& argument = spec.arguments[i];
    if (!call.empty()) call += ", ";
    // A pointer without a type fits every parameter that is a pointer, and no other.
    call += argument.is_buffer() ? fmt::format("tensmith_argument[{}]", i)
                                 : fmt::format("*({}*)tensmith_argument[{}]", c_type(argument.type), i);
  }
  // Names that no parameter has, for parameters are macros. Only the shim can be seen from outside, so that a kernel is
  // never mistaken for a function of a library that has its name.
  return fmt::format(
      "#include \"{}\"\n#line 1 \"--args\"\n"
      "__attribute__((__visibility__(\"default\"))) void {}(void** tensmith_argument) {{ {}({}); }}\n",
      std::filesystem::absolute(spec.source).string(), kKernelShimName, spec.entry, call);
}

}  // namespace tensmith
