#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace tensmith::cli {

/// How far some work is, on standard error: one line that is rewritten on a terminal, a plain line now and then
/// otherwise. While it lives, log messages go around the line.
class StatusLine {
 public:
  StatusLine();
  ~StatusLine();
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  /// Whether it is time for a new line, `seconds` after the start: ten a second on a terminal, else one in ten seconds.
  bool due(double seconds, double last_shown) const;
  void show(const std::string& line);
  void clear();
  /// Of the terminal, if it is one: a line that wraps cannot be rewritten.
  std::optional<size_t> columns() const;

 private:
  bool terminal_;
  std::string line_;
};

/// "59s", "12m05s", "3h04m".
std::string duration_text(double seconds);
/// "[####....] ", `share` of it filled.
std::string bar_text(double share);

}  // namespace tensmith::cli
