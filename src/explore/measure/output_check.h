#pragma once

#include <cstddef>
#include <string>

#include "tensmith/ir/type.h"

namespace tensmith {

/// What comparing an output with its expected values found.
struct OutputCheck {
  double max_error = 0;  ///< largest |got - expected|; infinity when one of them is NaN and the other is not
  size_t wrong = 0;      ///< elements off by more than the tolerance
  size_t first_wrong = 0;
  double got = 0, expected = 0;  ///< at first_wrong
};

OutputCheck check_output(DataType type, const void* got, const double* expected, size_t count, double tolerance);

/// "312 of 1024 elements are wrong; the first is element 17: 0.25 instead of 0.5 (tolerance 1e-6)".
std::string describe(const OutputCheck& check, size_t count, double tolerance);

}  // namespace tensmith
