#include "explore/strategies/history_trust.h"

#include <gtest/gtest.h>

#include <functional>

#include "explore/spaces.h"
#include "tensmith/explore/learned_search.h"

namespace tensmith {
namespace {

using testing::bowl;
using testing::make_space;
using testing::run_search;

TEST(HistoryTrust, IsTheProbabilityByBayesRule) {
  HistoryTrust trust(1.0, false);
  EXPECT_EQ(trust.share(), 1.0);
  trust.judge(-3.0, -3.0);
  EXPECT_NEAR(trust.share(), 0.5, 1e-12);
  trust.judge(std::log(3.0), 0.0);
  EXPECT_NEAR(trust.share(), 0.75, 1e-12);
  trust.judge(-1e6, 1e6);
  EXPECT_EQ(trust.share(), 0.0);
  HistoryTrust doubtful(1.0 / 9.0, true);
  EXPECT_EQ(doubtful.share(), 0.0);
  doubtful.judge(2.0, 2.0);
  EXPECT_NEAR(doubtful.share(), 0.1, 1e-12);
}

TEST(HistoryTrust, TheHistoryIsAskedInItsShare) {
  HistoryTrust trust(1.0, false);
  trust.judge(std::log(3.0), 0.0);
  Rng rng(5);
  int asked = 0;
  for (int i = 0; i < 4000; ++i) asked += trust.asks_history(rng);
  EXPECT_NEAR(asked, 3000, 110);  // four standard deviations
}

/// Results of a kernel that has one knob more, `lines`; `seconds` are those of a config without it.
struct OtherKernel {
  explicit OtherKernel(const std::function<double(const Config&)>& seconds) : space(make_space(4, 8)) {
    space.add(int_knob("lines", std::vector<int64_t>{1, 2}));
    history = {"other", &space, {}};
    for (uint64_t i = 0; i < space.size(); i += 3) {
      Config config = space.at(i);
      config.choices.pop_back();
      history.results.push_back({space.at(i), TrialStatus::kOk, seconds(config)});
    }
  }
  ConfigSpace space;
  TaskHistory history;
};

std::vector<Config> course(const ConfigSpace& space, uint64_t seed, int trials, const std::vector<TaskHistory>& history,
                           double centre) {
  LearnedSearchOptions options;
  options.seed = seed;
  options.history = history;
  return run_search(*make_learned_search(space, std::move(options)), trials, 1,
                    [&](const Config& config) { return bowl(config, centre); });
}

int first_best(const std::vector<Config>& configs, double centre) {
  int place = 0;
  while (place < static_cast<int>(configs.size()) && bowl(configs[static_cast<size_t>(place)], centre) > 1e-3) ++place;
  return place;
}

TEST(LearnedSearch, AHistoryOfAnotherKernelChangesNothingWhileItIsWrong) {
  const ConfigSpace space = make_space(4, 8);
  Rng rng(1);
  const OtherKernel other([&](const Config&) { return 1.0 + rng.uniform_real(); });
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const std::vector<Config> informed = course(space, seed, 12, {other.history}, 6.0);
    const std::vector<Config> plain = course(space, seed, 12, {}, 6.0);
    for (size_t i = 0; i < plain.size(); ++i) {
      EXPECT_EQ(space.to_string(informed[i]), space.to_string(plain[i])) << "seed " << seed << ", proposal " << i;
    }
  }
}

TEST(LearnedSearch, AHistoryOfAnotherKernelCanEarnTrust) {
  const ConfigSpace space = make_space(4, 8);
  const OtherKernel other([](const Config& config) { return bowl(config, 6.0); });
  int with = 0, without = 0;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const std::vector<Config> informed = course(space, seed, 60, {other.history}, 6.0);
    const std::vector<Config> plain = course(space, seed, 60, {}, 6.0);
    // The start is the one without a history.
    EXPECT_TRUE(std::equal(plain.begin(), plain.begin() + 5, informed.begin()));
    with += first_best(informed, 6.0);
    without += first_best(plain, 6.0);
  }
  EXPECT_LT(with, without);
}

}  // namespace
}  // namespace tensmith
