#include "explore/measure/guarded_buffer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

namespace tensmith {
namespace {

TEST(GuardedBuffer, IsAlignedAndHoldsItsBytes) {
  for (size_t bytes : {0u, 1u, 63u, 64u, 65u, 4096u, 5000u}) {
    GuardedBuffer buffer(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % 64, 0u);
    EXPECT_EQ(buffer.size(), bytes);
    std::memset(buffer.data(), 1, bytes);
    EXPECT_TRUE(buffer.intact()) << bytes;
  }
}

TEST(GuardedBuffer, SeesStoresJustOutside) {
  for (int offset : {-1, -64, 100}) {
    GuardedBuffer buffer(100);
    static_cast<char*>(buffer.data())[offset] = 0;
    EXPECT_FALSE(buffer.intact()) << offset;
  }
}

TEST(GuardedBuffer, WhatIsAroundItCanBeChanged) {
  GuardedBuffer buffer(100);
  const auto* bytes = static_cast<const std::byte*>(buffer.data());
  std::memset(buffer.data(), 1, 100);
  EXPECT_EQ(bytes[100], kSurroundings);
  buffer.surround(std::byte{7});
  EXPECT_EQ(bytes[100], std::byte{7});
  EXPECT_EQ(bytes[-1], std::byte{7});
  EXPECT_TRUE(buffer.intact());
  buffer.make_read_only();
  buffer.surround(std::byte{8});
  EXPECT_EQ(bytes[127], std::byte{8});
  EXPECT_TRUE(buffer.intact());
  EXPECT_EQ(bytes[99], std::byte{1});
}

TEST(GuardedBuffer, LargeOnesAreSurroundedToo) {
  for (const size_t bytes : {size_t{4032}, size_t{4096}, size_t{100000}}) {
    GuardedBuffer buffer(bytes);
    std::memset(buffer.data(), 1, bytes);
    buffer.make_read_only();
    buffer.surround(std::byte{7});
    EXPECT_EQ(static_cast<const std::byte*>(buffer.data())[-1], std::byte{7}) << bytes;
    EXPECT_EQ(static_cast<const std::byte*>(buffer.data())[bytes - 1], std::byte{1}) << bytes;
    EXPECT_TRUE(buffer.intact()) << bytes;
  }
}

TEST(GuardedBuffer, KnowsItsGuardPages) {
  const GuardedBuffer buffer(64);
  const auto start = reinterpret_cast<uintptr_t>(buffer.data());
  EXPECT_TRUE(buffer.owns(start));
  EXPECT_TRUE(buffer.owns(start + 64)) << "the page behind";
  EXPECT_TRUE(buffer.owns(start - 4096)) << "the page in front";
  EXPECT_FALSE(buffer.owns(start + (3 << 20)));
}

TEST(GuardedBufferDeathTest, FarStoresAndStoresToInputsFault) {
  GuardedBuffer buffer(64);
  auto* bytes = static_cast<volatile char*>(buffer.data());
  EXPECT_DEATH(bytes[64] = 1, "");
  buffer.make_read_only();
  EXPECT_DEATH(bytes[0] = 1, "");
  buffer.surround(std::byte{7});
  EXPECT_DEATH(bytes[0] = 1, "") << "it still is";
}

}  // namespace
}  // namespace tensmith
