#include "tensmith/explore/tuner.h"

#include <algorithm>
#include <climits>
#include <deque>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "explore/sampling.h"
#include "tensmith/explore/comparison.h"
#include "tensmith/support/clock.h"
#include "tensmith/support/error.h"
#include "tensmith/support/hash.h"
#include "tensmith/support/log.h"
#include "tensmith/support/stats.h"

namespace tensmith {
namespace {

/// Attempts to measure the default config, for it is the bar of everything.
constexpr int kMaxLostDefaults = 3;
/// Wrong outputs and wild stores that are told one by one: a template or kernel that has many repeats itself.
constexpr int kShownFaults = 3;
/// What is shown of a workload's text, which may hold a whole kernel's arguments.
constexpr size_t kShownWorkload = 60;
/// Configs that are looked at to count those that are possible.
constexpr uint64_t kMostLooks = 1 << 18;

class Tuner {
 public:
  Tuner(const TuneTask& task, SearchStrategy& strategy, Measurer& measurer, RecordSink* sink,
        const TuneOptions& options)
      : task_(task), space_(*task.space), strategy_(strategy), measurer_(measurer), sink_(sink), options_(options) {
    base_ = task.base;
    base_.space_fingerprint = space_.fingerprint();
  }

  TuneResult run() {
    load_history();
    search();
    if (result_.end != TuneEnd::kInterrupted && result_.end != TuneEnd::kStoreFailed) confirm();
    summarize();
    return std::move(result_);
  }

 private:
  void load_history() {
    absorb(task_.history);
    if (result_.ignored_history > 0) {
      log_warning("{} earlier record{} of another version of the search space {} not used", result_.ignored_history,
                  result_.ignored_history == 1 ? "" : "s", result_.ignored_history == 1 ? "is" : "are");
    }
  }

  /// Takes in records that this run did not make.
  void absorb(std::vector<Record> records) {
    // The rest of a comparison may have come now.
    records.insert(records.begin(), std::make_move_iterator(incomplete_.begin()),
                   std::make_move_iterator(incomplete_.end()));
    incomplete_.clear();
    std::vector<Observation> known;
    const std::vector<bool> partial = of_partial_comparison(records);
    for (size_t i = 0; i < records.size(); ++i) {
      const Record& record = records[i];
      if (partial[i]) {
        incomplete_.push_back(record);
        continue;
      }
      std::optional<Config> config = config_of(record);
      if (!config) {
        ++result_.ignored_history;
        continue;
      }
      remember(record, *config);
      if (record.kind != RecordKind::kTrial) continue;
      count_trial(record, *config);
      Observation observation{std::move(*config), record.status, 0.0};
      if (record.ok())
        observation.seconds = record.best_seconds();
      else if (observation.ok())
        observation.status = TrialStatus::kWorkerLost;
      const uint64_t index = space_.index_of(observation.config);
      // Of a config whose worker was lost nothing is known: it may be proposed again.
      if (observation.status == TrialStatus::kWorkerLost) continue;
      seen_.insert(index);
      if (strategy_.repeats_configs()) {
        stock_[index].push_back(std::move(observation));
      } else {
        known.push_back(std::move(observation));
      }
    }
    if (!known.empty()) strategy_.update(known);
  }

  std::optional<Config> config_of(const Record& record) const {
    if (record.space_fingerprint != base_.space_fingerprint) return std::nullopt;
    try {
      return space_.from_values(record.knobs);
    } catch (const UserError&) {
      return std::nullopt;  // edited by hand
    }
  }

  void search() {
    while (true) {
      // Another run of the same key may share the work.
      if (sink_ != nullptr) take_news();
      if (!result_.store_error.empty()) return finish(TuneEnd::kStoreFailed);
      if (result_.trials >= options_.trials) return finish(TuneEnd::kTrialsDone);
      if (interrupted()) return finish(TuneEnd::kInterrupted);
      if (out_of_time()) return finish(TuneEnd::kTimeBudget);
      const std::vector<Config> batch = next_batch(next_batch_size());
      if (batch.empty()) return finish(TuneEnd::kSpaceExhausted);
      measure(batch);
    }
  }

  void take_news() {
    try {
      absorb(sink_->news(base_.key));
    } catch (const WorkError& error) {
      keep_store_error(error);
    }
  }

  void finish(TuneEnd end) { result_.end = end; }
  bool interrupted() const { return options_.stop != nullptr && options_.stop->load(std::memory_order_relaxed); }
  bool out_of_time() const {
    if (options_.time_budget_seconds <= 0.0) return false;
    // Making the finalists ready takes about as long as timing them.
    const double comparison = options_.comparison.most > 0 ? 2 * options_.comparison.seconds : 0.0;
    return watch_.seconds() >= options_.time_budget_seconds - std::min(comparison, options_.time_budget_seconds / 2);
  }

  /// Rounds end at the same trial numbers however often the run was interrupted.
  int next_batch_size() const {
    int begin = 0;
    size_t step = 0;
    for (; step + 1 < options_.batches.size() && options_.batches[step].until <= result_.trials; ++step) {
      begin = options_.batches[step].until;
    }
    int64_t end = std::min(options_.trials, options_.batches[step].until);
    if (step + 1 == options_.batches.size()) end = options_.trials;
    const int64_t size = options_.batches[step].size;
    return static_cast<int>(std::min(size - (result_.trials - begin) % size, end - result_.trials));
  }

  std::vector<Config> next_batch(int size) {
    std::vector<Config> batch;
    const auto take = [&](const Config& config) {
      if (seen_.insert(space_.index_of(config)).second) batch.push_back(config);
    };
    if (space_.valid(task_.default_config)) {
      take(task_.default_config);
      if (batch.empty() && default_was_lost()) batch.push_back(task_.default_config);
    }
    // The strategy may propose the default config, which is in the batch already: ask again for what is missing.
    while (static_cast<int>(batch.size()) < size) {
      const std::vector<Config> proposed = strategy_.propose(size - static_cast<int>(batch.size()));
      if (proposed.empty()) break;
      if (strategy_.repeats_configs()) {
        if (!take_or_answer(proposed, batch)) break;
      } else {
        for (const Config& config : proposed) take(config);
      }
    }
    return batch;
  }

  /// For a strategy that proposes configs again: it is told what other runs measured where it asks for that, so that a
  /// resumed search takes the course of an uninterrupted one; the rest joins the batch. False when nothing came of it.
  bool take_or_answer(const std::vector<Config>& proposed, std::vector<Config>& batch) {
    const size_t before = batch.size();
    std::vector<Observation> answers;
    for (const Config& config : proposed) {
      const uint64_t index = space_.index_of(config);
      const auto found = stock_.find(index);
      if (found != stock_.end() && !found->second.empty()) {
        answers.push_back(std::move(found->second.front()));
        found->second.pop_front();
      } else if (std::find(batch.begin(), batch.end(), config) == batch.end()) {
        seen_.insert(index);
        batch.push_back(config);
      }
    }
    if (!answers.empty()) strategy_.update(answers);
    return !answers.empty() || batch.size() > before;
  }

  /// Whether nothing is known of the default because its worker was taken away; a few times that may be bad luck.
  bool default_was_lost() const {
    int lost = 0;
    for (size_t i = 0; i < records_.size(); ++i) {
      if (records_[i].kind != RecordKind::kTrial || configs_[i] != task_.default_config) continue;
      if (records_[i].status != TrialStatus::kWorkerLost) return false;
      ++lost;
    }
    return lost > 0 && lost < kMaxLostDefaults;
  }

  void measure(const std::vector<Config>& batch) {
    std::vector<std::optional<Observation>> observations(batch.size());
    measurer_.measure(
        batch,
        [&](size_t position, TrialResult trial) {
          trial.config = batch[position];
          normalize_times(trial);
          if (trial.date.empty()) trial.date = utc_timestamp();
          observations[position] = observe(trial);
          accept(trial);
        },
        [&] { return interrupted() || out_of_time() || !result_.store_error.empty(); });
    // In the order of the proposal, whatever the order in which trials ended.
    std::vector<Observation> finished;
    for (std::optional<Observation>& observation : observations) {
      if (observation) finished.push_back(std::move(*observation));
    }
    strategy_.update(finished);
  }

  void accept(const TrialResult& trial) {
    Record record = base_;
    record.kind = RecordKind::kTrial;
    record.knobs = knob_values(space_, trial.config);
    if (task_.trace) record.trace = task_.trace(trial.config);
    record.status = trial.status;
    record.seconds = trial.seconds;
    record.error = trial.error;
    record.build_seconds = trial.build_seconds;
    record.run_seconds = trial.run_seconds;
    record.date = trial.date;
    record.trial = result_.trials;
    count_trial(record, trial.config);
    ++result_.new_trials;
    store({record}, {trial.config});
    const bool fault = trial.status == TrialStatus::kWrongOutput || trial.status == TrialStatus::kWildStore;
    if (fault && ++faults_ <= kShownFaults) {
      const std::string& workload = base_.key.workload;
      const std::string name = workload.size() > kShownWorkload ? workload.substr(0, kShownWorkload) + "..." : workload;
      log_error("{} in {}, config {}: {}", to_string(trial.status), name, space_.to_string(trial.config), trial.error);
    }
    report(trial);
  }

  /// Without what only the database needs (trace, key, versions): a long run stays small.
  void remember(const Record& record, const Config& config) {
    Record& kept = records_.emplace_back();
    kept.kind = record.kind;
    kept.status = record.status;
    kept.seconds = record.seconds;
    kept.comparison = record.comparison;
    kept.comparison_size = record.comparison_size;
    kept.compared_seconds = record.compared_seconds;
    if (config == task_.default_config) kept.error = record.error;
    configs_.push_back(config);
  }

  void store(const std::vector<Record>& records, const std::vector<Config>& configs) {
    for (size_t i = 0; i < records.size(); ++i) remember(records[i], configs[i]);
    if (sink_ == nullptr) return;
    try {
      sink_->add(records);
    } catch (const WorkError& error) {
      keep_store_error(error);
    }
  }

  void keep_store_error(const WorkError& error) {
    if (!result_.store_error.empty()) return;
    result_.store_error = error.message();
    if (!error.hint().empty()) result_.store_error += " (" + error.hint() + ")";
  }

  void count_trial(const Record& record, const Config& config) {
    if (record.ok() && (best_seconds_ == 0.0 || record.best_seconds() < best_seconds_)) {
      best_seconds_ = record.best_seconds();
    }
    // To a strategy that asks for each config once, what another one measured several times is one trial.
    const uint64_t index = space_.index_of(config);
    if (!strategy_.repeats_configs() && told_.contains(index)) return;
    if (record.status != TrialStatus::kWorkerLost) told_.insert(index);
    ++result_.trials;
    ++result_.by_status[static_cast<size_t>(record.status)];
    if (record.status != TrialStatus::kOk) ++failures_[{record.status, record.error}];
  }

  /// A small space, or one of which constraints leave little, ends the search before its trials are used up.
  int most_trials() {
    if (strategy_.repeats_configs()) return options_.trials;
    if (!possible_) possible_ = possible_trials();
    return std::max(*possible_, result_.trials);
  }

  /// As many as there are valid configs, but no more than asked for; what is not looked at counts as valid.
  int possible_trials() const {
    const auto most = static_cast<uint64_t>(options_.trials);
    const uint64_t looks = std::min(space_.size(), kMostLooks);
    uint64_t possible = space_.size() - looks;
    for (uint64_t i = 0; i < looks && possible < most; ++i) possible += space_.valid(space_.at(i)) ? 1 : 0;
    return static_cast<int>(std::min(possible, most));
  }

  void report(const TrialResult& trial) {
    if (!options_.progress) return;
    TuneProgress progress;
    progress.trials = result_.trials;
    progress.total = most_trials();
    progress.valid = result_.valid();
    progress.best_seconds = best_seconds_;
    if (const Record* record = newest_of(task_.default_config, RecordKind::kTrial)) {
      progress.default_seconds = record->best_seconds();
    }
    progress.elapsed_seconds = watch_.seconds();
    progress.trials_per_second = result_.new_trials / std::max(progress.elapsed_seconds, 1e-9);
    progress.seconds_left = (progress.total - result_.trials) / progress.trials_per_second;
    if (options_.time_budget_seconds > 0.0) {
      progress.seconds_left =
          std::clamp(options_.time_budget_seconds - progress.elapsed_seconds, 0.0, progress.seconds_left);
    }
    progress.last = &trial;
    options_.progress(progress);
  }

  const Record* newest_of(const Config& config, RecordKind kind) const {
    for (size_t i = records_.size(); i-- > 0;) {
      if (records_[i].kind == kind && records_[i].ok() && configs_[i] == config) return &records_[i];
    }
    return nullptr;
  }

  /// Configs of the comparison: the best trials, and the default if it ran.
  std::vector<Config> finalists() const {
    std::vector<size_t> order;
    for (size_t i = 0; i < records_.size(); ++i) {
      if (records_[i].kind == RecordKind::kTrial && records_[i].ok()) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return records_[a].best_seconds() < records_[b].best_seconds(); });
    std::vector<Config> configs;
    // The incumbent won a comparison before and defends its place, whatever its first trial said.
    if (const std::optional<BestRecord> incumbent = choose_best(records_); incumbent && incumbent->confirmed) {
      configs.push_back(configs_[incumbent->position]);
    }
    if (newest_of(task_.default_config, RecordKind::kTrial) != nullptr) configs.push_back(task_.default_config);
    IndexSet taken;
    for (size_t i : order) {
      if (static_cast<int>(taken.size()) == options_.finalists) break;
      taken.insert(space_.index_of(configs_[i]));
      if (std::find(configs.begin(), configs.end(), configs_[i]) == configs.end()) configs.push_back(configs_[i]);
    }
    return configs;
  }

  void confirm() {
    if (options_.comparison.most <= 0) return;
    // What earlier runs found stands as it is when there was no time for anything.
    if (result_.new_trials == 0 && out_of_time()) return;
    // Nothing new since the last comparison: its outcome stands.
    if (!records_.empty() && records_.back().kind == RecordKind::kConfirmation) return;
    const std::vector<Config> configs = finalists();
    if (configs.size() < 2) return;
    const std::vector<Measurer::Compared> compared =
        measurer_.compare(configs, options_.comparison, [&] { return interrupted(); });
    TENSMITH_ICHECK(compared.size() == configs.size(), "a comparison answers for every config");
    // A comparison that was cut short does not treat all alike.
    if (interrupted()) return finish(TuneEnd::kInterrupted);
    const std::string date = utc_timestamp();
    const std::string name = fmt::format(
        "{}-{:08x}", date, hash_combine(static_cast<uint64_t>(steady_nanoseconds()), base_.seed) & 0xffffffffu);
    std::vector<std::vector<double>> rounds;
    std::vector<Record> records;
    for (size_t i = 0; i < configs.size(); ++i) {
      Record& record = records.emplace_back(base_);
      record.kind = RecordKind::kConfirmation;
      record.knobs = knob_values(space_, configs[i]);
      if (task_.trace) record.trace = task_.trace(configs[i]);
      TrialResult times{configs[i], compared[i].status, compared[i].seconds, compared[i].error};
      normalize_times(times);
      record.status = times.status;
      record.seconds = times.seconds;
      record.error = times.error;
      rounds.push_back(std::move(times.seconds));
      record.date = date;
      record.trial = result_.trials;
      record.comparison = name;
      record.comparison_size = static_cast<int>(configs.size());
    }
    const std::vector<double> seconds = comparison_seconds(rounds);
    for (size_t i = 0; i < records.size(); ++i) records[i].compared_seconds = seconds[i];
    store(records, configs);
    if (!result_.store_error.empty()) finish(TuneEnd::kStoreFailed);
  }

  void summarize() {
    if (const std::optional<BestRecord> best = choose_best(records_)) {
      result_.best = tuned(records_[best->position], configs_[best->position], best->confirmed);
      if (best->confirmed) default_of_comparison(records_[best->position].comparison);
    }
    if (!result_.default_config) {
      if (const Record* record = newest_of(task_.default_config, RecordKind::kTrial)) {
        result_.default_config = tuned(*record, task_.default_config, false);
      }
    }
    if (!result_.default_config) describe_default();
    if (faults_ > kShownFaults) {
      log_error("{} more trials with wrong outputs or wild stores are not told one by one", faults_ - kShownFaults);
    }
    result_.best_trial_seconds = best_seconds_;
    result_.seconds = watch_.seconds();
    describe_failures();
  }

  void default_of_comparison(const std::string& comparison) {
    for (size_t i = 0; i < records_.size(); ++i) {
      if (records_[i].kind != RecordKind::kConfirmation || records_[i].comparison != comparison) continue;
      if (records_[i].ok() && configs_[i] == task_.default_config) {
        result_.default_config = tuned(records_[i], configs_[i], true);
      }
    }
  }

  void describe_default() {
    for (size_t i = records_.size(); i-- > 0;) {
      if (configs_[i] != task_.default_config) continue;
      result_.default_failure = std::string(to_string(records_[i].status));
      if (!records_[i].error.empty()) result_.default_failure += ": " + records_[i].error;
      return;
    }
  }

  static TunedConfig tuned(const Record& record, const Config& config, bool confirmed) {
    return {config, record.best_seconds(), confirmed};
  }

  void describe_failures() {
    if (failures_.empty()) return;
    // Texts differ in numbers: the status says what is common, its commonest text is an example.
    std::array<int, kTrialStatusCount> counts = result_.by_status;
    counts[static_cast<size_t>(TrialStatus::kOk)] = 0;
    const auto most = std::max_element(counts.begin(), counts.end());
    const auto status = static_cast<TrialStatus>(most - counts.begin());
    const std::string* example = nullptr;
    int seen = 0;
    for (const auto& [failure, count] : failures_) {
      if (failure.first != status || count <= seen) continue;
      example = &failure.second;
      seen = count;
    }
    const int failed = result_.trials - result_.valid();
    result_.commonest_failure = fmt::format("{} of {} trials failed, {} of them with: {}",
                                            failed == result_.trials ? "all" : std::to_string(failed), result_.trials,
                                            *most, to_string(status));
    if (example == nullptr || example->empty()) return;
    result_.commonest_failure += fmt::format(fmt::runtime(seen == *most ? ": {}" : ", such as: {}"), *example);
  }

  const TuneTask& task_;
  const ConfigSpace& space_;
  SearchStrategy& strategy_;
  Measurer& measurer_;
  RecordSink* sink_;
  const TuneOptions& options_;
  Stopwatch watch_;
  Record base_;
  std::vector<Record> records_;     ///< outcomes in this space, oldest first, this run's included
  std::vector<Config> configs_;     ///< of each record
  std::vector<Record> incomplete_;  ///< of others' comparisons of which records are missing so far
  IndexSet seen_;                   ///< configs with a trial, or in the batch under way
  IndexSet told_;                   ///< configs with a trial that says something about them
  /// By config: what other runs measured and a strategy that repeats configs has not asked for yet.
  std::unordered_map<uint64_t, std::deque<Observation>> stock_;
  double best_seconds_ = 0.0;
  int faults_ = 0;               ///< wrong outputs and wild stores of this run
  std::optional<int> possible_;  ///< trials that there can be
  std::map<std::pair<TrialStatus, std::string>, int> failures_;
  TuneResult result_;
};

void check(const TuneTask& task, const TuneOptions& options) {
  if (task.space == nullptr) throw UserError("a tuning task needs a config space");
  if (options.trials < 1) {
    throw UserError(fmt::format("cannot tune with {} trials", options.trials), "give at least 1");
  }
  if (options.batches.empty() ||
      std::any_of(options.batches.begin(), options.batches.end(), [](BatchSize batch) { return batch.size < 1; })) {
    throw UserError("every round needs a batch of at least one trial", "give batch sizes of 1 or more");
  }
  const Measurer::Rounds& rounds = options.comparison;
  if (rounds.most > 0 && (rounds.least < 1 || rounds.least > rounds.most)) {
    throw UserError(fmt::format("a comparison cannot have {} to {} rounds", rounds.least, rounds.most),
                    "give at least 1, and no more than the upper limit; an upper limit of 0 means no comparison");
  }
}

}  // namespace

TuneResult tune(const TuneTask& task, SearchStrategy& strategy, Measurer& measurer, RecordSink* sink,
                const TuneOptions& options) {
  check(task, options);
  return Tuner(task, strategy, measurer, sink, options).run();
}

}  // namespace tensmith
