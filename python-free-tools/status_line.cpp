#include "status_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "output.h"
#include "tensmith/support/log.h"

namespace tensmith::cli {
namespace {

constexpr double kTerminalSeconds = 0.1;
constexpr double kPlainSeconds = 10;
constexpr size_t kBarWidth = 24;

/// Columns of the terminal; 80 where it does not tell.
size_t terminal_columns() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

StatusLine::StatusLine() : terminal_(isatty(STDERR_FILENO) != 0) {
  if (terminal_) {
    set_log_sink([this](LogLevel level, std::string_view message) {
      clear();
      print_stderr(fmt::format("tensmith: {}{}\n",
                               level >= LogLevel::kError     ? "error: "
                               : level == LogLevel::kWarning ? "warning: "
                                                             : "",
                               message));
    });
  }
}

StatusLine::~StatusLine() {
  if (terminal_) {
    clear();
    set_log_sink({});
  }
}

bool StatusLine::due(double seconds, double last_shown) const {
  return seconds - last_shown >= (terminal_ ? kTerminalSeconds : kPlainSeconds);
}

void StatusLine::show(const std::string& line) {
  if (!terminal_) {
    print_stderr(line + "\n");
    return;
  }
  clear();
  line_ = line;
  print_stderr(line_);
}

void StatusLine::clear() {
  if (!line_.empty()) {
    print_stderr("\r\033[K");
    line_.clear();
  }
}

std::optional<size_t> StatusLine::columns() const {
  return terminal_ ? std::optional(terminal_columns()) : std::nullopt;
}

std::string duration_text(double seconds) {
  const auto s = static_cast<int>(std::lround(seconds));
  return s < 60     ? fmt::format("{}s", s)
         : s < 3600 ? fmt::format("{}m{:02}s", s / 60, s % 60)
                    : fmt::format("{}h{:02}m", s / 3600, s / 60 % 60);
}

std::string bar_text(double share) {
  const auto filled = static_cast<size_t>(kBarWidth * std::clamp(share, 0.0, 1.0));
  return fmt::format("[{:#<{}}{:.<{}}] ", "", filled, "", kBarWidth - filled);
}

}  // namespace tensmith::cli
