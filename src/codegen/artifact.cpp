#include "tensmith/codegen/artifact.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>

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

namespace {

/// What compiles and links the example, from the directory of the files.
std::string build_line(const CExampleOptions& options, bool runtime) {
  const char* of_runtime = "PATH/libtensmith_runtime.a -lpthread ";
  std::string line = fmt::format("cc -std=c11 {0}_example.c {0}.{1} {2}-lm -o {0}_example", options.files,
                                 options.object ? "o" : "c", runtime ? of_runtime : "");
  if (runtime && !options.object) line += " -IPATH/include";
  return line;
}

class ExampleWriter {
 public:
  explicit ExampleWriter(std::span<const Function> functions)
      : functions_(functions), names_(functions.front().name), i_(names_.fresh("i")), status_(names_.fresh("status")) {}

  std::string main_function(bool supported_entry) {
    const Function& main = functions_.front();
    w_.open("int main(void)");
    if (supported_entry) {
      w_.open(fmt::format("if (!{}_supported())", main.name));
      w_.line(fmt::format("fprintf(stderr, \"this CPU lacks instructions that {} was compiled for\\n\");", main.name));
      w_.line("return 1;");
      w_.close();
    }
    std::vector<const Function*> calls;
    for (Buffer b : main.inputs) {
      const Function* const pack = pack_of(b);
      if (pack != nullptr) {
        for (Buffer plain : pack->inputs) add(plain, true);
        calls.push_back(pack);
      }
      add(b, pack == nullptr);
    }
    for (Buffer b : main.outputs) add(b, false);
    w_.line(fmt::format("int {};", status_));
    if (!calls.empty()) w_.line("/* Once: what is packed serves all calls. */");
    for (const Function* pack : calls) call(*pack);
    call(main);
    for (Buffer b : main.outputs) {
      const std::string& name = variable(b);
      const std::string sum = names_.fresh("sum_" + name);
      w_.line(fmt::format("double {} = 0.0;", sum));
      w_.line(fmt::format("for (size_t {0} = 0; {0} < {1}; ++{0}) {2} += (double){3}[{0}];", i_, buffer_size(b), sum,
                          name));
      w_.line(fmt::format("printf(\"sum of {} = %.9g\\n\", {});", b->name, sum));
    }
    for (const auto& [operand, name] : by_name_) w_.line(fmt::format("free({});", name));
    w_.line("return 0;");
    w_.close();
    return w_.take();
  }

 private:
  /// The function that makes this operand from a plain one.
  const Function* pack_of(Buffer operand) const {
    for (const Function& f : functions_.subspan(1)) {
      if (f.outputs.size() == 1 && f.outputs[0]->name == operand->name) return &f;
    }
    return nullptr;
  }

  const std::string& variable(Buffer b) const { return by_name_.at(std::string(b->name)); }

  void add(Buffer b, bool fill) {
    const auto [at, is_new] = by_name_.try_emplace(std::string(b->name), names_.of(b));
    if (!is_new) return;
    const std::string& name = at->second;
    const int64_t size = buffer_size(b);
    w_.line(fmt::format("{0}* {1} = ts_make_buffer({2} * sizeof({0}));", c_memory_type(b->type), name, size));
    if (fill) {
      w_.line(fmt::format("for (size_t {0} = 0; {0} < {1}; ++{0}) {2}[{0}] = {3};", i_, size, name,
                          example_value(b->type, i_)));
    }
  }

  void call(const Function& f) {
    std::vector<std::string> args;
    for (Buffer b : f.inputs) args.push_back(variable(b));
    for (Buffer b : f.outputs) args.push_back(variable(b));
    w_.line(fmt::format("{} = {}({});", status_, f.name, fmt::join(args, ", ")));
    w_.open(fmt::format("if ({} != 0)", status_));
    w_.line(fmt::format("fprintf(stderr, \"{} failed with status %d\\n\", {});", f.name, status_));
    w_.line("return 1;");
    w_.close();
  }

  std::span<const Function> functions_;
  CNames names_;
  std::string i_;
  std::string status_;
  CWriter w_;
  /// Variables by the names of operands, which tell that the functions mean the same one.
  std::map<std::string, std::string> by_name_;
};

}  // namespace

std::string c_example(std::span<const Function> functions, const CExampleOptions& options) {
  TENSMITH_ICHECK(!functions.empty(), "the example needs a function");
  const bool runtime = std::any_of(functions.begin(), functions.end(), uses_runtime);
  std::string out = options.comment.empty() ? "" : c_comment(options.comment) + "\n";
  out += fmt::format("/* Calls {}. Build it here with:\n *   {}\n */\n", functions.front().name,
                     build_line(options, runtime));
  out += fmt::format("#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n\n#include \"{}.h\"\n\n",
                     options.files);
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
  return out + ExampleWriter(functions).main_function(options.supported_entry);
}

std::vector<std::filesystem::path> write_artifacts(const ArtifactRequest& request) {
  if (!is_c_identifier(request.name)) {
    throw UserError(fmt::format("file name '{}' is no identifier of C", request.name),
                    "use letters, digits and '_', starting with a letter, and no keyword or name of the C library");
  }
  check_function_names(request.functions);
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
    CExampleOptions options;
    options.files = request.name;
    options.object = !request.object.empty() || !request.c_source;
    options.supported_entry = request.supported_entry;
    options.comment = request.comment;
    write("_example.c", c_example(request.functions, options));
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
