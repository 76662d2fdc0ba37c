#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace tensmith {

/// The file's bytes, decompressed when it begins as gzip does. Throws UserError as read_input, and for a file that is
/// damaged, ends in the middle, or goes on behind the compressed data with anything but zeros.
std::string read_maybe_gzip(const std::filesystem::path& path);

/// `text` as one gzip member; the same text always gives the same bytes.
std::string gzip(std::string_view text);

}  // namespace tensmith
