#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tensmith/explore/measure/build.h"
#include "tensmith/explore/measurer.h"

namespace tensmith {

struct LocalMeasurerOptions {
  int threads = 1;  ///< of the operator
  int jobs = 0;     ///< builder processes; 0: as many as there are cores that nothing is timed on, at least 1
  double build_timeout = 20.0;  ///< seconds
  double run_timeout = 10.0;    ///< seconds that loading, and then checking and timing, may take in the runner
  double min_seconds = 0.02;    ///< total time of the repetitions of a trial, of which there are 3 to 20
  bool flush = false;           ///< operands are not in any cache when a repetition starts
  uint64_t seed = 0;            ///< of the random inputs
  /// Told now and then while the expected outputs are computed: the part that is done and the seconds so far.
  std::function<void(double done, double seconds)> preparing;
  /// Program to start as `PROGRAM worker builder|runner`; empty: the program of this process, even when its
  /// file was replaced meanwhile.
  std::string worker_program;
};

/// Measures on this machine, in other processes: a config that crashes, hangs or writes where it should not costs one
/// trial. With cores to spare, building and timing overlap and nothing of ours runs on the cores that are timed;
/// otherwise they alternate. Once `stop` says true, what is being built or run is killed and gives no trial. In a
/// comparison a config that fails is dropped; when it took the runner with it, the others start over in a new one.
class LocalMeasurer : public Measurer {
 public:
  /// `program` is the task's definition, whose outputs are sums of `terms` terms. What is first asked for (a batch, a
  /// comparison or a config) begins with random inputs and the outputs that are expected for them. Throws WorkError
  /// when the operands alone are larger than the machine's memory, and UserError in a process that is itself a worker:
  /// its main does not begin as it should (worker.h). Measuring throws WorkError when there is no memory left for the
  /// operands and DeviceError when a worker cannot be started.
  LocalMeasurer(const Task& task, const Program& program, int64_t terms, const LocalMeasurerOptions& options);
  ~LocalMeasurer() override;

  void measure(std::span<const Config> configs, const Done& done, const StopQuery& stop) override;
  std::vector<Compared> compare(std::span<const Config> configs, const Rounds& rounds, const StopQuery& stop) override;

  /// A config made ready for repeated timing, interleaved with whatever the caller times in between.
  class Session {
   public:
    virtual ~Session() = default;
    /// Seconds a call: one entry per repetition within about `min_seconds`. A runner that another config cost is
    /// replaced first. Throws DeviceError with the reason when this config fails.
    virtual std::vector<double> time(double min_seconds) = 0;
  };
  /// Builds, loads and checks a config. Throws DeviceError with the reason when that fails.
  std::unique_ptr<Session> open(const Config& config);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tensmith
