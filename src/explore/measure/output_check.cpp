#include "explore/measure/output_check.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "tensmith/schedule/reference.h"

namespace tensmith {

OutputCheck check_output(DataType type, const void* got, const double* expected, size_t count, double tolerance) {
  OutputCheck result;
  constexpr size_t kBlock = 4096;
  for (size_t start = 0; start < count; start += kBlock) {
    const size_t n = std::min(kBlock, count - start);
    const auto* block = static_cast<const std::byte*>(got) + start * static_cast<size_t>(type.element_bytes());
    const DoubleTensor values = to_doubles(type, block, n);
    for (size_t i = 0; i < n; ++i) {
      const double want = expected[start + i];
      const bool same = values[i] == want || (std::isnan(values[i]) && std::isnan(want));
      const double distance = std::fabs(values[i] - want);
      const double error = same ? 0 : std::isnan(distance) ? std::numeric_limits<double>::infinity() : distance;
      result.max_error = std::max(result.max_error, error);
      if (error > tolerance) {
        if (result.wrong++ == 0) {
          result.first_wrong = start + i;
          result.got = values[i];
          result.expected = want;
        }
      }
    }
  }
  return result;
}

std::string describe(const OutputCheck& check, size_t count, double tolerance) {
  return fmt::format("{} of {} elements are wrong; the first is element {}: {} instead of {} (tolerance {:.3g})",
                     check.wrong, count, check.first_wrong, check.got, check.expected, tolerance);
}

}  // namespace tensmith
