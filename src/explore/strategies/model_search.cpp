#include "explore/strategies/model_search.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "explore/seen.h"
#include "explore/strategies/acquisition.h"
#include "explore/strategies/history_trust.h"
#include "explore/strategies/knob_coordinates.h"
#include "explore/strategies/point_set.h"
#include "explore/strategies/portfolio.h"
#include "explore/strategies/row_choice.h"
#include "explore/strategies/space_filling.h"
#include "explore/strategies/task_prior.h"
#include "explore/strategies/validity_model.h"
#include "tensmith/costmodel/gaussian_process.h"

namespace tensmith {
namespace {

/// Spaces of up to this many points are modelled point by point; of larger ones a sample that is drawn anew for
/// each proposal.
constexpr uint64_t kModelledPoints = uint64_t{1} << 18;
constexpr size_t kSampledRandom = 2048;
constexpr size_t kSampledNear = 2048;
constexpr size_t kElite = 16;
/// Points that are followed from one row to the next, times rows.
constexpr size_t kTrackedWork = 500000;
constexpr size_t kMinTracked = 3072;
constexpr size_t kVarianceRows = 64;
constexpr size_t kStartCandidates = 256;
/// Configs that a start point is kept away from; among more of them one place is as good as another.
constexpr size_t kStartNeighbours = 4096;
/// With fewer results both processes explain them.
constexpr size_t kMinJudged = 5;

struct Row {
  Config config;
  uint64_t index;
  double seconds;  ///< infinity: failed
};

class ModelSearch final : public SearchStrategy {
 public:
  ModelSearch(const ConfigSpace& space, ModelSearchOptions options)
      : space_(space),
        options_(std::move(options)),
        seen_(space, options_.initial),
        sampler_(space, Rng(options_.seed)),
        rng_(Rng(options_.seed).split(1)),
        tree_rng_(Rng(options_.seed).split(2)),
        trust_rng_(Rng(options_.seed).split(3)),
        coordinates_(space),
        validity_(space, trees_of(options_)),
        prior_(space, coordinates_, options_.history, options_.compression),
        trust_(prior_.of_other_kernels() ? options_.odds_of_other_kernels : options_.history_odds,
               prior_.of_other_kernels()),
        width_(coordinates_.columns() + prior_.columns()),
        enumerated_(space.size() <= kModelledPoints) {
    GaussianProcessOptions gp;
    gp.linear_columns = prior_.columns();
    gp.length = {options_.length, options_.length_deviation};
    gp.signal.median = options_.signal;
    gp.noise.median = options_.noise;
    gp.weight = {1e-18, 0.01};  // of the history: none
    plain_ = std::make_unique<GaussianProcess>(width_, gp);
    gp_ = plain_.get();
    if (!prior_.active()) return;
    gp.scale = prior_.unit();
    gp.weight = {options_.history_weight, 0.7};
    gp.signal.median = options_.history_signal;
    gp.constant = options_.history_constant;
    informed_ = std::make_unique<GaussianProcess>(width_, gp);
    if (opens_by_history()) gp_ = informed_.get();
  }

  std::vector<Config> propose(int count) override {
    std::vector<Config> batch;
    const size_t wanted = static_cast<size_t>(std::max(count, 0));
    seen_.take_initial(wanted, batch);
    for (const Config& config : batch) mark(config);
    if (batch.size() == wanted) return batch;
    if (!refresh_points()) return batch;
    believed_ = 0;
    while (batch.size() < wanted) {
      std::optional<size_t> point;
      if (starting()) point = opens_by_history() ? proven_point() : start_point();
      if (!point && spare_starts_ > 0) {
        --spare_starts_;
        point = start_point();
      }
      if (!point && strays()) point = near_point();
      if (!point) point = model_point(batch.size() + 1 < wanted);
      if (!point) break;
      batch.push_back(space_.at(points_.indices[*point]));
      seen_.insert(batch.back());
      points_.taken[*point] = 1;
    }
    gp_->remove_last(believed_);
    believed_ = 0;
    return batch;
  }

  void update(std::span<const Observation> results) override {
    for (const Observation& result : results) {
      seen_.insert(result.config);
      mark(result.config);
      if (result.status == TrialStatus::kWorkerLost) continue;
      const uint64_t index = space_.index_of(result.config);
      if (!known_.insert(index).second) continue;
      const bool ok = result.ok() && std::isfinite(result.seconds) && result.seconds > 0.0;
      rows_.push_back({result.config, index, ok ? result.seconds : std::numeric_limits<double>::infinity()});
      if (ok) {
        sampler_.add_known(result.config);
        ++valid_;
        if (result.seconds < best_) {
          best_ = result.seconds;
          improved_ = told();
        }
      }
      learn_validity(ok, result.config);
    }
  }

 private:
  static ExtraTreesOptions trees_of(const ModelSearchOptions& options) {
    ExtraTreesOptions trees;
    trees.feature_share = options.tree_share;
    trees.trees = options.trees;
    trees.smoothing = options.smoothing;
    return trees;
  }

  bool opens_by_history() const { return prior_.active() && !prior_.of_other_kernels(); }
  size_t told() const { return rows_.size(); }
  size_t failures() const { return rows_.size() - valid_; }
  bool starting() const {
    if (opens_by_history()) return seen_.indices().size() < options_.proven;
    if (valid_ == 0) return true;
    const auto all = static_cast<size_t>(std::max(1, options_.start_points));
    return seen_.indices().size() < all && failures() < static_cast<size_t>(std::max(1, options_.start_failures));
  }

  void mark(const Config& config) {
    if (!enumerated_ || place_.empty()) return;
    const int32_t place = place_[space_.index_of(config)];
    if (place >= 0) points_.taken[static_cast<size_t>(place)] = 1;
  }

  /// What the Gaussian process sees of a config, and the target that the history expects of it.
  float describe(const Config& config, float* row) const {
    coordinates_.write(config, row);
    if (!prior_.active()) return 0.0F;
    TaskPrior::Opinion opinion;
    prior_.ask({&config, 1}, {&opinion, 1}, {row + coordinates_.columns(), prior_.columns()});
    return opinion.mean;
  }

  PointSet describe(std::span<const Config> configs) {
    PointSet set{.width = width_};
    const size_t n = configs.size();
    set.taken.assign(n, 0);
    set.rows.resize(n * width_);
    for (size_t i = 0; i < n; ++i) {
      set.indices.push_back(space_.index_of(configs[i]));
      coordinates_.write(configs[i], set.rows.data() + i * width_);
    }
    if (prior_.active()) {
      std::vector<TaskPrior::Opinion> opinions(n);
      std::vector<float> deviations(n * prior_.columns());
      prior_.ask(configs, opinions, deviations);
      for (size_t i = 0; i < n; ++i) {
        std::copy_n(deviations.begin() + static_cast<std::ptrdiff_t>(i * prior_.columns()), prior_.columns(),
                    set.rows.begin() + static_cast<std::ptrdiff_t>(i * width_ + coordinates_.columns()));
        set.prior_mean.push_back(opinions[i].mean);
        set.prior_valid.push_back(opinions[i].valid);
      }
    }
    if (options_.learn_validity) {
      std::vector<float> columns(n * validity_.columns());
      for (size_t i = 0; i < n; ++i) validity_.write(configs[i], columns.data() + i, n);
      validity_.track(std::move(columns), n);
    }
    return set;
  }

  void learn_validity(bool ok, const Config& config) {
    if (!options_.learn_validity) return;
    const bool anew = static_cast<double>(told()) >= 1.5 * static_cast<double>(validity_built_);
    if (anew) validity_built_ = told();
    validity_.add(config, ok, anew, tree_rng_);
  }

  /// False when no point is left.
  bool refresh_points() {
    if (enumerated_) {
      if (place_.empty()) {
        place_.assign(space_.size(), -1);
        std::vector<Config> configs;
        Config config;
        point_at(space_, 0, config);
        do {
          if (!space_.valid(config)) continue;
          place_[space_.index_of(config)] = static_cast<int32_t>(configs.size());
          configs.push_back(config);
        } while (next_point(space_, config));
        points_ = describe(configs);
        for (uint64_t index : seen_.indices()) {
          if (place_[index] >= 0) points_.taken[static_cast<size_t>(place_[index])] = 1;
        }
      }
      return !points_.all_taken();
    }
    points_ = describe(sample());
    stale_ = true;
    return points_.size() > 0;
  }

  std::vector<Config> sample() {
    std::vector<Config> configs;
    IndexSet there = seen_.indices();
    while (configs.size() < kSampledRandom) {
      const std::optional<Config> config = sampler_.next_unseen(there);
      if (!config) break;
      there.insert(space_.index_of(*config));
      configs.push_back(*config);
    }
    const std::vector<size_t> elite = chosen_rows(true, kElite, 0);
    size_t added = 0;
    for (size_t attempt = 0; !elite.empty() && attempt < 4 * kSampledNear && added < kSampledNear; ++attempt) {
      Config config = rows_[elite[rng_.uniform_int(uint64_t{elite.size()})]].config;
      for (uint64_t moves = 1 + rng_.uniform_int(uint64_t{3}); moves > 0; --moves) {
        move_one_knob(space_, rng_, 0.5, config);
      }
      if (!space_.valid(config) || !there.insert(space_.index_of(config)).second) continue;
      configs.push_back(std::move(config));
      ++added;
    }
    return configs;
  }

  /// The point farthest from what is known among some random ones, or the one closest to the middle.
  std::optional<size_t> start_point() {
    std::vector<size_t> candidates = points_.random_untaken(kStartCandidates, rng_);
    if (candidates.empty()) return std::nullopt;
    if (seen_.indices().size() > kStartNeighbours) return candidates.front();
    std::vector<float> others;
    for (uint64_t index : sorted_seen()) {
      others.resize(others.size() + width_);
      coordinates_.write(space_.at(index), others.data() + others.size() - width_);
    }
    const size_t dims = coordinates_.columns();
    if (rng_.uniform_real() < options_.start_middle) {
      sort_from_middle(candidates, points_.rows, width_, dims);
      candidates.resize(std::max<size_t>(1, candidates.size() / static_cast<size_t>(options_.start_central)));
    }
    return farthest(candidates, points_.rows, others, width_, dims);
  }

  /// The point that adds most to what was proposed, by the tasks of the history; nothing when none adds enough.
  std::optional<size_t> proven_point() {
    Portfolio portfolio(prior_, options_.compression);
    for (uint64_t index : sorted_seen()) {
      const Config config = space_.at(index);
      TaskPrior::Opinion opinion;
      std::vector<float> deviations(prior_.columns());
      prior_.ask({&config, 1}, {&opinion, 1}, deviations);
      portfolio.add(opinion, deviations.data());
    }
    std::optional<size_t> best;
    Portfolio::Gain most;
    for (size_t i = 0; i < points_.size(); ++i) {
      if (points_.taken[i]) continue;
      const Portfolio::Gain gain = portfolio.gain({points_.prior_mean[i], points_.prior_valid[i]},
                                                  points_.row(i).data() + coordinates_.columns());
      if (best && !(gain > most)) continue;
      best = i;
      most = gain;
    }
    return most.saved < options_.proven_gain ? std::nullopt : best;
  }

  /// Whether the next proposal is not the model's: every second one, while nothing better is found.
  bool strays() const {
    return options_.near_best > 0 && told() > improved_ + options_.patience && seen_.indices().size() % 2 == 1;
  }

  /// A random point that differs in few knobs from one of the fastest configs; the likelier it runs, the likelier it
  /// is taken. Nothing when none is left.
  std::optional<size_t> near_point() {
    const std::vector<size_t> centres = chosen_rows(true, options_.near_best, 0);
    std::optional<size_t> best;
    double most = -1.0;
    Config config;
    for (uint32_t i = 0; i < points_.size(); ++i) {
      if (points_.taken[i]) continue;
      point_at(space_, points_.indices[i], config);
      const bool near = std::any_of(centres.begin(), centres.end(), [&](size_t centre) {
        return differing_choices(config, rows_[centre].config) <= options_.near_knobs;
      });
      if (!near) continue;
      const double chance = valid(i) * rng_.uniform_real();
      if (chance > most) {
        most = chance;
        best = i;
      }
    }
    return best;
  }

  std::vector<uint64_t> sorted_seen() const {
    std::vector<uint64_t> out(seen_.indices().begin(), seen_.indices().end());
    std::sort(out.begin(), out.end());
    return out;
  }

  // --- the model ---

  bool trusts_history() const { return informed_ && gp_ == informed_.get(); }
  /// The target that the process is given the difference from.
  double expected(uint32_t point) const { return trusts_history() ? points_.prior_mean[point] : 0.0; }

  double target(double seconds) const { return compressed(seconds / reference_, options_.compression); }

  /// describe(), from the points there are where it can be.
  float row_of(const Row& row, float* out) const {
    const int32_t place = place_.empty() ? -1 : place_[row.index];
    if (place < 0) return describe(row.config, out);
    const auto p = static_cast<size_t>(place);
    std::copy_n(points_.row(p).begin(), width_, out);
    return prior_.active() ? points_.prior_mean[p] : 0.0F;
  }

  /// Whether the process on times has a use for it.
  bool usable(const Row& row) const { return std::isfinite(row.seconds) || !options_.learn_validity; }

  /// Rows that the process is given at most, all at once; its time grows with their cube.
  size_t row_limit() const { return options_.best_rows + options_.newest_rows; }

  /// Places in rows_, in their order: the fastest and the newest of those that ran, or of those of use to the process.
  std::vector<size_t> chosen_rows(bool ran, size_t best, size_t newest) const {
    std::vector<size_t> some;
    std::vector<double> seconds;
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (ran ? std::isfinite(rows_[i].seconds) : usable(rows_[i])) some.push_back(i);
      seconds.push_back(rows_[i].seconds);
    }
    return best_and_newest(std::move(some), seconds, best, newest);
  }

  size_t usable_rows() const { return options_.learn_validity ? valid_ : told(); }

  void absorb() {
    const size_t most = row_limit() + row_limit() / 3;
    if (stale_ || gp_->rows() + (rows_.size() - absorbed_) > most ||
        static_cast<double>(usable_rows()) >= std::max(1.0, (1.0 + options_.growth) * static_cast<double>(fitted_))) {
      refit();
      return;
    }
    for (; absorbed_ < rows_.size(); ++absorbed_) {
      const Row& row = rows_[absorbed_];
      if (!usable(row)) continue;
      const double y = std::isfinite(row.seconds) ? target(row.seconds) : worst_;
      best_target_ = std::min(best_target_, y);
      std::vector<float> numbers(width_);
      const float expected = row_of(row, numbers.data());
      gp_->add(numbers, trusts_history() ? y - expected : y);
    }
  }

  void refit() {
    reference_ = std::isfinite(best_) ? best_ : 1.0;
    std::vector<float> numbers;
    std::vector<double> targets;
    std::vector<double> differences;  // of the targets, from what the history expects
    double worst = 0.0;
    best_target_ = std::numeric_limits<double>::infinity();
    for (const Row& row : rows_) {
      if (std::isfinite(row.seconds)) worst = std::max(worst, target(row.seconds));
    }
    worst_ = worst;
    for (size_t i : chosen_rows(false, options_.best_rows, options_.newest_rows)) {
      const Row& row = rows_[i];
      const double y = std::isfinite(row.seconds) ? target(row.seconds) : worst_;
      numbers.resize(numbers.size() + width_);
      const float expected = row_of(row, numbers.data() + numbers.size() - width_);
      targets.push_back(y);
      differences.push_back(y - expected);
      best_target_ = std::min(best_target_, y);
    }
    if (targets.empty() && trusts_history()) {
      best_target_ = *std::min_element(points_.prior_mean.begin(), points_.prior_mean.end());
    }
    const size_t n = targets.size();
    const bool due = static_cast<double>(usable_rows()) >= (1.0 + options_.growth) * static_cast<double>(fitted_);
    if (due && n > (opens_by_history() ? 2 : 1)) {
      if (informed_) {
        judge_history(numbers, targets, differences);
      } else {
        fit_parameters(numbers, targets);
      }
      fitted_ = usable_rows();
    }
    gp_->set_rows({numbers.data(), n, width_}, trusts_history() ? differences : targets);
    absorbed_ = rows_.size();
    choose_tracked();
    stale_ = false;
  }

  /// Fits the process that knows the history and the one that does not.
  void judge_history(const std::vector<float>& numbers, const std::vector<double>& targets,
                     const std::vector<double>& differences) {
    gp_ = plain_.get();
    fit_parameters(numbers, targets);
    const double without = gp_->log_likelihood();
    gp_ = informed_.get();
    fit_parameters(numbers, differences);
    if (targets.size() >= kMinJudged) trust_.judge(gp_->log_likelihood(), without);
    choose_process();
    if (!opens_by_history() || doubted_ || trust_.share() >= 0.5) return;
    doubted_ = true;
    spare_starts_ = options_.doubt_starts;
  }

  void choose_process() {
    if (!informed_) return;
    GaussianProcess* const chosen = trust_.asks_history(trust_rng_) ? informed_.get() : plain_.get();
    stale_ = stale_ || chosen != gp_;
    gp_ = chosen;
  }

  void fit_parameters(const std::vector<float>& numbers, const std::vector<double>& targets) {
    std::vector<float> some;
    std::vector<double> some_targets;
    for (size_t i : best_and_random(targets, static_cast<size_t>(options_.fit_rows), rng_)) {
      some.insert(some.end(), numbers.begin() + static_cast<std::ptrdiff_t>(i * width_),
                  numbers.begin() + static_cast<std::ptrdiff_t>((i + 1) * width_));
      some_targets.push_back(targets[i]);
    }
    gp_->set_rows({some.data(), some_targets.size(), width_}, some_targets);
    gp_->optimize(targets.size() < 60 ? options_.first_steps : options_.later_steps);
  }

  double valid(uint32_t point) const {
    double p = options_.learn_validity ? validity_.probabilities()[point] : 1.0;
    if (opens_by_history() || trusts_history()) p *= points_.prior_valid[point];
    if (options_.validity_power == 3.0) return p * p * p;
    return options_.validity_power == 1.0 ? p : std::pow(p, options_.validity_power);
  }

  double value_of(double mean, double variance, double valid) const {
    const double deviation = std::sqrt(variance);
    if (options_.acquisition == Acquisition::kLowerConfidenceBound)
      return valid * -(mean - options_.confidence * deviation);
    return valid * expected_improvement(best_target_ - mean, deviation);
  }

  void choose_tracked() {
    const size_t n = points_.size();
    const size_t limit = std::max(kMinTracked, kTrackedWork / std::max<size_t>(1, gp_->rows()));
    tracked_.clear();
    double most = 0.0;
    for (uint32_t i = 0; i < n; ++i) {
      if (!points_.taken[i]) most = std::max(most, valid(i));
    }
    for (uint32_t i = 0; i < n; ++i) {
      if (!points_.taken[i] && valid(i) > 0.03 * most) tracked_.push_back(static_cast<uint32_t>(i));
    }
    if (tracked_.empty()) {
      for (size_t i = 0; i < n; ++i) {
        if (!points_.taken[i]) tracked_.push_back(static_cast<uint32_t>(i));
      }
    }
    if (tracked_.size() > limit) {
      std::vector<float> rows = points_.gather(tracked_);
      std::vector<double> means(tracked_.size());
      std::vector<double> variances(tracked_.size());
      gp_->predict({rows.data(), tracked_.size(), width_}, means, variances, kVarianceRows);
      std::vector<std::pair<double, uint32_t>> order(tracked_.size());
      for (size_t i = 0; i < tracked_.size(); ++i) {
        const uint32_t p = tracked_[i];
        order[i] = {-value_of(means[i] + expected(p), variances[i], valid(p)), p};
      }
      std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(limit), order.end());
      tracked_.resize(limit);
      for (size_t i = 0; i < limit; ++i) tracked_[i] = order[i].second;
      std::sort(tracked_.begin(), tracked_.end());
    }
    const std::vector<float> rows = points_.gather(tracked_);
    gp_->track({rows.data(), tracked_.size(), width_});
  }

  /// `more`: another one of the same batch comes after it.
  std::optional<size_t> model_point(bool more) {
    if (believed_ == 0) {
      choose_process();
      absorb();
    }
    std::optional<size_t> best = best_tracked();
    if (!best) {
      choose_tracked();
      best = best_tracked();
    }
    if (!best) return std::nullopt;
    const size_t point = tracked_[*best];
    if (!more) return point;
    // The next of a batch is chosen as if this one had turned out as expected.
    gp_->add(points_.row(point), gp_->means()[*best]);
    ++believed_;
    return point;
  }

  std::optional<size_t> best_tracked() const {
    const std::span<const double> means = gp_->means();
    const std::span<const double> variances = gp_->variances();
    std::optional<size_t> best;
    double best_value = -std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < tracked_.size(); ++i) {
      const uint32_t p = tracked_[i];
      if (points_.taken[p]) continue;
      const double value = value_of(means[i] + expected(p), variances[i], valid(p));
      if (!best || value > best_value) {
        best_value = value;
        best = i;
      }
    }
    return best;
  }

  const ConfigSpace& space_;
  ModelSearchOptions options_;
  SeenConfigs seen_;
  ValidSampler sampler_;
  Rng rng_;
  Rng tree_rng_;
  Rng trust_rng_;
  KnobCoordinates coordinates_;
  ValidityModel validity_;
  TaskPrior prior_;
  HistoryTrust trust_;
  size_t width_;
  bool enumerated_;
  std::unique_ptr<GaussianProcess> plain_;     ///< on times as they are
  std::unique_ptr<GaussianProcess> informed_;  ///< on differences from what the history expects; none without one
  GaussianProcess* gp_ = nullptr;              ///< the one in use

  std::vector<Row> rows_;  ///< what was told, in its order
  IndexSet known_;
  size_t valid_ = 0;
  double best_ = std::numeric_limits<double>::infinity();

  PointSet points_;
  std::vector<int32_t> place_;  ///< of an enumerated space: index -> place in points_, or -1

  std::vector<uint32_t> tracked_;  ///< places in points_
  double reference_ = 1.0;
  double best_target_ = 0.0;
  double worst_ = 0.0;
  size_t improved_ = 0;      ///< rows told when the best was found
  bool doubted_ = false;     ///< the history was improbable at some time
  size_t spare_starts_ = 0;  ///< start points that the doubt has left to propose
  size_t fitted_ = 0;        ///< usable rows there were at the last fit of hyper-parameters
  size_t absorbed_ = 0;      ///< of rows_, that the Gaussian process has or was not given for want of room
  size_t believed_ = 0;      ///< its last rows that are guesses
  bool stale_ = true;
  size_t validity_built_ = 0;  ///< rows of the last trees that were grown as a whole
};

}  // namespace

std::unique_ptr<SearchStrategy> make_model_search(const ConfigSpace& space, ModelSearchOptions options) {
  return std::make_unique<ModelSearch>(space, std::move(options));
}

}  // namespace tensmith
