#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tensmith {

/// Parts between separators, empty parts kept: "a,,b" gives "a", "", "b"; "" gives one empty part.
/// The parts point into `text`.
std::vector<std::string_view> split_string(std::string_view text, char separator);

/// Without white space at both ends; points into `text`.
std::string_view trim(std::string_view text);

/// The whole text as a decimal integer with an optional sign; nothing on anything else, overflow included.
std::optional<int64_t> parse_int64(std::string_view text);

/// The whole text as a finite decimal number; nothing on anything else.
std::optional<double> parse_double(std::string_view text);

/// The candidate that `word` was most likely meant to be, for "did you mean" hints: the smallest edit distance, which
/// may be at most a third of the longer word (at least 1). Nothing when none is that close.
std::optional<std::string> closest_match(std::string_view word, std::span<const std::string> candidates);

}  // namespace tensmith
