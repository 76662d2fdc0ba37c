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

}  // namespace

Expr substitute(Expr e, std::span<const Binding> bindings) { return bindings.empty() ? e : Substitution(bindings)(e); }
Stmt substitute(Stmt s, std::span<const Binding> bindings) { return bindings.empty() ? s : Substitution(bindings)(s); }

bool uses_var(Expr e, VarRef var) { return Occurrence(var)(e); }
bool uses_var(Stmt s, VarRef var) { return Occurrence(var)(s); }

}  // namespace tensmith
