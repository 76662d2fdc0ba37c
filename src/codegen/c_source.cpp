#include "tensmith/codegen/c_source.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "codegen/c_expr.h"
#include "codegen/c_names.h"
#include "tensmith/ir/visit.h"
#include "tensmith/support/error.h"

namespace tensmith {
namespace {

using c::ExprWriter;
using c::Names;

/// Local buffers up to this size stand on the stack.
constexpr int64_t kMaxStackBytes = 64 << 10;

int64_t bytes_of(Buffer buffer) { return std::max<int64_t>(1, buffer_size(buffer)) * buffer->type.element_bytes(); }

/// Whether a buffer comes from the runtime's allocator.
bool on_heap(Buffer buffer) { return buffer->scope != MemoryScope::kLocal || bytes_of(buffer) > kMaxStackBytes; }

/// Variables and buffers that a statement uses and does not define.
struct Captures {
  std::vector<VarRef> vars;
  std::vector<Buffer> buffers;
};

class CaptureFinder {
 public:
  Captures find(const For& loop) {
    bound_.push_back(loop.var);
    visit(loop.body);
    return captures_;
  }

 private:
  template <typename T>
  void add(std::vector<T>& list, T item) {
    if (std::find(bound_.begin(), bound_.end(), static_cast<const void*>(item)) == bound_.end() &&
        std::find(list.begin(), list.end(), item) == list.end()) {
      list.push_back(item);
    }
  }

  void visit(Stmt s) {
    if (const auto* loop = s.as<For>()) bound_.push_back(loop->var);
    if (const auto* let = s.as<Let>()) bound_.push_back(let->var);
    if (const auto* allocate = s.as<Allocate>()) bound_.push_back(allocate->buffer);
    if (const auto* store = s.as<Store>()) add(captures_.buffers, store->buffer);
    if (const auto* prefetch = s.as<Prefetch>()) add(captures_.buffers, prefetch->buffer);
    for_each_child(s, [&](Expr e) { visit(e); }, [&](Stmt child) { visit(child); });
  }

  void visit(Expr e) {
    walk(e, [&](Expr x) {
      if (const auto* var = x.as<Var>()) add(captures_.vars, var);
      if (const auto* load = x.as<Load>()) add(captures_.buffers, load->buffer);
    });
  }

  std::vector<const void*> bound_;
  Captures captures_;
};

class FunctionWriter {
 public:
  explicit FunctionWriter(const Function& function) : function_(function), exprs_(names_) {}

  /// The function and, before it, the bodies of its parallel loops.
  std::string write() {
    const std::string signature = this->signature();
    if (function_.body) {
      stmt(function_.body, 1);
    }
    line(1, "return 0;");
    const std::string main = fmt::format("int {}({}) {{\n{}}}\n", function_.name, signature, body_);
    return outlined_ + main + packed();
  }

  std::string helpers() const { return exprs_.helpers(); }
  bool uses_runtime() const { return uses_runtime_; }
  bool uses_prefetch() const { return uses_prefetch_; }

 private:
  std::string signature() {
    std::vector<std::string> parameters;
    for (Buffer b : function_.inputs) parameters.push_back(fmt::format("const {}* restrict {}", c::memory_type(b->type), names_.of(b)));
    for (Buffer b : function_.outputs) parameters.push_back(fmt::format("{}* restrict {}", c::memory_type(b->type), names_.of(b)));
    return parameters.empty() ? "void" : fmt::format("{}", fmt::join(parameters, ", "));
  }

  std::string packed() const {
    std::vector<std::string> arguments;
    for (size_t i = 0; i < function_.inputs.size() + function_.outputs.size(); ++i) {
      arguments.push_back(fmt::format("args[{}]", i));
    }
    return fmt::format(
        "int {0}_packed(void* const* args) {{\n{2}  return {0}({1});\n}}\n/* The compiler of this file decides what CPU it needs. */\nint "
        "{0}_supported(void) {{ return 1; }}\n",
        function_.name, fmt::join(arguments, ", "), arguments.empty() ? "  (void)args;\n" : "");
  }

  void line(int depth, const std::string& text) { body_ += std::string(static_cast<size_t>(2 * depth), ' ') + text + "\n"; }

  void stmt(Stmt s, int depth) {
    match(
        s, [&](const For& n) { loop(n, depth); }, [&](const Store& n) { store(n, depth); },
        [&](const Seq& n) {
          for (Stmt child : n.stmts) stmt(child, depth);
        },
        [&](const If& n) {
          line(depth, fmt::format("if ({}) {{", exprs_.write(n.condition)));
          inside(n.condition, true, n.then_case, depth);
          if (n.else_case) {
            line(depth, "} else {");
            inside(n.condition, false, n.else_case, depth);
          }
          line(depth, "}");
        },
        [&](const Let& n) {
          line(depth, "{");
          line(depth + 1, fmt::format("const {} {} = {};", c::value_type(n.var->type), names_.of(n.var), exprs_.write(n.value)));
          RangeScope scope(exprs_.ranges());
          exprs_.ranges().push_let(n.var, n.value);
          stmt(n.body, depth + 1);
          line(depth, "}");
        },
        [&](const Allocate& n) { allocate(n, depth); },
        [&](const Prefetch& n) {
          uses_prefetch_ = true;
          line(depth, fmt::format("TS_PREFETCH({} + {}, {});", names_.of(n.buffer), exprs_.index(n.buffer, n.indices, {}), n.locality));
        });
  }

  void inside(Expr condition, bool holds, Stmt s, int depth) {
    RangeScope scope(exprs_.ranges());
    exprs_.ranges().push_fact(condition, holds);
    stmt(s, depth + 1);
  }

  void loop(const For& n, int depth) {
    if (n.loop_kind == LoopKind::kParallel && !in_parallel_) {
      parallel(n, depth);
      return;
    }
    const std::string& var = names_.of(n.var);
    line(depth, fmt::format("for ({} {} = 0; {} < {}; ++{}) {{", c::value_type(n.var->type), var, var, exprs_.write(n.extent), var));
    RangeScope scope(exprs_.ranges());
    exprs_.ranges().push_loop(n.var, n.extent);
    stmt(n.body, depth + 1);
    line(depth, "}");
  }

  void store(const Store& n, int depth) {
    const int lanes = n.value.type().lanes;
    const auto assignment = [&](const std::string& lane) {
      return fmt::format("{}[{}] = {};", names_.of(n.buffer), exprs_.index(n.buffer, n.indices, lane),
                         exprs_.to_memory(n.buffer->type, exprs_.write(n.value, lane)));
    };
    if (lanes == 1) {
      line(depth, (n.predicate ? fmt::format("if ({}) ", exprs_.write(n.predicate)) : std::string()) + assignment({}));
      return;
    }
    const std::string lane = names_.fresh("lane");
    line(depth, fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) {2}{3}", lane, lanes,
                            n.predicate ? fmt::format("if ({}) ", exprs_.write(n.predicate, lane)) : std::string(), assignment(lane)));
  }

  void allocate(const Allocate& n, int depth) {
    const std::string& name = names_.of(n.buffer);
    const std::string_view type = c::memory_type(n.buffer->type);
    line(depth, "{");
    if (!on_heap(n.buffer)) {
      line(depth + 1, fmt::format("_Alignas(64) {} {}[{}];", type, name, std::max<int64_t>(1, buffer_size(n.buffer))));
      stmt(n.body, depth + 1);
    } else {
      uses_runtime_ = true;
      line(depth + 1, fmt::format("{}* {} = tensmith_alloc({});", type, name, bytes_of(n.buffer)));
      line(depth + 1, fmt::format("if ({} == NULL) {{ {}return TENSMITH_OUT_OF_MEMORY; }}", name, free_all()));
      live_.push_back(name);
      stmt(n.body, depth + 1);
      live_.pop_back();
      line(depth + 1, fmt::format("tensmith_free({});", name));
    }
    line(depth, "}");
  }

  std::string free_all() const {
    std::string out;
    for (const std::string& name : live_) out += fmt::format("tensmith_free({}); ", name);
    return out;
  }

  /// The loop becomes a function of a range of iterations and a struct of what it uses from outside.
  void parallel(const For& n, int depth) {
    uses_runtime_ = true;
    const Captures captures = CaptureFinder().find(n);
    const std::string base = names_.fresh(fmt::format("{}_parallel", function_.name));
    std::string fields, load, fill;
    const auto add = [&](const std::string& type, const std::string& name, bool is_pointer) {
      fields += fmt::format("  {} {};\n", type, name);
      load += fmt::format("  {}{} {} = captured->{};\n", type, is_pointer ? " restrict" : "", name, name);
      fill += (fill.empty() ? "" : ", ") + name;
    };
    for (Buffer b : captures.buffers) {
      const bool is_input = std::find(function_.inputs.begin(), function_.inputs.end(), b) != function_.inputs.end();
      add(fmt::format("{}{}*", is_input ? "const " : "", c::memory_type(b->type)), names_.of(b), true);
    }
    for (VarRef v : captures.vars) {
      add(std::string(c::value_type(v->type)), names_.of(v), false);
    }
    std::string before = std::move(body_);
    std::vector<std::string> outer_live;
    std::swap(live_, outer_live);
    body_.clear();
    in_parallel_ = true;
    const std::string& var = names_.of(n.var);
    line(1, fmt::format("for ({} {} = begin; {} < end; ++{}) {{", c::value_type(n.var->type), var, var, var));
    {
      RangeScope scope(exprs_.ranges());
      exprs_.ranges().push_loop(n.var, n.extent);
      stmt(n.body, 2);
    }
    line(1, "}");
    line(1, "return 0;");
    in_parallel_ = false;
    outlined_ += fmt::format(
        "struct {0}_captures {{\n{1}}};\nstatic int {0}(int64_t begin, int64_t end, void* closure) {{\n  const struct {0}_captures* captured = closure;\n{2}{3}}}\n",
        base, fields.empty() ? "  int unused;\n" : fields, fields.empty() ? "  (void)captured;\n" : load, body_);
    body_ = std::move(before);
    std::swap(live_, outer_live);
    line(depth, "{");
    line(depth + 1, fmt::format("struct {0}_captures captured = {{{1}}};", base, fill.empty() ? "0" : fill));
    line(depth + 1, fmt::format("const int status = tensmith_parallel_for({}, {}, &captured);", exprs_.write(n.extent), base));
    line(depth + 1, fmt::format("if (status != 0) {{ {}return status; }}", free_all()));
    line(depth, "}");
  }

  const Function& function_;
  Names names_;
  ExprWriter exprs_;
  std::string body_;
  std::string outlined_;
  std::vector<std::string> live_;  ///< heap buffers allocated around the current statement
  bool in_parallel_ = false;
  bool uses_runtime_ = false;
  bool uses_prefetch_ = false;
};

void check_names(std::span<const Function> functions) {
  std::vector<std::string_view> names;
  for (const Function& f : functions) {
    if (!c::is_identifier(f.name)) {
      throw UserError(fmt::format("'{}' cannot be the name of a function in C", f.name), "use letters, digits and underscores");
    }
    if (std::find(names.begin(), names.end(), f.name) != names.end()) {
      throw UserError(fmt::format("two functions are named '{}'", f.name), "give each its own name");
    }
    names.push_back(f.name);
  }
}

std::string comment_of(const CSourceOptions& options) {
  return options.comment.empty() ? std::string() : fmt::format("/* {} */\n", options.comment);
}

std::string shape_text(Buffer b) {
  return fmt::format("{} [{}]", to_string(b->type), fmt::join(b->shape.begin(), b->shape.end(), ", "));
}

}  // namespace

std::string c_source(std::span<const Function> functions, const CSourceOptions& options) {
  check_names(functions);
  std::string bodies, helpers;
  bool runtime = false, prefetch = false;
  for (const Function& f : functions) {
    FunctionWriter writer(f);
    bodies += "\n" + writer.write();
    // Helpers are named by what they do, so the same text may come from several functions.
    const std::string needed = writer.helpers();
    for (size_t start = 0; start < needed.size();) {
      size_t end = needed.find("\nstatic", start);
      end = end == std::string::npos ? needed.size() : end + 1;
      const std::string one = needed.substr(start, end - start);
      if (helpers.find(one) == std::string::npos) helpers += one;
      start = end;
    }
    runtime |= writer.uses_runtime();
    prefetch |= writer.uses_prefetch();
  }
  std::string out = comment_of(options) + "#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n";
  if (runtime) out += "\n#include \"tensmith/runtime/runtime.h\"\n";
  if (prefetch) {
    out +=
        "\n#if defined(__GNUC__)\n#define TS_PREFETCH(address, locality) __builtin_prefetch((address), 0, (locality))\n#else\n"
        "#define TS_PREFETCH(address, locality) ((void)0)\n#endif\n";
  }
  if (!helpers.empty()) out += "\n" + helpers;
  return out + bodies;
}

std::string c_header(std::span<const Function> functions, std::string_view guard, const CSourceOptions& options) {
  check_names(functions);
  std::string out = fmt::format("{}#ifndef {}\n#define {}\n\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n", comment_of(options), guard, guard);
  for (const Function& f : functions) {
    Names names;
    std::vector<std::string> parameters;
    out += "\n/*\n";
    for (Buffer b : f.inputs) {
      out += fmt::format(" * {}: input, {}\n", names.of(b), shape_text(b));
      parameters.push_back(fmt::format("const {}* {}", c::memory_type(b->type), names.of(b)));
    }
    for (Buffer b : f.outputs) {
      out += fmt::format(" * {}: output, {}\n", names.of(b), shape_text(b));
      parameters.push_back(fmt::format("{}* {}", c::memory_type(b->type), names.of(b)));
    }
    out += fmt::format(
        " * Row-major, aligned to 64 bytes, not overlapping. Returns 0, or a tensmith_status of tensmith/runtime/runtime.h.\n */\nint {}({});\n",
        f.name, parameters.empty() ? "void" : fmt::format("{}", fmt::join(parameters, ", ")));
    out += fmt::format("/* The same with the pointers in an array, in the same order. */\nint {0}_packed(void* const* args);\n"
                       "/* 1 when the CPU that runs this has all the features the code was made for. */\nint {0}_supported(void);\n",
                       f.name);
  }
  return out + "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
}

std::string c_example(const Function& main, std::span<const Function> packs, std::string_view header) {
  std::string out = fmt::format(
      "/* Calls {0} on made-up data. Build: cc -std=c11 THIS.c {0}.o -ltensmith_runtime -lm */\n#include <stdio.h>\n#include <stdint.h>\n\n#include "
      "\"tensmith/runtime/runtime.h\"\n#include \"{1}\"\n\n",
      main.name, header);
  out +=
      "static void* make(int64_t elements, int64_t element_bytes) {\n  void* p = tensmith_alloc((size_t)(elements * element_bytes));\n  if (p == NULL) {\n    "
      "fprintf(stderr, \"out of memory\\n\");\n  }\n  return p;\n}\n\nint main(void) {\n  int status = 0;\n";
  out += fmt::format("  if (!{}_supported()) {{\n    fprintf(stderr, \"this CPU lacks features that the code needs\\n\");\n    return 2;\n  }}\n", main.name);
  std::vector<std::string> made;
  const auto declare = [&](Buffer b) {
    const std::string name = fmt::format("buffer_{}", b->name);
    if (std::find(made.begin(), made.end(), name) == made.end()) {
      made.push_back(name);
      const int64_t elements = std::max<int64_t>(1, buffer_size(b));
      out += fmt::format("  {0}* {1} = make({2}, sizeof *{1});\n  if ({1} == NULL) return 1;\n  for (int64_t i = 0; i < {2}; ++i) {1}[i] = ({0})(i % 7);\n",
                         c::memory_type(b->type), name, elements);
    }
    return name;
  };
  const auto call = [&](const Function& f, const char* what) {
    std::vector<std::string> arguments;
    for (Buffer b : f.inputs) arguments.push_back(declare(b));
    for (Buffer b : f.outputs) arguments.push_back(declare(b));
    out += fmt::format("  status = {}({}); /* {} */\n  if (status != 0) {{\n    fprintf(stderr, \"%s\\n\", tensmith_status_text(status));\n    return 1;\n  }}\n",
                       f.name, fmt::join(arguments, ", "), what);
  };
  for (const Function& pack : packs) call(pack, "once");
  call(main, "as often as needed");
  for (Buffer b : main.outputs) {
    out += fmt::format("  {{\n    double sum = 0;\n    for (int64_t i = 0; i < {1}; ++i) sum += (double)buffer_{0}[i];\n    printf(\"{0}: sum %g\\n\", sum);\n  }}\n", b->name, buffer_size(b));
  }
  for (const std::string& name : made) out += fmt::format("  tensmith_free({});\n", name);
  return out + "  return 0;\n}\n";
}

}  // namespace tensmith
