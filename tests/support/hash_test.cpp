#include "tensmith/support/hash.h"

#include <gtest/gtest.h>

#include <bit>
#include <set>
#include <string>

namespace tensmith {
namespace {

// Golden values: a hash may stand in files, so a change here breaks compatibility.
TEST(Hash, ValuesAreFixedForever) {
  EXPECT_EQ(hash_mix(1), 0x5692161d100b05e5ULL);
  EXPECT_EQ(hash_combine(1, 2), 0x28d2f11facdefdadULL);
  EXPECT_EQ(hash_bytes(""), 0xe220a8397b1dcdafULL);
  EXPECT_EQ(hash_bytes("conv2d"), 0xadbb8f0d5e6f7772ULL);
  EXPECT_EQ(hash_bytes("conv2d:n=1,c=64,h=56"), 0x1052f9957c35dc74ULL);
  EXPECT_EQ(hash_double(1.5), 0xd6dab18e1392608aULL);
}

TEST(Hash, WorksAtCompileTime) {
  static_assert(hash_bytes("a") != hash_bytes("b"));
  static_assert(hash_combine(1, 2) != hash_combine(2, 1));
}

TEST(Hash, EveryLengthAndEveryByteCounts) {
  std::set<uint64_t> seen;
  for (size_t length = 0; length <= 40; ++length) {
    const std::string zeros(length, '\0');
    EXPECT_TRUE(seen.insert(hash_bytes(zeros)).second) << length;
    for (size_t at = 0; at < length; ++at) {
      std::string changed = zeros;
      changed[at] = '\x80';
      EXPECT_TRUE(seen.insert(hash_bytes(changed)).second) << length << " " << at;
    }
  }
}

TEST(Hash, SeedChangesTheHash) { EXPECT_NE(hash_bytes("abc", 1), hash_bytes("abc", 2)); }

TEST(Hash, OneInputBitChangesAboutHalfOfTheOutput) {
  int changed = 0;
  for (int bit = 0; bit < 64; ++bit) {
    changed += std::popcount(hash_combine(7, 12345) ^ hash_combine(7, 12345 ^ (1ULL << bit)));
    changed += std::popcount(hash_combine(7, 12345) ^ hash_combine(7 ^ (1ULL << bit), 12345));
  }
  EXPECT_NEAR(changed / 128.0, 32.0, 2.0);
}

TEST(Hash, EqualDoublesHashEqually) {
  EXPECT_EQ(hash_double(0.0), hash_double(-0.0));
  EXPECT_NE(hash_double(1.0), hash_double(-1.0));
}

}  // namespace
}  // namespace tensmith
