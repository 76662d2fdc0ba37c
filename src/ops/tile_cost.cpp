#include "ops/tile_cost.h"

#include <algorithm>

namespace tensmith {

int64_t registers_needed(const RegisterTile& tile, const Target& target) {
  // With broadcast memory operands the broadcast needs no register of its own.
  return tile.accumulators() + tile.vectors + (target.broadcast_operand ? 0 : 1);
}

double step_cycles(const RegisterTile& tile, const Target& target) {
  constexpr double kLatency = 5;
  constexpr double kPerCycle = 2;
  const double multiply_adds = std::max(static_cast<double>(tile.accumulators()) / kPerCycle, kLatency);
  const double loads = static_cast<double>(tile.rows + tile.vectors) / kPerCycle;
  const double spills = std::max<int64_t>(0, registers_needed(tile, target) - target.vector_registers) * 1.0;
  return std::max(multiply_adds, loads) + spills;
}

}  // namespace tensmith
