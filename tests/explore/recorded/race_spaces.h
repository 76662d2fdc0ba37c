#pragma once

#include <numeric>
#include <string>
#include <vector>

#include "tensmith/explore/recorded/race.h"

namespace tensmith::testing {

/// A row of points with these values; 0 is a missing point, -1 a failed one. With runs, each point has two: value * 0.9
/// and value * 1.1.
inline RecordedSpace row_space(const std::string& name, const std::string& kernel, const std::vector<double>& values,
                               bool with_runs = false) {
  ConfigSpace space;
  std::vector<int64_t> choices(values.size());
  std::iota(choices.begin(), choices.end(), 0);
  space.add(int_knob("x", choices));
  RecordedSpace out({.name = name, .kernel = kernel, .device = "gpu of " + name}, space);
  for (uint64_t i = 0; i < values.size(); ++i) {
    const std::vector<double> runs = {values[i] * 0.9, values[i] * 1.1};
    if (values[i] < 0) out.put_failed(i, "no");
    if (values[i] > 0) out.put_valid(i, values[i], with_runs ? runs : std::vector<double>());
  }
  return out;
}

inline Contender random_contender(std::string name = "random") {
  return {.name = std::move(name), .by_budget = false, .make = [](const RaceTask& task) {
            return make_random_search(task.space, {task.seed, {}});
          }};
}

/// Looks at the points in their order, which is worked out by hand.
inline Contender grid_contender(std::string name = "grid", bool by_budget = false) {
  return {.name = std::move(name),
          .by_budget = by_budget,
          .make = [](const RaceTask& task) { return make_grid_search(task.space); },
          .settings = [](int64_t budget) { return "budget=" + std::to_string(budget); }};
}

}  // namespace tensmith::testing
