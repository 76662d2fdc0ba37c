#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tensmith/explore/record.h"

namespace tensmith {

/// One line (without its newline) of a database. Texts that are not UTF-8 have the bad bytes replaced, an error text is
/// cut to a sensible length.
std::string encode_record(const Record& record);

/// The inverse. Nothing, with the reason in `why`, when the line is no record. Unknown fields are ignored; unknown
/// names of enumerators, which a later version may bring, read as a lost worker's failure. Does not look at the
/// version.
std::optional<Record> decode_record(std::string_view line, std::string& why);

/// What an index needs of a line.
struct RecordHead {
  int version = 0;
  uint64_t key_hash = 0;
  RecordKind kind = RecordKind::kTrial;
  TrialStatus status = TrialStatus::kWorkerLost;
  double best_seconds = 0.0;  ///< 0 when there is none
};

/// The head of a line as encode_record writes it, without parsing the rest; nothing for a line in any other form.
std::optional<RecordHead> scan_head(std::string_view line);
/// The version alone, of any line that may be a record; nothing when it has none.
std::optional<int> scan_version(std::string_view line);

RecordHead head_of(const Record& record);

}  // namespace tensmith
