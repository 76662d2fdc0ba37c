#include "tensmith/support/error.h"

#include <gtest/gtest.h>

#include <string>

namespace tensmith {
namespace {

TEST(Error, UserErrorPutsTheHintBehindTheMessage) {
  const UserError error("unknown target 'lvm'", "did you mean 'llvm'?");
  EXPECT_STREQ(error.what(), "unknown target 'lvm' (hint: did you mean 'llvm'?)");
  EXPECT_EQ(error.message(), "unknown target 'lvm'");
  EXPECT_EQ(error.hint(), "did you mean 'llvm'?");
}

TEST(Error, NoHintLeavesTheMessageAlone) {
  EXPECT_STREQ(UserError("k must be positive").what(), "k must be positive");
  EXPECT_STREQ(WorkError("every trial failed").what(), "every trial failed");
}

TEST(Error, WhatIsOneLineHoweverTheMessageWasMade) {
  const UserError error("cannot split\n  axis y of 7\n", "use\r\na divisor");
  EXPECT_STREQ(error.what(), "cannot split axis y of 7 (hint: use a divisor)");
  EXPECT_EQ(error.message(), "cannot split\n  axis y of 7\n");
}

TEST(Error, AnExcerptKeepsItsLines) {
  const UserError error("line 1 column 3: no such\ntensor", "give it a shape", "  a+b\n    ^");
  EXPECT_STREQ(error.what(), "line 1 column 3: no such tensor (hint: give it a shape)\n  a+b\n    ^");
  EXPECT_EQ(error.excerpt(), "  a+b\n    ^");
}

TEST(Error, DeviceErrorIsWorkError) {
  try {
    throw DeviceError("the device is gone", "plug it in");
  } catch (const WorkError& error) {
    EXPECT_STREQ(error.what(), "the device is gone (hint: plug it in)");
    return;
  }
  FAIL() << "not caught as WorkError";
}

TEST(Error, InternalErrorTellsPlaceConditionAndExcerpt) {
  const int line = __LINE__ + 2;
  try {
    TENSMITH_ICHECK(1 + 1 == 3, "arithmetic broke");
    FAIL() << "not thrown";
  } catch (const InternalError& error) {
    const std::string what = error.what();
    EXPECT_NE(what.find("error_test.cpp:" + std::to_string(line)), std::string::npos) << what;
    EXPECT_NE(what.find("arithmetic broke (1 + 1 == 3)"), std::string::npos) << what;
  }
  EXPECT_STREQ(InternalError("pass.cpp", 7, "lost an axis", "for y in 4").what(),
               "internal error at pass.cpp:7: lost an axis\nfor y in 4");
}

TEST(Error, CheckEvaluatesItsMessageOnlyOnFailure) {
  int made = 0;
  const auto message = [&] {
    ++made;
    return std::string("message");
  };
  TENSMITH_ICHECK(true, message());
  EXPECT_EQ(made, 0);
  EXPECT_THROW(TENSMITH_ICHECK(false, message()), InternalError);
  EXPECT_EQ(made, 1);
  EXPECT_THROW(TENSMITH_UNREACHABLE("here"), InternalError);
}

}  // namespace
}  // namespace tensmith
