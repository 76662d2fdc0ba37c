#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "problem.h"

/// A library that Tensmith's operators are compared with.

namespace tensmith::peers {

enum class PeerKind : std::uint8_t { kOnednn, kOpenblas, kEigen };

/// The name used on the command line: "onednn", "openblas", "eigen".
std::string_view peer_name(PeerKind kind);
std::optional<PeerKind> peer_from_name(std::string_view name);
/// The peers that this program was built with.
std::vector<PeerKind> built_in_peers();

struct Settings {
  PeerKind peer = PeerKind::kOnednn;
  int threads = 1;
};

/// One problem, ready to be timed: whatever a user does once (packing of weights, choice of layouts) has been done.
class PreparedPeer {
 public:
  virtual ~PreparedPeer() = default;
  /// The timed region: from inputs to output, in the layouts that `prepare` chose.
  virtual void run() = 0;
  /// The last output in plain layout ([n,k,oh,ow] or [m,n]).
  virtual std::vector<float> output() = 0;
  /// Memory that `run` reads and writes, for cache flushes.
  virtual std::vector<std::span<const std::byte>> operands() const = 0;

  std::string version;  ///< of the library
  std::string kernel;   ///< what the library chose, in its own words
  std::string layouts;  ///< of the operands, empty when there is no choice
  int threads = 1;      ///< as the library reports them
};

/// Throws UserError when the library has no such operator, WorkError when it fails.
std::unique_ptr<PreparedPeer> prepare_peer(const Settings& settings, const Problem& problem);

/// Defined by the peers that are built in.
std::unique_ptr<PreparedPeer> prepare_onednn(const Settings& settings, const Problem& problem);
std::unique_ptr<PreparedPeer> prepare_openblas(const Settings& settings, const Problem& problem);
std::unique_ptr<PreparedPeer> prepare_eigen(const Settings& settings, const Problem& problem);

/// bias and relu over a row-major [rows, columns] output, for libraries that cannot fuse them.
void apply_epilogue(const Problem& problem, float* output, std::int64_t rows, std::int64_t columns);

}  // namespace tensmith::peers
