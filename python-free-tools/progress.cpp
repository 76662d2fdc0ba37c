#include "progress.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>

#include <fmt/format.h>

#include "tensmith/support/log.h"
#include "workloads.h"

namespace tensmith::cli {
namespace {

constexpr double kTerminalSeconds = 0.1;
constexpr double kPlainSeconds = 10;
constexpr int kBarWidth = 24;

std::string duration(double seconds) {
  const auto s = static_cast<int>(std::lround(seconds));
  return s < 60     ? fmt::format("{}s", s)
         : s < 3600 ? fmt::format("{}m{:02}s", s / 60, s % 60)
                    : fmt::format("{}h{:02}m", s / 3600, s / 60 % 60);
}

}  // namespace

ProgressDisplay::ProgressDisplay(std::string name, double flops)
    : name_(std::move(name)), flops_(flops), terminal_(isatty(STDERR_FILENO) != 0) {
  if (terminal_) {
    set_log_sink([this](LogLevel level, std::string_view message) {
      clear_line();
      fmt::print(stderr, "tensmith: {}{}\n",
                 level >= LogLevel::kError     ? "error: "
                 : level == LogLevel::kWarning ? "warning: "
                                               : "",
                 message);
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
  const std::string facts =
      fmt::format("{}/{} trials, {} valid, best {:.1f} GFLOP/s (default {:.1f}), {:.1f} trials/s, {} left", p.trials,
                  p.total, p.valid, gflops(flops_, p.best_seconds), gflops(flops_, p.default_seconds),
                  p.trials_per_second, duration(p.seconds_left));
  if (!terminal_) {
    fmt::print(stderr, "{}: {}\n", name_, facts);
    return;
  }
  const int filled = p.total > 0 ? kBarWidth * p.trials / p.total : 0;
  clear_line();
  line_ = fmt::format("{} [{}{}] {}", name_, std::string(static_cast<size_t>(filled), '#'),
                      std::string(static_cast<size_t>(kBarWidth - filled), '.'), facts);
  fmt::print(stderr, "{}", line_);
  std::fflush(stderr);
}

void ProgressDisplay::clear_line() {
  if (!line_.empty()) {
    fmt::print(stderr, "\r\033[K");
    line_.clear();
  }
}

}  // namespace tensmith::cli
