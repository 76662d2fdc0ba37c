#pragma once

#include "tensmith/explore/strategy.h"

/// Searches made for real numbers, as "Benchmarking optimization algorithms for auto-tuning GPU kernels" uses them
/// (section III). A config is a point of a box: a knob with n choices has the interval [0, n / N] that is cut into n
/// equal cells, where N is the longest list of all knobs. A cell that comes again costs nothing. Values of choices have
/// no part in it, their order has.

namespace tensmith {

/// How a trial vector of differential evolution arises: what is added to, from how many differences, and how it is
/// crossed with the vector it may replace.
enum class DifferentialMethod : uint8_t { kBest1Bin, kBest1Exp, kBest2Bin, kBest2Exp, kRand1Bin, kRand1Exp };

struct DifferentialEvolutionOptions : StrategyOptions {
  DifferentialMethod method = DifferentialMethod::kBest1Bin;
  int population = 4;         ///< vectors a free knob; at least 5 vectors in all
  double mutation_low = 0.2;  ///< the weight of differences is drawn from this range anew for each generation
  double mutation_high = 0.7;
  double recombination = 0.7;  ///< probability that a coordinate comes from the mutant
};

/// Differential evolution (Storn and Price, 1997) with immediate replacement, from a Latin hypercube. Converged when
/// all vectors are equally good.
std::unique_ptr<SearchStrategy> make_differential_evolution(const ConfigSpace& space,
                                                            DifferentialEvolutionOptions options);

struct ParticleSwarmOptions : StrategyOptions {
  int particles = 20;
  int neighbours = 10;     ///< the nearest particles, itself included, of which the best draws it
  double scale = 10.0;     ///< the box is made larger by this; first velocities are uniform in [0, 1) whatever its size
  double inertia = 0.5;    ///< w
  double cognitive = 2.0;  ///< c1, towards its own best place
  double social = 1.0;     ///< c2, towards the best of its neighbours
  int iterations = 100;    ///< after which it counts as converged
};

/// Particle swarm (Kennedy and Eberhart, 1995): ring topology with Manhattan distances, periodic boundaries.
std::unique_ptr<SearchStrategy> make_particle_swarm(const ConfigSpace& space, ParticleSwarmOptions options);

/// How a local minimum is found from a point of the box.
enum class LocalMinimizer : uint8_t {
  kPowell,  ///< Powell's conjugate directions with Brent's line search (1964), without bounds
  kCobyla,  ///< Powell's linear models on a simplex (1994), without bounds
  kSlsqp,   ///< sequential quadratic steps in the box; gradients from the next cells
};

struct DualAnnealingOptions : StrategyOptions {
  LocalMinimizer minimizer = LocalMinimizer::kPowell;
  double temperature = 5230.0;  ///< at the start
  double restart_share = 2e-5;  ///< of the first temperature, below which it starts anew
  double visiting = 2.62;       ///< q_v: the tail of the jumps
  double acceptance = -5.0;     ///< q_a: the lower, the rarer is a worse point accepted
};

/// Dual annealing: generalized simulated annealing (Xiang, Sun, Fan and Gong, 1997), with a local minimization of each
/// new best point.
std::unique_ptr<SearchStrategy> make_dual_annealing(const ConfigSpace& space, DualAnnealingOptions options);

struct BasinHoppingOptions : StrategyOptions {
  LocalMinimizer minimizer = LocalMinimizer::kCobyla;
  double temperature = 0.1;  ///< of accepting a worse minimum, in milliseconds of run time
  double step = 0.5;         ///< largest move of a coordinate; adapted so that half of the moves are accepted
};

/// Basin hopping (Wales and Doye, 1997): a random move, a local minimization, accepted or not by their minima. Starts
/// near the middle of the box.
std::unique_ptr<SearchStrategy> make_basin_hopping(const ConfigSpace& space, BasinHoppingOptions options);

}  // namespace tensmith
