#include "tensmith/explore/racing.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "explore/strategies/descent.h"
#include "tensmith/support/t_test.h"

namespace tensmith {
namespace {

/// A config in the race, and what it took each time.
struct Racer {
  Config config;
  std::vector<double> times;

  double mean() const { return std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size()); }
};

/// Average ranks of values among each other; 1 is the least.
std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> out(values.size());
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin + 1;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (size_t i = begin; i < end; ++i) out[order[i]] = 0.5 * static_cast<double>(begin + 1 + end);
    begin = end;
  }
  return out;
}

/// Friedman's test over the rounds, and Conover's comparisons with the best when it tells a difference. All have the
/// same number of times. Returns which stay.
std::vector<bool> survivors(const std::vector<Racer>& racers) {
  const size_t n = racers.size();
  const size_t rounds = racers.front().times.size();
  const auto k = static_cast<double>(n), b = static_cast<double>(rounds);
  std::vector<double> sums(n, 0.0);
  double squares = 0.0;
  for (size_t round = 0; round < rounds; ++round) {
    std::vector<double> values;
    for (const Racer& racer : racers) values.push_back(racer.times[round]);
    const std::vector<double> rank = ranks(values);
    for (size_t i = 0; i < n; ++i) {
      sums[i] += rank[i];
      squares += rank[i] * rank[i];
    }
  }
  const double ties = b * k * (k + 1.0) * (k + 1.0) / 4.0;
  double spread = 0.0, sum_of_squares = 0.0;
  for (double sum : sums) {
    spread += (sum - b * (k + 1.0) / 2.0) * (sum - b * (k + 1.0) / 2.0);
    sum_of_squares += sum * sum;
  }
  const bool all_alike = squares <= ties;
  if (all_alike || (k - 1.0) * spread / (squares - ties) <= stats::chi_squared_quantile(0.95, k - 1.0))
    return std::vector<bool>(n, true);
  const double freedom = (b - 1.0) * (k - 1.0);
  const double distance = stats::student_quantile(0.975, freedom) *
                          std::sqrt(std::max(0.0, 2.0 * (b * squares - sum_of_squares) / freedom));
  const double best = *std::min_element(sums.begin(), sums.end());
  std::vector<bool> out;
  for (double sum : sums) out.push_back(sum - best <= distance);
  return out;
}

/// Near an elite config: the spread of a knob is its half at first, and shrinks from race to race.
Config near(Look& look, const std::vector<Racer>& elite, double spread) {
  constexpr int kAttempts = 100;
  const auto count = static_cast<double>(elite.size());
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    // The better an elite, the more children: weights n, n - 1, ..., 1.
    double draw = look.rng().uniform_real(0.0, count * (count + 1.0) / 2.0);
    size_t parent = 0;
    while (parent + 1 < elite.size() && draw >= count - static_cast<double>(parent)) {
      draw -= count - static_cast<double>(parent++);
    }
    Config config = elite[parent].config;
    for (int knob : look.free_knobs()) {
      const Knob& k = look.space().knobs()[knob];
      const auto choices = static_cast<double>(k.choices.size());
      uint16_t& choice = config.choices[knob];
      if (k.ordinal) {
        const double to = std::round(choice + look.rng().normal() * spread * choices / 2.0);
        choice = static_cast<uint16_t>(std::clamp(to, 0.0, choices - 1.0));
      } else if (look.rng().bernoulli(spread)) {
        choice = static_cast<uint16_t>(look.rng().uniform_int(uint64_t{k.choices.size()}));
      }
    }
    if (look.space().valid(config)) return config;
  }
  return elite.front().config;
}

Piece<int> race(Look& look, RacingOptions options) {
  const auto knobs = static_cast<double>(std::max<size_t>(2, look.free_knobs().size()));
  const auto races = static_cast<int64_t>(2.0 + std::log2(knobs));
  const auto fewest = static_cast<size_t>(races);
  const auto first_test = static_cast<size_t>(std::max(2, options.first_test));
  std::vector<Racer> racers;
  double spread = 1.0;
  int64_t used = 0;
  for (int64_t number = 1; used < options.budget; ++number) {
    const int64_t share = std::max<int64_t>(1, (options.budget - used) / std::max<int64_t>(1, races - number + 1));
    const size_t size = std::max<size_t>(
        racers.size() + 1,
        static_cast<size_t>(share / (static_cast<int64_t>(first_test) + std::min<int64_t>(5, number))));
    const std::vector<Racer> elite = racers;
    while (racers.size() < std::max<size_t>(2, size)) {
      std::optional<Config> config = elite.empty() ? look.random_config() : near(look, elite, spread);
      if (!config) co_return 0;
      racers.push_back({std::move(*config), {}});
    }
    int64_t left = share;
    for (size_t round = 1; left > 0 && (racers.size() > fewest || round <= first_test); ++round) {
      for (Racer& racer : racers) {
        if (racer.times.size() >= round) continue;
        racer.times.push_back(co_await look.again(racer.config));
        ++used;
        if (--left <= 0) break;
      }
      std::erase_if(racers, [](const Racer& r) { return !r.times.empty() && r.times.back() >= Look::kMissing; });
      // A race that was cut short leaves those that did not run in its last round with what they have.
      if (left <= 0 || round < first_test || racers.size() < 2) continue;
      std::vector<Racer> level = racers;
      for (Racer& racer : level) racer.times.resize(round);
      const std::vector<bool> stays = survivors(level);
      size_t i = 0;
      std::erase_if(racers, [&](const Racer&) { return !stays[i++]; });
    }
    std::erase_if(racers, [](const Racer& r) { return r.times.empty(); });
    std::stable_sort(racers.begin(), racers.end(), [](const Racer& a, const Racer& b) {
      // Those that stood more rounds are known better, and have survived more tests.
      const size_t full = std::min<size_t>(5, std::max(a.times.size(), b.times.size()));
      const bool a_full = a.times.size() >= full, b_full = b.times.size() >= full;
      return a_full != b_full ? a_full : a.mean() < b.mean();
    });
    if (racers.size() > fewest) racers.resize(fewest);
    spread *= std::pow(1.0 / static_cast<double>(std::max<size_t>(2, size)), 1.0 / knobs);
  }
  co_return 0;
}

class Racing final : public SequentialSearch {
 public:
  using SequentialSearch::SequentialSearch;
  bool repeats_configs() const override { return true; }
};

}  // namespace

std::unique_ptr<SearchStrategy> make_racing_search(const ConfigSpace& space, RacingOptions options) {
  options.restart = false;  // its end is that of the budget
  return std::make_unique<Racing>(space, options, [options](Look& look) { return race(look, options); });
}

}  // namespace tensmith
