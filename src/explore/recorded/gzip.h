#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace tensmith {

/// The file's bytes, decompressed when it begins as gzip does. Throws WorkError for a file that cannot be read,
/// and UserError for one that is damaged or ends in the middle.
std::string read_maybe_gzip(const std::filesystem::path& path);

/// `text` as one gzip member; the same text always gives the same bytes.
std::string gzip(std::string_view text);

}  // namespace tensmith
