#pragma once

#include "tensmith/explore/strategy.h"

namespace tensmith {

struct SimulatedAnnealingOptions : StrategyOptions {
  /// Random changes of one knob that lead to the next candidate, as a share of the number of choices of all knobs with
  /// more than one; at least one change.
  double explore = 1.0;
  bool descend = true;             ///< candidates go down to a local minimum (first improvement) before they are judged
  double first_temperature = 1e7;  ///< milliseconds of run time
  double last_temperature = 1e-5;  ///< milliseconds
  int iterations = 10000;          ///< candidates from the first temperature to the last, in a geometric course
};

/// Simulated annealing as "Benchmarking optimization algorithms for auto-tuning GPU kernels" compares it (section III):
/// one chain that measures each candidate. (make_annealing_search is the one over a cost model.)
std::unique_ptr<SearchStrategy> make_simulated_annealing(const ConfigSpace& space, SimulatedAnnealingOptions options);

}  // namespace tensmith
