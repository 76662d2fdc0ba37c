#include "schedule/linear.h"

#include <algorithm>
#include <numeric>

#include "tensmith/ir/arith/inline_vector.h"
#include "tensmith/ir/fold.h"
#include "tensmith/support/error.h"

namespace tensmith {

namespace {

// Forms of axes stay far below 2^63 (read_check.h); data may wrap, as may the far end of a prefetch.
int64_t wrap_mul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
int64_t wrap_add(int64_t a, int64_t b, int64_t scale_b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(wrap_mul(b, scale_b)));
}

}  // namespace

void LinearPool::clear() {
  atoms_.clear();
  used_ = 0;
}

template <typename F>
Linear LinearPool::pick(Linear a, int64_t constant, F&& coef_of) {
  const uint32_t begin = room(a.count);
  for (uint32_t i = 0; i < a.count; ++i) {
    const LinearPart part = parts_[a.begin + i];
    if (const int64_t coef = coef_of(part, i); coef != 0) parts_[used_++] = {part.atom, coef};
  }
  return {constant, begin, used_ - begin};
}

int32_t LinearPool::add_loop(Expr var, int64_t extent, int depth) {
  Atom& a = atoms_.emplace_back();
  a.kind = Kind::kLoop;
  a.depth = depth;
  a.interval = {0, std::max<int64_t>(extent - 1, 0)};
  a.number = extent;
  a.expr = var;
  return static_cast<int32_t>(atoms_.size()) - 1;
}

int32_t LinearPool::add_axis(Linear base, Linear offset, int64_t extent, int64_t domain) {
  const Linear form = add(base, offset);
  Atom a;
  a.kind = Kind::kAxis;
  a.depth = depth(form);
  a.interval = {0, std::max<int64_t>(domain - 1, 0)};
  a.form = form;
  a.base = base;
  a.offset = offset;
  a.number = extent;
  atoms_.push_back(a);
  return static_cast<int32_t>(atoms_.size()) - 1;
}

int32_t LinearPool::add_opaque(Expr value) {
  Atom& a = atoms_.emplace_back();
  a.kind = Kind::kOpaque;
  a.depth = INT32_MAX;
  a.interval = {-kUnknown, kUnknown};
  a.expr = value;
  return static_cast<int32_t>(atoms_.size()) - 1;
}

Linear LinearPool::atom(int32_t id, int64_t coef) {
  if (coef == 0) return {};
  const uint32_t begin = room(1);
  parts_[used_++] = {id, coef};
  return {0, begin, 1};
}

Linear LinearPool::add(Linear a, Linear b, int64_t scale_b) {
  if (b.count == 0 || scale_b == 0) return {wrap_add(a.constant, b.constant, scale_b), a.begin, a.count};
  if (a.count == 0 && scale_b == 1) return {wrap_add(a.constant, b.constant, 1), b.begin, b.count};
  // The operands lie in the same array, so that room is made before anything is read.
  const uint32_t begin = room(size_t{a.count} + b.count);
  const LinearPart* pa = parts_.data() + a.begin;
  const LinearPart* pb = parts_.data() + b.begin;
  const LinearPart* const ea = pa + a.count;
  const LinearPart* const eb = pb + b.count;
  LinearPart* out = parts_.data() + begin;
  while (pa != ea || pb != eb) {
    if (pb == eb || (pa != ea && pa->atom < pb->atom)) {
      *out++ = *pa++;
    } else if (pa == ea || pb->atom < pa->atom) {
      *out++ = {pb->atom, wrap_mul(pb->coef, scale_b)};
      ++pb;
    } else {
      const int64_t coef = wrap_add(pa->coef, pb->coef, scale_b);
      if (coef != 0) *out++ = {pa->atom, coef};
      ++pa, ++pb;
    }
  }
  used_ = static_cast<uint32_t>(out - parts_.data());
  return {wrap_add(a.constant, b.constant, scale_b), begin, used_ - begin};
}

Linear LinearPool::scale(Linear a, int64_t factor) { return factor == 1 ? a : add({}, a, factor); }

Linear LinearPool::expand(Linear a) {
  bool axes = false;
  for (uint32_t i = 0; i < a.count; ++i) {
    axes |= atoms_[parts_[a.begin + i].atom].kind == Kind::kAxis;
  }
  if (!axes) return a;
  Linear out = pick(a, a.constant, [&](const LinearPart& part, uint32_t) {
    return atoms_[part.atom].kind == Kind::kAxis ? 0 : part.coef;
  });
  for (uint32_t i = 0; i < a.count; ++i) {
    const LinearPart part = parts_[a.begin + i];
    const Atom& n = atoms_[part.atom];
    if (n.kind == Kind::kAxis) out = add(out, n.form, part.coef);
  }
  return out;
}

LinearPool::Divided LinearPool::divide(Linear a, int64_t divisor) {
  struct Ranked {
    LinearPart part;
    uint32_t place;  ///< in `a`
    bool divides;
    int64_t magnitude;
  };
  // Those that the divisor divides come first, then large coefficients: the tail is what may be small.
  auto before = [](const Ranked& x, const Ranked& y) {
    return x.divides != y.divides ? x.divides : x.magnitude > y.magnitude;
  };
  InlineVector<Ranked, 12> sorted;
  InlineVector<bool, 12> in_head;
  for (uint32_t i = 0; i < a.count; ++i) {
    const LinearPart part = parts_[a.begin + i];
    const Ranked ranked = {part, i, part.coef % divisor == 0, part.coef < 0 ? -part.coef : part.coef};
    in_head.push_back(false);
    sorted.push_back(ranked);
    size_t at = i;
    for (; at > 0 && before(ranked, sorted[at - 1]); --at) sorted[at] = sorted[at - 1];
    sorted[at] = ranked;
  }
  int64_t g = divisor;
  for (size_t i = 0;; ++i) {
    if (i > 0) g = std::gcd(g, sorted[i - 1].part.coef);
    Interval rest = {floor_mod(a.constant, g), 0};
    rest.hi = rest.lo;
    for (size_t k = i; k < sorted.size(); ++k) {
      const Interval n = atoms_[sorted[k].part.atom].interval;
      if (n.hi >= kUnknown) {
        rest.hi = g;
        break;
      }
      const int64_t c = sorted[k].part.coef;
      rest.lo += c > 0 ? n.lo * c : n.hi * c;
      rest.hi += c > 0 ? n.hi * c : n.lo * c;
    }
    if (i < sorted.size() && (rest.lo < 0 || rest.hi >= g)) continue;
    for (size_t k = 0; k < i; ++k) in_head[sorted[k].place] = true;
    Divided out;
    out.g = g;
    out.head = pick(a, floor_div(a.constant, g),
                    [&](const LinearPart& part, uint32_t place) { return in_head[place] ? part.coef / g : 0; });
    out.rest = pick(a, floor_mod(a.constant, g),
                    [&](const LinearPart& part, uint32_t place) { return in_head[place] ? 0 : part.coef; });
    return out;
  }
}

int32_t LinearPool::quotient_atom(Kind kind, Linear dividend, int64_t divisor) {
  for (size_t i = 0; i < atoms_.size(); ++i) {
    const Atom& n = atoms_[i];
    if (n.kind == kind && n.number == divisor && equal(n.form, dividend)) return static_cast<int32_t>(i);
  }
  const Interval values = interval(dividend);
  Atom a;
  a.kind = kind;
  a.depth = depth(dividend);
  a.form = dividend;
  a.number = divisor;
  if (values.hi >= kUnknown && kind == Kind::kDiv) {
    a.interval = values;
  } else if (kind == Kind::kDiv) {
    a.interval = {floor_div(values.lo, divisor), floor_div(values.hi, divisor)};
  } else {
    a.interval = {0, divisor - 1};
  }
  atoms_.push_back(a);
  return static_cast<int32_t>(atoms_.size()) - 1;
}

Linear LinearPool::div(Linear a, int64_t divisor) {
  if (divisor == 1) return a;
  const Divided d = divide(expand(a), divisor);
  const int64_t left = divisor / d.g;
  if (left == 1) return d.head;
  if (d.head.count == 0) return constant(floor_div(d.head.constant, left));
  // Multiples of what is left to divide by come out: (q*left + r) / left = q + r / left.
  const Linear whole = pick(d.head, floor_div(d.head.constant, left),
                            [&](const LinearPart& p, uint32_t) { return p.coef % left == 0 ? p.coef / left : 0; });
  const Linear part = pick(d.head, floor_mod(d.head.constant, left),
                           [&](const LinearPart& p, uint32_t) { return p.coef % left == 0 ? 0 : p.coef; });
  if (part.count == 0) return whole;
  const Interval values = interval(part);
  if (values.lo >= 0 && values.hi < left) return whole;
  return add(whole, atom(quotient_atom(Kind::kDiv, part, left)));
}

Linear LinearPool::mod(Linear a, int64_t divisor) {
  if (divisor == 1) return {};
  const Divided d = divide(expand(a), divisor);
  const int64_t left = divisor / d.g;
  Linear part = constant(floor_mod(d.head.constant, left));
  if (left > 1) {
    part = pick(d.head, part.constant, [&](const LinearPart& p, uint32_t) { return p.coef % left == 0 ? 0 : p.coef; });
    const Interval values = interval(part);
    if (part.count > 0 && (values.lo < 0 || values.hi >= left)) part = atom(quotient_atom(Kind::kMod, part, left));
  }
  return add(d.rest, part, d.g);
}

Linear LinearPool::shift(Linear a, int32_t loop, int64_t distance) {
  a = expand(a);
  Linear out = constant(a.constant);
  for (uint32_t i = 0; i < a.count; ++i) {
    const LinearPart part = parts_[a.begin + i];
    const Atom n = atoms_[part.atom];
    if (part.atom == loop) {
      out = add(out, atom(part.atom, part.coef));
      out.constant = wrap_add(out.constant, part.coef, distance);
    } else if (n.kind == Kind::kDiv || n.kind == Kind::kMod) {
      const Linear moved = shift(n.form, loop, distance);
      out = add(out, n.kind == Kind::kDiv ? div(moved, n.number) : mod(moved, n.number), part.coef);
    } else {
      out = add(out, atom(part.atom, part.coef));
    }
  }
  return out;
}

bool LinearPool::equal(Linear a, Linear b) const {
  if (a.constant != b.constant || a.count != b.count) return false;
  for (uint32_t i = 0; i < a.count; ++i) {
    const LinearPart& x = parts_[a.begin + i];
    const LinearPart& y = parts_[b.begin + i];
    if (x.atom != y.atom || x.coef != y.coef) return false;
  }
  return true;
}

Interval LinearPool::interval(Linear a) const {
  Interval out = {a.constant, a.constant};
  for (uint32_t i = 0; i < a.count; ++i) {
    const LinearPart& part = parts_[a.begin + i];
    const Interval& n = atoms_[part.atom].interval;
    if (n.hi >= kUnknown) return {-kUnknown, kUnknown};
    out.lo += part.coef > 0 ? n.lo * part.coef : n.hi * part.coef;
    out.hi += part.coef > 0 ? n.hi * part.coef : n.lo * part.coef;
  }
  return out;
}

bool LinearPool::is_opaque(Linear a) const {
  bool found = false;
  for (const LinearPart& part : parts(a)) found |= atoms_[part.atom].kind == Kind::kOpaque;
  return found;
}

int LinearPool::depth(Linear a) const {
  int out = 0;
  for (uint32_t i = 0; i < a.count; ++i) {
    out = std::max(out, atoms_[parts_[a.begin + i].atom].depth);
  }
  return out;
}

LinearRegion LinearPool::region(Linear a, int limit) {
  LinearRegion out = {constant(a.constant), 0};
  for (uint32_t i = 0; i < a.count; ++i) {
    const LinearPart part = parts_[a.begin + i];
    const Atom n = atoms_[part.atom];
    LinearRegion r = {};
    if (n.kind == Kind::kOpaque) return {{}, kUnknown};
    if (n.depth <= limit) {
      r.min = n.kind == Kind::kAxis ? n.form : atom(part.atom);
    } else if (n.kind == Kind::kLoop) {
      r.range = n.interval.hi;
    } else if (n.kind == Kind::kAxis) {
      const LinearRegion base = region(n.base, limit);
      const LinearRegion offset = region(n.offset, limit);
      r.min = add(base.min, offset.min);
      r.range = base.range + std::min(offset.range, std::max<int64_t>(n.number - 1, 0));
    } else {
      const LinearRegion dividend = region(n.form, limit);
      if (dividend.range >= kUnknown) return {{}, kUnknown};
      const Linear low = expand(dividend.min);
      // The remainder of the lowest value is a multiple of `step` plus a constant.
      int64_t step = n.number;
      for (uint32_t k = 0; k < low.count; ++k) step = std::gcd(step, parts_[low.begin + k].coef);
      const int64_t highest = n.number - step + floor_mod(low.constant, step);
      if (n.kind == Kind::kDiv) {
        r.min = div(low, n.number);
        r.range = floor_div(highest + dividend.range, n.number);
      } else if (highest + dividend.range < n.number) {
        r.min = mod(low, n.number);
        r.range = dividend.range;
      } else {
        r.range = n.number - 1;
      }
    }
    if (r.range >= kUnknown) return {{}, kUnknown};
    out.min = add(out.min, r.min, part.coef);
    if (part.coef > 0) {
      out.range += r.range * part.coef;
    } else {
      out.range -= r.range * part.coef;
      out.min.constant += r.range * part.coef;
    }
  }
  return out;
}

Expr LinearPool::atom_expr(int32_t id) {
  if (!atoms_[id].expr) {
    const Atom n = atoms_[id];
    const Expr dividend = to_expr(n.form);
    atoms_[id].expr =
        make_binary(n.kind == Kind::kDiv ? BinaryOp::kDiv : BinaryOp::kMod, dividend, make_index(n.number));
  }
  return atoms_[id].expr;
}

Expr LinearPool::to_expr(Linear a) {
  a = expand(a);
  Expr out;
  for (const bool negative : {false, true}) {
    for (uint32_t i = 0; i < a.count; ++i) {
      const LinearPart part = parts_[a.begin + i];
      if ((part.coef < 0) != negative) continue;
      Expr term = atom_expr(part.atom);
      const int64_t magnitude = negative && out ? -part.coef : part.coef;
      if (magnitude != 1) term = make_binary(BinaryOp::kMul, term, make_index(magnitude));
      out = !out ? term : make_binary(negative ? BinaryOp::kSub : BinaryOp::kAdd, out, term);
    }
  }
  if (!out) return make_index(a.constant);
  if (a.constant == 0) return out;
  return a.constant > 0 ? make_binary(BinaryOp::kAdd, out, make_index(a.constant))
                        : make_binary(BinaryOp::kSub, out, make_index(-a.constant));
}

}  // namespace tensmith
