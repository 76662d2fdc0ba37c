#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tensmith {

bool is_utf8(std::string_view text);
/// With a question mark for each byte that is no part of UTF-8.
std::string valid_utf8(std::string_view text);

/// The words of a command line, as a POSIX shell splits them: by white space; 'all that is between', "the same, but
/// for a backslash before one of "\$` and the end of a line", and \ keeps the next character. Nothing is expanded. No
/// value for a quote that is not closed and for a backslash at the end.
std::optional<std::vector<std::string>> split_shell_words(std::string_view text);

/// A field of a CSV file (RFC 4180): in quotes where it holds a comma, a quote or a line end.
std::string csv_field(std::string_view text);

}  // namespace tensmith
