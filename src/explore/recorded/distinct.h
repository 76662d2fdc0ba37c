#pragma once

#include <algorithm>
#include <string>
#include <vector>

/// How results are grouped.

namespace tensmith {

/// What `get` gives of the items, each once, in the order of its first occurrence.
template <typename Items, typename Get>
std::vector<std::string> distinct(const Items& items, Get&& get) {
  std::vector<std::string> out;
  for (const auto& item : items) {
    if (std::find(out.begin(), out.end(), get(item)) == out.end()) out.push_back(get(item));
  }
  return out;
}

/// A kernel's name for readers.
inline std::string kernel_text(const std::string& kernel) { return kernel.empty() ? "(no kernel name)" : kernel; }

}  // namespace tensmith
