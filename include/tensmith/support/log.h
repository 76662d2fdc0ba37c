#pragma once

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <string_view>
#include <utility>

namespace tensmith {

enum class LogLevel { kDebug, kInfo, kWarning, kError, kOff };

/// Messages below the level are dropped before they are formatted. The level at the start is kWarning.
void set_log_level(LogLevel level);
LogLevel log_level();
/// "debug", "info", "warning", "error", "off".
std::optional<LogLevel> parse_log_level(std::string_view name);

/// Takes the place of standard error: a progress display clears its line first, a test looks at what was said.
/// An empty function restores standard error. Called by one thread at a time.
using LogSink = std::function<void(LogLevel level, std::string_view message)>;
void set_log_sink(LogSink sink);

/// Writes "tensmith: warning: MESSAGE" to standard error (or to the sink). Thread-safe.
void log_message(LogLevel level, std::string_view message);

template <typename... Args>
void log_at(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  if (level >= log_level()) log_message(level, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void log_debug(fmt::format_string<Args...> format, Args&&... args) {
  log_at(LogLevel::kDebug, format, std::forward<Args>(args)...);
}
template <typename... Args>
void log_info(fmt::format_string<Args...> format, Args&&... args) {
  log_at(LogLevel::kInfo, format, std::forward<Args>(args)...);
}
template <typename... Args>
void log_warning(fmt::format_string<Args...> format, Args&&... args) {
  log_at(LogLevel::kWarning, format, std::forward<Args>(args)...);
}
template <typename... Args>
void log_error(fmt::format_string<Args...> format, Args&&... args) {
  log_at(LogLevel::kError, format, std::forward<Args>(args)...);
}

}  // namespace tensmith
