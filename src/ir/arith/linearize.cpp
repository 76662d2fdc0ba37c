#include "ir/arith/linearize.h"

#include <numeric>

#include "tensmith/ir/fold.h"

namespace tensmith {

namespace {

/// floor(r / step) when it is one number over all of r.
std::optional<int64_t> single_quotient(Range r, int64_t step) {
  if (!r.bounded() || r.empty()) return std::nullopt;
  const int64_t q = floor_div(r.min, step);
  return q == floor_div(r.max, step) ? std::optional(q) : std::nullopt;
}

/// An atom `number op constant`, with its constant.
const Binary* constant_op(Expr atom, BinaryOp op, int64_t& constant) {
  const auto* n = atom.as<Binary>();
  if (n == nullptr || n->op != op || n->b.kind() != ExprKind::kIntImm) return nullptr;
  constant = n->b.as<IntImm>()->value;
  return constant > 0 ? n : nullptr;
}

}  // namespace

Affine Linearizer::run(Expr e) {
  Affine out(e.type());
  add(out, e, 1);
  recombine(out);
  return out;
}

void Linearizer::add(Affine& out, Expr e, int64_t scale) {
  if (scale == 0) return;
  switch (e.kind()) {
    case ExprKind::kIntImm: out.add_constant(e.as<IntImm>()->value, scale); return;
    case ExprKind::kVar: {
      const auto* var = e.as<Var>();
      if (const VarRanges::Entry* entry = ranges_.find(var)) {
        if (entry->range.is_point()) {
          out.add_constant(entry->range.min, scale);
          return;
        }
        if (entry->value && expand_lets_) {
          add(out, entry->value, scale);
          return;
        }
        if (entry->wraps) out.set_wraps();
      }
      out.add_term(e, scale);
      return;
    }
    case ExprKind::kBinary: {
      const Binary& n = *e.as<Binary>();
      switch (n.op) {
        case BinaryOp::kAdd: add(out, n.a, scale), add(out, n.b, scale); return;
        case BinaryOp::kSub: {
          add(out, n.a, scale);
          if (scale == kNegInf) out.invalidate();
          add(out, n.b, scale == kNegInf ? scale : -scale);
          return;
        }
        case BinaryOp::kMul: add_product(out, n, scale); return;
        case BinaryOp::kDiv:
        case BinaryOp::kMod: add_quotient(out, n, scale); return;
        default: add_atom(out, e, scale); return;
      }
    }
    default: add_atom(out, e, scale); return;
  }
}

void Linearizer::add_term(Affine& out, Expr atom, int64_t scale) {
  out.add_term(atom, scale);
  if (!out.wraps() && may_wrap(atom, ranges_)) out.set_wraps();
}

void Linearizer::add_atom(Affine& out, Expr e, int64_t scale) {
  if (hook_ == nullptr) {
    add_term(out, e, scale);
    return;
  }
  const Expr simpler = hook_(self_, e);
  const auto* n = simpler.as<Binary>();
  const bool is_sum = simpler.kind() == ExprKind::kIntImm || simpler.kind() == ExprKind::kVar ||
                      (n != nullptr && n->op <= BinaryOp::kMod);
  if (!is_sum) {
    add_term(out, simpler, scale);
    return;
  }
  // Already simplified: only take it apart.
  const Hook hook = std::exchange(hook_, nullptr);
  add(out, simpler, scale);
  hook_ = hook;
}

void Linearizer::add_product(Affine& out, const Binary& n, int64_t scale) {
  const auto scaled = [&](Expr e, int64_t factor) {
    int64_t product = 0;
    if (__builtin_mul_overflow(scale, factor, &product)) {
      out.invalidate();
      return;
    }
    add(out, e, product);
  };
  if (const auto* b = n.b.as<IntImm>()) return scaled(n.a, b->value);
  if (const auto* a = n.a.as<IntImm>()) return scaled(n.b, a->value);
  const Affine a = run(n.a);
  const Affine b = run(n.b);
  if (!a.valid() || !b.valid()) {
    out.invalidate();
    return;
  }
  const auto add_scaled = [&](const Affine& form, int64_t factor) {
    int64_t product = 0;
    if (__builtin_mul_overflow(scale, factor, &product)) out.invalidate();
    out.add(form, product);
  };
  if (b.is_constant()) return add_scaled(a, b.constant());
  if (a.is_constant()) return add_scaled(b, a.constant());
  Affine product(out.type());
  int64_t coef = 0;
  const bool monomials = a.terms().size() == 1 && b.terms().size() == 1 && a.constant() == 0 && b.constant() == 0;
  if (monomials && !__builtin_mul_overflow(a.terms()[0].coef, b.terms()[0].coef, &coef)) {
    add_term(product, make_binary(BinaryOp::kMul, a.terms()[0].atom, b.terms()[0].atom), coef);
  } else {
    add_term(product, make_binary(BinaryOp::kMul, to_expr(a), to_expr(b)), 1);
  }
  add_scaled(product, 1);
}

struct Linearizer::Split {
  Affine quotient;
  Affine rest;
};

/// number == divisor * quotient + rest, with the coefficients of rest in (-divisor, divisor) and its constant in
/// [0, divisor).
Linearizer::Split Linearizer::split(const Affine& number, int64_t divisor) {
  Split s{Affine(number.type()), Affine(number.type())};
  for (const LinearTerm& term : number.terms()) {
    s.quotient.add_term(term.atom, term.coef / divisor);
    s.rest.add_term(term.atom, term.coef % divisor);
  }
  s.quotient.add_constant(floor_div(number.constant(), divisor));
  s.rest.add_constant(floor_mod(number.constant(), divisor));
  if (!number.valid()) s.rest.invalidate();
  return s;
}

bool find_period(const Affine& form, int64_t divisor, const VarRanges& ranges, Periodic& out) {
  int64_t best = 1;
  int64_t best_quotient = 0;
  for (const LinearTerm& candidate : form.terms()) {
    if (candidate.coef == kNegInf) return false;
    const int64_t step = std::gcd(candidate.coef, divisor);
    if (step <= best) continue;
    Affine rest(form.type(), floor_mod(form.constant(), step));
    for (const LinearTerm& term : form.terms()) {
      if (term.coef % step != 0) rest.add_term(term.atom, term.coef);
    }
    if (const std::optional<int64_t> q = single_quotient(range_of(rest, ranges), step)) {
      best = step;
      best_quotient = *q;
    }
  }
  if (best == 1) return false;
  out.step = best;
  out.quotient = Affine(form.type(), floor_div(form.constant(), best));
  out.quotient.add_constant(best_quotient);
  out.rest = Affine(form.type(), floor_mod(form.constant(), best));
  out.rest.add_constant(best_quotient, -best);
  for (const LinearTerm& term : form.terms()) {
    if (term.coef % best == 0) {
      out.quotient.add_term(term.atom, term.coef / best);
    } else {
      out.rest.add_term(term.atom, term.coef);
    }
  }
  return out.quotient.valid() && out.rest.valid();
}

void Linearizer::add_quotient(Affine& out, const Binary& n, int64_t scale) {
  const Affine number = run(n.a);
  const Affine divisor = run(n.b);
  if (!number.valid() || !divisor.valid()) {
    out.invalidate();
    return;
  }
  const bool is_div = n.op == BinaryOp::kDiv;
  const int64_t c = divisor.is_constant() ? divisor.constant() : 0;
  if (c > 0 && !number.wraps()) {
    return is_div ? add_div(out, number, c, scale) : add_mod(out, number, c, scale);
  }
  if (c < 0 && c != kNegInf && scale != kNegInf && !number.wraps()) {
    // floor(x / -c) == floor(-x / c), x mod -c == -(-x mod c)
    Affine opposite(out.type());
    opposite.add(number, -1);
    return is_div ? add_div(out, opposite, -c, scale) : add_mod(out, opposite, -c, -scale);
  }
  if (number.is_constant() && c != 0) {
    const std::optional<int64_t> value = fold_int(n.op, n.type, number.constant(), c);
    out.add_constant(*value, scale);
    return;
  }
  if (c == 1) {
    if (is_div) out.add(number, scale);
    return;
  }
  add_term(out, make_binary(n.op, to_expr(number), to_expr(divisor)), scale);
}

void Linearizer::add_div(Affine& out, const Affine& number, int64_t divisor, int64_t scale) {
  const Split s = split(number, divisor);
  if (!s.quotient.valid() || !s.rest.valid()) {
    out.invalidate();
    return;
  }
  out.add(s.quotient, scale);
  const Affine& rest = s.rest;
  if (rest.terms().empty()) return;  // its constant is below the divisor
  if (const std::optional<int64_t> q = single_quotient(range_of(rest, ranges_), divisor)) {
    out.add_constant(*q, scale);
    return;
  }
  Periodic p;
  if (find_period(rest, divisor, ranges_, p)) {
    add_div(out, p.quotient, divisor / p.step, scale);
    return;
  }
  if (rest.terms().size() == 1 && rest.terms()[0].coef == 1) {
    const Expr atom = rest.terms()[0].atom;
    int64_t inner = 0;
    int64_t both = 0;
    // floor((floor(x / inner) + k) / divisor) == floor((x + k*inner) / (inner*divisor))
    if (const Binary* n = constant_op(atom, BinaryOp::kDiv, inner);
        n != nullptr && !__builtin_mul_overflow(inner, divisor, &both)) {
      Affine x = Linearizer(ranges_, nullptr, nullptr).run(n->a);
      x.add_constant(rest.constant(), inner);
      if (x.valid()) return add_div(out, x, both, scale);
    }
    // floor((x mod (m*divisor)) / divisor) == floor(x / divisor) mod m
    if (const Binary* n = constant_op(atom, BinaryOp::kMod, inner);
        n != nullptr && rest.constant() == 0 && inner % divisor == 0) {
      const Affine x = Linearizer(ranges_, nullptr, nullptr).run(n->a);
      Affine quotient(out.type());
      add_div(quotient, x, divisor, 1);
      if (quotient.valid()) return add_mod(out, quotient, inner / divisor, scale);
    }
  }
  add_term(out, make_binary(BinaryOp::kDiv, to_expr(rest), make_int(out.type(), divisor)), scale);
}

void Linearizer::add_mod(Affine& out, const Affine& number, int64_t divisor, int64_t scale) {
  const Split s = split(number, divisor);
  if (!s.quotient.valid() || !s.rest.valid()) {
    out.invalidate();
    return;
  }
  const Affine& rest = s.rest;
  // (c * (x mod m) + ...) mod divisor, where divisor divides c*m: the inner modulo changes nothing.
  for (size_t i = 0; i < rest.terms().size(); ++i) {
    int64_t inner = 0;
    const Binary* n = constant_op(rest.terms()[i].atom, BinaryOp::kMod, inner);
    int64_t period = 0;
    if (n == nullptr || __builtin_mul_overflow(rest.terms()[i].coef, inner, &period) || period % divisor != 0) continue;
    Affine plain(rest.type(), rest.constant());
    for (size_t j = 0; j < rest.terms().size(); ++j) {
      const LinearTerm& term = rest.terms()[j];
      Linearizer(ranges_, nullptr, nullptr).add(plain, j == i ? n->a : term.atom, term.coef);
    }
    return add_mod(out, plain, divisor, scale);
  }
  if (rest.terms().empty()) return out.add_constant(rest.constant(), scale);
  if (const std::optional<int64_t> q = single_quotient(range_of(rest, ranges_), divisor)) {
    out.add(rest, scale);
    int64_t back = 0;
    if (__builtin_mul_overflow(*q, divisor, &back)) out.invalidate();
    out.add_constant(back, scale == kNegInf ? 0 : -scale);
    return;
  }
  Periodic p;
  if (find_period(rest, divisor, ranges_, p)) {
    int64_t wide = 0;
    if (__builtin_mul_overflow(scale, p.step, &wide)) out.invalidate();
    add_mod(out, p.quotient, divisor / p.step, wide);
    out.add(p.rest, scale);
    return;
  }
  add_term(out, make_binary(BinaryOp::kMod, to_expr(rest), make_int(out.type(), divisor)), scale);
}

// ---- putting together -------------------------------------------------------------------------------------------

void Linearizer::recombine(Affine& form) {
  constexpr int kMaxRounds = 8;  // each round removes a term; a bound all the same
  for (int round = 0; round < kMaxRounds && form.valid(); ++round) {
    if (!recombine_quotient(form) && !recombine_min_max(form)) return;
  }
}

/// k*(x mod c) + k*c*floor(x / c) == k*x, and k*(x mod c) + k*c*(floor(x / c) mod m) == k*(x mod (c*m)).
bool Linearizer::recombine_quotient(Affine& form) {
  for (size_t i = 0; i < form.terms().size(); ++i) {
    int64_t c = 0;
    const LinearTerm low = form.terms()[i];
    const Binary* mod = constant_op(low.atom, BinaryOp::kMod, c);
    if (mod == nullptr) continue;
    int64_t high_coef = 0;
    if (__builtin_mul_overflow(low.coef, c, &high_coef)) continue;
    const Affine number = Linearizer(ranges_, nullptr, nullptr).run(mod->a);
    Affine quotient(form.type());
    Linearizer(ranges_, nullptr, nullptr).add_div(quotient, number, c, 1);
    const Expr whole = quotient.single_atom();
    if (!whole) continue;
    for (size_t j = 0; j < form.terms().size(); ++j) {
      const LinearTerm high = form.terms()[j];
      if (high.coef != high_coef || j == i) continue;
      int64_t m = 0;
      int64_t both = 0;
      const Binary* high_mod = constant_op(high.atom, BinaryOp::kMod, m);
      if (same_expr(high.atom, whole)) {
        form.remove_term(std::max(i, j)), form.remove_term(std::min(i, j));
        form.add(number, low.coef);
        return true;
      }
      if (high_mod != nullptr && same_expr(high_mod->a, whole) && !__builtin_mul_overflow(c, m, &both)) {
        form.remove_term(std::max(i, j)), form.remove_term(std::min(i, j));
        Linearizer(ranges_, nullptr, nullptr).add_mod(form, number, both, low.coef);
        return true;
      }
    }
  }
  return false;
}

/// min(a, b) + rest becomes min(a + rest, b + rest) when that makes an arm constant: min(y*8 + 8, n) - y*8.
bool Linearizer::recombine_min_max(Affine& form) {
  if (form.terms().size() < 2 || form.wraps()) return false;
  for (size_t i = 0; i < form.terms().size(); ++i) {
    const LinearTerm term = form.terms()[i];
    const auto* n = term.atom.as<Binary>();
    if (n == nullptr || (n->op != BinaryOp::kMin && n->op != BinaryOp::kMax) || (term.coef != 1 && term.coef != -1)) {
      continue;
    }
    Affine a = form;
    a.remove_term(i);
    Affine b = a;
    Linearizer plain(ranges_, nullptr, nullptr);
    plain.add(a, n->a, term.coef);
    plain.add(b, n->b, term.coef);
    if (!a.is_constant() && !b.is_constant()) continue;
    const bool is_min = (n->op == BinaryOp::kMin) == (term.coef > 0);
    const Expr moved = min_max_expr(is_min ? BinaryOp::kMin : BinaryOp::kMax, a, b, ranges_);
    form = Affine(form.type());
    plain.add(form, moved, 1);
    return true;
  }
  return false;
}

// ---- minimum and maximum ----------------------------------------------------------------------------------------

Expr min_max_expr(BinaryOp op, const Affine& a, const Affine& b, const VarRanges& ranges) {
  const bool is_min = op == BinaryOp::kMin;
  if (a.is_constant() && !b.is_constant()) return min_max_expr(op, b, a, ranges);
  Affine difference = a;
  difference.add(b, -1);
  // a - b < 1: a <= b.
  Affine above = difference;
  above.add_constant(-1);
  const Tri a_not_above = prove_negative(above, ranges);
  if (a_not_above == Tri::kTrue) return to_expr(is_min ? a : b);
  Affine below(difference.type(), -1);
  below.add(difference, -1);
  if (a_not_above == Tri::kFalse || prove_negative(below, ranges) == Tri::kTrue) return to_expr(is_min ? b : a);
  // min(min(x, c), d)
  const Expr inner = a.single_atom();
  if (inner && b.is_constant()) {
    const auto* n = inner.as<Binary>();
    if (n != nullptr && n->op == op && n->b.kind() == ExprKind::kIntImm) {
      const int64_t c = n->b.as<IntImm>()->value;
      const int64_t d = b.constant();
      return make_binary(op, n->a, make_int(a.type(), is_min ? std::min(c, d) : std::max(c, d)));
    }
  }
  return make_binary(op, to_expr(a), to_expr(b));
}

}  // namespace tensmith
