#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace tensmith {

/// The file's bytes, decompressed when it begins as gzip does. Throws as read_input; UserError for a file that is
/// damaged, ends in the middle, or goes on behind the compressed data with anything but zeros; and WorkError where
/// there is no memory to decompress it.
std::string read_maybe_gzip(const std::filesystem::path& path);

/// `text` as one gzip member; the same text always gives the same bytes.
std::string gzip(std::string_view text);

}  // namespace tensmith
