#include "schedule/read_check.h"

#include <algorithm>

#include <fmt/format.h>

#include "tensmith/ir/arith/interval.h"
#include "tensmith/ir/ops.h"
#include "tensmith/ir/print.h"
#include "tensmith/ir/visit.h"
#include "tensmith/support/error.h"

namespace tensmith {
namespace {

/// Index arithmetic stays below this, so that sums of a few terms (a form minus another, a loop's tail) fit in int64.
constexpr int64_t kMostIndex = int64_t{1} << 60;

std::string to_text(Range r) {
  const auto bound = [](int64_t v) {
    return v == kNegInf ? std::string("-inf") : v == kPosInf ? std::string("inf") : std::to_string(v);
  };
  return fmt::format("[{}, {}]", bound(r.min), bound(r.max));
}

class ReadChecker {
 public:
  ReadChecker(std::string_view tensor, std::span<const Axis> domain) : tensor_(tensor) {
    for (const Axis& axis : domain) {
      ranges_.push(axis.var, Range::of_extent(axis.extent));
    }
  }

  void check(Expr e) {
    if (const auto* choice = e.as<Select>()) {
      check(choice->condition);
      check_under(choice->condition, true, choice->if_true);
      check_under(choice->condition, false, choice->if_false);
      return;
    }
    if (const auto* load = e.as<Load>()) {
      for (size_t dim = 0; dim < load->indices.size(); ++dim) {
        check_index(*load, dim);
      }
    }
    check_arithmetic(e);
    for_each_child(e, [&](Expr c) { check(c); });
  }

 private:
  void check_arithmetic(Expr e) {
    const auto* n = e.as<Binary>();
    if (n == nullptr) return;
    if (n->type == kInt64 && may_wrap(e)) return;  // data
    for (Expr part : {e, n->a, n->b}) {
      if (part.type() != kInt64 || may_wrap(part)) continue;
      const Range range = range_of(part, ranges_);
      if (-kMostIndex < range.min && range.max < kMostIndex) continue;
      throw UserError(fmt::format("tensor '{}': {} takes values in {}, more than index arithmetic can hold", tensor_,
                                  to_string(part), to_text(range)),
                      "indices and what they are compared with must stay below 2^60");
    }
  }

  void check_under(Expr condition, bool holds, Expr arm) {
    const Tri known = prove(condition, ranges_);
    if (known == (holds ? Tri::kFalse : Tri::kTrue)) {
      return;  // never evaluated
    }
    RangeScope scope(ranges_);
    ranges_.push_fact(condition, holds);
    if (!ranges_.contradictory()) check(arm);
  }

  void check_index(const Load& load, size_t dim) {
    const Expr index = load.indices[dim];
    const int64_t extent = load.buffer->shape[dim];
    const bool low = can_prove(index >= 0, ranges_);
    const bool high = can_prove(index < extent, ranges_);
    if (low && high) {
      return;
    }
    const Range range = range_of(index, ranges_);
    throw UserError(
        fmt::format("tensor '{}' reads '{}' out of bounds: index {} of dimension {} takes values in {}, the dimension "
                    "holds [0, {})",
                    tensor_, load.buffer->name, to_string(index), dim, to_text(range), extent),
        "guard the read with select(condition, value, 0), or correct the shape");
  }

  std::string_view tensor_;
  VarRanges ranges_;
};

}  // namespace

void check_reads(std::string_view tensor, Expr value, std::span<const Axis> domain) {
  if (std::any_of(domain.begin(), domain.end(), [](const Axis& axis) { return axis.extent == 0; })) {
    return;  // nothing is ever read
  }
  ReadChecker(tensor, domain).check(value);
}

}  // namespace tensmith
