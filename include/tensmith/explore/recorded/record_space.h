#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tensmith/explore/record.h"
#include "tensmith/explore/recorded/recorded_space.h"
#include "tensmith/explore/recorded/space_files.h"

namespace tensmith {

/// What the workload of a user's kernel tells in words.
struct KernelWorkload {
  std::string name;          ///< of the source file, as `tune-kernel` shows it
  std::string entry;         ///< the kernel's own
  std::string problem_size;  ///< JSON: "[64, 32, 1]"; empty where none was given
};
/// Nothing for workloads of other kinds.
std::optional<KernelWorkload> parse_kernel_workload(std::string_view workload);

/// Where a space of this key comes from. Of a user's kernel these are its entry, its problem size, and the device as
/// people call it, which is `cpu_model` (where it is known) for one in C; else the workload and the CPU. `name` is the
/// key's text.
RecordedInfo recorded_info(const RecordKey& key, const std::string& cpu_model);

/// What was measured of a key, as a space of its own: each knob has the values that occur in the trials, in ascending
/// order. What was not tried is missing. Values are the median of a trial's repetitions in milliseconds, which are the
/// runs: one repetition that was interrupted would decide a mean. A config that was tried more than once counts by its
/// last trial; trials of an older version of the space (another fingerprint than the last) and those whose worker was
/// lost are left out. Knobs with several numbers, like the factors of a split, become texts ("2x4x16"). Failures get
/// the words of the format.
///
/// Throws UserError when there is no trial, or the product of the values has more points than a table can hold.
RecordedSpace space_of_records(std::span<const Record> records, SpaceFormat format = SpaceFormat::kKernelTuner);

/// The same where the space is known: its knobs have the values of `values`, and there need not be a trial. Throws
/// UserError for a trial that has another knob or value (ConfigSpace::from_values), and for too many points.
RecordedSpace space_of_records(std::span<const Record> records, SpaceFormat format, RecordedInfo info,
                               ConfigSpace values);

}  // namespace tensmith
