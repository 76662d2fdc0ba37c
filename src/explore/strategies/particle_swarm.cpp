#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "explore/strategies/box.h"
#include "tensmith/explore/continuous_search.h"

namespace tensmith {
namespace {

struct Particle {
  Vector position;
  Vector velocity;
  Vector best;
  double best_value = std::numeric_limits<double>::infinity();
};

double manhattan(const Vector& a, const Vector& b) {
  double sum = 0.0;
  for (size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] - b[i]);
  return sum;
}

/// The one with the best place among the `count` that are nearest to particle i, itself included.
size_t leader_of(const std::vector<Particle>& swarm, size_t i, size_t count) {
  std::vector<std::pair<double, size_t>> near;
  for (size_t j = 0; j < swarm.size(); ++j) near.emplace_back(manhattan(swarm[i].position, swarm[j].position), j);
  std::nth_element(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(count - 1), near.end());
  size_t leader = i;
  for (size_t k = 0; k < count; ++k) {
    if (swarm[near[k].second].best_value < swarm[leader].best_value) leader = near[k].second;
  }
  return leader;
}

double wrapped(double x, double upper) {
  if (x >= 0.0 && x <= upper) return x;
  const double rest = std::fmod(x, upper);
  return rest < 0.0 ? rest + upper : rest;
}

Piece<int> fly(Look& look, ParticleSwarmOptions options) {
  Box box(look, options.scale);
  Rng& rng = look.rng();
  std::vector<Particle> swarm(static_cast<size_t>(std::max(1, options.particles)));
  const auto neighbours = std::clamp<size_t>(static_cast<size_t>(std::max(1, options.neighbours)), 1, swarm.size());
  for (Particle& particle : swarm) {
    particle.position = box.random_point();
    particle.velocity.resize(box.dimensions());
    for (double& v : particle.velocity) v = rng.uniform_real();
  }
  for (int iteration = 0; iteration < options.iterations; ++iteration) {
    for (Particle& particle : swarm) {
      const double value = co_await box.at(particle.position);
      if (value >= particle.best_value) continue;
      particle.best_value = value;
      particle.best = particle.position;
    }
    std::vector<size_t> leaders(swarm.size());
    for (size_t i = 0; i < swarm.size(); ++i) leaders[i] = leader_of(swarm, i, neighbours);
    for (size_t i = 0; i < swarm.size(); ++i) {
      Particle& p = swarm[i];
      const Vector& target = swarm[leaders[i]].best;
      for (size_t d = 0; d < p.position.size(); ++d) {
        p.velocity[d] = options.inertia * p.velocity[d] +
                        options.cognitive * rng.uniform_real() * (p.best[d] - p.position[d]) +
                        options.social * rng.uniform_real() * (target[d] - p.position[d]);
        p.position[d] = wrapped(p.position[d] + p.velocity[d], box.upper()[d]);
      }
    }
  }
  co_return 0;
}

}  // namespace

std::unique_ptr<SearchStrategy> make_particle_swarm(const ConfigSpace& space, ParticleSwarmOptions options) {
  return std::make_unique<SequentialSearch>(space, options, [options](Look& look) { return fly(look, options); });
}

}  // namespace tensmith
