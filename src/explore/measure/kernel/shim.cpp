#include "explore/measure/kernel/shim.h"

#include <fmt/format.h>

#include "tensmith/support/strings.h"

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
    // Each on a line of its own, by which messages tell it.
    call += call.empty() ? "\n" : ",\n";
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
      "__attribute__((__visibility__(\"default\"))) void {}(void** tensmith_argument) {{ {}({}\n); }}\n",
      std::filesystem::absolute(spec.source).string(), kKernelShimName, spec.entry, call);
}

std::string told_of_arguments(const KernelSpec& spec, const std::string& message) {
  constexpr std::string_view kPlace = "--args:";
  if (!message.starts_with(kPlace)) return message;
  const size_t line_end = message.find(':', kPlace.size());
  const size_t text = message.find(": ", kPlace.size());
  const std::optional<int64_t> line = parse_int64(message.substr(kPlace.size(), line_end - kPlace.size()));
  if (!line || text == std::string::npos) return message;
  const std::string rest = message.substr(text);
  // The function itself is sound: what is expected before it is missing in the source.
  if (rest.starts_with(": error: expected ") || rest.starts_with(": error: function definition")) {
    return fmt::format("{}, at its end{}", spec.source.string(), rest);
  }
  const auto argument = static_cast<size_t>(*line - 2);
  if (argument >= spec.arguments.size()) return "--args" + rest;
  return fmt::format("--args: '{}'{}", spec.arguments[argument].given, rest);
}

}  // namespace tensmith
