#include "ir/lexer.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/syntax.h"
#include "tensmith/support/error.h"

namespace tensmith {

namespace {

/// Longest piece of the offending line that an error shows.
constexpr size_t kExcerpt = 100;

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> run() {
    if (text_.size() > kLongestText) {
      throw UserError(fmt::format("the program text is {} bytes long, more than {}", text_.size(), kLongestText));
    }
    while (at_ < text_.size()) {
      if (line_start_) {
        indentation();
        continue;
      }
      token();
    }
    if (!line_start_) push(TokenKind::kNewline, at_, 0);
    for (; indents_.size() > 1; indents_.pop_back()) push(TokenKind::kDedent, at_, 0);
    push(TokenKind::kEnd, at_, 0);
    return std::move(tokens_);
  }

 private:
  void push(TokenKind kind, size_t offset, size_t size) {
    tokens_.push_back({kind, static_cast<uint32_t>(offset), static_cast<uint32_t>(size)});
  }
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  void skip_comment() {
    while (at_ < text_.size() && text_[at_] != '\n') ++at_;
  }

  /// Measures the indentation of a line that holds something; skips lines that do not.
  void indentation() {
    const size_t start = at_;
    while (peek() == ' ') ++at_;
    if (peek() == '\r' && peek(1) == '\n') ++at_;
    if (peek() == '#') skip_comment();
    if (at_ == text_.size()) return;
    if (peek() == '\n') {
      ++at_;
      return;
    }
    line_start_ = false;
    const size_t depth = at_ - start;
    if (depth > indents_.back()) {
      indents_.push_back(depth);
      push(TokenKind::kIndent, at_, 0);
      return;
    }
    for (; depth < indents_.back(); indents_.pop_back()) push(TokenKind::kDedent, at_, 0);
    if (depth != indents_.back()) {
      fail_at(text_, at_, "this indentation matches no enclosing block");
    }
  }

  void token() {
    const char c = peek();
    if (c == ' ' || c == '\r') {
      ++at_;
    } else if (c == '#') {
      skip_comment();
    } else if (c == '\n') {
      if (brackets_ == 0) {
        push(TokenKind::kNewline, at_, 1);
        line_start_ = true;
      }
      ++at_;
    } else if (is_name_start(c)) {
      const size_t start = at_;
      while (is_name_part(peek())) ++at_;
      push(TokenKind::kName, start, at_ - start);
    } else if (is_digit(c)) {
      number();
    } else {
      symbol();
    }
  }

  /// Digits, optionally a fraction and an exponent, and a suffix that names a type.
  void number() {
    const size_t start = at_;
    TokenKind kind = TokenKind::kInteger;
    const auto digits = [&] {
      while (is_digit(peek())) ++at_;
    };
    digits();
    if (peek() == '.' && is_digit(peek(1))) {
      kind = TokenKind::kFloat;
      ++at_;
      digits();
    }
    if (peek() == 'e' || peek() == 'E') {
      kind = TokenKind::kFloat;
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      if (!is_digit(peek())) fail_at(text_, at_, "expected the digits of an exponent");
      digits();
    }
    while (is_name_part(peek())) ++at_;
    push(kind, start, at_ - start);
  }

  void symbol() {
    const std::string_view two = text_.substr(at_, 2);
    if (two == "<=" || two == ">=" || two == "==" || two == "!=") {
      push(TokenKind::kSymbol, at_, 2);
      at_ += 2;
      return;
    }
    const char c = peek();
    if (std::string_view("()[],:=+-*/%<>").find(c) == std::string_view::npos) {
      const auto byte = static_cast<unsigned char>(c);
      fail_at(text_, at_,
              byte >= 0x20 && byte < 0x7f ? fmt::format("unexpected character '{}'", c)
                                          : fmt::format("unexpected byte 0x{:02x}", byte),
              c == '\t' ? "indent with spaces" : "");
    }
    if (c == '(' || c == '[') ++brackets_;
    if ((c == ')' || c == ']') && brackets_ > 0) --brackets_;
    push(TokenKind::kSymbol, at_, 1);
    ++at_;
  }

  std::string_view text_;
  size_t at_ = 0;
  bool line_start_ = true;
  int64_t brackets_ = 0;
  std::vector<size_t> indents_ = {0};
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokenize(std::string_view text) { return Lexer(text).run(); }

void fail_at(std::string_view text, size_t offset, const std::string& message, std::string hint) {
  offset = std::min(offset, text.size());
  const std::string_view before = text.substr(0, offset);
  const size_t line = static_cast<size_t>(std::count(before.begin(), before.end(), '\n')) + 1;
  const size_t start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  const size_t column = offset - start;
  // A long line is shown from shortly before the fault.
  const size_t shown = column > kExcerpt / 2 ? column - kExcerpt / 2 : 0;
  std::string excerpt(text.substr(start + shown, std::min(text.find('\n', start) - start - shown, kExcerpt)));
  for (char& c : excerpt) {
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) c = '?';
  }
  throw UserError(fmt::format("line {}, column {}: {}\n  {}\n  {}^", line, column + 1, message, excerpt,
                              std::string(column - shown, ' ')),
                  std::move(hint));
}

}  // namespace tensmith
