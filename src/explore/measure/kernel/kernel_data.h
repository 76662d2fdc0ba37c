#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "measure.pb.h"
#include "tensmith/explore/kernel/kernel.h"
#include "tensmith/support/fd.h"

namespace tensmith {

/// The bytes of a file with what is expected. Throws UserError when it cannot be read.
std::string read_reference(const std::filesystem::path& file);

/// What two runs of a reference kernel differ in.
struct HeldDifference {
  std::string text;        ///< empty: they do not
  bool unwritten = false;  ///< all that differs was not written at all
};

/// What a kernel's arguments hold at first and what is expected of it, in a shared memory file that runner processes
/// map (proto::KernelSetup tells its layout).
class KernelData {
 public:
  /// Makes the arguments' contents; nothing is expected yet. Throws WorkError when the memory cannot be had and
  /// UserError for a file of an argument that cannot be read or has another size.
  KernelData(const std::vector<KernelArgument>& arguments, uint64_t seed);
  ~KernelData();
  KernelData(const KernelData&) = delete;
  KernelData& operator=(const KernelData&) = delete;

  int fd() const { return fd_.get(); }
  /// Takes what is expected from a file. Throws UserError when its size is not that of the checked arguments.
  void read_expected(const std::filesystem::path& file);
  /// To be called when what is expected is there: finds the largest allowed errors, and warns of elements that are no
  /// finite numbers. Throws UserError where an argument has no other elements.
  void finish_expected(std::optional<double> tolerance);
  /// Keeps a copy of what is expected, for difference_from_held.
  void hold_expected();
  /// How what is expected now, after finish_expected, differs from the copy, which ends. Of both, outputs that a kernel
  /// did not write hold what they were filled with: ones then, zeros now.
  HeldDifference difference_from_held();
  /// The arguments as a runner is told of them.
  std::vector<proto::KernelArgument> describe() const;

 private:
  struct Region {
    size_t begin = 0;
    size_t bytes = 0;
  };
  std::span<std::byte> span(const Region& region) const { return {memory_ + region.begin, region.bytes}; }
  void fill(const KernelArgument& argument, std::span<std::byte> out, uint64_t seed, uint64_t stream) const;

  const std::vector<KernelArgument>& arguments_;
  UniqueFd fd_;
  std::byte* memory_ = nullptr;
  size_t size_ = 0;
  std::vector<Region> initial_;   ///< by argument; empty where there is none
  std::vector<Region> expected_;  ///< by argument; empty where it is not checked
  std::vector<double> tolerances_;
  std::vector<std::vector<std::byte>> held_;  ///< by argument
};

}  // namespace tensmith
