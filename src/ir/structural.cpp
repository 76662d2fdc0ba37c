#include "tensmith/ir/structural.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "tensmith/ir/visit.h"
#include "tensmith/support/hash.h"

namespace tensmith {

namespace {

bool same_layout(Buffer a, Buffer b) {
  return a->type == b->type && a->scope == b->scope && std::ranges::equal(a->shape, b->shape) &&
         std::ranges::equal(a->strides, b->strides);
}

uint64_t float_bits(double value) {
  return std::bit_cast<uint64_t>(std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value);
}

class Comparison {
 public:
  bool functions(const Function& a, const Function& b) {
    return parameters(a.inputs, b.inputs) && parameters(a.outputs, b.outputs) && equal(a.body, b.body);
  }

  bool equal(Expr a, Expr b) {
    if (!a || !b) return !a && !b;
    // A shared subtree is equal to itself unless a variable in it stands for two different ones.
    if (a.same_as(b) && renamed_ == 0) return true;
    if (a.kind() != b.kind() || a.type() != b.type()) return false;
    return match(
        a, [&](const IntImm& n) { return n.value == b.as<IntImm>()->value; },
        [&](const FloatImm& n) { return float_bits(n.value) == float_bits(b.as<FloatImm>()->value); },
        [&](const Var& n) { return same(&n, b.as<Var>()); },
        [&](const Cast& n) { return equal(n.value, b.as<Cast>()->value); },
        [&](const Binary& n) {
          const auto* m = b.as<Binary>();
          return n.op == m->op && equal(n.a, m->a) && equal(n.b, m->b);
        },
        [&](const Not& n) { return equal(n.value, b.as<Not>()->value); },
        [&](const Select& n) {
          const auto* m = b.as<Select>();
          return equal(n.condition, m->condition) && equal(n.if_true, m->if_true) && equal(n.if_false, m->if_false);
        },
        [&](const Load& n) {
          const auto* m = b.as<Load>();
          return same(n.buffer, m->buffer) && equal(n.indices, m->indices) && equal(n.predicate, m->predicate);
        },
        [&](const Ramp& n) {
          const auto* m = b.as<Ramp>();
          return equal(n.base, m->base) && equal(n.stride, m->stride);
        },
        [&](const Broadcast& n) { return equal(n.value, b.as<Broadcast>()->value); },
        [&](const Call& n) {
          const auto* m = b.as<Call>();
          return n.intrinsic == m->intrinsic && equal(n.args, m->args);
        },
        [&](const Reduce& n) { return reductions(n, *b.as<Reduce>()); });
  }

  bool equal(Stmt a, Stmt b) {
    if (!a || !b) return !a && !b;
    if (a.same_as(b) && renamed_ == 0) return true;
    if (a.kind() != b.kind()) return false;
    return match(
        a,
        [&](const For& n) {
          const auto* m = b.as<For>();
          return n.loop_kind == m->loop_kind && n.var->type == m->var->type && equal(n.extent, m->extent) &&
                 scoped(n.var, m->var, n.body, m->body);
        },
        [&](const Store& n) {
          const auto* m = b.as<Store>();
          return same(n.buffer, m->buffer) && equal(n.indices, m->indices) && equal(n.value, m->value) &&
                 equal(n.predicate, m->predicate);
        },
        [&](const Seq& n) {
          return std::ranges::equal(n.stmts, b.as<Seq>()->stmts, [&](Stmt x, Stmt y) { return equal(x, y); });
        },
        [&](const If& n) {
          const auto* m = b.as<If>();
          return equal(n.condition, m->condition) && equal(n.then_case, m->then_case) &&
                 equal(n.else_case, m->else_case);
        },
        [&](const Let& n) {
          const auto* m = b.as<Let>();
          return n.var->type == m->var->type && equal(n.value, m->value) && scoped(n.var, m->var, n.body, m->body);
        },
        [&](const Allocate& n) {
          const auto* m = b.as<Allocate>();
          return same_layout(n.buffer, m->buffer) && scoped(n.buffer, m->buffer, n.body, m->body);
        },
        [&](const Prefetch& n) {
          const auto* m = b.as<Prefetch>();
          return n.locality == m->locality && same(n.buffer, m->buffer) && equal(n.indices, m->indices);
        });
  }

 private:
  bool equal(const Array<Expr>& a, const Array<Expr>& b) {
    return std::ranges::equal(a, b, [&](Expr x, Expr y) { return equal(x, y); });
  }

  bool parameters(const Array<Buffer>& a, const Array<Buffer>& b) {
    return std::ranges::equal(a, b, [&](Buffer x, Buffer y) {
      pair(x, y);
      return same_layout(x, y);
    });
  }

  bool reductions(const Reduce& n, const Reduce& m) {
    const bool same_axes = std::ranges::equal(n.axes, m.axes, [](const ReduceAxis& x, const ReduceAxis& y) {
      return x.extent == y.extent && x.var->type == y.var->type;
    });
    if (n.op != m.op || !same_axes) return false;
    for (size_t i = 0; i < n.axes.size(); ++i) pair(n.axes[i].var, m.axes[i].var);
    const bool result = equal(n.value, m.value);
    for (size_t i = n.axes.size(); i-- > 0;) unpair(n.axes[i].var, m.axes[i].var);
    return result;
  }

  bool scoped(const void* a, const void* b, Stmt body_a, Stmt body_b) {
    pair(a, b);
    const bool result = equal(body_a, body_b);
    unpair(a, b);
    return result;
  }

  void pair(const void* a, const void* b) {
    bound_.push_back({a, b});
    renamed_ += a != b ? 1 : 0;
  }
  void unpair(const void* a, const void* b) {
    bound_.pop_back();
    renamed_ -= a != b ? 1 : 0;
  }
  bool same(const void* a, const void* b) const {
    for (size_t i = bound_.size(); i-- > 0;) {
      if (bound_[i].first == a || bound_[i].second == b) return bound_[i].first == a && bound_[i].second == b;
    }
    return a == b;
  }

  /// What is in scope, innermost last: scopes are shallow, so that scanning beats a map.
  std::vector<std::pair<const void*, const void*>> bound_;
  int renamed_ = 0;
};

class Hasher {
 public:
  uint64_t functions(const Function& f) {
    add(f.inputs.size());
    for (Buffer b : f.inputs) declare(b);
    add(f.outputs.size());
    for (Buffer b : f.outputs) declare(b);
    visit(f.body);
    return hash_;
  }

  uint64_t visit(Expr e) {
    if (!e) {
      add(kEmpty);
      return hash_;
    }
    add(static_cast<uint64_t>(e.kind()));
    add(type_bits(e.type()));
    const size_t outer = bound_.size();
    match(
        e, [&](const IntImm& n) { add(static_cast<uint64_t>(n.value)); },
        [&](const FloatImm& n) { add(float_bits(n.value)); }, [&](const Var& n) { use(&n); }, [](const Cast&) {},
        [&](const Binary& n) { add(static_cast<uint64_t>(n.op)); }, [](const Not&) {}, [](const Select&) {},
        [&](const Load& n) { access(n.buffer, n.indices); }, [](const Ramp&) {}, [](const Broadcast&) {},
        [&](const Call& n) { add(static_cast<uint64_t>(n.intrinsic)); },
        [&](const Reduce& n) {
          add(static_cast<uint64_t>(n.op));
          add(n.axes.size());
          for (const ReduceAxis& axis : n.axes) {
            add(static_cast<uint64_t>(axis.extent));
            define(axis.var);
          }
        });
    for_each_child(e, [&](Expr child) { visit(child); });
    bound_.resize(outer);
    return hash_;
  }

  uint64_t visit(Stmt s) {
    if (!s) {
      add(kEmpty);
      return hash_;
    }
    add(kStatement + static_cast<uint64_t>(s.kind()));
    const size_t outer = bound_.size();
    match(
        s,
        [&](const For& n) {
          add(static_cast<uint64_t>(n.loop_kind));
          add(type_bits(n.var->type));
          visit(n.extent);
          define(n.var);
          visit(n.body);
        },
        [&](const Store& n) {
          access(n.buffer, n.indices);
          for (Expr index : n.indices) visit(index);
          visit(n.value);
          visit(n.predicate);
        },
        [&](const Seq& n) {
          add(n.stmts.size());
          for (Stmt child : n.stmts) visit(child);
        },
        [&](const If& n) {
          visit(n.condition);
          visit(n.then_case);
          visit(n.else_case);
        },
        [&](const Let& n) {
          add(type_bits(n.var->type));
          visit(n.value);
          define(n.var);
          visit(n.body);
        },
        [&](const Allocate& n) {
          declare(n.buffer);
          visit(n.body);
        },
        [&](const Prefetch& n) {
          add(static_cast<uint64_t>(n.locality));
          access(n.buffer, n.indices);
          for (Expr index : n.indices) visit(index);
        });
    bound_.resize(outer);
    return hash_;
  }

 private:
  static constexpr uint64_t kEmpty = 0xe;
  static constexpr uint64_t kStatement = 0x100;

  static uint64_t type_bits(DataType type) {
    return static_cast<uint64_t>(type.code) << 32 | static_cast<uint64_t>(type.bits) << 16 | type.lanes;
  }

  void add(uint64_t value) { hash_ = hash_combine(hash_, value); }
  void define(const void* node) { bound_.push_back({node, next_++}); }
  void declare(Buffer b) {
    layout(b);
    define(b);
  }
  void layout(Buffer b) {
    add(type_bits(b->type));
    add(static_cast<uint64_t>(b->scope));
    for (const Array<int64_t>* list : {&b->shape, &b->strides}) {
      add(list->size());
      for (int64_t x : *list) add(static_cast<uint64_t>(x));
    }
  }
  bool use(const void* node) {
    for (const auto* known : {&bound_, &free_}) {
      for (size_t i = known->size(); i-- > 0;) {
        if ((*known)[i].first == node) {
          add((*known)[i].second);
          return false;
        }
      }
    }
    free_.push_back({node, next_});
    add(next_++);
    return true;
  }
  void access(Buffer b, const Array<Expr>& indices) {
    if (use(b)) layout(b);
    add(indices.size());
  }

  uint64_t hash_ = 0;
  uint64_t next_ = 0;
  std::vector<std::pair<const void*, uint64_t>> bound_;
  std::vector<std::pair<const void*, uint64_t>> free_;
};

}  // namespace

bool structural_equal(Expr a, Expr b) { return Comparison().equal(a, b); }
bool structural_equal(Stmt a, Stmt b) { return Comparison().equal(a, b); }
bool structural_equal(const Function& a, const Function& b) { return Comparison().functions(a, b); }

uint64_t structural_hash(Expr e) { return Hasher().visit(e); }
uint64_t structural_hash(Stmt s) { return Hasher().visit(s); }
uint64_t structural_hash(const Function& function) { return Hasher().functions(function); }

}  // namespace tensmith
