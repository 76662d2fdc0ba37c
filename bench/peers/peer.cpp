#include "peer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "tensmith/support/error.h"

namespace tensmith::peers {
namespace {

constexpr std::array kAllPeers = {PeerKind::kOnednn, PeerKind::kOpenblas, PeerKind::kEigen};

}  // namespace

std::string_view peer_name(PeerKind kind) {
  switch (kind) {
    case PeerKind::kOnednn: return "onednn";
    case PeerKind::kOpenblas: return "openblas";
    case PeerKind::kEigen: return "eigen";
  }
  TENSMITH_UNREACHABLE("peer kind");
}

std::optional<PeerKind> peer_from_name(std::string_view name) {
  for (const PeerKind kind : kAllPeers) {
    if (peer_name(kind) == name) return kind;
  }
  return std::nullopt;
}

std::vector<PeerKind> built_in_peers() {
  return {
#ifdef TENSMITH_PEER_ONEDNN
      PeerKind::kOnednn,
#endif
#ifdef TENSMITH_PEER_OPENBLAS
      PeerKind::kOpenblas,
#endif
#ifdef TENSMITH_PEER_EIGEN
      PeerKind::kEigen,
#endif
  };
}

std::unique_ptr<PreparedPeer> prepare_peer(const Settings& settings, const Problem& problem) {
  switch (settings.peer) {
#ifdef TENSMITH_PEER_ONEDNN
    case PeerKind::kOnednn: return prepare_onednn(settings, problem);
#endif
#ifdef TENSMITH_PEER_OPENBLAS
    case PeerKind::kOpenblas: return prepare_openblas(settings, problem);
#endif
#ifdef TENSMITH_PEER_EIGEN
    case PeerKind::kEigen: return prepare_eigen(settings, problem);
#endif
    default: break;
  }
  throw UserError(fmt::format("this build has no {}", peer_name(settings.peer)),
                  "install its development package and configure again");
}

void apply_epilogue(const Problem& problem, float* output, std::int64_t rows, std::int64_t columns) {
  if (!problem.bias && !problem.relu) return;
  const float lowest = problem.relu ? 0.0f : -std::numeric_limits<float>::infinity();
  for (std::int64_t row = 0; row < rows; ++row) {
    float* const line = output + row * columns;
    if (problem.bias) {
      for (std::int64_t j = 0; j < columns; ++j)
        line[j] = std::max(line[j] + problem.bias_values[static_cast<std::size_t>(j)], lowest);
    } else {
      for (std::int64_t j = 0; j < columns; ++j) line[j] = std::max(line[j], lowest);
    }
  }
}

}  // namespace tensmith::peers
