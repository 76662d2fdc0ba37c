#include <gtest/gtest.h>

#include <cstdlib>

#include "schedule/check.h"
#include "schedule/random_schedule.h"

/// Random primitives on random small programs: what is refused leaves the schedule as it was, and what is accepted
/// computes what the definition says, after each pass.

namespace tensmith::testing {
namespace {

void try_seeds(uint64_t first, uint64_t count) {
  int accepted = 0, refused = 0, given_up = 0, unfit = 0, tensorized = 0;
  for (uint64_t seed = first; seed < first + count && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Arena arena;
    const ArenaScope scope(arena);
    const Program program = random_program(seed);
    RandomSchedule random(program, seed);
    const Schedule s = random.make(40);
    EXPECT_EQ(random.broken, "");
    accepted += random.accepted;
    refused += random.refused;
    try {
      given_up += !expect_passes_keep_the_values(s, seed, 30000);
    } catch (const ScheduleError& error) {
      // Extents may shrink after tensorize.
      EXPECT_EQ(error.message().rfind("tensorize '", 0), 0u) << error.message();
      ++unfit;
      continue;
    }
    if (seed % 3 == 0) {
      Oracle oracle(program, seed);
      oracle.expect(s, build_loop_nest(s, "main", {.drop_unit_loops = true}), build_pack_functions(s),
                    {.track_uninitialized = true, .max_iterations = 30000});
    }
    // The same again from its text.
    const std::string trace = print_trace(s);
    tensorized += trace.find("tensorize") != std::string::npos;
    const Schedule again = replay_trace(program, trace);
    ASSERT_EQ(print_trace(again), trace);
    ASSERT_EQ(to_string(build_loop_nest(again, "main")), to_string(build_loop_nest(s, "main")));
  }
  EXPECT_GT(accepted, static_cast<int>(count) * 5);
  EXPECT_GT(refused, 0);
  EXPECT_GT(tensorized, 0);
  EXPECT_LT(given_up, static_cast<int>(count) / 10);
  EXPECT_LT(unfit, static_cast<int>(count) / 20);
}

TEST(RandomSchedules, ComputeWhatTheDefinitionSaysAfterEachPass) {
  const char* more = std::getenv("TENSMITH_RANDOM_SCHEDULES");
  try_seeds(1, more != nullptr ? std::strtoull(more, nullptr, 10) : 400);
}

}  // namespace
}  // namespace tensmith::testing
