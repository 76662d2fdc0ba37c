#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "explore/candidates.h"
#include "explore/seen.h"
#include "tensmith/explore/diversity.h"
#include "tensmith/explore/strategy.h"

namespace tensmith {
namespace {

/// Random configs scored each round to learn the unit of the scores.
constexpr int kReferenceConfigs = 64;
/// Moves a chain tries for a valid one before it sits a step out.
constexpr int kMoveAttempts = 16;

struct Chain {
  Config config;
  float score = kInfeasible;
  Rng rng;
};

struct Measured {
  Config config;
  double seconds;
  uint64_t index;
};

class AnnealingSearch final : public SearchStrategy {
 public:
  AnnealingSearch(const ConfigSpace& space, Scorer& scorer, AnnealingOptions options)
      : space_(space),
        scorer_(scorer),
        options_(std::move(options)),
        seen_(space, options_.initial),
        sampler_(space, Rng(options_.seed)),
        rng_(Rng(options_.seed).split(1)) {}

  std::vector<Config> propose(int count) override {
    std::vector<Config> batch;
    const size_t wanted = static_cast<size_t>(std::max(count, 0));
    seen_.take_initial(wanted, batch);
    if (batch.size() == wanted) return batch;
    if (scorer_.ready()) {
      // The share of random configs is carried over from round to round, so that small batches get theirs too.
      random_share_ += options_.epsilon * static_cast<double>(wanted - batch.size());
      const size_t random = std::min(static_cast<size_t>(random_share_), wanted - batch.size());
      random_share_ -= static_cast<double>(random);
      choose_by_model(wanted - random, batch);
    }
    fill_at_random(wanted, batch);
    return batch;
  }

  void update(std::span<const Observation> results) override {
    for (const Observation& result : results) {
      seen_.insert(result.config);
      if (!result.ok()) continue;
      sampler_.add_known(result.config);
      elite_.push_back({result.config, result.seconds, space_.index_of(result.config)});
    }
    std::sort(elite_.begin(), elite_.end(), [](const Measured& a, const Measured& b) {
      return a.seconds != b.seconds ? a.seconds < b.seconds : a.index < b.index;
    });
    if (elite_.size() > static_cast<size_t>(options_.elite)) elite_.resize(options_.elite);
    scorer_.learn(results);
  }

 private:
  void choose_by_model(size_t wanted, std::vector<Config>& batch) {
    if (wanted <= batch.size()) return;
    const size_t missing = wanted - batch.size();
    const size_t pool =
        std::max(missing, static_cast<size_t>(std::llround(options_.lambda * static_cast<double>(missing))));
    Candidates candidates(space_, scorer_, seen_.indices(), pool);
    const double unit = measure_unit(candidates);
    start_chains(candidates);
    anneal(candidates, unit);

    const std::vector<Candidates::Entry> best = candidates.best();
    std::vector<Config> configs;
    std::vector<double> scores;
    for (const Candidates::Entry& entry : best) {
      configs.push_back(space_.at(entry.index));
      scores.push_back(entry.score / unit);
    }
    for (int position : choose_diverse(configs, scores, static_cast<int>(missing), options_.alpha)) {
      seen_.insert(configs[position]);
      batch.push_back(std::move(configs[position]));
    }
  }

  /// The standard deviation of the score over random valid configs.
  double measure_unit(Candidates& candidates) {
    std::vector<Config> configs;
    for (int i = 0; i < kReferenceConfigs; ++i) {
      std::optional<Config> config = sampler_.any(rng_);
      if (config) configs.push_back(std::move(*config));
    }
    double sum = 0.0;
    double squares = 0.0;
    int count = 0;
    for (float score : candidates.score(configs)) {
      if (score == kInfeasible) continue;
      sum += score;
      squares += static_cast<double>(score) * score;
      ++count;
    }
    if (count < 2) return 1.0;
    const double mean = sum / count;
    const double variance = squares / count - mean * mean;
    return variance > 1e-12 * (1.0 + mean * mean) ? std::sqrt(variance) : 1.0;
  }

  /// Chains go on from where they stood; the worst of them, by the refitted score, start again from the best measured
  /// configs, whose neighbourhoods deserve a look however the model ranks them.
  void start_chains(Candidates& candidates) {
    if (chains_.empty()) {
      const Rng root = Rng(options_.seed).split(2);
      for (int i = 0; i < options_.chains; ++i) {
        Chain chain{{}, kInfeasible, root.split(static_cast<uint64_t>(i))};
        std::optional<Config> start = sampler_.any(chain.rng);
        if (!start) break;
        chain.config = std::move(*start);
        chains_.push_back(std::move(chain));
      }
    }
    rescore(candidates);
    if (elite_.empty()) return;
    const size_t restarts =
        std::min(chains_.size(), static_cast<size_t>(options_.elite_share * static_cast<double>(chains_.size())));
    std::vector<size_t> order(chains_.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return chains_[a].score < chains_[b].score; });
    for (size_t i = 0; i < restarts; ++i) chains_[order[i]].config = elite_[i % elite_.size()].config;
    rescore(candidates);
  }

  void rescore(Candidates& candidates) {
    std::vector<Config> configs;
    for (const Chain& chain : chains_) configs.push_back(chain.config);
    const std::vector<float> scores = candidates.score(configs);
    for (size_t i = 0; i < chains_.size(); ++i) chains_[i].score = scores[i];
  }

  void anneal(Candidates& candidates, double unit) {
    std::vector<Config> proposals(chains_.size());
    int quiet = 0;
    for (int step = 0; step < options_.steps && quiet < options_.early_stop; ++step) {
      const double temperature = options_.temperature * unit * (1.0 - static_cast<double>(step) / options_.steps);
      for (size_t i = 0; i < chains_.size(); ++i) propose_move(chains_[i], proposals[i]);
      const uint64_t changes = candidates.changes();
      const std::vector<float> scores = candidates.score(proposals);
      for (size_t i = 0; i < chains_.size(); ++i) {
        Chain& chain = chains_[i];
        const double mark = chain.rng.uniform_real();
        if (scores[i] == kInfeasible) continue;
        const double delta = static_cast<double>(scores[i]) - chain.score;
        if (delta >= 0.0 || mark < std::exp(delta / temperature)) {
          chain.config = proposals[i];
          chain.score = scores[i];
        }
      }
      quiet = candidates.changes() == changes ? quiet + 1 : 0;
    }
  }

  void propose_move(Chain& chain, Config& proposal) {
    for (int attempt = 0; attempt < kMoveAttempts; ++attempt) {
      proposal = chain.config;
      if (move_one_knob(space_, chain.rng, options_.near_move, proposal) < 0) break;
      if (space_.valid(proposal)) return;
    }
    proposal = chain.config;
  }

  /// Random configs that can become programs. Infeasible ones count as seen from now on.
  void fill_at_random(size_t wanted, std::vector<Config>& batch) {
    // In a space where hardly anything is feasible the search has to end at some point.
    for (int attempt = 0; attempt < 64 && batch.size() < wanted; ++attempt) {
      std::vector<Config> drawn;
      seen_.fill(sampler_, wanted - batch.size(), drawn);
      if (drawn.empty()) return;
      std::vector<float> scores(drawn.size());
      scorer_.score(drawn, scores);
      for (size_t i = 0; i < drawn.size(); ++i) {
        if (scores[i] != kInfeasible) batch.push_back(std::move(drawn[i]));
      }
    }
  }

  const ConfigSpace& space_;
  Scorer& scorer_;
  AnnealingOptions options_;
  SeenConfigs seen_;
  ValidSampler sampler_;
  Rng rng_;
  std::vector<Chain> chains_;
  std::vector<Measured> elite_;  ///< best first
  double random_share_ = 0.0;
};

}  // namespace

std::unique_ptr<SearchStrategy> make_annealing_search(const ConfigSpace& space, Scorer& scorer,
                                                      AnnealingOptions options) {
  return std::make_unique<AnnealingSearch>(space, scorer, std::move(options));
}

}  // namespace tensmith
