#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tensmith/ops/workload.h"

namespace tensmith::cli {

/// One round of a peer library.
struct PeerRound {
  double seconds_min = 0;
  double seconds_median = 0;
};

/// A peer library in a process of its own (bench/peers), ready to be timed for one workload.
class Peer {
 public:
  /// Starts `tensmith-peer`, which stands beside this program, and prepares the workload. Throws WorkError with the
  /// reason when the peer is not there, does not have the operator, or fails.
  Peer(const std::string& name, const Workload& workload, int threads, const std::vector<int>& cpus, bool flush);
  ~Peer();
  Peer(Peer&&) noexcept;
  Peer& operator=(Peer&&) = delete;

  const std::string& name() const;
  /// Version and the kernel it chose, in its own words.
  const std::string& description() const;
  PeerRound run(double min_seconds);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tensmith::cli
