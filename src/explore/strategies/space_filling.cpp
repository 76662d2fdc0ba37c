#include "explore/strategies/space_filling.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace tensmith {
namespace {

double squared_distance(const float* a, const float* b, size_t columns) {
  double sum = 0.0;
  for (size_t j = 0; j < columns; ++j) sum += (a[j] - b[j]) * (a[j] - b[j]);
  return sum;
}

}  // namespace

void sort_from_middle(std::span<size_t> candidates, std::span<const float> rows, size_t width, size_t columns) {
  const std::vector<float> middle(columns, 0.5F);
  std::stable_sort(candidates.begin(), candidates.end(), [&](size_t a, size_t b) {
    return squared_distance(rows.data() + a * width, middle.data(), columns) <
           squared_distance(rows.data() + b * width, middle.data(), columns);
  });
}

size_t farthest(std::span<const size_t> candidates, std::span<const float> rows, std::span<const float> others,
                size_t width, size_t columns) {
  size_t best = candidates.front();
  double best_value = -std::numeric_limits<double>::infinity();
  for (size_t candidate : candidates) {
    double nearest = std::numeric_limits<double>::max();
    for (size_t i = 0; i < others.size(); i += width) {
      nearest = std::min(nearest, squared_distance(rows.data() + candidate * width, others.data() + i, columns));
    }
    if (nearest > best_value) {
      best_value = nearest;
      best = candidate;
    }
  }
  return best;
}

}  // namespace tensmith
