#include "schedule/sum_of_products.h"

#include <algorithm>
#include <array>
#include <utility>

#include "tensmith/ir/fold.h"

namespace tensmith {
namespace {

constexpr int64_t kRows = 16;
constexpr int64_t kColumns = 64;
/// Columns whose sums stay in registers.
constexpr int64_t kStrip = 16;
/// Terms whose values are copied together: with the columns, what a second-level cache holds.
constexpr int64_t kTerms = 256;

int64_t parts(int64_t extent, int64_t size) { return (extent + size - 1) / size; }

/// Copies `count` rows of values for each term, `width` apart; the rest of a term's values stays as it is.
void gather(const double* values, std::span<const int64_t> offsets, int64_t step, int64_t count, int64_t width,
            double* out) {
  const auto terms = static_cast<int64_t>(offsets.size());
  if (step == 1) {
    for (int64_t t = 0; t < terms; ++t) std::copy_n(values + offsets[static_cast<size_t>(t)], count, out + t * width);
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t t = 0; t < terms; ++t) out[t * width + i] = values[offsets[static_cast<size_t>(t)] + i * step];
  }
}

}  // namespace

SumOfProducts::SumOfProducts(std::span<const int64_t> spatial, std::span<const int64_t> reduce, LinearRead a,
                             LinearRead b, DataType type)
    : extents_(spatial.begin(), spatial.end()),
      reduce_(reduce.begin(), reduce.end()),
      a_(std::move(a)),
      b_(std::move(b)),
      type_(type),
      out_steps_(spatial.size(), 1) {
  for (size_t d = extents_.size(); d-- > 1;) out_steps_[d - 1] = out_steps_[d] * extents_[d];
  for (int64_t extent : reduce_) terms_ *= extent;
  choose_axes();
  for (size_t d = 0; d < extents_.size(); ++d) {
    units_ *= d == row_axis_      ? parts(extents_[d], kRows)
              : d == column_axis_ ? parts(extents_[d], kColumns)
                                  : extents_[d];
  }
}

void SumOfProducts::choose_axes() {
  int64_t most = 0;
  bool swap = false;
  for (size_t row = 0; row < extents_.size(); ++row) {
    for (size_t column = 0; column < extents_.size(); ++column) {
      if (row == column) continue;
      const int64_t size = std::min(extents_[row], kRows) * std::min(extents_[column], kColumns);
      const bool straight = a_.spatial[column] == 0 && b_.spatial[row] == 0;
      const bool crossed = a_.spatial[row] == 0 && b_.spatial[column] == 0;
      if (size <= most || (!straight && !crossed)) continue;
      most = size;
      swap = !straight;
      row_axis_ = row;
      column_axis_ = column;
    }
  }
  if (swap) std::swap(a_, b_);
  if (row_axis_ == kNone && !extents_.empty()) column_axis_ = extents_.size() - 1;
}

SumOfProducts::Steps SumOfProducts::steps(size_t axis) const {
  return axis == kNone ? Steps{} : Steps{a_.spatial[axis], b_.spatial[axis], out_steps_[axis]};
}

template <typename F>
void SumOfProducts::for_blocks_of_terms(F&& f) const {
  std::array<int64_t, kTerms> a, b;
  std::vector<int64_t> point(reduce_.size(), 0);
  int64_t at_a = 0, at_b = 0;
  for (int64_t done = 0; done < terms_;) {
    const auto count = static_cast<size_t>(std::min(kTerms, terms_ - done));
    for (size_t t = 0; t < count; ++t) {
      a[t] = at_a;
      b[t] = at_b;
      for (size_t d = reduce_.size(); d-- > 0;) {
        at_a += a_.reduce[d];
        at_b += b_.reduce[d];
        if (++point[d] < reduce_[d]) break;
        at_a -= a_.reduce[d] * reduce_[d];
        at_b -= b_.reduce[d] * reduce_[d];
        point[d] = 0;
      }
    }
    f(std::span<const int64_t>(a.data(), count), std::span<const int64_t>(b.data(), count));
    done += static_cast<int64_t>(count);
  }
}

void SumOfProducts::block(Steps at, int64_t rows, int64_t columns, double* out) const {
  const auto terms = static_cast<size_t>(std::min(terms_, kTerms));
  std::vector<double> sums(kRows * kColumns, 0.0), left(terms * kRows, 0.0), right(terms * kColumns, 0.0);
  const Steps row = steps(row_axis_), column = steps(column_axis_);
  for_blocks_of_terms([&](std::span<const int64_t> a, std::span<const int64_t> b) {
    gather(a_.values + at.a, a, row.a, rows, kRows, left.data());
    gather(b_.values + at.b, b, column.b, columns, kColumns, right.data());
    for (int64_t strip = 0; strip < columns; strip += kStrip) {
      for (int64_t r = 0; r < rows; ++r) {
        double* const sum = sums.data() + r * kColumns + strip;
        double total[kStrip];
        std::copy_n(sum, kStrip, total);
        for (size_t t = 0; t < a.size(); ++t) {
          const double factor = left[t * kRows + static_cast<size_t>(r)];
          const double* const values = right.data() + t * kColumns + strip;
          for (int64_t i = 0; i < kStrip; ++i) total[i] += factor * values[i];
        }
        std::copy_n(total, kStrip, sum);
      }
    }
  });
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      out[at.out + r * row.out + c * column.out] = round_float(type_, sums[static_cast<size_t>(r * kColumns + c)]);
    }
  }
}

void SumOfProducts::line(Steps at, int64_t columns, double* out) const {
  const Steps column = steps(column_axis_);
  double sums[kColumns] = {};
  for_blocks_of_terms([&](std::span<const int64_t> a, std::span<const int64_t> b) {
    for (int64_t c = 0; c < columns; ++c) {
      const double *const left = a_.values + at.a + c * column.a, *const right = b_.values + at.b + c * column.b;
      for (size_t t = 0; t < a.size(); ++t) sums[c] += left[a[t]] * right[b[t]];
    }
  });
  for (int64_t c = 0; c < columns; ++c) out[at.out + c * column.out] = round_float(type_, sums[c]);
}

void SumOfProducts::run(int64_t unit, DoubleTensor& out) const {
  Steps at{a_.offset, b_.offset, 0};
  int64_t rows = 1, columns = 1;
  for (size_t d = extents_.size(); d-- > 0;) {
    const int64_t size = d == row_axis_ ? kRows : d == column_axis_ ? kColumns : 1;
    const int64_t here = unit % parts(extents_[d], size) * size;
    unit /= parts(extents_[d], size);
    const int64_t left = std::min(size, extents_[d] - here);
    if (d == row_axis_) rows = left;
    if (d == column_axis_) columns = left;
    const Steps step = steps(d);
    at.a += here * step.a;
    at.b += here * step.b;
    at.out += here * step.out;
  }
  if (row_axis_ == kNone) {
    line(at, columns, out.data());
  } else {
    block(at, rows, columns, out.data());
  }
}

}  // namespace tensmith
