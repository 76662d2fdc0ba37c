#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "tensmith/explore/recorded/recorded_space.h"

/// The formats behind tensmith/explore/recorded/space_files.h. Parsers get where the
/// space comes from, add what the file tells of it, and throw UserError without the file's name.

namespace tensmith {

RecordedSpace parse_kernel_tuner(const nlohmann::json& root, RecordedInfo info);
RecordedSpace parse_t4(const nlohmann::json& root, RecordedInfo info);

std::string print_kernel_tuner(const RecordedSpace& space);
std::string print_t4(const RecordedSpace& space);

}  // namespace tensmith
