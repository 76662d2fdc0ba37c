#include "costmodel/features/index_reader.h"

#include <algorithm>

#include "tensmith/ir/visit.h"

namespace tensmith {

void IndexReader::clear() {
  lets_.clear();
  loads.clear();
}

void IndexReader::push_let(VarRef var, Expr value) {
  if (values_.size() <= lets_.size()) values_.resize(lets_.size() + 1);
  LinearIndex& form = values_[lets_.size()];
  form.clear();
  read(value, 1, form);
  lets_.push_back(var);
}

void IndexReader::read(Expr e, double scale, LinearIndex& out) {
  if (const Binary* n = e.as<Binary>()) return read_binary(*n, scale, out);
  if (const Var* n = e.as<Var>()) return read_var(n, scale, out);
  if (const IntImm* n = e.as<IntImm>()) {
    out.constant += scale * static_cast<double>(n->value);
    return;
  }
  match(
      e, [](const IntImm&) {}, [&](const FloatImm&) { out.gather = true; }, [](const Var&) {},
      [&](const Cast& n) { read(n.value, scale, out); }, [](const Binary&) {},
      [&](const Not& n) { read(n.value, scale, out); },
      [&](const Select& n) { read_either(n.if_true, n.if_false, scale, out); },
      [&](const Load& n) { read_load(n, out); }, [&](const Ramp& n) { read(n.base, scale, out); },
      [&](const Broadcast& n) { read(n.value, scale, out); },
      [&](const Call& n) {
        out.gather = true;
        for (Expr a : n.args) read(a, scale, out);
      },
      [&](const Reduce& n) { read(n.value, scale, out); });
}

void IndexReader::read_var(VarRef var, double scale, LinearIndex& out) {
  for (size_t level = path_.size(); level-- > 0;) {
    const LoopContext& loop = loops_[path_[level]];
    if (loop.var == var) {
      if (loop.length > 1) out.add(static_cast<int>(level), {1, loop.length, loop.length - 1, 0}, scale);
      return;
    }
  }
  for (size_t i = lets_.size(); i-- > 0;) {
    if (lets_[i] == var) {
      out.add(values_[i], scale);
      return;
    }
  }
  // A parameter: constant as far as the loops go.
}

void IndexReader::read_binary(const Binary& n, double scale, LinearIndex& out) {
  switch (n.op) {
    case BinaryOp::kAdd:
      read(n.a, scale, out);
      read(n.b, scale, out);
      return;
    case BinaryOp::kSub:
      read(n.a, scale, out);
      read(n.b, -scale, out);
      return;
    case BinaryOp::kMul:
      if (const IntImm* b = n.b.as<IntImm>()) return read(n.a, scale * static_cast<double>(b->value), out);
      if (const IntImm* a = n.a.as<IntImm>()) return read(n.b, scale * static_cast<double>(a->value), out);
      break;
    case BinaryOp::kDiv:
    case BinaryOp::kMod:
      if (const IntImm* b = n.b.as<IntImm>(); b != nullptr && b->value > 0) {
        LinearIndex part;
        read(n.a, 1, part);
        if (n.op == BinaryOp::kDiv) {
          part.divide(static_cast<double>(b->value));
        } else {
          part.modulo(static_cast<double>(b->value));
        }
        out.add(part, scale);
        return;
      }
      break;
    case BinaryOp::kMin:
    case BinaryOp::kMax: read_either(n.a, n.b, scale, out); return;
    default: break;
  }
  // Not affine. Each variable is taken to move the index; how far is unknown.
  out.gather = true;
  read(n.a, scale, out);
  read(n.b, scale, out);
}

void IndexReader::read_either(Expr a, Expr b, double scale, LinearIndex& out) {
  LinearIndex first, second;
  read(a, 1, first);
  read(b, 1, second);
  first.merge(second);
  out.add(first, scale);
}

/// An index read from memory: it may be anywhere, in each iteration of the loops that choose which element is read.
void IndexReader::read_load(const Load& n, LinearIndex& out) {
  loads.push_back(&n);
  const size_t mark = loads.size();
  out.gather = true;
  for (Expr index : n.indices) {
    LinearIndex inner;
    read(index, 1, inner);
    inner.for_each_level([&](int level) {
      const double length = loops_[path_[static_cast<size_t>(level)]].length;
      out.add(level, {1, length, length - 1, 0}, 1);
    });
  }
  loads.resize(mark);
}

double IndexReader::extent(Expr e) {
  if (const IntImm* n = e.as<IntImm>()) return static_cast<double>(n->value);
  if (const Binary* n = e.as<Binary>()) {
    if (n->op == BinaryOp::kMin) return std::min(extent(n->a), extent(n->b));
    if (n->op == BinaryOp::kMax) return std::max(extent(n->a), extent(n->b));
  }
  LinearIndex form;
  read(e, 1, form);
  return form.high();
}

double IndexReader::true_share(Expr condition) {
  const Binary* n = condition.as<Binary>();
  if (n == nullptr) return 1;
  if (n->op == BinaryOp::kAnd) return true_share(n->a) * true_share(n->b);
  if (n->op == BinaryOp::kOr) return std::max(true_share(n->a), true_share(n->b));
  const bool less = n->op == BinaryOp::kLt || n->op == BinaryOp::kLe;
  const bool greater = n->op == BinaryOp::kGt || n->op == BinaryOp::kGe;
  if (!less && !greater) return 1;
  // The difference of the sides, which has to be at most `limit`.
  LinearIndex gap;
  read(n->a, less ? 1 : -1, gap);
  read(n->b, less ? -1 : 1, gap);
  const double limit = n->op == BinaryOp::kLt || n->op == BinaryOp::kGt ? -1 : 0;
  const double low = gap.low(), high = gap.high();
  return std::clamp((limit - low + 1) / (high - low + 1), 0.01, 1.0);
}

}  // namespace tensmith
