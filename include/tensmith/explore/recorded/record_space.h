#pragma once

#include <span>
#include <string>

#include "tensmith/explore/record.h"
#include "tensmith/explore/recorded/recorded_space.h"
#include "tensmith/explore/recorded/space_files.h"

namespace tensmith {

/// What was measured of a key, as a space of its own: each knob has the values that occur in its trials, in ascending
/// order, and what was not tried is missing. Values are the median of a trial's repetitions in milliseconds, which are
/// the runs: one repetition that was interrupted would decide a mean. A config that was tried
/// more than once counts by its last trial; trials of an older version of the space (another fingerprint than the last)
/// and those whose worker was lost are left out. Knobs with several numbers, like the factors of a split, become texts
/// ("2x4x16"). Failures get the words of the format.
///
/// Throws UserError when there is no trial, or the product of the values has more points than a table can hold.
RecordedSpace space_of_records(std::span<const Record> records, SpaceFormat format = SpaceFormat::kKernelTuner);

}  // namespace tensmith
