#pragma once

#include <coroutine>
#include <exception>
#include <functional>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "explore/sampling.h"
#include "explore/seen.h"
#include "tensmith/explore/strategy.h"
#include "tensmith/support/rng.h"

/// Searches that look at one config after the other are written as straight programs (coroutines) that wait for what
/// they ask: `const double f = co_await look(config)`.

namespace tensmith {

/// A search, or a piece of one, that begins when it is awaited.
template <typename T>
class [[nodiscard]] Piece {
 public:
  struct promise_type {
    T value{};
    std::coroutine_handle<> waiter;
    std::exception_ptr error;

    Piece get_return_object() { return Piece(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    auto final_suspend() noexcept {
      struct Back {
        bool await_ready() noexcept { return false; }
        std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> self) noexcept {
          const std::coroutine_handle<> waiter = self.promise().waiter;
          return waiter ? waiter : std::noop_coroutine();
        }
        void await_resume() noexcept {}
      };
      return Back{};
    }
    void return_value(T result) { value = std::move(result); }
    void unhandled_exception() { error = std::current_exception(); }
  };

  explicit Piece(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  Piece(Piece&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Piece& operator=(Piece&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Piece() {
    if (handle_) handle_.destroy();
  }

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiter) noexcept {
    handle_.promise().waiter = waiter;
    return handle_;
  }
  T await_resume() { return result(); }

  std::coroutine_handle<> handle() const { return handle_; }
  bool done() const { return handle_.done(); }
  /// Requires done().
  T result() {
    if (handle_.promise().error) std::rethrow_exception(handle_.promise().error);
    return std::move(handle_.promise().value);
  }

 private:
  std::coroutine_handle<promise_type> handle_;
};

/// What a sequential search sees of the world. Looking at a config that is known costs nothing; one that the space
/// forbids is as bad as can be, and costs nothing either.
class Look {
 public:
  /// Of configs that are forbidden or known to be missing, and of those that failed: worse than any time.
  static constexpr double kMissing = 1e10;
  static constexpr double kFailed = 1e20;
  static constexpr double kForbidden = std::numeric_limits<double>::infinity();

  Look(const ConfigSpace& space, uint64_t seed);

  const ConfigSpace& space() const { return space_; }
  Rng& rng() { return rng_; }
  /// Positions of the knobs that have more than one choice.
  const std::vector<int>& free_knobs() const { return free_; }
  /// A random point of the space that it does not forbid; nothing when none was found.
  std::optional<Config> random_config();

  struct Awaiter {
    Look& look;
    const Config& config;
    double value = 0.0;
    bool asked = false;
    bool await_ready() { return look.find(config, value); }
    void await_suspend(std::coroutine_handle<> waiter) {
      asked = true;
      look.wait(config, waiter);
    }
    double await_resume() const { return asked ? look.answer(config) : value; }
  };
  /// Seconds, or one of the constants above. `config` has to stay where it is meanwhile.
  Awaiter operator()(const Config& config) { return {*this, config}; }

  struct Repeater : Awaiter {
    bool await_ready() { return !look.space().valid(config); }
  };
  /// The same, measured anew though it may be known.
  Repeater again(const Config& config) { return {{*this, config, kForbidden}}; }

 private:
  friend class SequentialSearch;
  bool find(const Config& config, double& value);
  void wait(const Config& config, std::coroutine_handle<> waiter);
  double answer(const Config& config) const;

  const ConfigSpace& space_;
  Rng rng_;
  ValidSampler sampler_;
  std::vector<int> free_;
  struct Known {
    double value = kForbidden;
    bool visited = false;  ///< the program has looked at it
  };
  /// False when the program had looked at it before.
  bool visit(const Config& config, Known& known);
  /// A config that the program has not looked at, whether it is known or not: a resumed search takes the same course.
  std::optional<Config> fresh_config();

  std::unordered_map<uint64_t, Known> known_;
  IndexSet visited_;
  std::coroutine_handle<> waiting_;  ///< for wanted_
  Config wanted_;
  int64_t max_idle_;
  int64_t idle_ = 0;  ///< looks at known configs since the last at an unknown one
  int64_t in_a_row_ = 0;
  bool stuck_ = false;
  bool paused_ = false;
};

/// Runs such a program as a strategy. It proposes one config at a time. Once the program has ended or goes in circles
/// among what it knows, it is begun again behind a random config that is not known, or the search ends, by
/// StrategyOptions::restart. With the results of an earlier run it takes that run's course again.
class SequentialSearch : public SearchStrategy {
 public:
  using Program = std::function<Piece<int>(Look&)>;
  SequentialSearch(const ConfigSpace& space, StrategyOptions options, Program program);

  std::vector<Config> propose(int count) override;
  void update(std::span<const Observation> results) override;

 private:
  /// Goes on to the next question; false when the program is over.
  bool advance();

  Look look_;
  SeenConfigs seen_;      ///< for the initial configs
  IndexSet outstanding_;  ///< initial configs that were proposed and not told of
  Program program_;
  bool restart_;
  bool asked_ = false;  ///< and not told yet
  bool over_ = false;
  std::optional<Piece<int>> running_;
};

}  // namespace tensmith
