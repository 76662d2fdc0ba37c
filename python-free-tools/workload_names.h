#pragma once

#include <map>
#include <span>
#include <string>

#include "tensmith/explore/record.h"

namespace tensmith::cli {

/// How the workloads of a database are called where people read them. What is shown can be given to --workload.
class WorkloadNames {
 public:
  explicit WorkloadNames(std::span<const RecordKey> keys);

  /// A user's kernel by its name, an operator without fields that are the default, and with a part of a hash what would
  /// be ambiguous or long: "gemm", "gemm~1a2b3c4d", "conv2d:c=64,h=56,w=56,k=64,r=3,s=3", "expr~5e6f7a8b".
  const std::string& name(const std::string& workload) const { return names_.at(workload); }
  /// The key with that name of its workload.
  std::string text(RecordKey key) const;
  /// Whether `asked` means the workload: by its name, by that of a kernel, or in any form that parse_workload reads.
  bool means(const std::string& asked, const std::string& workload) const;

 private:
  std::map<std::string, std::string> names_;  ///< by workload
};

}  // namespace tensmith::cli
