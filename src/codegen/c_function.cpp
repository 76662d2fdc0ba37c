#include "codegen/c_function.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "codegen/c_expr.h"
#include "codegen/c_names.h"
#include "codegen/c_writer.h"
#include "tensmith/codegen/storage.h"
#include "tensmith/ir/arith/affine.h"
#include "tensmith/ir/visit.h"
#include "tensmith/support/error.h"

namespace tensmith {

namespace {

/// Whether lanes of a store, made one after the other, could read what an earlier lane has written.
bool lanes_interfere(const Store& n) {
  const Expr last = n.indices.empty() ? Expr() : n.indices.back();
  const auto* ramp = last.as<Ramp>();
  const bool distinct = ramp != nullptr && as_const_int(ramp->stride).value_or(0) != 0;
  bool found = false;
  const auto look = [&](Expr e) {
    const auto* load = e.as<Load>();
    if (load == nullptr || load->buffer != n.buffer) return;
    bool same = distinct && load->indices.size() == n.indices.size();
    for (size_t i = 0; same && i < n.indices.size(); ++i) same = same_expr(load->indices[i], n.indices[i]);
    found = found || !same;
  };
  walk(n.value, look);
  if (n.predicate) walk(n.predicate, look);
  for (Expr index : n.indices) walk(index, look);
  return found;
}

bool has_parallel_loop(Stmt body) {
  bool found = false;
  if (!body) return false;
  walk(
      body, [](Expr) {},
      [&](Stmt s) {
        const auto* loop = s.as<For>();
        found = found || (loop != nullptr && loop->loop_kind == LoopKind::kParallel);
      });
  return found;
}

std::string declare(std::string_view type, std::string_view name) { return fmt::format("{} {}", type, name); }

class FunctionPrinter {
 public:
  FunctionPrinter(const Function& function, CHelperSet& helpers)
      : function_(function), helpers_(helpers), names_(function.name), exprs_(names_, helpers, ranges_) {
    exprs_.set_flat(accesses_are_flat(function.body));
    for (Buffer b : function.inputs) define(b);
    for (Buffer b : function.outputs) define(b);
    status_ = names_.fresh("status");
    lane_ = names_.fresh("l");
    exprs_.set_lane(lane_);
  }

  std::string print() {
    const std::string signature = fmt::format("int {}({})", function_.name, parameters(true));
    const std::string main = body_text(signature, function_.body, false, [&] {
      if (function_.body) emit(function_.body);
    });
    return outlined_ + main + "\n" + packed_entry();
  }

  std::string parameters(bool restricted) {
    std::vector<std::string> list;
    const std::string_view pointer = restricted ? "* restrict" : "*";
    for (Buffer b : function_.inputs) {
      list.push_back(fmt::format("const {}{} {}", c_memory_type(b->type), pointer, names_.of(b)));
    }
    for (Buffer b : function_.outputs)
      list.push_back(fmt::format("{}{} {}", c_memory_type(b->type), pointer, names_.of(b)));
    return list.empty() ? "void" : fmt::format("{}", fmt::join(list, ", "));
  }

 private:
  void define(Buffer b) {
    if (std::find(buffers_.begin(), buffers_.end(), b) == buffers_.end()) buffers_.push_back(b);
    names_.of(b);
  }
  bool is_input(Buffer b) const {
    return std::find(function_.inputs.begin(), function_.inputs.end(), b) != function_.inputs.end();
  }

  /// A function that allocates what `body` needs from the heap, does what `emit_all` prints, and gives the memory back.
  std::string body_text(const std::string& signature, Stmt body, bool inside_parallel,
                        const std::function<void()>& emit_all) {
    CWriter outer = std::exchange(out_, CWriter());
    const bool was_inside = std::exchange(inside_parallel_, inside_parallel);
    const StoragePlan plan = plan_storage(body, inside_parallel);
    const std::vector<Buffer> outer_heap = std::exchange(heap_, plan.heap);
    const bool can_fail = !plan.heap.empty() || (!inside_parallel && has_parallel_loop(body));

    out_.open(signature);
    if (can_fail) out_.line(fmt::format("int {} = 0;", status_));
    for (Buffer b : plan.heap) {
      helpers_.use_runtime();
      out_.line(fmt::format("{}* restrict {} = NULL;", c_memory_type(b->type), names_.of(b)));
    }
    for (Buffer b : plan.heap) {
      out_.line(fmt::format("{} = tensmith_alloc({});", names_.of(b), buffer_bytes(b)));
      out_.open(fmt::format("if ({} == NULL)", names_.of(b)));
      out_.line(fmt::format("{} = {}; /* out of memory */", status_, kOutOfMemoryStatus));
      out_.line("goto done;");
      out_.close();
    }
    emit_all();
    if (can_fail) {
      out_.line("done:");
      for (size_t i = plan.heap.size(); i-- > 0;) out_.line(fmt::format("tensmith_free({});", names_.of(plan.heap[i])));
    }
    out_.line(fmt::format("return {};", can_fail ? status_ : "0"));
    out_.close();
    std::string text = out_.take();
    out_ = std::move(outer);
    inside_parallel_ = was_inside;
    heap_ = outer_heap;
    return text;
  }

  std::string packed_entry() {
    CWriter out;
    out.open(fmt::format("int {}_packed(void* const* args)", function_.name));
    std::vector<std::string> args;
    for (size_t i = 0; i < function_.inputs.size() + function_.outputs.size(); ++i)
      args.push_back(fmt::format("args[{}]", i));
    if (args.empty()) out.line("(void)args;");
    out.line(fmt::format("return {}({});", function_.name, fmt::join(args, ", ")));
    out.close();
    return out.take();
  }

  void emit(Stmt s) {
    match(
        s, [&](const For& n) { emit_for(n); }, [&](const Store& n) { emit_store(n); },
        [&](const Seq& n) {
          for (Stmt child : n.stmts) emit(child);
        },
        [&](const If& n) { emit_if(n); }, [&](const Let& n) { emit_let(n); },
        [&](const Allocate& n) { emit_allocate(n); }, [&](const Prefetch& n) { emit_prefetch(n); });
  }

  void emit_loop(const For& n, std::string_view begin, std::string_view end) {
    const std::string_view note = n.loop_kind == LoopKind::kUnrolled     ? " /* unrolled */"
                                  : n.loop_kind == LoopKind::kVectorized ? " /* vectorized */"
                                                                         : "";
    RangeScope scope(ranges_);
    ranges_.push_loop(n.var, n.extent);
    out_.open(fmt::format("for ({0} {1} = {2}; {1} < {3}; ++{1}){4}", c_value_type(n.var->type), names_.of(n.var),
                          begin, end, note));
    vars_.push_back(n.var);
    emit(n.body);
    vars_.pop_back();
    out_.close();
    names_.release(n.var);
  }

  void emit_for(const For& n) {
    if (n.loop_kind == LoopKind::kParallel && !inside_parallel_) {
      emit_parallel(n);
    } else {
      emit_loop(n, "0", exprs_.print(n.extent));
    }
  }

  /// The loop becomes a function over a part of its iterations; what it uses from outside travels in a struct.
  void emit_parallel(const For& n) {
    helpers_.use_runtime();
    struct Field {
      std::string type;
      std::string name;
    };
    std::vector<Field> fields;
    const Mentioned all = mentioned_in(n.body);
    for (Buffer b : all.buffers) {
      if (std::find(buffers_.begin(), buffers_.end(), b) == buffers_.end()) continue;
      fields.push_back({fmt::format("{}{}*", is_input(b) ? "const " : "", c_memory_type(b->type)), names_.of(b)});
    }
    for (VarRef v : all.vars) {
      if (std::find(vars_.begin(), vars_.end(), v) == vars_.end()) continue;
      fields.push_back({std::string(c_value_type(v->type)), names_.of(v)});
    }
    const std::string name = fmt::format("{}_parallel{}", function_.name, parallel_count_++);
    const std::string begin = names_.fresh("begin");
    const std::string end = names_.fresh("end");
    const std::string closure = names_.fresh("closure");

    CWriter head;
    head.open(fmt::format("struct {}_closure", name));
    for (const Field& f : fields) head.line(declare(f.type, f.name) + ";");
    if (fields.empty()) head.line("int unused;");
    head.close(";");
    const std::string signature =
        fmt::format("static int {}(int64_t {}, int64_t {}, void* {})", name, begin, end, closure);
    const std::string body = body_text(signature, n.body, true, [&] {
      if (fields.empty()) out_.line(fmt::format("(void){};", closure));
      for (const Field& f : fields) {
        const std::string_view qualifier = f.type.back() == '*' ? " restrict" : "";
        out_.line(fmt::format("{}{} const {} = ((const struct {}_closure*){})->{};", f.type, qualifier, f.name, name,
                              closure, f.name));
      }
      const std::string cast = n.var->type.bits < 64 ? fmt::format("({})", c_value_type(n.var->type)) : "";
      emit_loop(n, fmt::format("{}{}", cast, begin), end);
    });
    outlined_ += head.take() + "\n" + body + "\n";

    std::vector<std::string> values;
    for (const Field& f : fields) values.push_back(f.name);
    if (values.empty()) values.emplace_back("0");
    out_.open("");
    out_.line(fmt::format("struct {}_closure {} = {{{}}};", name, closure, fmt::join(values, ", ")));
    out_.line(fmt::format("{} = tensmith_parallel_for({}, {}, &{});", status_, exprs_.print(n.extent), name, closure));
    out_.line(fmt::format("if ({} != 0) goto done;", status_));
    out_.close();
  }

  void emit_if(const If& n) {
    out_.open(fmt::format("if ({})", exprs_.print(n.condition)));
    {
      RangeScope scope(ranges_);
      ranges_.push_branch(n.condition, true);
      emit(n.then_case);
    }
    if (n.else_case) {
      out_.next("else");
      RangeScope scope(ranges_);
      ranges_.push_branch(n.condition, false);
      emit(n.else_case);
    }
    out_.close();
  }

  void emit_let(const Let& n) {
    if (!exprs_.is_index(n.value)) exprs_.add_data_variable(n.var);
    const std::string value = exprs_.print(n.value);
    RangeScope scope(ranges_);
    if (!n.var->type.is_float()) ranges_.push_let(n.var, n.value);
    out_.line(fmt::format("const {} {} = {};", c_value_type(n.var->type), names_.of(n.var), value));
    vars_.push_back(n.var);
    emit(n.body);
    vars_.pop_back();
  }

  void emit_allocate(const Allocate& n) {
    define(n.buffer);
    const bool on_heap = std::find(heap_.begin(), heap_.end(), n.buffer) != heap_.end();
    if (!on_heap) {
      out_.line(fmt::format("_Alignas({}) {} {}[{}];", kBufferAlignment, c_memory_type(n.buffer->type),
                            names_.of(n.buffer), std::max<int64_t>(buffer_size(n.buffer), 1)));
    }
    emit(n.body);
    std::erase(buffers_, n.buffer);
  }

  void emit_prefetch(const Prefetch& n) {
    out_.line(
        fmt::format("{}(&{}, {});", helpers_.use(CHelper::kPrefetch), exprs_.element(n.buffer, n.indices), n.locality));
  }

  void emit_store(const Store& n) {
    const DataType type = n.value.type();
    const std::string target = exprs_.element(n.buffer, n.indices);
    const std::string value = exprs_.print(n.value);
    const bool guarded = n.predicate && !is_const_int(n.predicate, 1);
    const std::string guard = guarded ? fmt::format("if ({}) ", exprs_.print(n.predicate)) : "";
    if (type.is_scalar()) {
      out_.line(fmt::format("{}{} = {};", guard, target, value));
      return;
    }
    const std::string lanes = fmt::format("for (int64_t {0} = 0; {0} < {1}; ++{0})", lane_, type.lanes);
    if (!lanes_interfere(n)) {
      out_.line(fmt::format("{} {}{} = {};", lanes, guard, target, value));
      return;
    }
    const std::string temporary = names_.fresh("lanes");
    out_.open("");
    out_.line(fmt::format("{} {}[{}];", c_memory_type(type), temporary, type.lanes));
    out_.line(fmt::format("{} {}[{}] = {};", lanes, temporary, lane_, value));
    out_.line(fmt::format("{} {}{} = {}[{}];", lanes, guard, target, temporary, lane_));
    out_.close();
  }

  const Function& function_;
  CHelperSet& helpers_;
  CNames names_;
  VarRanges ranges_;
  CExprPrinter exprs_;
  CWriter out_;
  std::string status_;
  std::string lane_;
  std::string outlined_;         ///< functions of parallel loops
  std::vector<Buffer> buffers_;  ///< in scope
  std::vector<Buffer> heap_;     ///< of the C function being printed
  std::vector<VarRef> vars_;     ///< in scope
  bool inside_parallel_ = false;
  int parallel_count_ = 0;
};

}  // namespace

std::string c_parameter_list(const Function& function, bool restricted) {
  CHelperSet unused;
  return FunctionPrinter(function, unused).parameters(restricted);
}

std::string c_function_text(const Function& function, CHelperSet& helpers) {
  return FunctionPrinter(function, helpers).print();
}

}  // namespace tensmith
