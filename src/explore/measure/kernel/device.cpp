#include "explore/measure/kernel/device.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tensmith/support/strings.h"

namespace tensmith {

size_t choose_device(const std::vector<std::string>& names, const std::string& wanted, size_t standard) {
  if (wanted.empty()) return standard;
  if (const std::optional<int64_t> number = parse_int64(wanted)) {
    if (*number >= 0 && static_cast<size_t>(*number) < names.size()) return static_cast<size_t>(*number);
  } else {
    for (size_t i = 0; i < names.size(); ++i) {
      if (names[i].find(wanted) != std::string::npos) return i;
    }
  }
  std::vector<std::string> numbered;
  for (size_t i = 0; i < names.size(); ++i) numbered.push_back(fmt::format("{} = {}", i, names[i]));
  throw KernelFailure(proto::RunnerReply::FAILED,
                      fmt::format("there is no device '{}': this machine has {}", wanted, fmt::join(numbered, ", ")));
}

std::string first_error(const std::string& messages) {
  std::string_view first;
  for (std::string_view line : split_string(messages, '\n')) {
    line = trim(line);
    if (line.find("error") != std::string_view::npos) return std::string(line);
    if (first.empty()) first = line;
  }
  return first.empty() ? "the compiler says nothing" : std::string(first);
}

}  // namespace tensmith
