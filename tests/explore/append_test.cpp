#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <set>

#include "explore/records.h"
#include "tensmith/explore/database.h"
#include "tensmith/support/error.h"
#include "tensmith/support/file.h"

/// Appending from several processes, and being killed or refused while appending.

namespace tensmith {
namespace {

using testing::make_record;

/// Runs `work` in a child process, which does nothing but that.
template <typename Work>
pid_t fork_child(Work&& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    int code = 0;
    try {
      work();
    } catch (...) {
      code = 1;
    }
    ::_exit(code);
  }
  return child;
}

TEST(Append, TwoProcessesLoseNothing) {
  const TempDir directory;
  const std::filesystem::path path = directory.path() / "db.jsonl";
  constexpr int kEach = 150;
  std::vector<pid_t> children;
  for (int process = 0; process < 2; ++process) {
    children.push_back(fork_child([&] {
      Database database(path, Database::Missing::kIsEmpty);
      for (int i = 0; i < kEach; ++i) database.add(make_record("w" + std::to_string(process), 1.0, i));
    }));
  }
  for (pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  const Database database(path);
  EXPECT_EQ(database.damaged_lines(), 0u);
  for (int process = 0; process < 2; ++process) {
    std::set<int> trials;
    for (const Record& record : database.records(make_record("w" + std::to_string(process), 1.0).key)) {
      trials.insert(record.trial);
    }
    EXPECT_EQ(trials.size(), static_cast<size_t>(kEach));
  }
}

TEST(Append, AKilledProcessLeavesAUsableFile) {
  const TempDir directory;
  const std::filesystem::path path = directory.path() / "db.jsonl";
  for (int round = 0; round < 4; ++round) {
    const pid_t child = fork_child([&] {
      Database database(path, Database::Missing::kIsEmpty);
      for (int i = 0; i < 100000; ++i) database.add(make_record("w", 1.0, i));
    });
    // Until it has written something, so that the kill falls among its writes.
    const auto size = [&] { return std::filesystem::exists(path) ? std::filesystem::file_size(path) : 0; };
    const auto before = size();
    while (size() < before + 20000) ::usleep(200);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    Database database(path);
    EXPECT_LE(database.damaged_lines(), 1u);
    const size_t known = database.size();
    database.add(make_record("after", 1.0, round));
    const Database again(path);
    EXPECT_EQ(again.size(), known + 1);
    EXPECT_EQ(again.records(make_record("after", 1.0).key).size(), static_cast<size_t>(round) + 1);
  }
}

TEST(Append, AFullDiskLeavesTheFileAsItWas) {
  const TempDir directory;
  const std::filesystem::path path = directory.path() / "db.jsonl";
  const pid_t child = fork_child([&] {
    for (const char* name : {"TMPDIR", "HOME"}) ::setenv(name, directory.path().c_str(), 1);
    if (::chdir(directory.path().c_str()) != 0) ::_exit(5);
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{2500, 2500};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    Database database(path, Database::Missing::kIsEmpty);
    int refused = 0;
    for (int i = 0; i < 6; ++i) {
      try {
        database.add(make_record("w", 1.0, i));
      } catch (const WorkError& error) {
        if (error.message().find(path.string()) == std::string::npos) ::_exit(3);
        ++refused;
      }
    }
    if (database.size() != 6) ::_exit(4);
    ::_exit(refused > 0 ? 0 : 2);
  });
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  const Database database(path);
  EXPECT_EQ(database.damaged_lines(), 0u);
  EXPECT_GE(database.size(), 1u);
  // What did not fit is in the rescue file.
  size_t rescued = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path())) {
    if (entry.path().filename().string().starts_with("tensmith-rescue")) rescued += Database(entry.path()).size();
  }
  EXPECT_GE(rescued, 1u);
}

}  // namespace
}  // namespace tensmith
