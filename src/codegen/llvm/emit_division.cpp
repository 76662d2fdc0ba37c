#include <algorithm>
#include <bit>

#include "codegen/llvm/emitter.h"
#include "tensmith/ir/fold.h"
#include "tensmith/ir/visit.h"

namespace tensmith {

namespace {

constexpr int64_t kLow = INT64_MIN;
constexpr int64_t kHigh = INT64_MAX;

/// Bounds of a sum or product; unknown when a bound is unknown or leaves int64.
template <typename Op>
IndexRange combine(const IndexRange& a, const IndexRange& b, Op&& op) {
  if (a.low == kLow || a.high == kHigh || b.low == kLow || b.high == kHigh) return {};
  IndexRange out{kHigh, kLow};
  for (int64_t x : {a.low, a.high}) {
    for (int64_t y : {b.low, b.high}) {
      int64_t value = 0;
      if (op(x, y, &value)) return {};
      out.low = std::min(out.low, value);
      out.high = std::max(out.high, value);
    }
  }
  return out;
}

IndexRange add_ranges(const IndexRange& a, const IndexRange& b) {
  IndexRange out;
  int64_t value = 0;
  if (a.low != kLow && b.low != kLow && !__builtin_add_overflow(a.low, b.low, &value)) out.low = value;
  if (a.high != kHigh && b.high != kHigh && !__builtin_add_overflow(a.high, b.high, &value)) out.high = value;
  return out;
}

IndexRange multiply_ranges(const IndexRange& a, const IndexRange& b) {
  IndexRange out = combine(a, b, [](int64_t x, int64_t y, int64_t* v) { return __builtin_mul_overflow(x, y, v); });
  if (a.nonnegative() && b.nonnegative()) out.low = std::max<int64_t>(out.low, 0);
  return out;
}

/// What the type itself allows; unknown for 64 bits.
IndexRange range_of_type(DataType type) {
  if (type.is_bool()) return {0, 1};
  if (!type.is_integral() || type.bits == 64) return {};
  if (type.is_uint()) return {0, (int64_t{1} << type.bits) - 1};
  return {-(int64_t{1} << (type.bits - 1)), (int64_t{1} << (type.bits - 1)) - 1};
}

bool contains(const IndexRange& outer, const IndexRange& inner) {
  return inner.low >= outer.low && inner.high <= outer.high;
}

}  // namespace

/// Bounds of the value that `e` has after wrapping to its type, from the loop extents.
IndexRange Emitter::range_of(Expr e) const {
  const DataType type = e.type().element();
  const IndexRange whole = range_of_type(type);
  const auto wrapped = [&](const IndexRange& r) {
    // Index arithmetic never wraps, so an int64 or int32 sum of loop variables keeps its bounds.
    return (type.bits == 64 ? type.is_int() || r.low >= 0 : contains(whole, r)) ? r : whole;
  };
  return match(
      e,
      [&](const IntImm& n) {
        return IndexRange{n.value, n.value};
      },
      [&](const FloatImm&) { return IndexRange{}; },
      [&](const Var& n) {
        auto it = state_.vars.find(&n);
        return it == state_.vars.end() || it->second.range.low == kLow ? whole : it->second.range;
      },
      [&](const Cast& n) {
        if (!n.value.type().is_integral()) return whole;
        const IndexRange inner = range_of(n.value);
        return inner.low != kLow && inner.high != kHigh ? wrapped(inner) : whole;
      },
      [&](const Binary& n) {
        if (!n.type.is_integral()) return whole;
        const IndexRange a = range_of(n.a);
        const IndexRange b = range_of(n.b);
        switch (n.op) {
          case BinaryOp::kAdd: return wrapped(add_ranges(a, b));
          case BinaryOp::kSub: {
            const IndexRange negated{b.high == kHigh ? kLow : -b.high, b.low == kLow ? kHigh : -b.low};
            return wrapped(add_ranges(a, negated));
          }
          case BinaryOp::kMul: return wrapped(multiply_ranges(a, b));
          case BinaryOp::kDiv:
            if (b.low == b.high && b.low > 0) {
              return IndexRange{a.low == kLow ? kLow : floor_div(a.low, b.low),
                                a.high == kHigh ? kHigh : floor_div(a.high, b.low)};
            }
            return a.nonnegative() && b.low > 0 ? IndexRange{0, a.high} : whole;
          case BinaryOp::kMod:
            if (b.low > 0) return IndexRange{0, b.high == kHigh ? kHigh : b.high - 1};
            return whole;
          case BinaryOp::kMin: return IndexRange{std::min(a.low, b.low), std::min(a.high, b.high)};
          case BinaryOp::kMax: return IndexRange{std::max(a.low, b.low), std::max(a.high, b.high)};
          default: return whole;
        }
      },
      [&](const Not&) { return whole; },
      [&](const Select& n) {
        const IndexRange a = range_of(n.if_true);
        const IndexRange b = range_of(n.if_false);
        return IndexRange{std::min(a.low, b.low), std::max(a.high, b.high)};
      },
      [&](const Load&) { return whole; },
      [&](const Ramp& n) {
        const IndexRange steps = multiply_ranges(range_of(n.stride), {0, n.type.lanes - 1});
        return wrapped(add_ranges(range_of(n.base), steps));
      },
      [&](const Broadcast& n) { return range_of(n.value); }, [&](const Call&) { return whole; },
      [&](const Reduce&) { return whole; });
}

llvm::Value* Emitter::emit_floor(BinaryOp op, DataType type, Expr a, Expr b) {
  const bool divide = op == BinaryOp::kDiv;
  std::optional<int64_t> divisor = as_const_int(b);
  if (!divisor && type.is_scalar()) divisor = constant_of(b);
  Value* x = emit(a);
  if (divisor && *divisor == 1) return divide ? x : emit_const_int(type, 0);
  if (divisor && *divisor == -1 && type.is_int()) return divide ? builder_.CreateNeg(x) : emit_const_int(type, 0);

  const bool power_of_two = divisor && *divisor > 0 && std::has_single_bit(static_cast<uint64_t>(*divisor));
  const IndexRange range = range_of(a);
  if (power_of_two) {
    const int shift = std::countr_zero(static_cast<uint64_t>(*divisor));
    if (!divide) return builder_.CreateAnd(x, emit_const_int(type, *divisor - 1));
    Value* amount = emit_const_int(type, shift);
    return type.is_uint() || range.nonnegative() ? builder_.CreateLShr(x, amount) : builder_.CreateAShr(x, amount);
  }
  Value* y = divisor ? emit_const_int(type, *divisor) : emit(b);
  if (!divisor && mask_ != nullptr && type.is_vector()) {
    y = builder_.CreateSelect(mask_, y, emit_const_int(type, 1));
  }
  if (type.is_uint() || (range.nonnegative() && range_of(b).low > 0)) {
    return divide ? builder_.CreateUDiv(x, y) : builder_.CreateURem(x, y);
  }
  // lowest / -1 traps in hardware and wraps here.
  Value* minus_one = nullptr;
  if (!divisor && !(range_of(b).low > -1)) {
    minus_one = builder_.CreateICmpEQ(y, emit_const_int(type, -1));
    y = builder_.CreateSelect(minus_one, emit_const_int(type, 1), y);
  }
  Value* zero = emit_const_int(type, 0);
  Value* remainder = builder_.CreateSRem(x, y);
  Value* signs_differ = builder_.CreateICmpSLT(builder_.CreateXor(remainder, y), zero);
  Value* fix = builder_.CreateAnd(builder_.CreateICmpNE(remainder, zero), signs_differ);
  if (divide) {
    Value* quotient = builder_.CreateSDiv(x, y);
    Value* result = builder_.CreateAdd(quotient, builder_.CreateSExt(fix, value_type(type)));
    return minus_one == nullptr ? result : builder_.CreateSelect(minus_one, builder_.CreateNeg(x), result);
  }
  Value* result = builder_.CreateAdd(remainder, builder_.CreateSelect(fix, y, zero));
  return minus_one == nullptr ? result : builder_.CreateSelect(minus_one, zero, result);
}

}  // namespace tensmith
