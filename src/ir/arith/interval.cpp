#include "tensmith/ir/arith/interval.h"

#include <algorithm>

#include "ir/arith/linearize.h"
#include "tensmith/ir/fold.h"
#include "tensmith/ir/visit.h"

namespace tensmith {

namespace {

__extension__ typedef __int128 Wide;

/// Ends that do not fit: towards infinity they become unbounded, the other way the nearest finite value stays safe.
int64_t lower_end(Wide v) {
  if (v <= kNegInf) return kNegInf;
  return v >= kPosInf ? kPosInf - 1 : static_cast<int64_t>(v);
}
int64_t upper_end(Wide v) {
  if (v >= kPosInf) return kPosInf;
  return v <= kNegInf ? kNegInf + 1 : static_cast<int64_t>(v);
}

bool is_arithmetic(BinaryOp op) { return op <= BinaryOp::kMod; }

Range arithmetic(BinaryOp op, Range a, Range b) {
  switch (op) {
    case BinaryOp::kAdd: return a + b;
    case BinaryOp::kSub: return a - b;
    case BinaryOp::kMul: return a * b;
    case BinaryOp::kDiv: return floor_div(a, b);
    case BinaryOp::kMod: return floor_mod(a, b);
    default: return {};
  }
}

/// The range of a mathematical result as a value of `type`.
Range as_values(Range r, DataType type, bool wraps) {
  const Range all = range_of(type);
  if (type.bits >= 64 && !r.bounded() && (wraps || !type.is_int())) return all;
  if (all.contains(r)) return r;
  return wraps || !is_index_type(type) ? all : intersect(r, all);
}

Range range_of_node(Expr e, const VarRanges& ranges);

Range range_of_binary(const Binary& n, const VarRanges& ranges) {
  if (n.type.is_bool()) return {0, 1};
  const Range a = range_of(n.a, ranges);
  const Range b = range_of(n.b, ranges);
  if (n.op == BinaryOp::kMin) return min(a, b);
  if (n.op == BinaryOp::kMax) return max(a, b);
  if (n.type.is_uint() && n.type.bits == 64 && !(a.bounded() && b.bounded())) return range_of(n.type);
  return as_values(arithmetic(n.op, a, b), n.type, !is_index_type(n.type) || may_wrap(&n, ranges));
}

Range range_of_node(Expr e, const VarRanges& ranges) {
  return match(
      e, [&](const IntImm& n) { return n.type.is_uint() && n.value < 0 ? range_of(n.type) : Range::point(n.value); },
      [&](const FloatImm&) { return Range{}; }, [&](const Var& n) { return ranges.range(&n); },
      [&](const Cast& n) {
        const Range all = range_of(n.type);
        if (n.value.type().is_float() || n.type.is_float()) return all;
        const Range r = range_of(n.value, ranges);
        if (n.type.is_bool()) return !r.contains(0) ? Range::point(1) : r.is_point() ? Range::point(0) : Range{0, 1};
        if (!r.bounded() && n.value.type().is_uint() != n.type.is_uint()) return all;
        return all.contains(r) ? r : all;
      },
      [&](const Binary& n) { return range_of_binary(n, ranges); },
      [&](const Not&) {
        return Range{0, 1};
      },
      // Conditions are not looked into: proofs look at ranges, of facts too.
      [&](const Select& n) { return hull(range_of(n.if_true, ranges), range_of(n.if_false, ranges)); },
      [&](const Load& n) { return range_of(n.type); },
      [&](const Ramp& n) {
        const Range steps = range_of(n.stride, ranges) * Range{0, n.type.lanes - 1};
        return as_values(range_of(n.base, ranges) + steps, n.type.element(), may_wrap(&n, ranges));
      },
      [&](const Broadcast& n) { return range_of(n.value, ranges); }, [&](const Call& n) { return range_of(n.type); },
      [&](const Reduce& n) { return range_of(n.type); });
}

}  // namespace

Range operator+(Range a, Range b) {
  return {a.min == kNegInf || b.min == kNegInf ? kNegInf : lower_end(Wide{a.min} + b.min),
          a.max == kPosInf || b.max == kPosInf ? kPosInf : upper_end(Wide{a.max} + b.max)};
}

Range operator*(Range a, int64_t scale) {
  if (scale == 0) return Range::point(0);
  const auto lower = [&](int64_t v, bool infinite) { return infinite ? kNegInf : lower_end(Wide{v} * scale); };
  const auto upper = [&](int64_t v, bool infinite) { return infinite ? kPosInf : upper_end(Wide{v} * scale); };
  if (scale > 0) return {lower(a.min, a.min == kNegInf), upper(a.max, a.max == kPosInf)};
  return {lower(a.max, a.max == kPosInf), upper(a.min, a.min == kNegInf)};
}

Range operator-(Range a, Range b) { return a + b * -1; }

Range operator*(Range a, Range b) {
  if (b.is_point()) return a * b.min;
  if (a.is_point()) return b * a.min;
  if (a.bounded() && b.bounded()) {
    const auto [lo, hi] =
        std::minmax({Wide{a.min} * b.min, Wide{a.min} * b.max, Wide{a.max} * b.min, Wide{a.max} * b.max});
    return {lower_end(lo), upper_end(hi)};
  }
  if (a.min >= 0 && b.min >= 0) {
    return {lower_end(Wide{a.min} * b.min),
            a.max == kPosInf || b.max == kPosInf ? kPosInf : upper_end(Wide{a.max} * b.max)};
  }
  return {};
}

Range floor_div(Range a, Range b) {
  if (b.max < 0) return floor_div(a * -1, b * -1);
  if (b.min <= 0) return {};
  Range out;
  if (a.min != kNegInf) out.min = a.min < 0 ? floor_div(a.min, b.min) : b.max == kPosInf ? 0 : floor_div(a.min, b.max);
  if (a.max != kPosInf)
    out.max = a.max >= 0 ? floor_div(a.max, b.min) : b.max == kPosInf ? -1 : floor_div(a.max, b.max);
  return out;
}

Range floor_mod(Range a, Range b) {
  if (b.max < 0) return floor_mod(a * -1, b * -1) * -1;
  if (b.min <= 0) return {};
  if (a.min >= 0 && a.max < b.min) return a;
  if (b.is_point() && a.bounded() && floor_div(a.min, b.min) == floor_div(a.max, b.min)) {
    return {floor_mod(a.min, b.min), floor_mod(a.max, b.min)};
  }
  const int64_t top = b.max == kPosInf ? kPosInf : b.max - 1;
  return {0, a.min >= 0 ? std::min(a.max, top) : top};
}

Range min(Range a, Range b) { return {std::min(a.min, b.min), std::min(a.max, b.max)}; }
Range max(Range a, Range b) { return {std::max(a.min, b.min), std::max(a.max, b.max)}; }
Range hull(Range a, Range b) { return {std::min(a.min, b.min), std::max(a.max, b.max)}; }
Range intersect(Range a, Range b) { return {std::max(a.min, b.min), std::min(a.max, b.max)}; }

Range range_of(DataType type) {
  if (type.is_bool()) return {0, 1};
  if (type.is_uint()) return {0, type.bits >= 64 ? kPosInf : (int64_t{1} << type.bits) - 1};
  if (type.is_int() && type.bits < 64) return {-(int64_t{1} << (type.bits - 1)), (int64_t{1} << (type.bits - 1)) - 1};
  return {};
}

Range range_of(const Affine& form, const VarRanges& ranges) {
  if (!form.valid()) return range_of(form.type());
  Range sum = Range::point(form.constant());
  for (const LinearTerm& term : form.terms()) {
    const auto* var = term.atom.as<Var>();
    sum = sum + (var != nullptr ? ranges.range(var) : range_of_node(term.atom, ranges)) * term.coef;
  }
  return as_values(sum, form.type(), form.wraps());
}

Range range_of(Expr e, const VarRanges& ranges) {
  const DataType type = e.type();
  if (type.is_float()) return {};
  const auto* n = e.as<Binary>();
  if (n != nullptr && is_arithmetic(n->op) && is_index_type(type) && type.is_scalar()) {
    const Affine form = Linearizer(ranges).run(e);
    if (form.valid()) return range_of(form, ranges);
  }
  return range_of_node(e, ranges);
}

// ---- variables in scope -----------------------------------------------------------------------------------------

void VarRanges::push_loop(VarRef var, Expr extent) {
  const Range r = range_of(extent, *this);
  push(var, {0, r.max == kPosInf ? kPosInf : r.max - 1});
  if (extent.kind() == ExprKind::kIntImm || !is_index_type(var->type) || reads_data(extent)) return;
  Affine difference(var->type);
  difference.add_term(var, 1);
  Linearizer(*this).add(difference, extent, -1);
  add_fact(difference, 0);
}

void VarRanges::push_let(VarRef var, Expr value) {
  if (!value.type().is_integral() && !value.type().is_bool()) {
    push(var, range_of(var->type));
    return;
  }
  // A load in its place would see what is stored later.
  const bool wraps = may_wrap(value, *this);
  const bool expands = !wraps && is_index_type(value.type()) && !reads_data(value);
  entries_.push_back({var, range_of(value, *this), expands ? value : Expr(), wraps});
}

void VarRanges::push_fact(Expr condition, bool holds) {
  if (!condition.type().is_scalar()) return;
  if (const auto* negation = condition.as<Not>()) {
    push_fact(negation->value, !holds);
    return;
  }
  const auto* n = condition.as<Binary>();
  if (n == nullptr) {
    conditions_.push_back({condition, holds});
    return;
  }
  if (n->op == BinaryOp::kAnd || n->op == BinaryOp::kOr) {
    if ((n->op == BinaryOp::kAnd) == holds) {
      push_fact(n->a, holds);
      push_fact(n->b, holds);
    } else {
      conditions_.push_back({condition, holds});
    }
    return;
  }
  conditions_.push_back({condition, holds});
  if (!is_index_type(n->a.type())) return;
  Affine difference(n->a.type());
  Linearizer linearizer(*this);
  linearizer.add(difference, n->a, 1);
  linearizer.add(difference, n->b, -1);
  linearizer.recombine(difference);
  if (!difference.valid() || difference.wraps()) return;
  const auto negative = [&](int64_t sign, int64_t offset) {  // sign * difference + offset < 0
    Affine form(difference.type(), offset);
    form.add(difference, sign);
    add_fact(form, 0);
  };
  BinaryOp op = n->op;
  if (!holds) {
    switch (op) {
      case BinaryOp::kEq: op = BinaryOp::kNe; break;
      case BinaryOp::kNe: op = BinaryOp::kEq; break;
      case BinaryOp::kLt: op = BinaryOp::kGe; break;
      case BinaryOp::kLe: op = BinaryOp::kGt; break;
      case BinaryOp::kGt: op = BinaryOp::kLe; break;
      default: op = BinaryOp::kLt; break;
    }
  }
  switch (op) {
    case BinaryOp::kLt: negative(1, 0); break;
    case BinaryOp::kLe: negative(1, -1); break;
    case BinaryOp::kGt: negative(-1, 0); break;
    case BinaryOp::kGe: negative(-1, -1); break;
    case BinaryOp::kEq: negative(1, -1), negative(-1, -1); break;
    default: break;
  }
}

void VarRanges::push_branch(Expr condition, bool holds) {
  const auto* n = condition.as<Binary>();
  if (n != nullptr && n->op == (holds ? BinaryOp::kAnd : BinaryOp::kOr)) {
    push_branch(n->a, holds);
    push_branch(n->b, holds);
  } else if (!reads_data(condition)) {
    push_fact(condition, holds);
  }
}

void VarRanges::add_fact(const Affine& form, int depth) {
  constexpr int kMaxDepth = 4;
  if (!form.valid() || form.wraps()) return;
  // A form that grows with max(a, b) is negative for both arms; one that falls with min(a, b) too.
  for (size_t i = 0; i < form.terms().size() && depth < kMaxDepth; ++i) {
    const LinearTerm term = form.terms()[i];
    const auto* n = term.atom.as<Binary>();
    if (n == nullptr || !((n->op == BinaryOp::kMax && term.coef > 0) || (n->op == BinaryOp::kMin && term.coef < 0))) {
      continue;
    }
    for (Expr arm : {n->a, n->b}) {
      Affine with_arm = form;
      with_arm.remove_term(i);
      Linearizer(*this).add(with_arm, arm, term.coef);
      add_fact(with_arm, depth + 1);
    }
    return;
  }
  if (form.terms().empty()) {
    if (form.constant() >= 0) entries_.push_back({nullptr, {1, 0}, {}, false});  // a contradiction
    return;
  }
  facts_.push_back(form);
  // coef * atom < -(everything else): the range of a lone variable shrinks.
  if (form.terms().size() != 1 || form.terms()[0].atom.kind() != ExprKind::kVar) return;
  const VarRef var = form.terms()[0].atom.as<Var>();
  const int64_t coef = form.terms()[0].coef;
  if (form.constant() == kPosInf || coef == kNegInf) return;
  const int64_t bound = -(form.constant() + 1);  // coef * var <= bound
  Entry entry{var, range(var), {}, false};
  if (const Entry* known = find(var)) entry = *known;
  if (coef > 0) {
    entry.range.max = std::min(entry.range.max, floor_div(bound, coef));
  } else {
    entry.range.min = std::max(entry.range.min, static_cast<int64_t>(-floor_div(bound, -coef)));
  }
  entries_.push_back(entry);
}

void VarRanges::pop(Mark mark) {
  entries_.shrink(mark.entries);
  facts_.resize(mark.facts, Affine());
  conditions_.resize(mark.conditions);
}

const VarRanges::Entry* VarRanges::find(VarRef var) const {
  for (size_t i = entries_.size(); i-- > 0;) {
    if (entries_[i].var == var) return &entries_[i];
  }
  return parent_ != nullptr ? parent_->find(var) : nullptr;
}

Range VarRanges::range(VarRef var) const {
  const Entry* entry = find(var);
  return entry != nullptr ? entry->range : range_of(var->type);
}

bool VarRanges::contradictory() const {
  for (const Entry& entry : entries_) {
    if (entry.range.empty()) return true;
  }
  return parent_ != nullptr && parent_->contradictory();
}

int VarRanges::known_condition(Expr condition) const {
  for (size_t i = conditions_.size(); i-- > 0;) {
    if (same_expr(conditions_[i].expr, condition)) return conditions_[i].holds ? 1 : 0;
  }
  return parent_ != nullptr ? parent_->known_condition(condition) : -1;
}

}  // namespace tensmith
