#include "tensmith/ir/arena.h"

#include <gtest/gtest.h>

#include <thread>

#include "tensmith/ir/ir.h"

namespace tensmith {
namespace {

TEST(Arena, AlignsAndGrows) {
  Arena arena;
  for (size_t align : {1, 2, 4, 8, 16, 64}) {
    for (size_t bytes : {1, 3, 100, 40'000, 5'000'000}) {
      auto* p = static_cast<std::byte*>(arena.allocate(bytes, align));
      EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % align, 0u);
      p[0] = std::byte(1);
      p[bytes - 1] = std::byte(2);
    }
  }
  EXPECT_GT(arena.capacity(), 30'000'000u);
}

TEST(Arena, ResetReusesMemory) {
  Arena arena;
  const auto fill = [&] {
    for (int i = 0; i < 1000; ++i) {
      auto* p = static_cast<int*>(arena.allocate(1000, 8));
      p[0] = i;
      p[249] = i;
    }
  };
  fill();
  const size_t held = arena.capacity();
  for (int round = 0; round < 20; ++round) {
    arena.reset();
    fill();
  }
  EXPECT_EQ(arena.capacity(), held);
}

TEST(Arena, ChunksTooSmallForARequestAreSkipped) {
  Arena arena;
  arena.allocate(10, 1);
  arena.allocate(1'000'000, 1);
  arena.reset();
  auto* p = static_cast<std::byte*>(arena.allocate(900'000, 8));
  p[899'999] = std::byte(1);
  EXPECT_LT(arena.capacity(), 2'500'000u);
}

TEST(Arena, ScopesNest) {
  Arena outer;
  Arena inner;
  Arena& before = Arena::current();
  {
    const ArenaScope a(outer);
    EXPECT_EQ(&Arena::current(), &outer);
    {
      const ArenaScope b(inner);
      EXPECT_EQ(&Arena::current(), &inner);
    }
    EXPECT_EQ(&Arena::current(), &outer);
  }
  EXPECT_EQ(&Arena::current(), &before);
}

TEST(Arena, NodesMadeOutsideAScopeOutliveTheirThread) {
  Expr made;
  std::thread([&] { made = make_var("from_thread"); }).join();
  EXPECT_EQ(made.as<Var>()->name, "from_thread");
  // The next thread goes on in the same arena and must not write over it.
  std::thread([&] {
    for (int i = 0; i < 100; ++i) make_var("other");
  }).join();
  EXPECT_EQ(made.as<Var>()->name, "from_thread");
}

TEST(Arena, ThreadsHaveArenasOfTheirOwn) {
  Arena* mine = &Arena::current();
  Arena* theirs = nullptr;
  std::thread([&] { theirs = &Arena::current(); }).join();
  EXPECT_NE(mine, theirs);
}

#ifdef TENSMITH_ARENA_POISON
TEST(ArenaDeathTest, StaleHandleIsCaught) {
  Arena arena;
  Expr stale;
  {
    const ArenaScope scope(arena);
    stale = make_index(3);
  }
  arena.reset();
  EXPECT_DEATH({ [[maybe_unused]] volatile int64_t value = *as_const_int(stale); }, "use-after-poison");
}
#endif

TEST(Array, EmptyAndCopied) {
  EXPECT_TRUE(make_array(std::vector<int>()).empty());
  const Array<int> a = make_array({1, 2, 3});
  EXPECT_EQ(a.size(), 3u);
  EXPECT_EQ(a.back(), 3);
  EXPECT_EQ(std::vector<int>(a.begin(), a.end()), (std::vector<int>{1, 2, 3}));
}

TEST(ArenaString, Copies) {
  std::string text = "hello";
  const std::string_view copy = arena_string(text);
  text = "other";
  EXPECT_EQ(copy, "hello");
  EXPECT_EQ(arena_string(""), "");
}

}  // namespace
}  // namespace tensmith
