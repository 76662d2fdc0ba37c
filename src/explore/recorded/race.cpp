#include "tensmith/explore/recorded/race.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "explore/units.h"
#include "explore/worker_pool.h"
#include "tensmith/explore/history.h"
#include "tensmith/support/clock.h"
#include "tensmith/support/error.h"
#include "tensmith/support/hash.h"
#include "tensmith/support/stats.h"

namespace tensmith {
namespace {

constexpr uint64_t kResultsVersion = 6;  // of what a cell's id stands for

uint64_t fingerprint(const RecordedSpace& space, Objective objective) {
  uint64_t hash = space.space().fingerprint();
  for (uint64_t i = 0; i < space.size(); ++i) {
    const PointKind kind = space.kind(i);
    hash = hash_combine(hash, static_cast<uint64_t>(kind));
    if (kind != PointKind::kValid) continue;
    hash = hash_combine(hash, hash_double(space.value(i)));
    if (objective == Objective::kMean) continue;
    for (const double run : space.runs(i)) hash = hash_combine(hash, hash_double(run));
  }
  return hash;
}

/// The least that a run can reach that has found a valid config.
double least_fraction(const RecordedSpace& space) {
  double worst = 0.0;
  for (uint64_t i = 0; i < space.size(); ++i) {
    if (space.kind(i) == PointKind::kValid) worst = std::max(worst, space.value(i));
  }
  return *space.best() / worst;
}

/// Ends a search that was asked to stop.
class Stoppable final : public SearchStrategy {
 public:
  Stoppable(std::unique_ptr<SearchStrategy> search, const std::function<bool()>& stop)
      : search_(std::move(search)), stop_(stop) {}
  std::vector<Config> propose(int count) override { return stop_() ? std::vector<Config>() : search_->propose(count); }
  void update(std::span<const Observation> results) override { search_->update(results); }

 private:
  std::unique_ptr<SearchStrategy> search_;
  const std::function<bool()>& stop_;
};

/// Runs that are made together: of one contender on one space, for one budget or for all.
struct Course {
  size_t space = 0;
  const Contender* contender = nullptr;
  std::vector<size_t> cells;  ///< one a budget, in the result
  std::vector<int64_t> limits;
  size_t first_item = 0;
  std::vector<std::vector<RaceRun>> runs;  ///< of each cell; made by the first run
  int left = 0;
};

class Race {
 public:
  Race(std::span<const RecordedSpace> spaces, std::span<const Contender> contenders, const RaceOptions& options,
       const RaceHooks& hooks)
      : spaces_(spaces), options_(options), hooks_(hooks) {
    for (const RecordedSpace& space : spaces) {
      views_.push_back(space_of(space, options.convention));
      fingerprints_.push_back(fingerprint(space, options.objective));
      least_fractions_.push_back(least_fraction(space));
    }
    histories_.resize(spaces.size());
    courses_left_.resize(spaces.size());
    for (size_t s = 0; s < spaces.size(); ++s) {
      for (const Contender& contender : contenders) plan(s, contender);
    }
  }

  RaceResult run() {
    const std::function<bool()> stop = [this] { return stopped(); };
    WorkerPool pool(options_.threads);
    tell();
    pool.run(items_, 1, [&](int, size_t begin, size_t end) {
      for (size_t item = begin; item < end && !stopped(); ++item) run_item(item, stop);
    });
    result_.stopped = stopped() && result_.cells.size() > cells_done_;
    if (result_.stopped) {
      std::erase_if(result_.cells, [](const RaceCell& cell) { return cell.runs.empty(); });
    }
    result_.seconds = watch_.seconds();
    return std::move(result_);
  }

 private:
  void plan(size_t s, const Contender& contender) {
    Course all{.space = s, .contender = &contender};
    for (const int64_t budget : options_.budgets) {
      if (contender.largest_budget > 0 && budget > contender.largest_budget) break;
      const size_t index = result_.cells.size();
      const int64_t limit = options_.limit ? options_.limit(spaces_[s], contender, budget) : budget;
      RaceCell& cell = result_.cells.emplace_back(new_cell(s, contender, budget, limit));
      if (hooks_.recall && hooks_.recall(cell, {options_.runs, limit, least_fractions_[s]})) {
        ++cells_done_;
        continue;
      }
      all.cells.push_back(index);
      all.limits.push_back(limit);
      if (contender.by_budget) add(std::exchange(all, Course{.space = s, .contender = &contender}));
    }
    if (!all.cells.empty()) add(std::move(all));
  }

  void add(Course course) {
    course.first_item = items_;
    course.left = options_.runs;
    items_ += static_cast<size_t>(options_.runs);
    work_ += work_of(course) * options_.runs;
    ++courses_left_[course.space];
    courses_.push_back(std::move(course));
  }

  static double work_of(const Course& course) {
    return static_cast<double>(*std::max_element(course.limits.begin(), course.limits.end()));
  }

  RaceCell new_cell(size_t s, const Contender& contender, int64_t budget, int64_t limit) const {
    const RecordedInfo& info = spaces_[s].info();
    RaceCell cell{.space = info.name,
                  .kernel = kernel_of(s),
                  .device = info.device,
                  .algorithm = contender.name,
                  .settings = contender.settings ? contender.settings(budget) : "",
                  .convention = options_.convention,
                  .objective = options_.objective,
                  .history = options_.history && contender.uses_history,
                  .budget = budget,
                  .seed = options_.seed};
    uint64_t id = hash_combine(kResultsVersion, fingerprints_[s]);
    for (const std::string& text : {cell.space, cell.algorithm, cell.settings}) id = hash_combine(id, hash_bytes(text));
    for (const uint64_t part :
         {static_cast<uint64_t>(cell.convention), static_cast<uint64_t>(cell.objective), static_cast<uint64_t>(budget),
          static_cast<uint64_t>(limit), cell.seed, static_cast<uint64_t>(options_.runs)}) {
      id = hash_combine(id, part);
    }
    if (cell.history) {
      for (size_t other : others(s)) id = hash_combine(id, fingerprints_[other]);
    }
    cell.id = fmt::format("{:016x}", id);
    return cell;
  }

  /// A space that does not name its kernel has one of its own.
  const std::string& kernel_of(size_t s) const {
    const RecordedInfo& info = spaces_[s].info();
    return info.kernel.empty() ? info.name : info.kernel;
  }

  /// The spaces that are history for one.
  std::vector<size_t> others(size_t s) const {
    std::vector<size_t> out;
    for (size_t other = 0; other < spaces_.size(); ++other) {
      if (other != s && kernel_of(other) == kernel_of(s)) out.push_back(other);
    }
    return out;
  }

  std::shared_ptr<const std::vector<TaskHistory>> history_of(size_t s) {
    const std::lock_guard lock(history_mutex_);
    if (histories_[s]) return histories_[s];
    auto out = std::make_shared<std::vector<TaskHistory>>();
    for (const size_t other : others(s)) {
      const RecordedSpace& space = spaces_[other];
      TaskHistory& task = out->emplace_back(TaskHistory{space.info().name, &space.space(), {}});
      task.results.reserve(space.recorded_count());
      for (uint64_t i = 0; i < space.size(); ++i) {
        if (space.kind(i) == PointKind::kMissing) continue;
        const bool valid = space.kind(i) == PointKind::kValid;
        task.results.push_back({space.space().at(i), valid ? TrialStatus::kOk : TrialStatus::kRunError,
                                valid ? space.value(i) * kSecondsPerMillisecond : 0.0});
      }
    }
    return histories_[s] = out;
  }

  uint64_t seed_of(const Course& course, int run) const {
    uint64_t seed = hash_combine(options_.seed, hash_bytes(spaces_[course.space].info().name));
    seed = hash_combine(seed, hash_bytes(course.contender->name));
    const int64_t budget = course.contender->by_budget ? result_.cells[course.cells.front()].budget : 0;
    return hash_combine(hash_combine(seed, static_cast<uint64_t>(budget)), static_cast<uint64_t>(run));
  }

  void run_item(size_t item, const std::function<bool()>& stop) {
    Course& course = *std::prev(std::upper_bound(courses_.begin(), courses_.end(), item,
                                                 [](size_t i, const Course& c) { return i < c.first_item; }));
    const int number = static_cast<int>(item - course.first_item);
    const RecordedSpace& space = spaces_[course.space];
    const uint64_t seed = seed_of(course, number);
    static const auto kNone = std::make_shared<const std::vector<TaskHistory>>();
    const auto history = options_.history && course.contender->uses_history ? history_of(course.space) : kNone;
    const int64_t budget = result_.cells[course.cells.back()].budget;
    std::unique_ptr<SearchStrategy> search =
        course.contender->make({views_[course.space], budget, hash_combine(seed, 1), *history});
    if (hooks_.should_stop) search = std::make_unique<Stoppable>(std::move(search), stop);
    const SearchRun run = run_search(*search, space,
                                     {.budget = *std::max_element(course.limits.begin(), course.limits.end()),
                                      .objective = options_.objective,
                                      .seed = hash_combine(seed, 2)});
    if (stopped()) return;
    finish(course, number, run);
  }

  void finish(Course& course, int number, const SearchRun& run) {
    const RecordedSpace& space = spaces_[course.space];
    const double optimum = *space.best();
    const std::lock_guard lock(mutex_);
    course.runs.resize(course.cells.size(), std::vector<RaceRun>(static_cast<size_t>(options_.runs)));
    for (size_t i = 0; i < course.cells.size(); ++i) {
      const int64_t limit = course.limits[i];
      course.runs[i][static_cast<size_t>(number)] = {run.fraction(space, optimum, limit),
                                                     std::min(run.evaluations, limit),
                                                     run.found_optimum && run.evaluations <= limit};
    }
    work_done_ += work_of(course);
    if (--course.left == 0) {
      for (size_t i = 0; i < course.cells.size(); ++i) {
        RaceCell& cell = result_.cells[course.cells[i]];
        cell.runs = std::move(course.runs[i]);
        ++cells_done_;
        if (hooks_.store) hooks_.store(cell);
      }
      course.runs.clear();
      if (--courses_left_[course.space] == 0) {
        const std::lock_guard history_lock(history_mutex_);
        histories_[course.space].reset();
      }
    }
    tell();
  }

  void tell() {
    if (!hooks_.progress) return;
    hooks_.progress({result_.cells.size(), cells_done_, work_ > 0.0 ? work_done_ / work_ : 1.0, watch_.seconds()});
  }

  bool stopped() {
    if (!stopped_ && hooks_.should_stop && hooks_.should_stop()) stopped_ = true;
    return stopped_;
  }

  std::span<const RecordedSpace> spaces_;
  const RaceOptions& options_;
  const RaceHooks& hooks_;
  Stopwatch watch_;
  std::vector<ConfigSpace> views_;  ///< as searches see them
  std::vector<uint64_t> fingerprints_;
  std::vector<double> least_fractions_;
  std::vector<Course> courses_;
  size_t items_ = 0;
  double work_ = 0.0;
  std::atomic<bool> stopped_{false};

  std::mutex history_mutex_;
  std::vector<std::shared_ptr<const std::vector<TaskHistory>>> histories_;

  std::mutex mutex_;  ///< of all that follows, and of a course's runs
  RaceResult result_;
  std::vector<int> courses_left_;
  double work_done_ = 0.0;
  size_t cells_done_ = 0;
};

template <typename Items, typename Name>
void check_unique(const Items& items, Name&& name, const char* what) {
  std::set<std::string> seen;
  for (const auto& item : items) {
    if (!seen.insert(name(item)).second) {
      throw UserError(fmt::format("{} '{}' is there twice", what, name(item)), "name each once");
    }
  }
}

void check_budgets(std::span<const RecordedSpace> spaces, const RaceOptions& options) {
  if (options.budgets.empty()) throw UserError("a race needs a budget", "say how many evaluations a run has");
  uint64_t largest = 0;
  for (const RecordedSpace& space : spaces) largest = std::max(largest, space.size());
  int64_t before = 0;
  for (const int64_t budget : options.budgets) {
    if (budget < 1) throw UserError(fmt::format("a budget of {} evaluations finds nothing", budget), "give at least 1");
    if (budget <= before) {
      throw UserError(fmt::format("budget {} stands behind {}", budget, before),
                      "give them in ascending order, each once");
    }
    if (static_cast<uint64_t>(budget) > largest) {
      throw UserError(fmt::format("budget {} is larger than every space", budget),
                      fmt::format("the largest has {} points", largest));
    }
    before = budget;
  }
}

void check(std::span<const RecordedSpace> spaces, std::span<const Contender> contenders, const RaceOptions& options) {
  if (spaces.empty()) throw UserError("a race needs a space", "name a file of a recorded space");
  if (contenders.empty()) throw UserError("a race needs an algorithm");
  if (options.runs < 1) throw UserError(fmt::format("{} runs tell nothing", options.runs), "give at least 1");
  check_unique(
      spaces, [](const RecordedSpace& space) { return space.info().name; }, "space");
  if (!options.budgets.empty() && std::all_of(contenders.begin(), contenders.end(), [&](const Contender& contender) {
        return contender.largest_budget > 0 && contender.largest_budget < options.budgets.front();
      })) {
    throw UserError(fmt::format("none of the algorithms runs to a budget of {}", options.budgets.front()),
                    "name them one by one: in a group, those with a model run to a small budget only");
  }
  check_unique(
      contenders, [](const Contender& contender) { return contender.name; }, "algorithm");
  for (const RecordedSpace& space : spaces) {
    if (space.valid_count() == 0) {
      throw UserError(
          fmt::format("{}: no config of the space is valid, so there is nothing to find", space.info().place()),
          "record at least one config that runs");
    }
    if (options.objective == Objective::kDraw && !space.has_runs()) {
      throw UserError(
          fmt::format("{}: only mean values are recorded, so there is nothing to draw from", space.info().place()),
          "race for the mean, or give a file with the single runs");
    }
  }
  for (const Contender& contender : contenders) {
    if (contender.needs_draws && options.objective == Objective::kMean) {
      throw UserError(fmt::format("{} measures configs again, and a mean is always the same", contender.name),
                      "race for draws from the single runs, or leave it out");
    }
  }
  check_budgets(spaces, options);
}

}  // namespace

bool possible(const RaceCell& cell, const RaceBounds& bounds) {
  const auto run_possible = [&](const RaceRun& run) {
    if (!(run.evaluations >= 0 && run.evaluations <= bounds.evaluations)) return false;
    const bool nothing = run.fraction == 0.0 && !run.found;
    const bool something = run.fraction >= bounds.least_fraction && run.fraction <= 1.0 && run.evaluations >= 1;
    // Where single runs are drawn, a lucky one may hide the optimum.
    const bool consistent = cell.objective == Objective::kDraw || run.found == (run.fraction == 1.0);
    return consistent && (nothing || something);
  };
  return cell.runs.size() == static_cast<size_t>(bounds.runs) &&
         std::all_of(cell.runs.begin(), cell.runs.end(), run_possible);
}

RaceSummary summarize(const RaceCell& cell) {
  std::vector<double> fractions, evaluations;
  int64_t found = 0;
  for (const RaceRun& run : cell.runs) {
    fractions.push_back(run.fraction);
    evaluations.push_back(static_cast<double>(run.evaluations));
    found += run.found;
  }
  return {stats::mean(fractions), stats::stddev(fractions),
          static_cast<double>(found) / static_cast<double>(cell.runs.size()), stats::mean(evaluations),
          stats::stddev(evaluations)};
}

RaceResult run_race(std::span<const RecordedSpace> spaces, std::span<const Contender> contenders,
                    const RaceOptions& options, const RaceHooks& hooks) {
  check(spaces, contenders, options);
  return Race(spaces, contenders, options, hooks).run();
}

std::string_view to_string(Convention convention) {
  return convention == Convention::kCartesian ? "cartesian" : "restricted";
}

std::string_view to_string(Objective objective) { return objective == Objective::kMean ? "mean" : "draw"; }

}  // namespace tensmith
