#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Words of the textual form. Line ends and changes of indentation are tokens; inside brackets they mean nothing.

namespace tensmith {

enum class TokenKind : uint8_t { kName, kInteger, kFloat, kSymbol, kNewline, kIndent, kDedent, kEnd };

struct Token {
  TokenKind kind;
  uint32_t offset;
  uint32_t size;
};

/// Longest text accepted, in bytes.
inline constexpr size_t kLongestText = size_t{16} << 20;

/// Splits `text`; throws UserError at the first character that starts no token, at a number with a malformed exponent,
/// at an indentation that matches no enclosing block, and on a text that is too long. The last token is kEnd.
std::vector<Token> tokenize(std::string_view text);

/// Throws UserError: `message`, with line and column of `offset`, that line, and a caret below it.
[[noreturn]] void fail_at(std::string_view text, size_t offset, const std::string& message, std::string hint = {});

}  // namespace tensmith
