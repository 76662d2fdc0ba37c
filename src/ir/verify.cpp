#include "tensmith/ir/verify.h"

#include <fmt/format.h>

#include <bit>
#include <optional>
#include <unordered_set>

#include "tensmith/ir/print.h"
#include "tensmith/ir/visit.h"

namespace tensmith {

namespace {

constexpr size_t kMostProblems = 20;
constexpr size_t kLongestExcerpt = 200;

std::string shorten(std::string_view text) {
  text = text.substr(0, text.find('\n'));
  return text.size() <= kLongestExcerpt ? std::string(text) : fmt::format("{}...", text.substr(0, kLongestExcerpt));
}

/// The expression that its checked factory makes of the same parts.
Expr remade(Expr e) {
  return match(
      e, [](const IntImm& n) { return make_int(n.type, n.value); },
      [](const FloatImm& n) { return make_float(n.type, n.value); }, [&](const Var&) { return e; },
      [](const Cast& n) { return make_cast(n.type, n.value); },
      [](const Binary& n) { return make_binary(n.op, n.a, n.b); }, [](const Not& n) { return make_not(n.value); },
      [](const Select& n) { return make_select(n.condition, n.if_true, n.if_false); },
      [](const Load& n) { return make_load(n.buffer, n.indices, n.predicate); },
      [](const Ramp& n) { return make_ramp(n.base, n.stride, n.type.lanes); },
      [](const Broadcast& n) { return make_broadcast(n.value, n.type.lanes); },
      [](const Call& n) { return make_call(n.intrinsic, n.args); },
      [](const Reduce& n) { return make_reduce(n.op, n.axes, n.value); });
}

void remake(Stmt s) {
  match(
      s, [](const For& n) { make_for(n.var, n.extent, n.loop_kind, n.body); },
      [](const Store& n) { make_store(n.buffer, n.indices, n.value, n.predicate); }, [](const Seq&) {},
      [](const If& n) { make_if(n.condition, n.then_case, n.else_case); },
      [](const Let& n) { make_let(n.var, n.value, n.body); },
      [](const Allocate& n) { make_allocate(n.buffer, n.body); },
      [](const Prefetch& n) { make_prefetch(n.buffer, n.indices, n.locality); });
}

class Verifier {
 public:
  explicit Verifier(VerifyStage stage) : stage_(stage) {}

  std::vector<Problem> run(const Function& f) {
    for (const Array<Buffer>* list : {&f.inputs, &f.outputs}) {
      for (Buffer b : *list) {
        if (b == nullptr) {
          report("a parameter is missing", std::string(f.name));
        } else {
          define(b, b->name, [&] { return to_string(b); });
        }
      }
    }
    inputs_.insert(f.inputs.begin(), f.inputs.end());
    if (f.body) statement(f.body);
    return std::move(problems_);
  }

 private:
  void report(std::string message, std::string_view excerpt) {
    if (problems_.size() < kMostProblems) problems_.push_back({std::move(message), shorten(excerpt)});
  }

  /// Takes `node` into scope; a second definition of it is a problem.
  template <typename Excerpt>
  void define(const void* node, std::string_view name, Excerpt&& excerpt) {
    if (!defined_.insert(node).second) report(fmt::format("'{}' is defined twice", name), excerpt());
    in_scope_.insert(node);
  }
  void leave(const void* node) { in_scope_.erase(node); }

  template <typename Excerpt>
  void access(Buffer buffer, const Array<Expr>& indices, Excerpt&& excerpt) {
    if (!in_scope_.contains(buffer)) {
      report(fmt::format("buffer '{}' is neither a parameter nor allocated here", buffer->name), excerpt());
    }
    const size_t expected = stage_ == VerifyStage::kLoopNest ? buffer->shape.size() : 1;
    if (indices.size() != expected) {
      report(
          fmt::format("buffer '{}' is accessed with {} indices, {} expected", buffer->name, indices.size(), expected),
          excerpt());
    }
  }

  /// Runs a factory on a node's parts; what it rejects is a problem.
  template <typename Make>
  std::optional<std::string> rejection(Make&& make) {
    const ArenaScope scope(scratch_);
    std::optional<std::string> message;
    try {
      make();
    } catch (const InternalError& error) {
      message = error.what();
    }
    scratch_.reset();
    return message;
  }

  bool has_missing_part(Expr e) {
    return match(
        e, [](const IntImm&) { return false; }, [](const FloatImm&) { return false; }, [](const Var&) { return false; },
        [](const Cast& n) { return !n.value; }, [](const Binary& n) { return !n.a || !n.b; },
        [](const Not& n) { return !n.value; },
        [](const Select& n) { return !n.condition || !n.if_true || !n.if_false; },
        [](const Load& n) { return n.buffer == nullptr || has_empty(n.indices); },
        [](const Ramp& n) { return !n.base || !n.stride; }, [](const Broadcast& n) { return !n.value; },
        [](const Call& n) { return has_empty(n.args); }, [](const Reduce& n) { return !n.value; });
  }
  bool has_missing_part(Stmt s) {
    return match(
        s, [](const For& n) { return n.var == nullptr || !n.extent || !n.body; },
        [](const Store& n) { return n.buffer == nullptr || has_empty(n.indices) || !n.value; },
        [](const Seq& n) { return has_empty(n.stmts); }, [](const If& n) { return !n.condition || !n.then_case; },
        [](const Let& n) { return n.var == nullptr || !n.value || !n.body; },
        [](const Allocate& n) { return n.buffer == nullptr || !n.body; },
        [](const Prefetch& n) { return n.buffer == nullptr || has_empty(n.indices); });
  }
  template <typename T>
  static bool has_empty(const Array<T>& items) {
    for (const T& item : items) {
      if (!item) return true;
    }
    return false;
  }

  void expression(Expr e) {
    if (has_missing_part(e)) {
      report("an expression lacks an operand", statement_text());
      return;
    }
    check_types(e);
    if (const auto* var = e.as<Var>(); var != nullptr && !in_scope_.contains(var)) {
      report(fmt::format("variable '{}' is used outside its scope", var->name), statement_text());
    } else if (const auto* load = e.as<Load>()) {
      access(load->buffer, load->indices, [&] { return to_string(e); });
    } else if (const auto* reduce = e.as<Reduce>()) {
      report("a reduction is left after lowering", to_string(e));
      for (const ReduceAxis& axis : reduce->axes) in_scope_.insert(axis.var);
    }
    for_each_child(e, [&](Expr child) { expression(child); });
  }

  void check_types(Expr e) {
    Expr again;
    bool agrees = true;
    const std::optional<std::string> rejected = rejection([&] {
      again = remade(e);
      // A cast to the operand's own type is made away; everything else comes back as it was.
      agrees = again.type() == e.type();
      if (const auto* i = e.as<IntImm>()) agrees = agrees && as_const_int(again) == i->value;
      if (const auto* f = e.as<FloatImm>()) {
        const auto* rounded = again.as<FloatImm>();
        agrees = agrees && rounded != nullptr && (rounded->value == f->value || f->value != f->value);
      }
    });
    if (rejected) {
      report(*rejected, to_string(e));
    } else if (!agrees) {
      report(fmt::format("the value does not fit the type {}", to_string(e.type())), to_string(e));
    }
  }

  std::string statement_text() const { return current_ ? to_string(current_) : std::string(); }

  void statement(Stmt s) {
    if (has_missing_part(s)) {
      report("a statement lacks a part", to_string(s));
      return;
    }
    const Stmt outer = current_;
    current_ = s;
    const auto text = [&] { return to_string(s); };
    if (const std::optional<std::string> rejected = rejection([&] { remake(s); })) report(*rejected, text());
    const void* defined = nullptr;
    std::string_view name;
    match(
        s,
        [&](const For& n) {
          defined = n.var;
          name = n.var->name;
          if (stage_ == VerifyStage::kVectorized && n.loop_kind == LoopKind::kVectorized) {
            report("a vectorized loop is left after vectorization", text());
          }
        },
        [&](const Store& n) {
          access(n.buffer, n.indices, text);
          if (inputs_.contains(n.buffer)) report(fmt::format("store to the input '{}'", n.buffer->name), text());
        },
        [&](const Seq& n) {
          if (n.stmts.size() < 2) report("a sequence of fewer than two statements", text());
          for (Stmt child : n.stmts) {
            if (child.kind() == StmtKind::kSeq) report("a sequence directly inside a sequence", text());
          }
        },
        [](const If&) {},
        [&](const Let& n) {
          defined = n.var;
          name = n.var->name;
        },
        [&](const Allocate& n) {
          defined = n.buffer;
          name = n.buffer->name;
        },
        [&](const Prefetch& n) { access(n.buffer, n.indices, text); });
    bool entered = false;
    for_each_child(
        s, [&](Expr child) { expression(child); },
        [&](Stmt child) {
          if (defined != nullptr && !entered) {
            define(defined, name, text);
            entered = true;
          }
          statement(child);
          current_ = s;
        });
    if (defined != nullptr) leave(defined);
    current_ = outer;
  }

  VerifyStage stage_;
  Arena scratch_;
  std::vector<Problem> problems_;
  std::unordered_set<const void*> defined_;
  std::unordered_set<const void*> in_scope_;
  std::unordered_set<const void*> inputs_;
  Stmt current_;
};

}  // namespace

std::vector<Problem> find_problems(const Function& function, VerifyStage stage) {
  return Verifier(stage).run(function);
}

void verify(const Function& function, VerifyStage stage) {
  const std::vector<Problem> problems = find_problems(function, stage);
  if (problems.empty()) return;
  const Problem& first = problems.front();
  std::string message = fmt::format("function '{}': {}", function.name, first.message);
  if (problems.size() > 1) message += fmt::format(" (and {} more)", problems.size() - 1);
  throw InternalError(__FILE__, __LINE__, std::move(message), first.excerpt);
}

}  // namespace tensmith
