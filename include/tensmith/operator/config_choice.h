#pragma once

#include <string>

#include "tensmith/explore/database.h"
#include "tensmith/schedule/task.h"

namespace tensmith {

/// The version of the templates' spaces that records of this Tensmith carry.
inline constexpr const char* kSpaceVersion = "cpu/1";

/// What all trials of a task have in common.
RecordKey record_key(const Task& task, bool flushed = false);

/// A config to use and where it comes from.
struct ChosenConfig {
  enum class Source : uint8_t {
    kRecord,   ///< measured for this very key
    kNearest,  ///< measured for the nearest workload in the database
    kDefault,  ///< the template's best guess
    kIndex,    ///< asked for by its index
  };
  Config config;
  Source source = Source::kDefault;
  std::string note;  ///< one sentence for people when it is not simply a record of the key; empty otherwise
};

/// "record", "nearest", "default", "index".
std::string_view to_string(ChosenConfig::Source source);

/// The best known config of a task: of the key's own records (those of this very space first), else of the nearest key
/// whose record fits the space, else the default. A null database means the default.
ChosenConfig best_config(const Task& task, const Database* database, bool flushed = false);

}  // namespace tensmith
