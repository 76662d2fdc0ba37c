#include "tensmith/ir/arith/affine.h"

#include <numeric>

#include "ir/arith/linearize.h"
#include "tensmith/ir/arith/interval.h"
#include "tensmith/ir/fold.h"
#include "tensmith/ir/visit.h"

namespace tensmith {

namespace {

bool is_same_array(const Array<Expr>& a, const Array<Expr>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!same_expr(a[i], b[i])) return false;
  }
  return true;
}

bool same_node(const ExprNode& a, const ExprNode& b) {
  switch (a.kind) {
    case ExprKind::kIntImm: return static_cast<const IntImm&>(a).value == static_cast<const IntImm&>(b).value;
    case ExprKind::kFloatImm: {
      // By bits: -0.0 and 0.0 are different constants, and a NaN is itself.
      const double x = static_cast<const FloatImm&>(a).value, y = static_cast<const FloatImm&>(b).value;
      return std::memcmp(&x, &y, sizeof(x)) == 0;
    }
    case ExprKind::kVar: return false;
    case ExprKind::kCast: return same_expr(static_cast<const Cast&>(a).value, static_cast<const Cast&>(b).value);
    case ExprKind::kBinary: {
      const auto &x = static_cast<const Binary&>(a), &y = static_cast<const Binary&>(b);
      return x.op == y.op && same_expr(x.a, y.a) && same_expr(x.b, y.b);
    }
    case ExprKind::kNot: return same_expr(static_cast<const Not&>(a).value, static_cast<const Not&>(b).value);
    case ExprKind::kSelect: {
      const auto &x = static_cast<const Select&>(a), &y = static_cast<const Select&>(b);
      return same_expr(x.condition, y.condition) && same_expr(x.if_true, y.if_true) &&
             same_expr(x.if_false, y.if_false);
    }
    case ExprKind::kLoad: {
      const auto &x = static_cast<const Load&>(a), &y = static_cast<const Load&>(b);
      return x.buffer == y.buffer && static_cast<bool>(x.predicate) == static_cast<bool>(y.predicate) &&
             is_same_array(x.indices, y.indices) && (!x.predicate || same_expr(x.predicate, y.predicate));
    }
    case ExprKind::kRamp: {
      const auto &x = static_cast<const Ramp&>(a), &y = static_cast<const Ramp&>(b);
      return same_expr(x.base, y.base) && same_expr(x.stride, y.stride);
    }
    case ExprKind::kBroadcast:
      return same_expr(static_cast<const Broadcast&>(a).value, static_cast<const Broadcast&>(b).value);
    case ExprKind::kCall: {
      const auto &x = static_cast<const Call&>(a), &y = static_cast<const Call&>(b);
      return x.intrinsic == y.intrinsic && is_same_array(x.args, y.args);
    }
    case ExprKind::kReduce: return false;
  }
  TENSMITH_UNREACHABLE("unknown expression kind");
}

Modular normalised(int64_t coef, int64_t base) {
  if (coef == 0) return {0, base};
  if (coef == kNegInf) return {};
  if (coef < 0) coef = -coef;
  return {coef, floor_mod(base, coef)};
}

Modular sum(Modular a, Modular b) {
  int64_t base = 0;
  if (__builtin_add_overflow(a.base, b.base, &base)) return {};
  return normalised(std::gcd(a.coef, b.coef), base);
}

Modular scaled(Modular m, int64_t scale) {
  int64_t coef = 0, base = 0;
  if (__builtin_mul_overflow(m.coef, scale, &coef) || __builtin_mul_overflow(m.base, scale, &base)) return {};
  return normalised(coef, base);
}

/// Both values are possible.
Modular either(Modular a, Modular b) {
  int64_t difference = 0;
  if (__builtin_sub_overflow(a.base, b.base, &difference) || difference == kNegInf) return {};
  return normalised(std::gcd(std::gcd(a.coef, b.coef), difference), a.base);
}

Modular product(Modular a, Modular b) {
  if (a.coef == 0) return scaled(b, a.base);
  if (b.coef == 0) return scaled(a, b.base);
  int64_t cc = 0, cb = 0, bc = 0, bb = 0;
  if (__builtin_mul_overflow(a.coef, b.coef, &cc) || __builtin_mul_overflow(a.coef, b.base, &cb) ||
      __builtin_mul_overflow(a.base, b.coef, &bc) || __builtin_mul_overflow(a.base, b.base, &bb) || cc == kNegInf ||
      cb == kNegInf || bc == kNegInf) {
    return {};
  }
  return normalised(std::gcd(std::gcd(cc, cb), bc), bb);
}

Modular modular_of_atom(Expr e, const VarRanges& ranges) {
  switch (e.kind()) {
    case ExprKind::kIntImm: return {0, e.as<IntImm>()->value};
    case ExprKind::kVar: {
      const Range r = ranges.range(e.as<Var>());
      return r.is_point() ? Modular{0, r.min} : Modular{};
    }
    case ExprKind::kCast: {
      const Expr value = e.as<Cast>()->value;
      return value.type().is_int() && e.type().is_int() && value.type().bits < e.type().bits ? modular_of(value, ranges)
                                                                                             : Modular{};
    }
    case ExprKind::kSelect:
      return either(modular_of(e.as<Select>()->if_true, ranges), modular_of(e.as<Select>()->if_false, ranges));
    case ExprKind::kBinary: {
      const Binary& n = *e.as<Binary>();
      switch (n.op) {
        case BinaryOp::kMin:
        case BinaryOp::kMax: return either(modular_of(n.a, ranges), modular_of(n.b, ranges));
        case BinaryOp::kMul: return product(modular_of(n.a, ranges), modular_of(n.b, ranges));
        case BinaryOp::kMod: {
          const std::optional<int64_t> divisor = as_const_int(n.b);
          if (!divisor || *divisor <= 0) return {};
          const Modular a = modular_of(n.a, ranges);
          return normalised(std::gcd(a.coef, *divisor), a.base);
        }
        default: return {};
      }
    }
    default: return {};
  }
}

}  // namespace

bool same_expr(Expr a, Expr b) {
  if (a.same_as(b)) return true;
  return a->kind == b->kind && a->type == b->type && same_node(*a, *b);
}

namespace {

bool may_wrap(Expr e, const VarRanges* ranges) {
  switch (e.kind()) {
    case ExprKind::kIntImm:
    case ExprKind::kFloatImm: return false;
    case ExprKind::kVar: {
      const VarRanges::Entry* entry = ranges != nullptr ? ranges->find(e.as<Var>()) : nullptr;
      return entry != nullptr && entry->wraps;
    }
    case ExprKind::kLoad:
    case ExprKind::kCall:
    case ExprKind::kReduce: return true;
    case ExprKind::kCast: {
      const DataType from = e.as<Cast>()->value.type();
      return from.is_float() || (!from.is_bool() && from.bits >= e.type().bits);
    }
    default: {
      bool found = false;
      for_each_child(e, [&](Expr child) { found = found || may_wrap(child, ranges); });
      return found;
    }
  }
}

}  // namespace

bool may_wrap(Expr e) { return may_wrap(e, nullptr); }
bool may_wrap(Expr e, const VarRanges& ranges) { return may_wrap(e, &ranges); }

bool reads_data(Expr e) {
  if (e.kind() == ExprKind::kLoad) return true;
  bool found = false;
  for_each_child(e, [&](Expr child) { found = found || reads_data(child); });
  return found;
}

bool may_fail(Expr e) {
  if (e.kind() == ExprKind::kLoad) return true;
  if (const auto* n = e.as<Binary>();
      n != nullptr && n->type.is_integral() && (n->op == BinaryOp::kDiv || n->op == BinaryOp::kMod)) {
    const std::optional<int64_t> divisor = as_const_int(n->b);
    if (!divisor || *divisor == 0) return true;
  }
  bool found = false;
  for_each_child(e, [&](Expr child) { found = found || may_fail(child); });
  return found;
}

int64_t Affine::coef(VarRef var) const {
  for (const LinearTerm& term : terms_) {
    if (term.atom.get() == var) return term.coef;
  }
  return 0;
}

Expr Affine::single_atom() const {
  return valid_ && constant_ == 0 && terms_.size() == 1 && terms_[0].coef == 1 ? terms_[0].atom : Expr();
}

void Affine::add_term(Expr atom, int64_t coef) {
  if (coef == 0) return;
  for (size_t i = 0; i < terms_.size(); ++i) {
    if (!same_expr(terms_[i].atom, atom)) continue;
    if (__builtin_add_overflow(terms_[i].coef, coef, &terms_[i].coef) || terms_[i].coef == kNegInf) valid_ = false;
    if (terms_[i].coef == 0) terms_.erase(i);
    return;
  }
  if (terms_.size() == kMaxTerms || coef == kNegInf) {
    valid_ = false;
    return;
  }
  if (!wraps_ && atom.kind() != ExprKind::kVar) wraps_ = tensmith::may_wrap(atom);
  terms_.push_back({atom, coef});
}

void Affine::add_constant(int64_t value, int64_t scale) {
  int64_t product = 0;
  if (__builtin_mul_overflow(value, scale, &product) || __builtin_add_overflow(constant_, product, &constant_)) {
    valid_ = false;
  }
}

void Affine::add(const Affine& other, int64_t scale) {
  valid_ = valid_ && other.valid_;
  wraps_ = wraps_ || other.wraps_;
  for (const LinearTerm& term : other.terms_) {
    int64_t coef = 0;
    if (__builtin_mul_overflow(term.coef, scale, &coef)) valid_ = false;
    add_term(term.atom, coef);
  }
  add_constant(other.constant_, scale);
}

std::optional<Affine> to_affine(Expr e, const VarRanges& ranges) {
  if (!is_index_type(e.type()) || !e.type().is_scalar()) return std::nullopt;
  Affine form = Linearizer(ranges).run(e);
  if (!form.valid()) return std::nullopt;
  return form;
}

Expr to_expr(const Affine& form) {
  const DataType type = form.type();
  const auto times = [&](Expr atom, int64_t coef) {
    return coef == 1 ? atom : make_binary(BinaryOp::kMul, atom, make_int(type, coef));
  };
  Expr out;
  for (const LinearTerm& term : form.terms()) {
    if (term.coef < 0) continue;
    const Expr product = times(term.atom, term.coef);
    out = out ? make_binary(BinaryOp::kAdd, out, product) : product;
  }
  int64_t constant = form.constant();
  if (!out && (constant != 0 || form.terms().empty())) {
    out = make_int(type, constant);
    constant = 0;
  }
  for (const LinearTerm& term : form.terms()) {
    if (term.coef > 0) continue;
    out = !out ? times(term.atom, term.coef)
               : make_binary(BinaryOp::kSub, out,
                             times(term.atom, static_cast<int64_t>(0 - static_cast<uint64_t>(term.coef))));
  }
  if (constant > 0 || constant == kNegInf) return make_binary(BinaryOp::kAdd, out, make_int(type, constant));
  if (constant < 0) return make_binary(BinaryOp::kSub, out, make_int(type, -constant));
  return out;
}

std::optional<int64_t> stride_of(Expr index, VarRef v, const VarRanges& ranges) {
  if (const auto* ramp = index.as<Ramp>()) index = ramp->base;
  if (const auto* broadcast = index.as<Broadcast>()) index = broadcast->value;
  const std::optional<Affine> form = to_affine(index, ranges);
  if (!form) return std::nullopt;
  for (const LinearTerm& term : form->terms()) {
    if (term.atom.get() != v && uses_var(term.atom, v)) return std::nullopt;
  }
  return form->coef(v);
}

Modular modular_of(const Affine& form, const VarRanges& ranges) {
  if (!form.valid() || form.wraps()) return {};
  Modular out{0, form.constant()};
  for (const LinearTerm& term : form.terms()) out = sum(out, scaled(modular_of_atom(term.atom, ranges), term.coef));
  return out;
}

Modular modular_of(Expr e, const VarRanges& ranges) {
  const std::optional<Affine> form = to_affine(e, ranges);
  return form ? modular_of(*form, ranges) : Modular{};
}

}  // namespace tensmith
