#include "tensmith/support/claimed_temp_dir.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tensmith/support/file.h"

namespace tensmith {
namespace fs = std::filesystem;
namespace {

constexpr const char* kLockName = "owner.lock";

/// The lock of a directory of ours whose owner is gone; none for everything else.
UniqueFd lock_of_stale(const fs::path& path) {
  // Nothing is followed: a link may lead anywhere.
  const UniqueFd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info {};
  if (!directory.valid() || ::fstat(directory.get(), &info) != 0 || info.st_uid != ::geteuid()) return {};
  UniqueFd lock(::openat(directory.get(), kLockName, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!lock.valid() || ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return {};
  return lock;
}

/// The lock goes when nothing else is left: whatever stays can then be told to be a stale one's.
void remove_claimed(const fs::path& path) {
  std::error_code error;
  std::vector<fs::path> others;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().filename() != kLockName) others.push_back(entry->path());
  }
  for (const fs::path& other : others) {
    std::error_code failed;
    fs::remove_all(other, failed);
    if (failed) error = failed;
  }
  if (error) return;
  fs::remove(path / kLockName, error);
  fs::remove(path, error);
}

void remove_stale(const fs::path& base, const std::string& beginning) {
  std::error_code error;
  for (fs::directory_iterator entry(base, error), end; !error && entry != end; entry.increment(error)) {
    if (!entry->path().filename().string().starts_with(beginning)) continue;
    const UniqueFd lock = lock_of_stale(entry->path());
    if (lock.valid()) remove_claimed(entry->path());
  }
}

/// Whether the file is still where it was made.
bool is_in_place(const UniqueFd& file, const fs::path& path) {
  struct stat held {};
  struct stat found {};
  return ::fstat(file.get(), &held) == 0 && ::stat(path.c_str(), &found) == 0 && held.st_ino == found.st_ino &&
         held.st_dev == found.st_dev;
}

}  // namespace

ClaimedTempDir::ClaimedTempDir(std::string_view prefix) : path_(TempDir(prefix).release()) {
  remove_stale(path_.parent_path(), fmt::format("{}-", prefix));
  while (!claim()) path_ = TempDir(prefix).release();
}

ClaimedTempDir::~ClaimedTempDir() { remove_claimed(path_); }

/// False where somebody who removes stale ones was faster than the lock.
bool ClaimedTempDir::claim() {
  const fs::path file = path_ / kLockName;
  lock_ = UniqueFd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  // Where a file cannot be locked, nobody else can lock it either.
  if (!lock_.valid()) return true;
  if (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) return errno != EWOULDBLOCK;
  return is_in_place(lock_, file);
}

}  // namespace tensmith
