#include "tensmith/support/claimed_temp_dir.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

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
