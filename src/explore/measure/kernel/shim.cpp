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

/// Whether elements of a type are written in one way only: `long` and `long long` are not the same, nor are the types
/// that people have for booleans and for halves.
bool has_one_c_type(DataType type) { return !type.is_bool() && (type.is_float() ? type.bits >= 32 : type.bits <= 32); }

}  // namespace

std::string kernel_shim_source(const KernelSpec& spec) {
  std::string call;
  for (size_t i = 0; i < spec.arguments.size(); ++i) {
    const KernelArgument& argument = spec.arguments[i];
    if (!call.empty()) call += ", ";
    if (argument.is_buffer() && !has_one_c_type(argument.type)) {
      // A pointer without a type fits every parameter that is a pointer, and no other.
      call += fmt::format("tensmith_argument[{}]", i);
    } else {
      call += fmt::format("{}({}*)tensmith_argument[{}]", argument.is_buffer() ? "" : "*", c_type(argument.type), i);
    }
  }
  // Names that no parameter has, for parameters are macros. Only the shim can be seen from outside, so that a kernel is
  // never mistaken for a function of a library that has its name.
  return fmt::format(
      "#include \"{}\"\n"
      // A number that its parameter cannot hold is a mistake in --args; a sign is not.
      "#pragma GCC diagnostic error \"-Wconversion\"\n"
      "#pragma GCC diagnostic ignored \"-Wsign-conversion\"\n#line 1 \"--args\"\n"
      "__attribute__((__visibility__(\"default\"))) void {}(void** tensmith_argument) {{ {}({}); }}\n",
      std::filesystem::absolute(spec.source).string(), kKernelShimName, spec.entry, call);
}

}  // namespace tensmith
