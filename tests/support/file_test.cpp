#include "tensmith/support/file.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tensmith/support/error.h"
#include "tensmith/support/fd.h"
#include "tensmith/support/strings.h"

namespace tensmith {
namespace {

namespace fs = std::filesystem;

// What `action` throws as Error.
template <typename Error = WorkError, typename Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

template <typename Action>
std::string user_error_of(Action action) {
  return error_of<UserError>(action);
}

class FileTest : public testing::Test {
 protected:
  fs::path at(const std::string& name) const { return dir_.path() / name; }
  size_t entries() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(dir_.path()), fs::directory_iterator()));
  }

  TempDir dir_;
};

TEST_F(FileTest, WrittenBytesComeBack) {
  const std::string bytes("a\0b\nc", 5);
  write_file(at("x"), bytes);
  EXPECT_EQ(read_file(at("x")), bytes);
  write_file(at("x"), "");
  EXPECT_EQ(read_file(at("x")), "");
  write_file(at("x"), std::string(300000, 'q'));
  EXPECT_EQ(read_file(at("x")), std::string(300000, 'q'));
  EXPECT_EQ(entries(), 1u);
}

TEST_F(FileTest, AnInputThatIsNotThereIsTheMistakeOfWhoNamedIt) {
  write_file(at("x"), "bytes");
  EXPECT_EQ(read_input(at("x")), "bytes");
  const auto told = [](const fs::path& path) { return user_error_of([&] { read_input(path); }); };
  EXPECT_EQ(told(at("none")), "cannot read " + at("none").string() +
                                  ": No such file or directory (hint: check the path; the directory must exist)");
  EXPECT_EQ(told(dir_.path()), "cannot read " + dir_.path().string() +
                                   ": Is a directory (hint: give the path of a file, not of a directory)");
  EXPECT_EQ(told(at("x") / "y"), "cannot read " + (at("x") / "y").string() +
                                     ": Not a directory (hint: a part of the path is a file, not a directory)");
  if (::geteuid() == 0) return;  // may read all
  ASSERT_EQ(::chmod(at("x").c_str(), 0), 0);
  EXPECT_NE(told(at("x")).find("Permission denied"), std::string::npos);
}

TEST_F(FileTest, WhatMayHaveNoEndIsNotRead) {
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  fs::create_symlink("/dev/zero", at("zero"));
  const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ASSERT_LT(at("socket").string().size(), sizeof(address.sun_path));
  std::strcpy(address.sun_path, at("socket").c_str());
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  for (const auto& [name, kind] : {std::pair("pipe", "a pipe"), {"zero", "a device"}, {"socket", "a socket"}}) {
    const std::string expected = "cannot read " + at(name).string() + ": it is " + kind +
                                 ", and a file is meant (hint: write what it gives into a file, and name that)";
    EXPECT_EQ(error_of([&] { read_file(at(name)); }), expected);
    EXPECT_EQ(user_error_of([&] { read_input(at(name)); }), expected);
  }
}

TEST_F(FileTest, ReadsFilesThatTellNoSize) {
  EXPECT_NE(read_file("/proc/self/status").find("VmHWM"), std::string::npos);
}

TEST_F(FileTest, WritingReplacesTheFileAndKeepsItsMode) {
  write_file(at("x"), "old");
  ASSERT_EQ(::chmod(at("x").c_str(), 0640), 0);
  fs::create_hard_link(at("x"), at("reader"));
  write_file(at("x"), "new");
  EXPECT_EQ(read_file(at("reader")), "old") << "written in place: a reader could see half of it";
  EXPECT_EQ(read_file(at("x")), "new");
  EXPECT_EQ(fs::status(at("x")).permissions(), fs::perms{0640});
}

TEST_F(FileTest, WritingThroughALinkKeepsTheLink) {
  write_file(at("target"), "old");
  fs::create_symlink("target", at("link"));
  write_file(at("link"), "new");
  EXPECT_TRUE(fs::is_symlink(at("link")));
  EXPECT_EQ(read_file(at("target")), "new");
}

TEST_F(FileTest, ErrorsTellPathReasonAndAdvice) {
  EXPECT_EQ(error_of([&] { read_file(at("none")); }), "cannot read " + at("none").string() +
                                                          ": No such file or directory (hint: check the path; the "
                                                          "directory must exist)");
  EXPECT_EQ(
      error_of([&] { read_file(dir_.path()); }),
      "cannot read " + dir_.path().string() + ": Is a directory (hint: give the path of a file, not of a directory)");
  EXPECT_NE(error_of([&] { write_file(dir_.path(), "x"); }).find("Is a directory"), std::string::npos);
  EXPECT_NE(error_of([&] { write_file(at("none/x"), "x"); }).find("the directory must exist"), std::string::npos);
  write_file(at("file"), "x");
  EXPECT_NE(error_of([&] { append_line(at("file/x"), "x"); }).find("a part of the path is a file"), std::string::npos);
  EXPECT_NE(error_of([&] { make_directories(at("file/x")); }).find("make the directory"), std::string::npos);
}

TEST_F(FileTest, ALinkThatLeadsToItselfIsTold) {
  fs::create_symlink("loop", at("loop"));
  const std::string expected = "cannot write " + at("loop").string() +
                               ": Too many levels of symbolic links (hint: a symbolic link leads to itself: remove it, "
                               "or choose another place)";
  EXPECT_EQ(error_of([&] { write_file(at("loop"), "x"); }), expected);
  EXPECT_EQ(user_error_of([&] { require_writable(at("loop")); }), expected);
  EXPECT_TRUE(fs::is_symlink(at("loop")));
}

TEST_F(FileTest, AnOutputThatCannotBeWrittenIsToldBeforeTheWork) {
  const auto told = [&](const fs::path& path) { return user_error_of([&] { require_writable(path); }); };
  write_file(at("x"), "bytes");
  fs::create_symlink("x", at("link"));
  for (const fs::path& fine : {at("x"), at("new"), at("link"), fs::path("/dev/full")}) {
    EXPECT_EQ(told(fine), "no error") << fine;
  }
  EXPECT_EQ(read_file(at("x")), "bytes");
  EXPECT_EQ(entries(), 2u) << "it leaves something behind";
  for (const fs::path& wrong : {dir_.path(), at("none/x"), at("x/y"), at(std::string(252, 'x'))}) {
    EXPECT_EQ(told(wrong), error_of([&] { write_file(wrong, "x"); }));
    EXPECT_EQ(told(wrong).find("cannot write " + wrong.string() + ": "), 0u) << told(wrong);
  }
}

TEST_F(FileTest, AFullDiskSaysSo) {
  const std::string expected =
      ": No space left on device (hint: the disk is full: free some space or choose another place)";
  EXPECT_EQ(error_of([] { append_line("/dev/full", "x"); }), "cannot append to /dev/full" + expected);
  EXPECT_EQ(error_of([] { write_file("/dev/full", "x"); }), "cannot write /dev/full" + expected);
}

TEST_F(FileTest, NoPermissionSaysSo) {
  write_file(at("x"), "x");
  ASSERT_EQ(::chmod(at("x").c_str(), 0400), 0);
  // Root may write everywhere, so it becomes somebody else for a moment.
  const bool root = ::geteuid() == 0;
  if (root) {
    ASSERT_EQ(::seteuid(65534), 0);
  }
  const std::string error = error_of([&] { append_line(at("x"), "y"); });
  if (root) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  EXPECT_EQ(error, "cannot append to " + at("x").string() +
                       ": Permission denied (hint: check the permissions of the file and of its directory)");
}

TEST_F(FileTest, AppendMakesTheFileAndAddsLines) {
  append_line(at("db"), "one");
  append_line(at("db"), "two");
  EXPECT_EQ(read_file(at("db")), "one\ntwo\n");
}

TEST_F(FileTest, AppendLeavesATornLineAlone) {
  write_file(at("db"), "one\n{\"torn");
  append_line(at("db"), "two");
  append_line(at("db"), "three");
  EXPECT_EQ(read_file(at("db")), "one\n{\"torn\ntwo\nthree\n");
}

TEST_F(FileTest, ManyWritersLoseNothing) {
  constexpr int kThreads = 4;
  constexpr int kLines = 100;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kLines; ++i) append_line(at("db"), std::string(50 + 10 * t, static_cast<char>('a' + t)));
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::string contents = read_file(at("db"));
  auto lines = split_string(contents, '\n');
  ASSERT_EQ(lines.size(), size_t{kThreads * kLines + 1});
  lines.pop_back();
  for (std::string_view line : lines) {
    EXPECT_EQ(line, std::string(50 + 10 * (line.at(0) - 'a'), line.at(0)));
  }
}

TEST_F(FileTest, AppendFollowsAFileThatIsBeingReplaced) {
  constexpr int kLines = 200;
  std::thread writer([&] {
    for (int i = 0; i < kLines; ++i) append_line(at("db"), "line");
  });
  // Each replacement may drop lines, but never leaves part of one.
  for (int i = 0; i < 50; ++i) write_file(at("db"), "fresh\n");
  writer.join();
  const std::string contents = read_file(at("db"));
  for (std::string_view line : split_string(contents, '\n')) {
    EXPECT_TRUE(line.empty() || line == "line" || line == "fresh") << line;
  }
}

TEST_F(FileTest, ARescueFileIsTheFirstThatCanBeWritten) {
  std::vector<std::filesystem::path> tried;
  const auto second = write_rescue_file(".txt", [&](const std::filesystem::path& path) {
    tried.push_back(path);
    if (tried.size() == 1) throw WorkError("no room");
  });
  ASSERT_EQ(tried.size(), 2u);
  EXPECT_EQ(second, tried[1]);
  EXPECT_EQ(tried[0].parent_path(), std::filesystem::temp_directory_path());
  EXPECT_EQ(tried[0].filename(), "tensmith-rescue-" + std::to_string(::getpid()) + ".txt");
  EXPECT_EQ(write_rescue_file("", [](const std::filesystem::path&) { throw WorkError("no room"); }), std::nullopt);
}

TEST_F(FileTest, TempDirIsFreshAndGoesAway) {
  fs::path kept;
  {
    TempDir one("mine");
    TempDir two("mine");
    EXPECT_NE(one.path(), two.path());
    EXPECT_EQ(one.path().filename().string().rfind("mine-", 0), 0u);
    make_directories(one.path() / "a/b");
    make_directories(one.path() / "a/b");
    write_file(one.path() / "a/b/c", "x");
    TempDir moved(std::move(one));
    kept = moved.path();
    EXPECT_TRUE(fs::exists(kept / "a/b/c"));
  }
  EXPECT_FALSE(fs::exists(kept));
}

TEST_F(FileTest, KnowsItsOwnProgram) { EXPECT_EQ(current_executable().filename(), "support_test"); }

}  // namespace
}  // namespace tensmith
