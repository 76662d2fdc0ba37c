#pragma once

#include <cstdint>

#include "tensmith/schedule/target.h"

namespace tensmith {

/// Register tile of an outer-product kernel: `rows` broadcast values times `vectors` vectors.
struct RegisterTile {
  int64_t rows = 1;
  int64_t vectors = 1;
  int64_t accumulators() const { return rows * vectors; }
};

/// Registers that the tile needs: accumulators, one broadcast, and the vectors, of which the last may be a memory
/// operand.
int64_t registers_needed(const RegisterTile& tile, const Target& target);

/// Estimated cycles of one step of the reduction, for two multiply-add and two load ports: the larger of the
/// multiply-adds (latency included when there are few accumulators) and the loads. Used only to choose default configs.
double step_cycles(const RegisterTile& tile, const Target& target);

}  // namespace tensmith
