#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tensmith/explore/score.h"
#include "tensmith/explore/trial.h"
#include "tensmith/schedule/config_space.h"

namespace tensmith {

/// Chooses which configs of a space to measure next. Never sees a device.
///
/// Holds for every strategy:
/// * a proposed config is valid (ConfigSpace::check), and no config is proposed twice or after it was told of,
///   unless repeats_configs();
/// * the same seed and the same results give the same proposals, whatever the number of threads;
/// * a space that has been seen as a whole gives an empty proposal; nothing hangs, however tight the constraints.
class SearchStrategy {
 public:
  virtual ~SearchStrategy() = default;

  /// Up to `count` configs to measure. Fewer when no more can be found, or while the next depends on the results of
  /// these (local searches look at one config after the other); none when the search is over.
  virtual std::vector<Config> propose(int count) = 0;

  /// Whether it proposes configs again, since it wants to know better how fast they are (racing). A config is
  /// proposed again only after the result of the time before was told.
  virtual bool repeats_configs() const { return false; }

  /// Results of proposed configs, or of earlier runs (a resumed search starts with all of them).
  virtual void update(std::span<const Observation> results) = 0;
};

/// What all strategies take. The space must outlive the strategy.
struct StrategyOptions {
  uint64_t seed = 1;
  /// Proposed first, in this order: configs known to be sensible (the default, the nearest record's). Ones that are
  /// invalid are passed over. Grid search leaves them to their place in its order.
  std::vector<Config> initial;
  /// Whether a search that has converged begins anew, with a random config that is not known yet, until the space is
  /// seen. Otherwise it ends. Searches that never converge pass it over.
  bool restart = true;
};

/// Valid configs without replacement, uniformly where rejection finds them. A resumed search goes on as an
/// uninterrupted one would have.
std::unique_ptr<SearchStrategy> make_random_search(const ConfigSpace& space, StrategyOptions options);

/// Valid configs in the order of their index.
std::unique_ptr<SearchStrategy> make_grid_search(const ConfigSpace& space);

struct GeneticOptions : StrategyOptions {
  int population = 100;
  int elite = 3;               ///< the best configs so far that always take part in breeding
  double mutation_rate = 0.1;  ///< of each knob of a child
};

/// Genetic search: parents drawn in proportion to their throughput, one-point crossover, mutation.
std::unique_ptr<SearchStrategy> make_genetic_search(const ConfigSpace& space, GeneticOptions options);

struct AnnealingOptions : StrategyOptions {
  int chains = 128;
  /// Steps a proposal, and the steps without a new entry in the list of the best after which it ends early. Few are
  /// enough, since the chains go on from where they stood in the round before; the early end matters to longer runs.
  int steps = 40;
  int early_stop = 50;
  /// Temperature at the first step, falling linearly to 0 at the last; in standard deviations of the score over
  /// random configs, so that regression and ranking scores anneal alike.
  double temperature = 1.0;
  double epsilon = 0.05;      ///< share of a batch that is drawn at random
  double lambda = 3.0;        ///< a batch of b is chosen from the best lambda * b candidates
  double alpha = 0.1;         ///< weight of the second term of equation 3, in the same unit as the temperature
  double near_move = 0.5;     ///< probability that a move of an ordinal knob goes to an adjacent choice
  double elite_share = 0.25;  ///< share of the chains that restart from the best measured configs each round
  int elite = 32;             ///< how many measured configs count as the best
};

/// Model-based search, Algorithm 1 of "Learning to Optimize Tensor Programs": parallel simulated annealing over
/// `scorer`, with chains that persist across refits, and a diverse choice of the batch by equation 3. Proposes initial
/// and random configs while the scorer is not ready. Tells the scorer of all results. The scorer must outlive the
/// strategy.
std::unique_ptr<SearchStrategy> make_annealing_search(const ConfigSpace& space, Scorer& scorer,
                                                      AnnealingOptions options);

}  // namespace tensmith
