#include "tensmith/ir/print.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/syntax.h"
#include "tensmith/ir/fold.h"
#include "tensmith/ir/visit.h"

namespace tensmith {

namespace {

bool is_number(Expr e) {
  if (!e) return false;
  return e.kind() == ExprKind::kFloatImm || (e.kind() == ExprKind::kIntImm && !e.type().is_bool());
}

std::string float_digits(DataType type, double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::string text;
  if (type.bits == 64) {
    text = fmt::format("{}", value);
  } else if (type.bits == 32) {
    text = fmt::format("{}", static_cast<float>(value));
  } else {
    for (int digits = 1; digits <= 9; ++digits) {
      text = fmt::format("{:.{}g}", value, digits);
      if (round_float(type, std::stod(text)) == value) break;
    }
  }
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

/// What stands for a missing part: broken programs are printed too, in error messages.
constexpr std::string_view kMissing = "<missing>";

class Printer {
 public:
  std::string take() { return std::move(out_); }

  void function(const Function& f) {
    out_ += "func ";
    out_ += to_identifier(f.name);
    out_ += '(';
    bool first = true;
    const auto parameters = [&](const Array<Buffer>& buffers, std::string_view prefix) {
      for (Buffer buffer : buffers) {
        if (!first) out_ += ", ";
        first = false;
        out_ += prefix;
        claim(buffer, buffer->name);
        declaration(buffer);
      }
    };
    parameters(f.inputs, "");
    parameters(f.outputs, "out ");
    out_ += "):\n";
    if (f.body) name_free(f.body);
    block(f.body);
  }

  void top(Expr e) {
    name_free(e);
    expr(e, Precedence::kAny, false);
  }
  void top(Stmt s) {
    if (!s) {
      line();
      out_ += "pass\n";
      return;
    }
    name_free(s);
    stmt(s);
  }
  void top(Buffer buffer) {
    claim(buffer, buffer->name);
    declaration(buffer);
  }

 private:
  // ---- names ----

  /// Gives `node` a name that nothing else in scope has. Returns whether it had none before.
  bool claim(const void* node, std::string_view hint) {
    const auto [it, inserted] = names_.try_emplace(node);
    if (!inserted) return false;
    const std::string base = to_identifier(hint);
    std::string name = base;
    for (int n = 1; !taken_.insert(name).second; ++n) {
      name = fmt::format("{}_{}", base, n);
    }
    it->second = std::move(name);
    return true;
  }
  void release(const void* node) {
    const auto it = names_.find(node);
    taken_.erase(it->second);
    names_.erase(it);
  }
  const std::string& name_of(const void* node, std::string_view hint) {
    claim(node, hint);
    return names_.at(node);
  }

  /// Names what the text uses without defining it, so that no definition takes such a name first.
  void name_free(Expr e) {
    if (!e) return;
    if (const auto* var = e.as<Var>()) {
      if (!bound_.contains(var)) claim(var, var->name);
    } else if (const auto* load = e.as<Load>()) {
      name_free(load->buffer);
    }
    const auto* reduce = e.as<Reduce>();
    std::vector<const void*> added;
    if (reduce != nullptr) {
      for (const ReduceAxis& axis : reduce->axes) {
        if (bound_.insert(axis.var).second) added.push_back(axis.var);
      }
    }
    for_each_child(e, [&](Expr child) { name_free(child); });
    for (const void* var : added) bound_.erase(var);
  }
  void name_free(Buffer buffer) {
    if (buffer != nullptr && !bound_.contains(buffer)) claim(buffer, buffer->name);
  }
  void name_free(Stmt s) {
    if (!s) return;
    const void* defined = nullptr;
    if (const auto* loop = s.as<For>()) {
      defined = loop->var;
      name_free(loop->extent);
    } else if (const auto* let = s.as<Let>()) {
      defined = let->var;
      name_free(let->value);
    } else if (const auto* allocate = s.as<Allocate>()) {
      defined = allocate->buffer;
    } else if (const auto* store = s.as<Store>()) {
      name_free(store->buffer);
    } else if (const auto* prefetch = s.as<Prefetch>()) {
      name_free(prefetch->buffer);
    }
    const bool added = defined != nullptr && bound_.insert(defined).second;
    for_each_child(
        s,
        [&](Expr child) {
          if (defined == nullptr) name_free(child);
        },
        [&](Stmt child) { name_free(child); });
    if (added) bound_.erase(defined);
  }

  // ---- expressions ----

  void number(Expr e, bool adopts_type) {
    const DataType type = e.type();
    if (const auto* f = e.as<FloatImm>()) {
      out_ += float_digits(type, f->value);
    } else {
      const int64_t value = static_cast<const IntImm&>(*e).value;
      out_ += type.is_uint() ? std::to_string(static_cast<uint64_t>(value)) : std::to_string(value);
    }
    if (!adopts_type) out_ += literal_suffix(type);
  }

  /// Two operands of one type, where a lone literal takes the other's.
  void pair(Expr a, Precedence pa, std::string_view between, Expr b, Precedence pb) {
    const bool lone = is_number(a) != is_number(b);
    expr(a, pa, lone);
    out_ += between;
    expr(b, pb, lone);
  }

  void binary(const Binary& n, Precedence place) {
    const Precedence own = precedence_of(n.op);
    const std::string_view symbol = to_string(n.op);
    if (own == Precedence::kPrimary) {
      out_ += symbol;
      out_ += '(';
      pair(n.a, Precedence::kAny, ", ", n.b, Precedence::kAny);
      out_ += ')';
      return;
    }
    const bool wrap = own < place;
    if (wrap) out_ += '(';
    const auto next = tighter(own);
    const std::string between = own == Precedence::kMul ? std::string(symbol) : fmt::format(" {} ", symbol);
    pair(n.a, own == Precedence::kCompare ? next : own, between, n.b, next);
    if (wrap) out_ += ')';
  }

  void access(Buffer buffer, const Array<Expr>& indices, Expr predicate) {
    out_ += buffer != nullptr ? std::string_view(name_of(buffer, buffer->name)) : kMissing;
    out_ += '[';
    list(indices);
    if (predicate) {
      out_ += " if ";
      expr(predicate, Precedence::kAny, false);
    }
    out_ += ']';
  }

  void list(const Array<Expr>& items) {
    for (size_t i = 0; i < items.size(); ++i) {
      if (i > 0) out_ += ", ";
      expr(items[i], Precedence::kAny, false);
    }
  }

  void variable(VarRef var) {
    if (var == nullptr) {
      out_ += kMissing;
      return;
    }
    out_ += name_of(var, var->name);
    if (var->type != kInt64) {
      out_ += ": ";
      out_ += to_string(var->type);
    }
  }

  void reduce(const Reduce& n) {
    out_ += to_string(n.op);
    out_ += '(';
    std::vector<VarRef> claimed;
    for (size_t i = 0; i < n.axes.size(); ++i) {
      if (i > 0) out_ += ", ";
      if (claim(n.axes[i].var, n.axes[i].var->name)) claimed.push_back(n.axes[i].var);
      variable(n.axes[i].var);
      out_ += fmt::format(" in [0, {})", n.axes[i].extent);
    }
    out_ += ": ";
    expr(n.value, Precedence::kAny, false);
    out_ += ')';
    for (VarRef var : claimed) release(var);
  }

  void expr(Expr e, Precedence place, bool adopts_type) {
    if (!e) {
      out_ += kMissing;
      return;
    }
    match(
        e,
        [&](const IntImm& n) {
          if (n.type.is_bool()) {
            out_ += n.value != 0 ? "true" : "false";
          } else {
            number(e, adopts_type);
          }
        },
        [&](const FloatImm&) { number(e, adopts_type); }, [&](const Var& n) { out_ += name_of(&n, n.name); },
        [&](const Cast& n) {
          out_ += to_string(n.type);
          out_ += '(';
          expr(n.value, Precedence::kAny, false);
          out_ += ')';
        },
        [&](const Binary& n) { binary(n, place); },
        [&](const Not& n) {
          const bool wrap = place > Precedence::kNot;
          out_ += wrap ? "(not " : "not ";
          expr(n.value, Precedence::kNot, false);
          if (wrap) out_ += ')';
        },
        [&](const Select& n) {
          out_ += "select(";
          expr(n.condition, Precedence::kAny, false);
          out_ += ", ";
          pair(n.if_true, Precedence::kAny, ", ", n.if_false, Precedence::kAny);
          out_ += ')';
        },
        [&](const Load& n) { access(n.buffer, n.indices, n.predicate); },
        [&](const Ramp& n) {
          out_ += "ramp(";
          pair(n.base, Precedence::kAny, ", ", n.stride, Precedence::kAny);
          out_ += fmt::format(", {})", n.type.lanes);
        },
        [&](const Broadcast& n) {
          out_ += "broadcast(";
          expr(n.value, Precedence::kAny, false);
          out_ += fmt::format(", {})", n.type.lanes);
        },
        [&](const Call& n) {
          out_ += to_string(n.intrinsic);
          out_ += '(';
          list(n.args);
          out_ += ')';
        },
        [&](const Reduce& n) { reduce(n); });
  }

  // ---- statements ----

  void line() { out_.append(static_cast<size_t>(indent_) * 2, ' '); }

  void declaration(Buffer buffer) {
    if (buffer == nullptr) {
      out_ += kMissing;
      return;
    }
    out_ += fmt::format("{}: {}", name_of(buffer, buffer->name), to_string(buffer->type));
    numbers(buffer->shape);
    out_ += ' ';
    out_ += to_string(buffer->scope);
    if (!buffer->strides.empty()) {
      out_ += " strides ";
      numbers(buffer->strides);
    }
  }

  void numbers(const Array<int64_t>& items) {
    out_ += '[';
    for (size_t i = 0; i < items.size(); ++i) {
      if (i > 0) out_ += ", ";
      out_ += std::to_string(items[i]);
    }
    out_ += ']';
  }

  void block(Stmt s) {
    ++indent_;
    if (s) {
      stmt(s);
    } else {
      line();
      out_ += "pass\n";
    }
    --indent_;
  }

  template <typename Head>
  void scoped(const void* node, std::string_view hint, Head&& head, Stmt body) {
    const bool claimed = claim(node, hint);
    line();
    head();
    out_ += ":\n";
    block(body);
    if (claimed) release(node);
  }

  void stmt(Stmt s) {
    if (!s) {
      line();
      out_ += kMissing;
      out_ += '\n';
      return;
    }
    match(
        s,
        [&](const For& n) {
          scoped(
              n.var, n.var != nullptr ? n.var->name : "",
              [&] {
                out_ += to_string(n.loop_kind);
                out_ += ' ';
                variable(n.var);
                out_ += " in [0, ";
                expr(n.extent, Precedence::kAny, true);
                out_ += ')';
              },
              n.body);
        },
        [&](const Store& n) {
          line();
          access(n.buffer, n.indices, n.predicate);
          out_ += " = ";
          expr(n.value, Precedence::kAny, true);
          out_ += '\n';
        },
        [&](const Seq& n) {
          for (Stmt child : n.stmts) stmt(child);
        },
        [&](const If& n) {
          line();
          out_ += "if ";
          expr(n.condition, Precedence::kAny, false);
          out_ += ":\n";
          block(n.then_case);
          if (n.else_case) {
            line();
            out_ += "else:\n";
            block(n.else_case);
          }
        },
        [&](const Let& n) {
          scoped(
              n.var, n.var != nullptr ? n.var->name : "",
              [&] {
                out_ += "let ";
                variable(n.var);
                out_ += " = ";
                expr(n.value, Precedence::kAny, true);
              },
              n.body);
        },
        [&](const Allocate& n) {
          scoped(
              n.buffer, n.buffer != nullptr ? n.buffer->name : "",
              [&] {
                out_ += "alloc ";
                declaration(n.buffer);
              },
              n.body);
        },
        [&](const Prefetch& n) {
          line();
          out_ += "prefetch ";
          access(n.buffer, n.indices, {});
          out_ += fmt::format(" into L{}\n", 4 - n.locality);
        });
  }

  std::string out_;
  int indent_ = 0;
  std::unordered_map<const void*, std::string> names_;
  std::unordered_set<std::string> taken_;
  std::unordered_set<const void*> bound_;
};

}  // namespace

std::string to_string(Expr e) {
  if (!e) return std::string(kMissing);
  Printer printer;
  printer.top(e);
  return printer.take();
}

std::string to_string(Stmt s) {
  Printer printer;
  printer.top(s);
  return printer.take();
}

std::string to_string(const Function& function) {
  Printer printer;
  printer.function(function);
  return printer.take();
}

std::string to_string(Buffer buffer) {
  Printer printer;
  printer.top(buffer);
  return printer.take();
}

}  // namespace tensmith
