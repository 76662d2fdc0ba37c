#include "progress.h"

#include <optional>

#include <fmt/format.h>

#include "workloads.h"

namespace tensmith::cli {
namespace {

std::string bar(const TuneProgress& p) {
  return bar_text(p.total > 0 ? static_cast<double>(p.trials) / static_cast<double>(p.total) : 0.0);
}

/// What is least important goes first when it does not fit: a line that wraps cannot be rewritten.
std::string fitting_line(std::string name, const TuneProgress& p, double flops, std::optional<size_t> terminal) {
  const size_t columns = terminal.value_or(std::string::npos);
  if (name.size() > columns / 3) name = name.substr(0, columns / 3) + "..";
  const std::string trials = fmt::format("{}/{} trials", p.trials, p.total);
  const std::string best = fmt::format("best {}", speed_text(flops, p.best_seconds));
  const std::string base =
      p.default_seconds > 0 ? fmt::format(" (default {})", speed_text(flops, p.default_seconds)) : "";
  const std::string left = duration_text(p.seconds_left) + " left";
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

ProgressDisplay::ProgressDisplay(std::string name, double flops) : name_(std::move(name)), flops_(flops) {}

void ProgressDisplay::show(const TuneProgress& p) {
  const bool done = p.trials >= p.total;
  if (!done && !line_.due(p.elapsed_seconds, last_shown_)) return;
  last_shown_ = p.elapsed_seconds;
  line_.show(fitting_line(name_, p, flops_, line_.columns()));
}

void ProgressDisplay::show_preparing(double done, double seconds) {
  constexpr double kSoon = 1;
  if (done >= 1) return line_.clear();
  if (seconds < kSoon || !line_.due(seconds, last_prepared_)) return;
  last_prepared_ = seconds;
  const std::string left = done > 0 ? fmt::format(", {} left", duration_text(seconds / done * (1 - done))) : "";
  line_.show(fmt::format("{} computing the output to expect, {:.0f}%{}", name_, 100 * done, left)
                 .substr(0, line_.columns().value_or(std::string::npos) - 1));
}

}  // namespace tensmith::cli
