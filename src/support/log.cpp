#include "tensmith/support/log.h"

#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "tensmith/support/fd.h"

namespace tensmith {
namespace {

struct LevelName {
  LogLevel level;
  std::string_view name;
  spdlog::level::level_enum backend;
};

constexpr std::array<LevelName, 5> kLevels{{{LogLevel::kDebug, "debug", spdlog::level::debug},
                                            {LogLevel::kInfo, "info", spdlog::level::info},
                                            {LogLevel::kWarning, "warning", spdlog::level::warn},
                                            {LogLevel::kError, "error", spdlog::level::err},
                                            {LogLevel::kOff, "off", spdlog::level::off}}};

const LevelName& by_level(LogLevel level) { return kLevels[static_cast<size_t>(level)]; }

// Hands messages to the caller's function, or to standard error. The base class holds its mutex around each call.
class RedirectableSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  void redirect(LogSink sink) {
    const std::lock_guard<std::mutex> lock(mutex_);
    sink_ = std::move(sink);
  }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    const std::string_view text(message.payload.data(), message.payload.size());
    const LevelName* level = &kLevels[0];
    for (const LevelName& candidate : kLevels) {
      if (candidate.backend == message.level) level = &candidate;
    }
    if (sink_) {
      sink_(level->level, text);
      return;
    }
    const std::string line = fmt::format("tensmith: {}: {}\n", level->name, text);
    write_all(STDERR_FILENO, line);  // a reader that is gone ends the messages, not the process
  }
  void flush_() override {}

 private:
  LogSink sink_;
};

struct Logger {
  Logger() : sink(std::make_shared<RedirectableSink>()), logger("tensmith", sink) {
    logger.set_level(spdlog::level::debug);
  }
  std::shared_ptr<RedirectableSink> sink;
  spdlog::logger logger;
  std::atomic<LogLevel> level{LogLevel::kWarning};
};

// Lives for ever: a thread may log while the program's other statics are being destroyed.
Logger& instance() {
  static Logger& logger = *new Logger;
  return logger;
}

}  // namespace

void set_log_level(LogLevel level) { instance().level.store(level, std::memory_order_relaxed); }

LogLevel log_level() { return instance().level.load(std::memory_order_relaxed); }

std::optional<LogLevel> parse_log_level(std::string_view name) {
  for (const LevelName& candidate : kLevels) {
    if (candidate.name == name) return candidate.level;
  }
  return std::nullopt;
}

void set_log_sink(LogSink sink) { instance().sink->redirect(std::move(sink)); }

void log_message(LogLevel level, std::string_view message) {
  if (level == LogLevel::kOff || level < log_level()) return;
  instance().logger.log(by_level(level).backend, spdlog::string_view_t(message.data(), message.size()));
}

}  // namespace tensmith
