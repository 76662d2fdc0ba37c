#include "workload_names.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tensmith/explore/recorded/record_space.h"
#include "tensmith/ops/workload.h"
#include "tensmith/support/error.h"
#include "tensmith/support/hash.h"
#include "tensmith/support/strings.h"

namespace tensmith::cli {
namespace {

constexpr size_t kLongest = 100;  // of a text that is shown whole

/// As records name it; a text that is no workload, as it is.
std::string canonical(const std::string& workload) {
  try {
    return to_string(parse_workload(workload));
  } catch (const UserError&) {
    return workload;
  }
}

/// The shortest text of fields that is read as the same workload.
std::string without_defaults(const std::string& workload) {
  const size_t colon = workload.find(':');
  if (colon == std::string::npos || workload.starts_with("expr:") || canonical(workload) != workload) return workload;
  std::vector<std::string_view> fields = split_string(std::string_view(workload).substr(colon + 1), ',');
  const auto text = [&] { return fmt::format("{}:{}", workload.substr(0, colon), fmt::join(fields, ",")); };
  for (size_t i = fields.size(); i-- > 0 && fields.size() > 1;) {
    const std::string_view field = fields[i];
    fields.erase(fields.begin() + static_cast<std::ptrdiff_t>(i));
    if (canonical(text()) != workload) fields.insert(fields.begin() + static_cast<std::ptrdiff_t>(i), field);
  }
  return text();
}

std::string with_hash(const std::string& name, const std::string& workload) {
  return fmt::format("{}~{:08x}", name, static_cast<uint32_t>(hash_bytes(workload)));
}

}  // namespace

WorkloadNames::WorkloadNames(std::span<const RecordKey> keys) {
  std::map<std::string, int> kernels;  // workloads of each name
  for (const RecordKey& key : keys) {
    if (!names_.emplace(key.workload, std::string()).second) continue;
    if (const auto kernel = parse_kernel_workload(key.workload)) ++kernels[kernel->name];
  }
  for (auto& [workload, name] : names_) {
    if (const auto kernel = parse_kernel_workload(workload)) {
      name = kernels[kernel->name] == 1 ? kernel->name : with_hash(kernel->name, workload);
    } else {
      name = without_defaults(workload);
      if (name.size() > kLongest) name = with_hash(workload.substr(0, workload.find(':')), workload);
    }
  }
}

std::string WorkloadNames::text(RecordKey key) const {
  key.workload = name(key.workload);
  return to_string(key);
}

bool WorkloadNames::means(const std::string& asked, const std::string& workload) const {
  if (asked == name(workload) || canonical(asked) == workload) return true;
  const std::optional<KernelWorkload> kernel = parse_kernel_workload(workload);
  return kernel && kernel->name == asked;
}

}  // namespace tensmith::cli
