#include "costmodel/features/roles.h"

#include <cmath>

namespace tensmith {

namespace {

/// Small for accesses that come first among the reads.
int read_order(const NestContext& nest, const Touch& touch, int lane_level) {
  if (touch.gather) return 2;
  if (lane_level < 0) return 0;
  const double stride = std::abs(nest.context(touch, static_cast<size_t>(lane_level)).stride);
  return stride == 1 ? 0 : stride > 0 ? 1 : 3;
}

bool hotter(const StatementContext& a, const StatementContext& b) {
  const double flops_a = a.iterations * a.ops.total(), flops_b = b.iterations * b.ops.total();
  return flops_a != flops_b ? flops_a > flops_b : a.iterations > b.iterations;
}

}  // namespace

int vector_level_of(const NestContext& nest, const StatementContext& statement) {
  for (int level = statement.depth - 1; level >= 0; --level) {
    if (nest.loop_at(statement, static_cast<size_t>(level)).kind == LoopKind::kVectorized) return level;
  }
  return -1;
}

const Touch& stored_touch(const NestContext& nest, const StatementContext& statement) {
  for (uint32_t t = statement.first_touch; t < statement.end_touch; ++t) {
    if (nest.touches[t].kind != TouchKind::kLoad) return nest.touches[t];
  }
  return nest.touches[statement.first_touch];
}

Roles find_roles(const NestContext& nest) {
  Roles roles;
  for (const StatementContext& s : nest.statements) {
    if (!s.is_prefetch && (roles.main == nullptr || hotter(s, *roles.main))) roles.main = &s;
  }
  if (roles.main == nullptr) return roles;
  const StatementContext& main = *roles.main;
  roles.vector_level = vector_level_of(nest, main);
  roles.lane_level = roles.vector_level;
  for (int level = main.depth - 1; level >= 0 && roles.lane_level < 0; --level) {
    if (nest.loop_at(main, static_cast<size_t>(level)).length > 1) roles.lane_level = level;
  }
  const Touch& store = stored_touch(nest, main);
  roles.touch[static_cast<size_t>(Role::kStore)] = &store;

  const Touch* first = nullptr;
  const Touch* last = nullptr;
  int first_order = 0, last_order = 0;
  for (const Touch& t : nest.touches_of(main)) {
    if (&t == &store || t.buffer == store.buffer) continue;
    const int order = read_order(nest, t, roles.lane_level);
    if (first == nullptr || order < first_order) {
      first = &t;
      first_order = order;
    }
    if (last == nullptr || order >= last_order) {
      last = &t;
      last_order = order;
    }
  }
  roles.touch[static_cast<size_t>(Role::kRead0)] = first;
  // With all reads of one kind `last` is the last in the text; with one read there is no second.
  roles.touch[static_cast<size_t>(Role::kRead1)] = last == first ? nullptr : last;

  for (const StatementContext& s : nest.statements) {
    if (s.is_prefetch || &s == &main || stored_touch(nest, s).buffer == store.buffer) continue;
    if (roles.other == nullptr || hotter(s, *roles.other)) roles.other = &s;
  }
  if (roles.other != nullptr) roles.touch[static_cast<size_t>(Role::kOther)] = &stored_touch(nest, *roles.other);
  return roles;
}

}  // namespace tensmith
