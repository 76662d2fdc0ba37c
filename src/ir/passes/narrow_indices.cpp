#include "tensmith/ir/passes/narrow_indices.h"

#include <limits>
#include <vector>

#include "tensmith/ir/arith/interval.h"
#include "tensmith/ir/visit.h"

namespace tensmith {
namespace {

constexpr Range kInt32Range{std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};

/// Whether every int64 intermediate value fits in int32. Data of type int64 (loads, casts to it) rules narrowing out;
/// a cast of an index gives the same value from int32.
class Checker {
 public:
  bool stmt(Stmt s) {
    RangeScope scope(ranges_);
    if (const auto* loop = s.as<For>()) {
      ranges_.push_loop(loop->var, loop->extent);
    } else if (const auto* let = s.as<Let>()) {
      ranges_.push_let(let->var, let->value);
    }
    bool fits = true;
    for_each_child(
        s, [&](Expr e) { fits = fits && expr(e); }, [&](Stmt c) { fits = fits && stmt(c); });
    return fits;
  }

 private:
  bool expr(Expr e) {
    if (e.type().element() == kInt64) {
      const bool is_data = e.kind() == ExprKind::kLoad || e.kind() == ExprKind::kCast;
      if (is_data || !kInt32Range.contains(range_of(e, ranges_))) {
        return false;
      }
      if (const auto* ramp = e.as<Ramp>(); ramp != nullptr && !expr(ramp->base)) {
        return false;
      }
    }
    bool fits = true;
    for_each_child(e, [&](Expr c) { fits = fits && expr(c); });
    return fits;
  }

  VarRanges ranges_;
};

class Narrower {
 public:
  Stmt stmt(Stmt s) {
    if (const auto* loop = s.as<For>()) {
      const VarRef var = rename(loop->var);
      return make_for(var, expr(loop->extent), loop->loop_kind, stmt(loop->body));
    }
    if (const auto* let = s.as<Let>()) {
      const Expr value = expr(let->value);
      const VarRef var = rename(let->var);
      return make_let(var, value, stmt(let->body));
    }
    return map_children(
        s, [&](Expr e) { return expr(e); }, [&](Stmt c) { return stmt(c); });
  }

 private:
  struct Renaming {
    VarRef from;
    VarRef to;
  };

  VarRef rename(VarRef var) {
    if (var->type != kInt64) {
      return var;
    }
    renamings_.push_back({var, make_var(var->name, kInt32)});
    return renamings_.back().to;
  }

  Expr expr(Expr e) {
    if (const auto* imm = e.as<IntImm>()) {
      return imm->type == kInt64 ? make_int(kInt32, imm->value) : e;
    }
    if (const auto* var = e.as<Var>()) {
      for (size_t i = renamings_.size(); i-- > 0;) {
        if (renamings_[i].from == var) {
          return renamings_[i].to;
        }
      }
      return e;
    }
    return map_children(e, [&](Expr c) { return expr(c); });
  }

  std::vector<Renaming> renamings_;
};

}  // namespace

Stmt narrow_indices(Stmt body) {
  if (!body || !Checker().stmt(body)) {
    return body;
  }
  return Narrower().stmt(body);
}

}  // namespace tensmith
