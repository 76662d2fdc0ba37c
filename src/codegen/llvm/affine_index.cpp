#include <algorithm>

#include "codegen/llvm/emitter.h"
#include "tensmith/ir/fold.h"
#include "tensmith/ir/structural.h"
#include "tensmith/ir/visit.h"

/// Indices as sums of coefficient * atom: taking them apart and placing what they need.

namespace tensmith {

void AffineIndex::add(const Term& term) {
  for (Term& mine : terms) {
    if (mine.atom == term.atom) {
      mine.coefficient += term.coefficient;
      return;
    }
  }
  terms.push_back(term);
}

void AffineIndex::add_scaled(const AffineIndex& other, int64_t scale) {
  constant += other.constant * scale;
  for (const Term& term : other.terms) add({term.atom, term.coefficient * scale, term.level, term.is_loop_index});
}

std::optional<int64_t> Emitter::constant_of(Expr e) const {
  return match(
      e, [](const IntImm& n) { return std::optional<int64_t>(n.value); },
      [](const FloatImm&) { return std::optional<int64_t>(); },
      [&](const Var& n) {
        auto it = state_.vars.find(&n);
        return it == state_.vars.end() ? std::optional<int64_t>() : it->second.constant;
      },
      [&](const Cast& n) -> std::optional<int64_t> {
        if (n.type.is_float() || n.value.type().is_float()) return std::nullopt;
        const std::optional<int64_t> value = constant_of(n.value);
        return value ? std::optional<int64_t>(wrap_int(n.type.element(), *value)) : std::nullopt;
      },
      [&](const Binary& n) -> std::optional<int64_t> {
        const DataType type = n.a.type();
        if (type.is_float() || type.is_vector()) return std::nullopt;
        const std::optional<int64_t> a = constant_of(n.a);
        const bool short_and = n.op == BinaryOp::kAnd && a == 0;
        const bool short_or = n.op == BinaryOp::kOr && a == 1;
        if (short_and || short_or) return a;
        if (!a && n.op != BinaryOp::kAnd && n.op != BinaryOp::kOr) return std::nullopt;
        const std::optional<int64_t> b = constant_of(n.b);
        if (n.op == BinaryOp::kAnd && b == 0) return b;
        if (n.op == BinaryOp::kOr && b == 1) return b;
        return a && b ? fold_int(n.op, type, *a, *b) : std::nullopt;
      },
      [&](const Not& n) -> std::optional<int64_t> {
        const std::optional<int64_t> value = constant_of(n.value);
        return value ? std::optional<int64_t>(*value == 0) : std::nullopt;
      },
      [&](const Select& n) -> std::optional<int64_t> {
        if (n.type.is_float() || n.condition.type().is_vector()) return std::nullopt;
        const std::optional<int64_t> c = constant_of(n.condition);
        return c ? constant_of(*c != 0 ? n.if_true : n.if_false) : std::nullopt;
      },
      [](const Load&) { return std::optional<int64_t>(); }, [](const Ramp&) { return std::optional<int64_t>(); },
      [&](const Broadcast& n) { return constant_of(n.value); }, [](const Call&) { return std::optional<int64_t>(); },
      [](const Reduce&) { return std::optional<int64_t>(); });
}

/// Whether the value is the same wherever its variables are known, and safe to compute there.
bool Emitter::can_hoist(Expr e) const {
  if (e.kind() == ExprKind::kLoad || e.kind() == ExprKind::kCall) return false;
  if (const auto* n = e.as<Binary>()) {
    if ((n->op == BinaryOp::kDiv || n->op == BinaryOp::kMod) && n->type.is_integral() && !constant_of(n->b))
      return false;
  }
  bool ok = true;
  for_each_child(e, [&](Expr child) { ok = ok && can_hoist(child); });
  return ok;
}

int Emitter::level_of(Expr e) const {
  if (const auto* var = e.as<Var>()) {
    auto it = state_.vars.find(var);
    return it == state_.vars.end() ? 0 : it->second.level;
  }
  int deepest = 0;
  for_each_child(e, [&](Expr child) { deepest = std::max(deepest, level_of(child)); });
  return deepest;
}

void Emitter::linearize(Expr e, int64_t scale, AffineIndex& out) {
  if (scale == 0) return;
  if (const auto* imm = e.as<IntImm>()) {
    out.constant += scale * imm->value;
    return;
  }
  if (const auto* var = e.as<Var>()) {
    const VarBinding& binding = state_.vars.at(var);
    if (binding.constant) {
      out.constant += scale * *binding.constant;
    } else if (binding.affine) {
      out.add_scaled(*binding.affine, scale);
    } else {
      out.add({binding.wide, scale, binding.level, binding.is_loop_index});
    }
    return;
  }
  if (const auto* n = e.as<Binary>()) {
    if (n->op == BinaryOp::kAdd || n->op == BinaryOp::kSub) {
      linearize(n->a, scale, out);
      linearize(n->b, n->op == BinaryOp::kAdd ? scale : -scale, out);
      return;
    }
    if (n->op == BinaryOp::kMul) {
      if (const std::optional<int64_t> factor = constant_of(n->b)) {
        linearize(n->a, scale * *factor, out);
        return;
      }
      if (const std::optional<int64_t> factor = constant_of(n->a)) {
        linearize(n->b, scale * *factor, out);
        return;
      }
    }
  }
  // Only arithmetic on loop variables is known not to wrap, so only that may be widened before it is computed.
  if (const auto* n = e.as<Cast>(); n != nullptr && n->type.is_int() && n->value.type().is_int() &&
                                    n->type.bits >= n->value.type().bits && can_hoist(n->value)) {
    linearize(n->value, scale, out);
    return;
  }
  if (const std::optional<int64_t> known = constant_of(e)) {
    out.constant += scale * *known;
    return;
  }
  const int where = can_hoist(e) ? level_of(e) : level();
  out.add({index_atom(e, where), scale, where});
}

bool Emitter::has_constant_variable(Expr e) const {
  if (const auto* var = e.as<Var>()) return state_.vars.at(var).constant.has_value();
  bool found = false;
  for_each_child(e, [&](Expr child) { found = found || has_constant_variable(child); });
  return found;
}

llvm::Value* Emitter::index_atom(Expr e, int where) {
  const auto make = [&] { return convert(emit(e), e.type(), kInt64); };
  // An expanded loop's variable is another constant in each iteration.
  if (where >= level() || has_constant_variable(e)) return at_level(where, make);
  // Terms are told apart by their atom: the same expression has to be the same value to share a pointer.
  auto& atoms = state_.loops[static_cast<size_t>(where)].atoms;
  for (const auto& [known, value] : atoms) {
    if (structural_equal(known, e)) return value;
  }
  Value* atom = at_level(where, make);
  atoms.emplace_back(e, atom);
  return atom;
}

bool Emitter::linearize_vector(Expr e, int64_t scale, VectorIndex& out) {
  if (const auto* n = e.as<Broadcast>()) {
    linearize(n->value, scale, out.base);
    return true;
  }
  if (const auto* n = e.as<Ramp>()) {
    const std::optional<int64_t> stride = constant_of(n->stride);
    if (!stride) return false;
    linearize(n->base, scale, out.base);
    out.stride += scale * *stride;
    return true;
  }
  if (const auto* n = e.as<Binary>()) {
    if (n->op == BinaryOp::kAdd || n->op == BinaryOp::kSub) {
      return linearize_vector(n->a, scale, out) &&
             linearize_vector(n->b, n->op == BinaryOp::kAdd ? scale : -scale, out);
    }
    if (n->op == BinaryOp::kMul) {
      if (const std::optional<int64_t> factor = constant_of(n->b)) return linearize_vector(n->a, scale * *factor, out);
      if (const std::optional<int64_t> factor = constant_of(n->a)) return linearize_vector(n->b, scale * *factor, out);
    }
  }
  return false;
}

AffineIndex Emitter::scalar_offset(Buffer buffer, Array<Expr> indices, size_t count) {
  AffineIndex out;
  for (size_t i = 0; i < count; ++i) linearize(indices[i], buffer_stride(buffer, i), out);
  return out;
}

}  // namespace tensmith
