#include "explore/strategies/point_set.h"

#include <algorithm>

namespace tensmith {

std::vector<float> PointSet::gather(std::span<const uint32_t> points) const {
  std::vector<float> out;
  out.reserve(points.size() * width);
  for (const uint32_t point : points) {
    const std::span<const float> numbers = row(point);
    out.insert(out.end(), numbers.begin(), numbers.end());
  }
  return out;
}

bool PointSet::all_taken() const { return std::find(taken.begin(), taken.end(), 0) == taken.end(); }

std::vector<size_t> PointSet::random_untaken(size_t count, Rng& rng) const {
  std::vector<size_t> out;
  for (size_t attempt = 0; attempt < 8 * count && out.size() < count; ++attempt) {
    const size_t i = rng.uniform_int(uint64_t{size()});
    if (!taken[i]) out.push_back(i);
  }
  for (size_t i = 0; out.empty() && i < size(); ++i) {
    if (!taken[i]) out.push_back(i);
  }
  return out;
}

}  // namespace tensmith
