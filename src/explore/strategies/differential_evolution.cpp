#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "explore/strategies/box.h"
#include "tensmith/explore/continuous_search.h"

namespace tensmith {
namespace {

/// Vectors in the unit cube, the best one first.
struct Swarm {
  std::vector<Vector> vectors;
  Vector values;

  void put_best_first() {
    const size_t best = std::min_element(values.begin(), values.end()) - values.begin();
    std::swap(vectors[0], vectors[best]);
    std::swap(values[0], values[best]);
  }

  bool converged() const {
    constexpr double kSpread = 1e-10;
    const auto n = static_cast<double>(values.size());
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
    double square = 0.0;
    for (double value : values) square += (value - mean) * (value - mean);
    return std::sqrt(square / n) <= kSpread * std::abs(mean);
  }
};

Vector in_box(const Box& box, Vector vector) {
  for (size_t i = 0; i < vector.size(); ++i) vector[i] *= box.upper()[i];
  return vector;
}

/// One vector in each of `count` equal slices of every axis.
std::vector<Vector> latin_hypercube(Rng& rng, size_t count, size_t dimensions) {
  std::vector<Vector> out(count, Vector(dimensions));
  std::vector<size_t> slices(count);
  for (size_t d = 0; d < dimensions; ++d) {
    std::iota(slices.begin(), slices.end(), size_t{0});
    rng.shuffle(slices);
    for (size_t i = 0; i < count; ++i) {
      out[i][d] = (static_cast<double>(slices[i]) + rng.uniform_real()) / static_cast<double>(count);
    }
  }
  return out;
}

/// The vector that differs: the base and the weighted differences of others.
Vector mutant(const Swarm& swarm, Rng& rng, DifferentialMethod method, size_t candidate, double weight) {
  std::vector<size_t> others;
  for (size_t i = 0; i < swarm.vectors.size(); ++i) {
    if (i != candidate) others.push_back(i);
  }
  rng.shuffle(others);
  const bool random_base = method == DifferentialMethod::kRand1Bin || method == DifferentialMethod::kRand1Exp;
  const bool two = method == DifferentialMethod::kBest2Bin || method == DifferentialMethod::kBest2Exp;
  const auto& v = swarm.vectors;
  Vector out = random_base ? v[others[2]] : v[0];
  for (size_t d = 0; d < out.size(); ++d) {
    out[d] += two ? weight * (v[others[0]][d] + v[others[1]][d] - v[others[2]][d] - v[others[3]][d])
                  : weight * (v[others[0]][d] - v[others[1]][d]);
  }
  return out;
}

/// Coordinates of the mutant in place of the candidate's, one at least: each by chance, or a run of them.
Vector crossed(Vector trial, const Vector& mutant, Rng& rng, DifferentialMethod method, double probability) {
  const size_t n = trial.size();
  const bool run = method == DifferentialMethod::kBest1Exp || method == DifferentialMethod::kBest2Exp ||
                   method == DifferentialMethod::kRand1Exp;
  const size_t first = rng.uniform_int(uint64_t{n});
  for (size_t k = 0; k < n; ++k) {
    const size_t d = (first + k) % n;
    const bool take = k == 0 || rng.bernoulli(probability);
    if (take) trial[d] = mutant[d];
    if (run && !take) break;
  }
  for (double& x : trial) {
    if (x < 0.0 || x > 1.0) x = rng.uniform_real();
  }
  return trial;
}

Piece<int> evolve(Look& look, DifferentialEvolutionOptions options) {
  Box box(look);
  Rng& rng = look.rng();
  const size_t count = std::max<size_t>(5, static_cast<size_t>(std::max(1, options.population)) * box.dimensions());
  Swarm swarm{latin_hypercube(rng, count, box.dimensions()), {}};
  for (const Vector& vector : swarm.vectors) {
    const Vector point = in_box(box, vector);
    swarm.values.push_back(co_await box.at(point));
  }
  swarm.put_best_first();
  while (!swarm.converged()) {
    const double weight = rng.uniform_real(options.mutation_low, options.mutation_high);
    for (size_t i = 0; i < count; ++i) {
      Vector trial = crossed(swarm.vectors[i], mutant(swarm, rng, options.method, i, weight), rng, options.method,
                             options.recombination);
      const Vector point = in_box(box, trial);
      const double value = co_await box.at(point);
      if (value > swarm.values[i]) continue;
      swarm.vectors[i] = std::move(trial);
      swarm.values[i] = value;
      if (value <= swarm.values[0]) swarm.put_best_first();
    }
  }
  co_return 0;
}

}  // namespace

std::unique_ptr<SearchStrategy> make_differential_evolution(const ConfigSpace& space,
                                                            DifferentialEvolutionOptions options) {
  return std::make_unique<SequentialSearch>(space, options, [options](Look& look) { return evolve(look, options); });
}

}  // namespace tensmith
