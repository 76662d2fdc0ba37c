#include <algorithm>
#include <cmath>

#include "explore/seen.h"
#include "tensmith/explore/strategy.h"

namespace tensmith {
namespace {

/// Tries to make one valid, new child before a random config takes its place.
constexpr int kBreedingAttempts = 64;

struct Individual {
  Config config;
  double seconds;
};

class GeneticSearch final : public SearchStrategy {
 public:
  GeneticSearch(const ConfigSpace& space, GeneticOptions options)
      : space_(space),
        options_(std::move(options)),
        seen_(space, options_.initial),
        sampler_(space, Rng(options_.seed)),
        rng_(Rng(options_.seed).split(1)) {}

  std::vector<Config> propose(int count) override {
    std::vector<Config> batch;
    const size_t wanted = static_cast<size_t>(std::max(count, 0));
    seen_.take_initial(wanted, batch);
    while (batch.size() < wanted) {
      if (planned_.empty()) plan_generation();
      if (planned_.empty()) break;
      // Planned configs may have been told of meanwhile (a resumed run).
      if (seen_.insert(planned_.front())) batch.push_back(std::move(planned_.front()));
      planned_.pop_front();
    }
    return batch;
  }

  void update(std::span<const Observation> results) override {
    for (const Observation& result : results) {
      seen_.insert(result.config);
      if (!result.ok()) continue;
      sampler_.add_known(result.config);
      const Individual individual{result.config, result.seconds};
      recent_.push_back(individual);
      elite_.push_back(individual);
    }
    while (recent_.size() > static_cast<size_t>(options_.population)) recent_.pop_front();
    std::stable_sort(elite_.begin(), elite_.end(),
                     [](const Individual& a, const Individual& b) { return a.seconds < b.seconds; });
    if (elite_.size() > static_cast<size_t>(options_.elite)) elite_.resize(options_.elite);
  }

 private:
  /// A generation is a population of children; while too little is known to breed, of random configs.
  void plan_generation() {
    std::vector<Individual> parents(recent_.begin(), recent_.end());
    parents.insert(parents.end(), elite_.begin(), elite_.end());
    std::vector<double> cumulative;
    double sum = 0.0;
    for (const Individual& parent : parents) cumulative.push_back(sum += 1.0 / parent.seconds);

    IndexSet taken = seen_.indices();
    for (int i = 0; i < options_.population; ++i) {
      std::optional<Config> child;
      if (parents.size() >= 2) child = breed(parents, cumulative, taken);
      if (!child) child = sampler_.next_unseen(taken);
      if (!child) return;
      taken.insert(space_.index_of(*child));
      planned_.push_back(std::move(*child));
    }
  }

  std::optional<Config> breed(const std::vector<Individual>& parents, const std::vector<double>& cumulative,
                              const IndexSet& taken) {
    for (int attempt = 0; attempt < kBreedingAttempts; ++attempt) {
      Config child = draw(parents, cumulative);
      const Config& other = draw(parents, cumulative);
      if (!child.choices.empty()) {
        const size_t point = rng_.uniform_int(uint64_t{child.choices.size()});
        std::copy(other.choices.begin() + point, other.choices.end(), child.choices.begin() + point);
      }
      for (size_t j = 0; j < child.choices.size(); ++j) {
        if (!rng_.bernoulli(options_.mutation_rate)) continue;
        child.choices[j] = static_cast<uint16_t>(rng_.uniform_int(uint64_t{space_.knobs()[j].choices.size()}));
      }
      if (space_.valid(child) && !taken.contains(space_.index_of(child))) return child;
    }
    return std::nullopt;
  }

  const Config& draw(const std::vector<Individual>& parents, const std::vector<double>& cumulative) {
    const double mark = rng_.uniform_real() * cumulative.back();
    const size_t position = std::upper_bound(cumulative.begin(), cumulative.end(), mark) - cumulative.begin();
    return parents[std::min(position, parents.size() - 1)].config;
  }

  const ConfigSpace& space_;
  GeneticOptions options_;
  SeenConfigs seen_;
  ValidSampler sampler_;
  Rng rng_;
  std::deque<Config> planned_;
  std::deque<Individual> recent_;  ///< the last generation's survivors
  std::vector<Individual> elite_;
};

}  // namespace

std::unique_ptr<SearchStrategy> make_genetic_search(const ConfigSpace& space, GeneticOptions options) {
  return std::make_unique<GeneticSearch>(space, std::move(options));
}

}  // namespace tensmith
