#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "tensmith/runtime/runtime.h"

namespace {

TEST(Memory, EveryBlockIsAlignedAndWritable) {
  for (const std::size_t bytes : {1, 3, 63, 64, 65, 4096, 100000}) {
    void* pointer = tensmith_alloc(bytes);
    ASSERT_NE(pointer, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pointer) % TENSMITH_ALIGNMENT, 0u) << bytes;
    std::memset(pointer, 0xab, bytes);
    tensmith_free(pointer);
  }
}

TEST(Memory, ZeroBytesGiveDistinctPointers) {
  void* first = tensmith_alloc(0);
  void* second = tensmith_alloc(0);
  EXPECT_NE(first, nullptr);
  EXPECT_NE(first, second);
  tensmith_free(first);
  tensmith_free(second);
}

TEST(Memory, SizesThatCannotBeRoundedUpGiveNull) {
  EXPECT_EQ(tensmith_alloc(SIZE_MAX), nullptr);
  EXPECT_EQ(tensmith_alloc(SIZE_MAX - TENSMITH_ALIGNMENT + 1), nullptr);
}

TEST(Memory, FreeingNullIsAllowed) { tensmith_free(nullptr); }

TEST(Status, EveryValueHasItsOwnText) {
  for (int a = TENSMITH_OK; a <= TENSMITH_DEVICE_FAILED; ++a) {
    EXPECT_STRNE(tensmith_status_text(a), "unknown status");
    for (int b = a + 1; b <= TENSMITH_DEVICE_FAILED; ++b) {
      EXPECT_STRNE(tensmith_status_text(a), tensmith_status_text(b));
    }
  }
  EXPECT_STREQ(tensmith_status_text(-1), "unknown status");
  EXPECT_STREQ(tensmith_status_text(TENSMITH_DEVICE_FAILED + 1), "unknown status");
}

}  // namespace
