#include "explore/sampling.h"

#include <gtest/gtest.h>

#include "explore/spaces.h"

namespace tensmith {
namespace {

using testing::make_space;
using testing::sum_of;

TEST(ValidSampler, ASmallSpaceIsExhaustedExactly) {
  ConfigSpace space = make_space(3, 5);
  space.add_constraint("even sum", [](const ConfigSpace&, const Config& c) { return sum_of(c) % 2 == 0; });
  ValidSampler sampler(space, Rng(1));
  IndexSet seen;
  while (const std::optional<Config> config = sampler.next_unseen(seen)) {
    EXPECT_TRUE(space.valid(*config));
    ASSERT_TRUE(seen.insert(space.index_of(*config)).second);
  }
  EXPECT_EQ(seen.size(), 63u);
  EXPECT_FALSE(sampler.next_unseen(seen));
}

TEST(ValidSampler, WhatWasPassedOverComesAgain) {
  ConfigSpace space = make_space(3, 5);
  space.add_constraint("even sum", [](const ConfigSpace&, const Config& c) { return sum_of(c) % 2 == 0; });
  ValidSampler sampler(space, Rng(1));
  IndexSet seen;
  for (size_t kept = 1; kept <= 63; ++kept) {
    // All that are left are drawn, and one of them is kept.
    IndexSet drawn = seen;
    std::optional<Config> last;
    while (const std::optional<Config> config = sampler.next_unseen(drawn)) {
      ASSERT_TRUE(space.valid(*config));
      drawn.insert(space.index_of(*config));
      last = config;
    }
    ASSERT_EQ(drawn.size(), 63u);
    seen.insert(space.index_of(*last));
  }
  EXPECT_FALSE(sampler.next_unseen(seen));
}

TEST(ValidSampler, NothingIsValid) {
  ConfigSpace space = make_space(3, 5);
  space.add_constraint("never", [](const ConfigSpace&, const Config&) { return false; });
  ValidSampler sampler(space, Rng(1));
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(sampler.next_unseen({}));
}

}  // namespace
}  // namespace tensmith
