#include "tensmith/support/error.h"

#include <fmt/format.h>

#include <utility>

namespace tensmith {
namespace {

// One line for the command line's stderr, whatever the message was put together from.
std::string one_line(const std::string& message, const std::string& hint) {
  std::string text = hint.empty() ? message : fmt::format("{} (hint: {})", message, hint);
  std::string result;
  result.reserve(text.size());
  bool at_break = false;
  for (char c : text) {
    if (c == '\n' || c == '\r') {
      at_break = true;
      continue;
    }
    if (at_break && c == ' ') continue;
    if (at_break && !result.empty()) result += ' ';
    at_break = false;
    result += c;
  }
  return result;
}

std::string internal_text(const char* file, int line, const std::string& message, const std::string& excerpt) {
  std::string text = fmt::format("internal error at {}:{}: {}", file, line, message);
  if (!excerpt.empty()) text += "\n" + excerpt;
  return text;
}

}  // namespace

UserError::UserError(std::string message, std::string hint, std::string excerpt)
    : std::runtime_error(one_line(message, hint) + (excerpt.empty() ? "" : "\n" + excerpt)),
      message_(std::move(message)),
      hint_(std::move(hint)),
      excerpt_(std::move(excerpt)) {}

WorkError::WorkError(std::string message, std::string hint)
    : std::runtime_error(one_line(message, hint)), message_(std::move(message)), hint_(std::move(hint)) {}

InternalError::InternalError(const char* file, int line, std::string message, std::string excerpt)
    : std::logic_error(internal_text(file, line, message, excerpt)) {}

namespace detail {

void fail_internal(const char* file, int line, const char* condition, const std::string& message) {
  throw InternalError(file, line, fmt::format("{} ({})", message, condition));
}

}  // namespace detail
}  // namespace tensmith
