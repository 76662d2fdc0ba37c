#include "tensmith/ir/visit.h"

namespace tensmith {

namespace {

class Substitution {
 public:
  explicit Substitution(std::span<const Binding> bindings) : bindings_(bindings) {}

  Expr operator()(Expr e) const {
    switch (e.kind()) {
      case ExprKind::kIntImm:
      case ExprKind::kFloatImm: return e;
      case ExprKind::kVar:
        for (const Binding& binding : bindings_) {
          if (binding.var == e.get()) return binding.value;
        }
        return e;
      default: return map_children(e, *this);
    }
  }
  Stmt operator()(Stmt s) const { return map_children(s, *this, *this); }

 private:
  std::span<const Binding> bindings_;
};

class Occurrence {
 public:
  explicit Occurrence(VarRef var) : var_(var) {}

  bool operator()(Expr e) const {
    if (e.get() == var_) return true;
    bool found = false;
    for_each_child(e, [&](Expr child) { found = found || (*this)(child); });
    return found;
  }
  bool operator()(Stmt s) const {
    bool found = false;
    const auto visit = [&](auto child) { found = found || (*this)(child); };
    for_each_child(s, visit, visit);
    return found;
  }

 private:
  VarRef var_;
};

/// Renames what is bound; names from outside stay.
class FreshCopy {
 public:
  Stmt operator()(Stmt s) {
    if (const auto* loop = s.as<For>()) {
      const Expr extent = (*this)(loop->extent);
      const VarRef var = bind(loop->var);
      return make_for(var, extent, loop->loop_kind, (*this)(loop->body));
    }
    if (const auto* let = s.as<Let>()) {
      const Expr value = (*this)(let->value);
      const VarRef var = bind(let->var);
      return make_let(var, value, (*this)(let->body));
    }
    if (const auto* allocate = s.as<Allocate>()) {
      const BufferNode& old = *allocate->buffer;
      buffers_.push_back({&old, make_buffer(old.name, old.type, old.shape, old.scope, old.strides)});
      const Buffer fresh = buffers_.back().to;
      return make_allocate(fresh, (*this)(allocate->body));
    }
    if (const auto* store = s.as<Store>()) {
      const Array<Expr> indices = map_array(store->indices, [&](Expr e) { return (*this)(e); });
      return make_store(renamed(store->buffer), indices, (*this)(store->value),
                        store->predicate ? (*this)(store->predicate) : Expr());
    }
    if (const auto* prefetch = s.as<Prefetch>()) {
      const Array<Expr> indices = map_array(prefetch->indices, [&](Expr e) { return (*this)(e); });
      return make_prefetch(renamed(prefetch->buffer), indices, prefetch->locality);
    }
    return map_children(
        s, [&](Expr e) { return (*this)(e); }, [&](Stmt c) { return (*this)(c); });
  }

 private:
  struct BufferRenaming {
    Buffer from;
    Buffer to;
  };

  Expr operator()(Expr e) {
    if (e.kind() == ExprKind::kVar) {
      for (const Binding& binding : vars_) {
        if (binding.var == e.get()) return binding.value;
      }
      return e;
    }
    if (const auto* load = e.as<Load>(); load != nullptr && renamed(load->buffer) != load->buffer) {
      const Array<Expr> indices = map_array(load->indices, [&](Expr i) { return (*this)(i); });
      return make_load(renamed(load->buffer), indices, load->predicate ? (*this)(load->predicate) : Expr());
    }
    return map_children(e, [&](Expr c) { return (*this)(c); });
  }

  VarRef bind(VarRef var) {
    const VarRef fresh = make_var(var->name, var->type);
    vars_.push_back({var, Expr(fresh)});
    return fresh;
  }

  Buffer renamed(Buffer buffer) const {
    for (const BufferRenaming& renaming : buffers_) {
      if (renaming.from == buffer) return renaming.to;
    }
    return buffer;
  }

  std::vector<Binding> vars_;
  std::vector<BufferRenaming> buffers_;
};

bool binds_anything(Stmt s) {
  bool binds = false;
  walk(
      s, [](Expr) {},
      [&](Stmt x) {
        binds = binds || x.kind() == StmtKind::kFor || x.kind() == StmtKind::kLet || x.kind() == StmtKind::kAllocate;
      });
  return binds;
}

}  // namespace

Stmt with_fresh_bindings(Stmt s) { return s && binds_anything(s) ? FreshCopy()(s) : s; }

Expr substitute(Expr e, std::span<const Binding> bindings) { return bindings.empty() ? e : Substitution(bindings)(e); }
Stmt substitute(Stmt s, std::span<const Binding> bindings) { return bindings.empty() ? s : Substitution(bindings)(s); }

bool uses_var(Expr e, VarRef var) { return Occurrence(var)(e); }
bool uses_var(Stmt s, VarRef var) { return Occurrence(var)(s); }

}  // namespace tensmith
