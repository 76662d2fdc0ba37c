#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "tensmith/ops/workload.h"
#include "tensmith/schedule/config_space.h"
#include "tensmith/schedule/task.h"

namespace tensmith {

constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
constexpr int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }
constexpr int64_t floor_power_of_two(int64_t n) {
  int64_t p = 1;
  while (p * 2 <= n) {
    p *= 2;
  }
  return p;
}

/// A task with what follows from the workload and no template yet.
Task begin_task(const Workload& workload, const Target& target, int threads);

/// The choices that do not exceed `limit`; the limit itself when even the smallest does.
Knob clamped_knob(std::string name, std::initializer_list<int64_t> choices, int64_t limit);

/// The choices below `limit`, and 0, which means all.
Knob chunk_knob(std::string name, std::initializer_list<int64_t> choices, int64_t limit);

/// What share of the threads is busy when they share so many equal iterations of a parallel loop.
double balance(int64_t iterations, int threads);
/// From here on it is not worth giving anything else up for more.
inline constexpr double kGoodBalance = 0.9;

/// Sets a knob to the choice nearest to `value`.
void choose(const ConfigSpace& space, Config& config, int knob, int64_t value);

}  // namespace tensmith
