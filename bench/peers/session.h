#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string_view>
#include <vector>

#include "peer.h"

namespace tensmith::peers {

/// Answers the commands of the protocol in README.md. A command that cannot be done is an answer, never an end.
class Session {
 public:
  /// `cpus`: where threads are pinned, empty for nowhere.
  Session(const Settings& settings, std::vector<int> cpus);
  ~Session();

  /// The answer to one line; null for `quit`.
  nlohmann::json answer(std::string_view line);

 private:
  nlohmann::json prepare(std::string_view workload);
  nlohmann::json run(std::string_view seconds);
  nlohmann::json check();
  PreparedPeer& prepared();

  Settings settings_;
  std::vector<int> cpus_;
  Problem problem_;
  std::unique_ptr<PreparedPeer> peer_;
  bool flush_ = false;
};

}  // namespace tensmith::peers
