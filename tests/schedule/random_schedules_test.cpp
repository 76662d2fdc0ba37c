#include <gtest/gtest.h>

#include "schedule/check.h"
#include "schedule/programs.h"

/// Random primitives on random small programs: what is refused leaves the schedule as it was, and what is accepted
/// computes what the definition says.

namespace tensmith::testing {
namespace {

class RandomSchedule {
 public:
  RandomSchedule(const Program& program, uint64_t seed) : s_(program), rng_(seed) {}

  Schedule make(int attempts) {
    for (int i = 0; i < attempts; ++i) {
      // Stages are added first, loops are shaped next, annotations come last; with some disorder.
      const double at = rng_.bernoulli(0.2) ? rng_.uniform_real() : static_cast<double>(i) / attempts;
      const std::string before = s_.describe();
      const size_t trace = s_.trace().size();
      try {
        at < 0.25 ? add_stage() : at < 0.85 ? shape() : annotate();
        ++accepted;
      } catch (const ScheduleError&) {
        EXPECT_EQ(s_.describe(), before);
        EXPECT_EQ(s_.trace().size(), trace);
        ++refused;
      }
    }
    return s_;
  }

  int accepted = 0;
  int refused = 0;

 private:
  StageId stage() { return static_cast<StageId>(rng_.uniform_int(uint64_t{s_.stage_count()})); }
  AxisId loop(StageId id) {
    const auto& leaves = s_.stage(id).leaves;
    if (leaves.empty()) return {id, 0};
    return {id, leaves[rng_.uniform_int(uint64_t{leaves.size()})]};
  }
  MemoryScope scope() { return rng_.bernoulli(0.5) ? MemoryScope::kLocal : MemoryScope::kGlobal; }

  void add_stage() {
    const StageId id = stage();
    switch (rng_.uniform_int(uint64_t{6})) {
      case 0: s_.cache_read(id, scope()); break;
      case 1: s_.cache_write(id, scope()); break;
      case 2: {
        const AxisId axis = loop(id);
        if (!s_.stage(id).input && s_.at(axis).reduce) {
          s_.rfactor(axis, static_cast<int>(rng_.uniform_int(uint64_t{s_.tensor(id)->axes.size() + 1})));
        } else {
          s_.rfactor(axis);
        }
        break;
      }
      case 3:
      case 4: {
        const auto shape = s_.tensor(id)->buffer->shape;
        std::vector<LayoutDim> layout;
        for (size_t d = 0; d < shape.size(); ++d) {
          const int axis = static_cast<int>(d);
          if (rng_.bernoulli(0.5)) {
            const int64_t factor = rng_.uniform_int(1, std::max<int64_t>(shape[d], 1));
            layout.push_back({axis, factor, 0});
            layout.push_back({axis, 1, factor});
          } else {
            layout.push_back({axis, 1, 0});
          }
        }
        rng_.shuffle(layout);
        s_.layout_transform(id, layout, rng_.bernoulli(0.3) ? PackWhen::kAhead : PackWhen::kInside);
        break;
      }
      default: s_.compute_inline(id); break;
    }
  }

  void shape() {
    const StageId id = stage();
    const AxisId axis = loop(id);
    const int64_t extent = s_.stage(id).input ? 1 : s_.at(axis).extent;
    switch (rng_.uniform_int(uint64_t{10})) {
      case 0:
      case 1:
      case 2: s_.split(axis, rng_.uniform_int(1, std::min<int64_t>(extent + 1, 6))); break;
      case 3: s_.split_nparts(axis, rng_.uniform_int(1, std::min<int64_t>(extent + 1, 4))); break;
      case 4:
      case 5: {
        const int place = s_.loop_position(axis);
        const auto loops = s_.loops(id);
        s_.fuse(axis, loops.empty() ? axis : loops[(place + 1) % loops.size()]);
        break;
      }
      case 6:
      case 7: {
        std::vector<AxisId> order = s_.loops(id);
        rng_.shuffle(order);
        order.resize(rng_.uniform_int(uint64_t{order.size() + 1}));
        s_.reorder(order);
        break;
      }
      default: s_.compute_at(id, loop(stage())); break;
    }
  }

  void annotate() {
    const StageId id = stage();
    const AxisId axis = loop(id);
    switch (rng_.uniform_int(uint64_t{7})) {
      case 0: s_.unroll(axis); break;
      case 1: s_.vectorize(s_.stage(id).leaves.empty() ? axis : AxisId{id, s_.stage(id).leaves.back()}); break;
      case 2: s_.parallel(axis); break;
      case 3: s_.set_scope(id, MemoryScope::kLocal); break;
      case 4: s_.compute_at(id, loop(stage())); break;
      case 5: s_.compute_root(id); break;
      default: {
        const auto& reads = s_.stage(id).reads;
        const StageId tensor = reads.empty() ? id : reads[rng_.uniform_int(uint64_t{reads.size()})];
        s_.prefetch(id, tensor, axis, loop(rng_.bernoulli(0.5) ? id : s_.stage(id).at.stage), rng_.uniform_int(0, 2),
                    2);
        break;
      }
    }
  }

  Schedule s_;
  Rng rng_;
};

Program program_of(uint64_t seed) {
  Rng rng(seed);
  auto small = [&](int64_t low, int64_t high) { return rng.uniform_int(low, high); };
  switch (seed % 4) {
    case 0: return matmul(small(1, 9), small(1, 9), small(1, 9)).program;
    case 1: return chain(small(1, 9), small(1, 9)).program;
    default: {
      ConvShape z;
      z.n = small(1, 2), z.c = small(1, 4), z.h = small(3, 7), z.w = small(3, 7), z.k = small(1, 5);
      z.r = small(1, 3), z.s = small(1, 3);
      z.stride_h = small(1, 2), z.stride_w = small(1, 2);
      if (z.h > 4 && z.w > 4) z.dilation_h = small(1, 2), z.dilation_w = small(1, 2);
      z.top = small(0, 2), z.left = small(0, 2), z.bottom = small(0, 2), z.right = small(0, 2);
      return conv2d(z, seed % 4 == 3).program;
    }
  }
}

void try_seeds(uint64_t first, uint64_t count) {
  int accepted = 0;
  int refused = 0;
  for (uint64_t seed = first; seed < first + count && !::testing::Test::HasFatalFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Arena arena;
    const ArenaScope scope(arena);
    const Program program = program_of(seed);
    RandomSchedule random(program, seed);
    const Schedule s = random.make(40);
    accepted += random.accepted;
    refused += random.refused;
    expect_same_as_definition(s, {.drop_unit_loops = seed % 3 == 0}, seed, 30000);
    // The same again from its text.
    const std::string trace = print_trace(s);
    const Schedule again = replay_trace(program, trace);
    ASSERT_EQ(print_trace(again), trace);
    ASSERT_EQ(to_string(build_loop_nest(again, "main")), to_string(build_loop_nest(s, "main")));
  }
  EXPECT_GT(accepted, static_cast<int>(count) * 5);
  EXPECT_GT(refused, 0);
}

TEST(RandomSchedules, ComputeWhatTheDefinitionSays) {
  const char* more = std::getenv("TENSMITH_RANDOM_SCHEDULES");
  try_seeds(1, more != nullptr ? std::strtoull(more, nullptr, 10) : 1000);
}

}  // namespace
}  // namespace tensmith::testing
