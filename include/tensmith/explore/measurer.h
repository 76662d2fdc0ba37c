#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tensmith/explore/trial.h"

namespace tensmith {

/// Turns configs into times: a real device, a replayed table, or a fake in tests. The tuner loop knows only this.
class Measurer {
 public:
  /// Told of every finished trial with the config's position in the batch, in any order.
  using Done = std::function<void(size_t position, TrialResult result)>;
  /// Asked between trials and several times a second while one runs; true means: come back soon.
  using StopQuery = std::function<bool()>;

  virtual ~Measurer() = default;

  /// Measures a batch. Building one config may overlap running another. `done` is called from the calling thread, at
  /// most once a config; once `stop` says true, configs that have not finished are left without a call. Throws
  /// DeviceError only when no trial can be measured at all (the runner cannot be started).
  virtual void measure(std::span<const Config> configs, const Done& done, const StopQuery& stop) = 0;

  /// One config's share of an interleaved comparison.
  struct Compared {
    TrialStatus status = TrialStatus::kOk;
    std::vector<double> seconds;  ///< one entry a round; empty unless kOk
    std::string error;
  };

  /// How long a comparison lasts: a round is begun while there were fewer than `least`, however long they take, or
  /// fewer than `most` in `seconds`.
  struct Rounds {
    int least = 4;
    int most = 60;
    double seconds = 1.5;
  };

  /// Times the configs in turn, round after round, so that a drift of the machine's speed meets all of them alike.
  /// Returns one entry a config, all with the same number of rounds; fewer rounds (down to none, and perhaps not the
  /// same number) when `stop` says true.
  virtual std::vector<Compared> compare(std::span<const Config> configs, const Rounds& rounds,
                                        const StopQuery& stop) = 0;
};

}  // namespace tensmith
