#include "tensmith/support/fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <thread>

namespace tensmith {
namespace {

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) != -1; }

TEST(Fd, UniqueFdClosesOnce) {
  FdPair pipe = make_pipe();
  const int number = pipe.first.get();
  {
    UniqueFd moved(std::move(pipe.first));
    EXPECT_FALSE(pipe.first.valid());
    EXPECT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
  const int released = pipe.second.release();
  EXPECT_TRUE(is_open(released));
  UniqueFd owner(released);
  owner.reset();
  EXPECT_FALSE(is_open(released));
}

TEST(Fd, BothEndsAreClosedOnExec) {
  const FdPair pipe = make_pipe();
  const FdPair sockets = make_socket_pair();
  for (int fd : {pipe.first.get(), pipe.second.get(), sockets.first.get(), sockets.second.get()}) {
    EXPECT_TRUE(::fcntl(fd, F_GETFD) & FD_CLOEXEC);
  }
}

TEST(Fd, NoEndTakesTheNumberOfAStandardDescriptor) {
  const UniqueFd saved(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  ::close(STDIN_FILENO);
  {
    const FdPair pipe = make_pipe();
    const FdPair sockets = make_socket_pair();
    for (int fd : {pipe.first.get(), pipe.second.get(), sockets.first.get(), sockets.second.get()}) EXPECT_GT(fd, 2);
    EXPECT_EQ(write_all(pipe.second.get(), "x"), 0);
    char c = 0;
    EXPECT_EQ(read_exact(pipe.first.get(), &c, 1), ReadResult::kDone);
    EXPECT_TRUE(::fcntl(pipe.first.get(), F_GETFD) & FD_CLOEXEC);
  }
  ::dup2(saved.get(), STDIN_FILENO);
}

TEST(Fd, MoreThanAPipeHoldsComesThrough) {
  const FdPair pipe = make_pipe();
  std::string sent(1 << 20, 'x');
  sent[12345] = 'y';
  std::thread writer([&] { EXPECT_EQ(write_all(pipe.second.get(), sent), 0); });
  std::string got(sent.size(), '\0');
  EXPECT_EQ(read_exact(pipe.first.get(), got.data(), got.size()), ReadResult::kDone);
  writer.join();
  EXPECT_EQ(got, sent);
}

TEST(Fd, WritingToNobodyIsAnErrorNotASignal) {
  FdPair pipe = make_pipe();
  pipe.first.reset();
  EXPECT_EQ(write_all(pipe.second.get(), "hello"), EPIPE);
  FdPair sockets = make_socket_pair();
  sockets.first.reset();
  EXPECT_EQ(write_all(sockets.second.get(), "hello"), EPIPE);
}

TEST(Fd, ReadTellsEndTimeoutAndError) {
  FdPair pipe = make_pipe();
  char buffer[4] = {};
  EXPECT_EQ(read_exact(pipe.first.get(), buffer, 4, 0.01), ReadResult::kTimeout);
  EXPECT_EQ(read_exact(pipe.first.get(), buffer, 4, 0.0), ReadResult::kTimeout);
  ASSERT_EQ(write_all(pipe.second.get(), "ab"), 0);
  EXPECT_EQ(read_exact(pipe.first.get(), buffer, 4, 0.01), ReadResult::kTimeout);
  ASSERT_EQ(write_all(pipe.second.get(), "cd"), 0);
  EXPECT_EQ(read_exact(pipe.first.get(), buffer, 2, 1.0), ReadResult::kDone);
  EXPECT_EQ(std::string(buffer, 2), "cd");
  pipe.second.reset();
  EXPECT_EQ(read_exact(pipe.first.get(), buffer, 1, 1.0), ReadResult::kEnd);
  EXPECT_EQ(read_exact(-1, buffer, 1), ReadResult::kError);
}

}  // namespace
}  // namespace tensmith
