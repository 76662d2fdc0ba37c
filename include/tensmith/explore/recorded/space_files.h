#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "tensmith/explore/recorded/recorded_space.h"

/// Recorded spaces as files of other tools.

namespace tensmith {

enum class SpaceFormat : uint8_t {
  kKernelTuner,  ///< Kernel Tuner's cache file, schema 1.0 and 1.1
  kT4,           ///< the T4 auto-tuning results format, schema 1.0.0
};

/// Reads a space. `.gz` files are decompressed; the format is told from the content. Of a Kernel Tuner cache all
/// versions are read: failures as a word in place of the objective (`"time": "CompilationFailedConfig"`) or under
/// `__error__`, and a file that its writer never closed. Parameter values may be numbers, texts and booleans. A T4 file
/// lists no values: a parameter has those that occur, in ascending order.
///
/// Throws UserError that names file and entry for what is no space: a file that is not there or may not be read, an
/// empty one, damaged compression, text that is no UTF-8, a database of records, broken JSON, a key given twice, a
/// value that its parameter does not list, an entry without an objective value or with one that is not positive and
/// finite. Throws WorkError where a file that may be read cannot be, or there is no memory to decompress it.
RecordedSpace load_space(const std::filesystem::path& path);

/// The same from text; `name` stands in errors and becomes the space's name.
RecordedSpace parse_space(std::string_view text, const std::string& name);

/// Writes a space; compressed when the path ends in `.gz`. Reading it back gives the same points, values and runs (T4:
/// without parameter values that no point has). Throws WorkError when the file cannot be written, and as print_space.
void save_space(const RecordedSpace& space, const std::filesystem::path& path, SpaceFormat format);

/// The text of such a file. Throws UserError where values have commas, so that a Kernel Tuner cache could not tell two
/// configs apart.
std::string print_space(const RecordedSpace& space, SpaceFormat format);

/// The base name of a file without `.json` and `.gz`: how results name a space.
std::string space_name(const std::filesystem::path& path);

}  // namespace tensmith
