#include "progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "output.h"
#include "tensmith/support/log.h"
#include "workloads.h"

namespace tensmith::cli {
namespace {

constexpr double kTerminalSeconds = 0.1;
constexpr double kPlainSeconds = 10;
constexpr size_t kBarWidth = 24;

std::string duration(double seconds) {
  const auto s = static_cast<int>(std::lround(seconds));
  return s < 60     ? fmt::format("{}s", s)
         : s < 3600 ? fmt::format("{}m{:02}s", s / 60, s % 60)
                    : fmt::format("{}h{:02}m", s / 3600, s / 60 % 60);
}

/// Columns of the terminal; 80 where it does not tell.
size_t terminal_columns() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::string bar(const TuneProgress& p) {
  const size_t filled = p.total > 0 ? kBarWidth * static_cast<size_t>(p.trials) / static_cast<size_t>(p.total) : 0;
  return fmt::format("[{:#<{}}{:.<{}}] ", "", std::min(filled, kBarWidth), "", kBarWidth - std::min(filled, kBarWidth));
}

/// What is least important goes first when it does not fit: a line that wraps cannot be rewritten.
std::string fitting_line(std::string name, const TuneProgress& p, double flops, std::optional<size_t> terminal) {
  const size_t columns = terminal.value_or(std::string::npos);
  if (name.size() > columns / 3) name = name.substr(0, columns / 3) + "..";
  const std::string trials = fmt::format("{}/{} trials", p.trials, p.total);
  const std::string best = fmt::format("best {}", speed_text(flops, p.best_seconds));
  const std::string base =
      p.default_seconds > 0 ? fmt::format(" (default {})", speed_text(flops, p.default_seconds)) : "";
  const std::string left = duration(p.seconds_left) + " left";
  const std::string full =
      fmt::format("{}, {} valid, {}{}, {:.1f} trials/s, {}", trials, p.valid, best, base, p.trials_per_second, left);
  const std::string lines[] = {
      fmt::format("{} {}{}", name, terminal ? bar(p) : "", full), fmt::format("{} {}", name, full),
      fmt::format("{} {}, {}{}, {}", name, trials, best, base, left), fmt::format("{} {}, {}", name, trials, best)};
  for (const std::string& line : lines) {
    if (line.size() < columns) return line;
  }
  return trials.substr(0, columns - 1);
}

}  // namespace

ProgressDisplay::ProgressDisplay(std::string name, double flops)
    : name_(std::move(name)), flops_(flops), terminal_(isatty(STDERR_FILENO) != 0) {
  if (terminal_) {
    set_log_sink([this](LogLevel level, std::string_view message) {
      clear_line();
      print_stderr(fmt::format("tensmith: {}{}\n",
                               level >= LogLevel::kError     ? "error: "
                               : level == LogLevel::kWarning ? "warning: "
                                                             : "",
                               message));
    });
  }
}

ProgressDisplay::~ProgressDisplay() {
  if (terminal_) {
    clear_line();
    set_log_sink({});
  }
}

void ProgressDisplay::show(const TuneProgress& p) {
  const bool done = p.trials >= p.total;
  if (!done && p.elapsed_seconds - last_shown_ < (terminal_ ? kTerminalSeconds : kPlainSeconds)) {
    return;
  }
  last_shown_ = p.elapsed_seconds;
  show_line(fitting_line(name_, p, flops_, columns()));
}

void ProgressDisplay::show_preparing(double done, double seconds) {
  constexpr double kSoon = 1;
  if (done >= 1) return clear_line();
  if (seconds < kSoon || seconds - last_prepared_ < (terminal_ ? kTerminalSeconds : kPlainSeconds)) {
    return;
  }
  last_prepared_ = seconds;
  const std::string left = done > 0 ? fmt::format(", {} left", duration(seconds / done * (1 - done))) : "";
  show_line(fmt::format("{} computing the output to expect, {:.0f}%{}", name_, 100 * done, left)
                .substr(0, columns().value_or(std::string::npos) - 1));
}

std::optional<size_t> ProgressDisplay::columns() const {
  return terminal_ ? std::optional(terminal_columns()) : std::nullopt;
}

void ProgressDisplay::show_line(const std::string& line) {
  if (!terminal_) {
    print_stderr(line + "\n");
    return;
  }
  clear_line();
  line_ = line;
  print_stderr(line_);
}

void ProgressDisplay::clear_line() {
  if (!line_.empty()) {
    print_stderr("\r\033[K");
    line_.clear();
  }
}

}  // namespace tensmith::cli
