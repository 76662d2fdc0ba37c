#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "tensmith/explore/recorded/recorded_space.h"
#include "tensmith/explore/recorded/search_run.h"

/// How hard a space is for local search: section VII of "Benchmarking optimization algorithms for auto-tuning GPU
/// kernels" (Schoonhoven et al., 2022).

namespace tensmith {

/// A point's fitness is its value; failed points have the worst of all, missing ones the next worse. Two points are
/// neighbours when one parameter moves by one place in its list.
struct LandscapeOptions {
  /// kCartesian, as in the paper: missing points are points too, and time and memory are those of the full product.
  /// kRestricted: only what is recorded is a point, where a missing one was never tried, or must not be. Then time is
  /// that of the recorded points.
  Convention convention = Convention::kCartesian;
  /// As the paper computed it: the power iteration ends when the sum of the changes is below 1e-6 times the number of
  /// points, after a few steps. Otherwise it goes on until a step changes no more than 1e-10 in all.
  bool paper = false;
  int threads = 1;
  /// Called with the share of the work that is done, now and then.
  std::function<void(double share)> progress;
};

/// What share of the random walks that end in a local minimum end in one within (1 + p) of the optimum.
struct Centrality {
  double p = 0.0;
  double value = 0.0;       ///< the p-proportion of centrality
  uint64_t acceptable = 0;  ///< local minima with a value of at most (1 + p) * optimum
};

struct Landscape {
  uint64_t points = 0;  ///< of the full product
  uint64_t valid = 0;
  uint64_t failed = 0;
  uint64_t missing = 0;
  uint64_t isolated = 0;  ///< recorded points without a recorded neighbour
  double optimum = 0.0;
  uint64_t edges = 0;    ///< of the fitness flow graph: from a point to each neighbour that is not worse
  uint64_t maxima = 0;   ///< valid points of which every neighbour is better
  uint64_t plateau = 0;  ///< valid points with a neighbour of the same value
  /// Points without a better neighbour, ascending by index. One that cannot run is a minimum only when it has no
  /// neighbour like it (which takes a missing point all of whose neighbours failed).
  std::vector<uint64_t> minima;
  std::vector<double> pagerank;        ///< of each minimum
  int iterations = 0;                  ///< of the power iteration
  std::vector<Centrality> centrality;  ///< p = 0.00, 0.01, ..., 0.15

  /// optimum / value of each valid minimum, ascending: 1 is perfect (figure 3).
  std::vector<double> minimum_fractions;
};

/// The fitness flow graph has the space's points (of the convention) and an edge to every neighbour that is not worse:
/// a random walk on it is a first-improvement local search. A minimum counts by its PageRank (damping 0.85): how often
/// the walk is there. The same answer at any number of threads. Throws UserError for a space without a valid point.
Landscape analyse_landscape(const RecordedSpace& space, const LandscapeOptions& options = {});

}  // namespace tensmith
