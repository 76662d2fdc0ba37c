#include "tensmith/support/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tensmith/support/error.h"
#include "tensmith/support/fd.h"

namespace tensmith {
namespace fs = std::filesystem;
namespace {

const char* advice(int error) {
  switch (error) {
    case ENOSPC: return "the disk is full: free some space or choose another place";
    case EDQUOT: return "the disk quota is used up: free some space or choose another place";
    case EFBIG: return "the file is at its size limit (ulimit -f)";
    case EACCES:
    case EPERM: return "check the permissions of the file and of its directory";
    case EROFS: return "the file system is read-only: choose another place";
    case ENOENT: return "check the path; the directory must exist";
    case ENOTDIR: return "a part of the path is a file, not a directory";
    case EISDIR: return "give the path of a file, not of a directory";
    case EMFILE:
    case ENFILE: return "raise the limit of open files (ulimit -n)";
    case ELOOP: return "a symbolic link leads to itself: remove it, or choose another place";
    case EIO: return "the disk reports a fault";
    default: return "";
  }
}

[[noreturn]] void fail(const char* action, const fs::path& path, int error) {
  throw WorkError(fmt::format("cannot {} {}: {}", action, path.string(), std::strerror(error)), advice(error));
}

/// What reading would wait for, or never see the end of: nothing for regular files, directories and what is not there.
std::string_view stream_kind(const fs::path& path) {
  std::error_code unknown;
  switch (fs::status(path, unknown).type()) {
    case fs::file_type::fifo: return "a pipe";
    case fs::file_type::socket: return "a socket";
    case fs::file_type::character:
    case fs::file_type::block: return "a device";
    default: return "";
  }
}

std::string stream_text(const fs::path& path, std::string_view kind) {
  return fmt::format("cannot read {}: it is {}, and a file is meant", path.string(), kind);
}

constexpr const char* kStreamHint = "write what it gives into a file, and name that";

UniqueFd open_file(const fs::path& path, int flags, const char* action) {
  while (true) {
    const int fd = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
    if (fd >= 0) return UniqueFd(fd);
    if (errno != EINTR) fail(action, path, errno);
  }
}

void lock_file(int fd, const fs::path& path) {
  while (::flock(fd, LOCK_EX) != 0) {
    if (errno != EINTR) fail("lock", path, errno);
  }
}

/// Where the contents of a file go that is written: a symbolic link stays a link, and what it points to is replaced.
fs::path target_of(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) fail("write", path, EISDIR);
  if (!fs::is_symlink(path, error)) return path;
  const fs::path target = fs::weakly_canonical(path, error);
  if (error) fail("write", path, error.value());
  return target;
}

/// A device or a pipe cannot be replaced by renaming.
bool is_replaceable(const fs::path& target) {
  std::error_code unknown;
  return !fs::exists(target, unknown) || fs::is_regular_file(target, unknown);
}

/// A new file beside the target, which can be renamed to it. `path` is what was asked for.
UniqueFd make_beside(const fs::path& target, const fs::path& path, std::string& name) {
  name = target.string() + ".XXXXXX";
  UniqueFd file(::mkostemp(name.data(), O_CLOEXEC));
  if (!file.valid()) fail("write", path, errno);
  return file;
}

}  // namespace

std::string read_file(const fs::path& path) {
  if (const std::string_view kind = stream_kind(path); !kind.empty()) {
    throw WorkError(stream_text(path, kind), kStreamHint);
  }
  const UniqueFd file = open_file(path, O_RDONLY, "read");
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) fail("read", path, errno);
  if (S_ISDIR(info.st_mode)) fail("read", path, EISDIR);
  // One byte more than the size tells the end without another round; the size of /proc files is 0.
  std::string contents(static_cast<size_t>(info.st_size > 0 ? info.st_size : 4095) + 1, '\0');
  size_t used = 0;
  while (true) {
    if (used == contents.size()) contents.resize(contents.size() * 2);
    const ssize_t got = ::read(file.get(), contents.data() + used, contents.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("read", path, errno);
    if (got == 0) break;
    used += static_cast<size_t>(got);
  }
  contents.resize(used);
  return contents;
}

std::string read_input(const fs::path& path) {
  if (const std::string_view kind = stream_kind(path); !kind.empty()) {
    throw UserError(stream_text(path, kind), kStreamHint);
  }
  int error = ::access(path.c_str(), R_OK) == 0 ? 0 : errno;
  std::error_code unknown;
  if (error == 0 && fs::is_directory(path, unknown)) error = EISDIR;
  if (error != 0) {
    throw UserError(fmt::format("cannot read {}: {}", path.string(), std::strerror(error)), advice(error));
  }
  return read_file(path);
}

void write_file(const fs::path& path, std::string_view contents) {
  const fs::path target = target_of(path);
  if (!is_replaceable(target)) {
    const UniqueFd file = open_file(target, O_WRONLY, "write");
    if (const int error = write_all(file.get(), contents)) fail("write", path, error);
    return;
  }
  std::string name;
  const UniqueFd file = make_beside(target, path, name);
  struct stat old {};
  mode_t mode = 0;
  if (::stat(target.c_str(), &old) == 0) {
    mode = old.st_mode & 07777;
  } else {
    mode = ::umask(0);
    ::umask(mode);
    mode = 0666 & ~mode;
  }
  ::fchmod(file.get(), mode);
  int error = write_all(file.get(), contents);
  if (error == 0 && ::fsync(file.get()) != 0 && errno != EINVAL && errno != EROFS) error = errno;
  if (error == 0 && ::rename(name.c_str(), target.c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlink(name.c_str());
    fail("write", path, error);
  }
}

void require_writable(const fs::path& path) {
  try {
    const fs::path target = target_of(path);
    if (!is_replaceable(target)) {
      if (::access(target.c_str(), W_OK) != 0) fail("write", path, errno);
      return;
    }
    std::string name;
    const UniqueFd probe = make_beside(target, path, name);
    ::unlink(name.c_str());
  } catch (const WorkError& error) {
    throw UserError(error.message(), error.hint());
  }
}

void append_line(const fs::path& path, std::string_view line) {
  while (true) {
    const UniqueFd file = open_file(path, O_RDWR | O_CREAT | O_APPEND, "append to");
    lock_file(file.get(), path);
    // While we waited for the lock another process may have put a new file in this one's place.
    struct stat ours {};
    struct stat current {};
    if (::fstat(file.get(), &ours) != 0) fail("append to", path, errno);
    if (::stat(path.c_str(), &current) != 0 || ours.st_ino != current.st_ino || ours.st_dev != current.st_dev) continue;

    std::string text;
    text.reserve(line.size() + 2);
    if (ours.st_size > 0) {
      char last = '\n';
      if (::pread(file.get(), &last, 1, ours.st_size - 1) < 0) fail("append to", path, errno);
      if (last != '\n') text += '\n';
    }
    text += line;
    text += '\n';
    if (const int error = write_all(file.get(), text)) {
      if (S_ISREG(ours.st_mode) && ::ftruncate(file.get(), ours.st_size) != 0) fail("append to", path, errno);
      fail("append to", path, error);
    }
    return;
  }
}

void make_directories(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) fail("make the directory", path, error.value());
}

std::optional<fs::path> write_rescue_file(std::string_view suffix, const std::function<void(const fs::path&)>& write) {
  std::error_code ignored;
  std::vector<fs::path> directories = {fs::temp_directory_path(ignored)};
  if (const char* home = std::getenv("HOME")) directories.emplace_back(home);
  directories.push_back(fs::current_path(ignored));
  for (const fs::path& directory : directories) {
    if (directory.empty()) continue;
    const fs::path file = directory / fmt::format("tensmith-rescue-{}{}", ::getpid(), suffix);
    try {
      write(file);
    } catch (const WorkError&) {
      continue;
    }
    return file;
  }
  return std::nullopt;
}

fs::path current_executable() {
  std::error_code error;
  fs::path path = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path() : path;
}

TempDir::TempDir(std::string_view prefix) {
  std::error_code error;
  fs::path base = fs::temp_directory_path(error);
  if (error) base = "/tmp";
  std::string name = (base / fmt::format("{}-XXXXXX", prefix)).string();
  if (::mkdtemp(name.data()) == nullptr) fail("make a temporary directory in", base, errno);
  path_ = name;
}

TempDir::~TempDir() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

TempDir::TempDir(TempDir&& other) noexcept : path_(std::exchange(other.path_, {})) {}

TempDir& TempDir::operator=(TempDir&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

}  // namespace tensmith
