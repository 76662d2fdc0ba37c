#include "output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <new>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tensmith/support/error.h"
#include "tensmith/support/fd.h"

namespace tensmith::cli {

void emit_text(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    const int error = errno;
    throw WorkError(fmt::format("cannot write standard output: {}", std::strerror(error)),
                    error == ENOSPC ? "the disk is full: free some space or choose another place" : "");
  }
}

void emit_result(const nlohmann::json& result) {
  // Names of files need not be UTF-8.
  emit_text(result.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

void refuse_to_overwrite(std::string_view option, const std::string& output, const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    std::error_code unknown;
    if (input.empty() || output.empty() || !std::filesystem::equivalent(output, input, unknown)) continue;
    throw UserError(fmt::format("{}: '{}' is also read ('{}'), and would be replaced", option, output, input),
                    "give the name of another file");
  }
}

void print_stderr(std::string_view text) noexcept { write_all(STDERR_FILENO, text); }

void print_error(std::string_view message) noexcept {
  try {
    print_stderr(fmt::format("tensmith: error: {}\n", message));
  } catch (const std::bad_alloc&) {
    print_stderr("tensmith: error: there is not enough memory\n");
  }
}

std::string_view error_text(const std::exception& error) {
  return dynamic_cast<const std::bad_alloc*>(&error) != nullptr ? "there is not enough memory for this" : error.what();
}

void open_closed_descriptors() {
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF) {
      [[maybe_unused]] const int lowest = ::open("/dev/null", O_RDONLY);
    }
  }
}

}  // namespace tensmith::cli
