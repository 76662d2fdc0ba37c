#pragma once

#include <cstdlib>
#include <filesystem>

namespace tensmith {

/// Where the recorded GPU spaces are: TENSMITH_SPACES, else ../shared/spaces beside the source tree.
inline std::filesystem::path spaces_directory() {
  const char* variable = std::getenv("TENSMITH_SPACES");
  return variable != nullptr ? variable : TENSMITH_DEFAULT_SPACES;
}

}  // namespace tensmith
