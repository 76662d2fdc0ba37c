#include "tensmith/schedule/target.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tensmith {

std::string to_string(const Target& target) {
  std::string text = fmt::format("llvm:mcpu={}", target.cpu);
  if (!target.features.empty()) {
    text += fmt::format(",mattr={}", fmt::join(target.features, ""));
  }
  return text;
}

}  // namespace tensmith
