#include "tensmith/codegen/artifact.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>

#include "codegen/c_expr.h"
#include "codegen/c_names.h"
#include "codegen/c_writer.h"
#include "tensmith/codegen/c_source.h"
#include "tensmith/codegen/storage.h"
#include "tensmith/support/error.h"
#include "tensmith/support/file.h"
#include "tensmith/support/hash.h"

namespace tensmith {

namespace {

/// The value of element `i`, a variable's name, of an input: small and different from its neighbours'.
std::string example_value(DataType type, std::string_view i) {
  if (type.is_bool()) return fmt::format("(uint8_t)({} % 2)", i);
  if (type.code == TypeCode::kBFloat) return fmt::format("(uint16_t)(0x3f80 + {} % 7 * 16) /* 1.0 to 1.75 */", i);
  if (type.is_float() && type.bits == 16) return fmt::format("(uint16_t)(0x3c00 + {} % 7 * 64) /* 1.0 to 1.375 */", i);
  if (type.is_float()) return fmt::format("({})({} % 7) - 3", c_value_type(type), i);
  return fmt::format("({})({} % 7)", c_value_type(type), i);
}

}  // namespace

std::string c_example(const Function& function, std::string_view header, bool supported_entry,
                      std::string_view comment) {
  const std::string_view f = function.name;
  CNames names(f);
  const std::string i = names.fresh("i");
  const bool runtime = uses_runtime(function);
  std::string out = comment.empty() ? "" : c_comment(comment) + "\n";
  out += fmt::format("/* Calls {}. Build with:\n *   cc -std=c11 THIS.c OBJECT.o{} -lm\n */\n", f,
                     runtime ? " -ltensmith_runtime -lpthread" : "");
  out += fmt::format("#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n\n#include \"{}\"\n\n", header);
  out +=
      "/* Memory on the boundary that the operator expects. */\n"
      "static void* ts_make_buffer(size_t bytes) {\n"
      "  void* memory = aligned_alloc(64, (bytes + 63) / 64 * 64 + 64);\n"
      "  if (memory == NULL) {\n"
      "    fprintf(stderr, \"out of memory\\n\");\n"
      "    exit(1);\n"
      "  }\n"
      "  return memory;\n"
      "}\n\n";
  CWriter w;
  w.open("int main(void)");
  if (supported_entry) {
    w.open(fmt::format("if (!{}_supported())", f));
    w.line(fmt::format("fprintf(stderr, \"this CPU lacks instructions that {} was compiled for\\n\");", f));
    w.line("return 1;");
    w.close();
  }
  std::vector<std::string> args;
  const auto add = [&](Buffer b, bool fill) {
    const std::string& name = names.of(b);
    const int64_t size = buffer_size(b);
    w.line(fmt::format("{0}* {1} = ts_make_buffer({2} * sizeof({0}));", c_memory_type(b->type), name, size));
    if (fill)
      w.line(fmt::format("for (size_t {0} = 0; {0} < {1}; ++{0}) {2}[{0}] = {3};", i, size, name,
                         example_value(b->type, i)));
    args.push_back(name);
  };
  for (Buffer b : function.inputs) add(b, true);
  for (Buffer b : function.outputs) add(b, false);
  const std::string status = names.fresh("status");
  w.line(fmt::format("int {} = {}({});", status, f, fmt::join(args, ", ")));
  w.open(fmt::format("if ({} != 0)", status));
  w.line(fmt::format("fprintf(stderr, \"{} failed with status %d\\n\", {});", f, status));
  w.line("return 1;");
  w.close();
  for (Buffer b : function.outputs) {
    const std::string& name = names.of(b);
    const std::string sum = names.fresh("sum_" + name);
    w.line(fmt::format("double {} = 0.0;", sum));
    w.line(
        fmt::format("for (size_t {0} = 0; {0} < {1}; ++{0}) {2} += (double){3}[{0}];", i, buffer_size(b), sum, name));
    w.line(fmt::format("printf(\"sum of {} = %.9g\\n\", {});", b->name, sum));
  }
  for (const std::string& name : args) w.line(fmt::format("free({});", name));
  w.line("return 0;");
  w.close();
  return out + w.take();
}

std::vector<std::filesystem::path> write_artifacts(const ArtifactRequest& request) {
  if (!is_c_identifier(request.name)) {
    throw UserError(fmt::format("file name '{}' is no identifier of C", request.name),
                    "use letters, digits and '_', starting with a letter, and no keyword or name of the C library");
  }
  check_function_names(request.functions);
  TENSMITH_ICHECK(request.main_function < request.functions.size(), "the example needs a function");
  make_directories(request.directory);
  std::vector<std::filesystem::path> written;
  const auto write = [&](std::string_view suffix, std::string_view text) {
    written.push_back(request.directory / fmt::format("{}{}", request.name, suffix));
    write_file(written.back(), text);
  };
  if (!request.object.empty()) write(".o", request.object);
  if (request.header || request.example) {
    CHeaderOptions options;
    options.comment = request.comment;
    options.supported_entry = request.supported_entry;
    write(".h", c_header(request.functions, options));
  }
  if (!request.ll.empty()) write(".ll", request.ll);
  if (!request.assembly.empty()) write(".s", request.assembly);
  if (request.c_source) write(".c", c_source(request.functions, {request.comment}));
  if (request.example) {
    const Function& main = request.functions[request.main_function];
    write("_example.c", c_example(main, request.name + ".h", request.supported_entry, request.comment));
  }
  return written;
}

std::string operator_symbol(std::string_view text) {
  constexpr size_t kLongest = 80;
  std::string name;
  bool exact = true;
  for (char c : text) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
    exact = exact && (plain || c == '_');
    name += plain ? c : '_';
  }
  if (!is_c_identifier(name)) {
    name = "op_" + name;
    exact = false;
  }
  if (name.size() > kLongest) {
    name.resize(kLongest);
    exact = false;
  }
  if (!exact) name += fmt::format("_{:08x}", hash_bytes(text) & 0xffffffffu);
  return name;
}

}  // namespace tensmith
