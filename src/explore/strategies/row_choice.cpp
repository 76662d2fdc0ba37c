#include "explore/strategies/row_choice.h"

#include <algorithm>
#include <numeric>

namespace tensmith {

std::vector<size_t> best_and_newest(std::vector<size_t> rows, std::span<const double> values, size_t best,
                                    size_t newest) {
  if (rows.size() <= best + newest) return rows;
  const auto best_end = rows.begin() + static_cast<std::ptrdiff_t>(best);
  const auto newest_begin = rows.end() - static_cast<std::ptrdiff_t>(newest);
  std::nth_element(rows.begin(), best_end, newest_begin,
                   [&](size_t a, size_t b) { return values[a] != values[b] ? values[a] < values[b] : a < b; });
  rows.erase(best_end, newest_begin);
  std::sort(rows.begin(), rows.end());
  return rows;
}

std::vector<size_t> best_and_random(std::span<const double> values, size_t count, Rng& rng) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (order.size() <= count) return order;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  const auto half = static_cast<std::ptrdiff_t>(count / 2);
  std::vector<size_t> rest(order.begin() + half, order.end());
  rng.shuffle(std::span(rest));
  order.resize(count / 2);
  order.insert(order.end(), rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(count) - half);
  return order;
}

}  // namespace tensmith
