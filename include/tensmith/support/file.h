#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace tensmith {

/// Whole-file operations. Errors tell the path, what was tried, the system's reason and what to do; they are WorkErrors
/// where nothing else is said.

/// The bytes of a regular file; pipes, sockets and devices, which may have no end, are refused.
std::string read_file(const std::filesystem::path& path);

/// The same of a file that a request names as its input: throws UserError where there is none, or none that can
/// be read, and WorkError where reading it fails.
std::string read_input(const std::filesystem::path& path);

/// Replaces the file as a whole: a reader sees the old or the new contents, never a part, and a failure leaves the
/// old file. Writes beside `path` and renames.
void write_file(const std::filesystem::path& path, std::string_view contents);

/// For a file that a request names as its output, before the work: throws UserError where write_file could not begin to
/// write it. Leaves nothing behind.
void require_writable(const std::filesystem::path& path);

/// Appends `line` and a newline under an exclusive file lock, in one write, so that several processes may append to
/// one file. Starts with a newline when the file does not end in one (a torn line stays alone). A write that fails
/// half-way is taken back. Makes the file when it is missing.
void append_line(const std::filesystem::path& path, std::string_view line);

/// For what was measured and cannot be written where it should be: calls `write` with a file
/// tensmith-rescue-PID`suffix` in the directory for temporary files, the home and the current directory, until one does
/// not throw WorkError. That file; nothing when all threw.
std::optional<std::filesystem::path> write_rescue_file(std::string_view suffix,
                                                       const std::function<void(const std::filesystem::path&)>& write);

/// Makes the directory and its parents; fine when it exists.
void make_directories(const std::filesystem::path& path);

/// The running program's own executable, empty when the system does not tell.
std::filesystem::path current_executable();

/// A fresh directory of a unique name, removed with all in it at the end.
class TempDir {
 public:
  /// Made under $TMPDIR or the system's temporary directory.
  explicit TempDir(std::string_view prefix = "tensmith");
  ~TempDir();
  TempDir(TempDir&& other) noexcept;
  TempDir& operator=(TempDir&& other) noexcept;

  const std::filesystem::path& path() const { return path_; }
  /// The directory, which now is the caller's to remove.
  std::filesystem::path release() { return std::exchange(path_, {}); }

 private:
  std::filesystem::path path_;
};

}  // namespace tensmith
