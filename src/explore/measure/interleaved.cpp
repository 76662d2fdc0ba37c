#include "explore/measure/interleaved.h"

#include <algorithm>

#include "tensmith/support/clock.h"

namespace tensmith {
namespace {

class Comparison {
 public:
  Comparison(std::vector<bool> live, std::vector<Measurer::Compared>& results, const Measurer::Rounds& rounds,
             const Contest& contest, const Measurer::StopQuery& stop)
      : live_(std::move(live)),
        lost_before_(live_.size()),
        results_(results),
        rounds_(rounds),
        contest_(contest),
        stop_(stop) {}

  void run() {
    while (!play()) {
      for (Measurer::Compared& result : results_) result.seconds.clear();
    }
  }

 private:
  /// All rounds. False when a config took the runner with it.
  bool play() {
    for (size_t i = 0; i < live_.size(); ++i) {
      if (!live_[i]) continue;
      const RunnerAnswer answer = contest_.prepare(i);
      if (answer.stopped) return true;
      if (!settle(i, answer)) return false;
    }
    const Stopwatch watch;
    const auto goes_on = [&](int round) {
      return round < rounds_.least || (round < rounds_.most && watch.seconds() < rounds_.seconds);
    };
    for (int round = 0; goes_on(round) && !stop_(); ++round) {
      for (size_t turn = 0; turn < live_.size(); ++turn) {
        // No config always follows the same other one.
        const size_t i = (turn + static_cast<size_t>(round)) % live_.size();
        if (!live_[i]) continue;
        const RunnerAnswer answer = contest_.time(i);
        if (answer.stopped) return true;
        if (!settle(i, answer)) return false;
        if (answer.ok()) {
          results_[i].seconds.push_back(*std::min_element(answer.seconds.begin(), answer.seconds.end()));
        }
      }
    }
    return true;
  }

  /// Drops a config that failed; false when the comparison cannot go on.
  bool settle(size_t i, const RunnerAnswer& answer) {
    if (answer.ok() || answer.stopped) return true;
    if (answer.status == TrialStatus::kWorkerLost && !lost_before_[i]) {
      // A runner that was taken away says nothing about the config.
      lost_before_[i] = true;
    } else {
      live_[i] = false;
      results_[i] = {answer.status, {}, answer.error};
    }
    return !answer.replaced;
  }

  std::vector<bool> live_;
  std::vector<bool> lost_before_;
  std::vector<Measurer::Compared>& results_;
  const Measurer::Rounds& rounds_;
  const Contest& contest_;
  const Measurer::StopQuery& stop_;
};

}  // namespace

void compare_interleaved(std::vector<bool> live, std::vector<Measurer::Compared>& results,
                         const Measurer::Rounds& rounds, const Contest& contest, const Measurer::StopQuery& stop) {
  Comparison(std::move(live), results, rounds, contest, stop).run();
}

}  // namespace tensmith
