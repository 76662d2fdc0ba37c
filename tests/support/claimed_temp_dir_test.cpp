#include "tensmith/support/claimed_temp_dir.h"

#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tensmith/support/file.h"

namespace tensmith {
namespace {

namespace fs = std::filesystem;

class ClaimedTempDirTest : public ::testing::Test {
 protected:
  ClaimedTempDirTest() { setenv("TMPDIR", base_.path().c_str(), 1); }
  ~ClaimedTempDirTest() override { unsetenv("TMPDIR"); }

  /// The directory of a process that was killed.
  fs::path left_behind() {
    const pid_t child = fork();
    if (child == 0) {
      const ClaimedTempDir dir("kernel");
      write_file(dir.path() / "1.so", "x");
      write_file(base_.path() / "told", dir.path().string());
      kill(getpid(), SIGKILL);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status));
    return read_file(base_.path() / "told");
  }

  TempDir base_;
};

TEST_F(ClaimedTempDirTest, IsGoneAtTheEnd) {
  fs::path path;
  {
    const ClaimedTempDir dir("kernel");
    path = dir.path();
    EXPECT_EQ(path.parent_path(), base_.path());
    EXPECT_TRUE(fs::is_directory(path));
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(ClaimedTempDirTest, WhatAKilledProcessLeftIsRemovedByTheNext) {
  const fs::path left = left_behind();
  EXPECT_TRUE(fs::exists(left / "1.so"));
  const ClaimedTempDir other("other");
  EXPECT_TRUE(fs::exists(left)) << "another prefix";
  const ClaimedTempDir next("kernel");
  EXPECT_FALSE(fs::exists(left));
}

TEST_F(ClaimedTempDirTest, WhatIsInUseOrIsNotOursStays) {
  const ClaimedTempDir mine("kernel");
  const fs::path plain = base_.path() / "kernel-plain";
  make_directories(plain);
  write_file(plain / "result", "x");
  write_file(base_.path() / "kernel-file", "x");
  const fs::path elsewhere = base_.path() / "elsewhere";
  fs::rename(left_behind(), elsewhere);
  fs::create_directory_symlink(elsewhere, base_.path() / "kernel-link");
  const ClaimedTempDir next("kernel");
  EXPECT_NE(next.path(), mine.path());
  EXPECT_TRUE(fs::exists(mine.path())) << "its owner lives";
  EXPECT_TRUE(fs::exists(plain / "result")) << "nobody claimed it";
  EXPECT_TRUE(fs::exists(base_.path() / "kernel-file"));
  EXPECT_TRUE(fs::exists(elsewhere / "1.so")) << "behind a link";
}

/// The names of what is removed from a directory while it is, in order.
std::vector<std::string> removed_from(const fs::path& directory, const std::function<void()>& remove) {
  const UniqueFd watch(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  EXPECT_GE(inotify_add_watch(watch.get(), directory.c_str(), IN_DELETE), 0);
  remove();
  std::vector<std::string> names;
  alignas(inotify_event) char events[1 << 14];
  const ssize_t size = read(watch.get(), events, sizeof events);
  for (ssize_t at = 0; at < size;) {
    const auto* event = reinterpret_cast<const inotify_event*>(events + at);
    if ((event->mask & IN_DELETE) != 0) names.emplace_back(event->name);
    at += static_cast<ssize_t>(sizeof *event + event->len);
  }
  return names;
}

// Where a removal ends midway, the next one can then tell whose the rest was.
TEST_F(ClaimedTempDirTest, TheLockGoesLast) {
  // Whatever the order in which the system lists the names, some are behind the lock.
  const auto fill = [](const fs::path& directory) {
    for (int i = 0; i < 20; ++i) write_file(directory / fmt::format("{}.so", i), "x");
  };
  const auto expect = [](const std::vector<std::string>& removed) {
    ASSERT_EQ(removed.size(), 21u);
    EXPECT_EQ(removed.back(), "owner.lock");
  };
  const fs::path left = left_behind();
  fs::remove(left / "1.so");
  fill(left);
  fs::remove(left / "owner.lock");
  write_file(left / "owner.lock", "");
  expect(removed_from(left, [] { const ClaimedTempDir next("kernel"); }));
  EXPECT_FALSE(fs::exists(left));

  auto mine = std::make_unique<ClaimedTempDir>("kernel");
  const fs::path path = mine->path();
  fill(path);
  expect(removed_from(path, [&] { mine.reset(); }));
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(ClaimedTempDirTest, TheLockStaysWhereSomethingStays) {
  if (geteuid() == 0) GTEST_SKIP() << "root may remove all";
  const fs::path left = left_behind();
  make_directories(left / "kept");
  write_file(left / "kept" / "result", "x");
  fs::permissions(left / "kept", fs::perms::owner_read | fs::perms::owner_exec);
  { const ClaimedTempDir next("kernel"); }
  EXPECT_FALSE(fs::exists(left / "1.so"));
  EXPECT_TRUE(fs::exists(left / "owner.lock"));
  fs::permissions(left / "kept", fs::perms::owner_all);
  { const ClaimedTempDir next("kernel"); }
  EXPECT_FALSE(fs::exists(left));
}

TEST_F(ClaimedTempDirTest, FilesInItMayLinkAnywhere) {
  const fs::path left = left_behind();
  const fs::path precious = base_.path() / "precious";
  make_directories(precious);
  write_file(precious / "result", "x");
  fs::create_directory_symlink(precious, left / "link");
  const ClaimedTempDir next("kernel");
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(precious / "result"));
}

}  // namespace
}  // namespace tensmith
