#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "schedule/programs.h"
#include "tensmith/schedule/schedule.h"
#include "tensmith/support/rng.h"

/// Random primitives on random small programs.

namespace tensmith::testing {

/// Applies primitives drawn from a seed; what is refused must leave the schedule as it was.
class RandomSchedule {
 public:
  RandomSchedule(const Program& program, uint64_t seed) : s_(program), rng_(seed) {}

  Schedule make(int attempts) {
    if (rng_.bernoulli(0.1)) attempt([&] { outer_product(); });
    for (int i = 0; i < attempts; ++i) {
      // Stages are added first, loops are shaped next, annotations come last; with some disorder.
      const double at = rng_.bernoulli(0.2) ? rng_.uniform_real() : static_cast<double>(i) / attempts;
      attempt([&] { at < 0.25 ? add_stage() : at < 0.8 ? shape() : annotate(); });
    }
    return s_;
  }

  int accepted = 0;
  int refused = 0;
  std::string broken;  ///< the first primitive that was refused and changed something

 private:
  template <typename F>
  void attempt(F&& primitive) {
    const std::string before = s_.describe();
    const size_t trace = s_.trace().size();
    try {
      primitive();
      ++accepted;
    } catch (const ScheduleError& error) {
      if ((s_.describe() != before && s_.trace().size() == trace) && broken.empty()) broken = error.message();
      ++refused;
    }
  }

  StageId stage() { return static_cast<StageId>(rng_.uniform_int(uint64_t{s_.stage_count()})); }
  AxisId loop(StageId id) {
    const auto& leaves = s_.stage(id).leaves;
    if (leaves.empty()) return {id, 0};
    return {id, leaves[rng_.uniform_int(uint64_t{leaves.size()})]};
  }
  MemoryScope scope() { return rng_.bernoulli(0.5) ? MemoryScope::kLocal : MemoryScope::kGlobal; }

  /// A tile of sums in registers, made of outer products.
  void outer_product() {
    const StageId out = s_.outputs()[0];
    const StageId sums = s_.cache_write(out, MemoryScope::kLocal);
    if (s_.tensor(out)->axes.size() < 2) return;
    const auto [yo, xo, yi, xi] = s_.tile(s_.axis(out, 0), s_.axis(out, 1), rng_.uniform_int(1, 4), 16);
    s_.compute_at(sums, xo);
    s_[sums].reorder({s_.reduce_axis(sums, 0), s_.axis(sums, 0), s_.axis(sums, 1)});
    s_.tensorize(s_.axis(sums, 0), TensorIntrinsic::kOuterProduct16F32);
  }

  void add_stage() {
    const StageId id = stage();
    switch (rng_.uniform_int(uint64_t{7})) {
      case 0: s_.cache_read(id, scope()); break;
      case 1: {
        std::vector<StageId> readers;
        for (StageId reader : s_.order()) {
          const auto& reads = s_.stage(reader).reads;
          if (std::find(reads.begin(), reads.end(), id) != reads.end() && rng_.bernoulli(0.5))
            readers.push_back(reader);
        }
        s_.cache_read(id, scope(), readers);
        break;
      }
      case 2: s_.cache_write(id, scope()); break;
      case 3: {
        const AxisId axis = loop(id);
        const bool reduction = !s_.stage(id).input && s_.at(axis).reduce;
        const uint64_t positions = reduction ? s_.tensor(id)->axes.size() + 1 : 1;
        s_.rfactor(axis, static_cast<int>(rng_.uniform_int(positions)));
        break;
      }
      case 4:
      case 5: {
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
    const auto after = [&] {
      const auto loops = s_.loops(id);
      return loops.empty() ? axis : loops[(s_.loop_position(axis) + 1) % loops.size()];
    };
    switch (rng_.uniform_int(uint64_t{11})) {
      case 0:
      case 1:
      case 2: s_.split(axis, rng_.uniform_int(1, std::min<int64_t>(extent + 1, 9))); break;
      case 3: s_.split_nparts(axis, rng_.uniform_int(1, std::min<int64_t>(extent + 1, 4))); break;
      case 4:
      case 5: s_.fuse(axis, after()); break;
      case 6: s_.tile(axis, after(), rng_.uniform_int(1, 4), rng_.uniform_int(1, 4)); break;
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
    switch (rng_.uniform_int(uint64_t{9})) {
      case 0: s_.unroll(axis); break;
      case 1:
      case 2: {
        std::vector<AxisId> order = s_.loops(id);
        if (!order.empty() && rng_.bernoulli(0.7)) {
          std::erase(order, axis);
          order.push_back(axis);
          s_.reorder(order);
        }
        s_.vectorize(order.empty() ? axis : order.back());
        break;
      }
      case 3: s_.parallel(axis); break;
      case 4: s_.set_scope(id, scope()); break;
      case 5: s_.compute_at(id, loop(stage())); break;
      case 6: s_.compute_root(id); break;
      case 7: s_.tensorize(axis, TensorIntrinsic::kOuterProduct16F32); break;
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

/// Operators with unusual indices, conditions and reductions, of any element type: A[n, m], B = 2 A + 1, C of both,
/// perhaps D = 3 C.
inline Program unusual_program(Rng& rng, DataType type) {
  const auto pick = [&](int64_t low, int64_t high) { return rng.uniform_int(low, high); };
  const auto number = [&](double x) { return make_const(type, x); };
  const int64_t n = pick(1, 20), m = pick(1, 7), f = pick(1, 6), g = pick(1, 5);
  const Tensor a = placeholder("A", {n, m}, type);
  const Tensor b = compute("B", {n, m}, [&](Axis i, Axis j) { return a(i, j) * number(2) + number(1); });
  const Axis k = reduce_axis("k", n), l = reduce_axis("l", m);
  Tensor c;
  switch (rng.uniform_int(uint64_t{8})) {
    case 0: c = compute("C", {n * m}, [&](Axis i) { return b(Expr(i) / m, Expr(i) % m); }); break;
    case 1:
      c = compute("C", {n * f, m * g},
                  [&](Axis i, Axis j) { return b(Expr(i) / f, Expr(j) / g) - a(Expr(i) / f, Expr(j) / g); });
      break;
    case 2:
      c = compute("C", {n, m, g}, [&](Axis i, Axis j, Axis o) {
        return b((Expr(i) * f + Expr(o) * 3 + 1) % n, (Expr(j) + Expr(i)) % m) + b(i, j);
      });
      break;
    case 3: {
      const bool most = rng.bernoulli(0.5);
      c = compute("C", {m, n}, [&](Axis i, Axis j) {
        const Expr outside = logical_or(Expr(k) < Expr(j) - 2, Expr(k) > Expr(j) + f);
        const Expr value = select(outside, number(-3), b(k, i));
        return most ? max(value, {k}) : min(value, {k});
      });
      break;
    }
    case 4:
      c = compute("C", {n, m},
                  [&](Axis i, Axis j) { return sum(select(Expr(k) <= Expr(i), b(k, j) * a(i, j), number(0)), k); });
      break;
    case 5:
      c = compute("C", {n, m}, [&](Axis i, Axis j) {
        return sum(select(max(Expr(k), Expr(i)) < f, select(b(k, j) > a(i, j), b(k, l), number(0)), number(0)), k, l);
      });
      break;
    case 6:
      c = compute("C", {f, g}, [&](Axis i, Axis j) {
        const Expr other = not_equal((Expr(k) + Expr(i)) % f, Expr(j) % f);
        return sum(select(logical_or(other, a(k, l) < number(0)), b(k, l), number(0)), k, l);
      });
      break;
    default:
      c = compute("C", {n + 3, m}, [&](Axis i, Axis j) {
        const Expr y = Expr(i) * f - g;
        const Expr inside = logical_and(y >= 0, y < n);
        return select(inside, b(make_index(n - 1) - y, make_index(m - 1) - Expr(j)), number(5));
      });
      break;
  }
  Tensor out = c;
  if (rng.bernoulli(0.5)) {
    const std::vector<int64_t> shape(c->buffer->shape.begin(), c->buffer->shape.end());
    out = compute("D", shape, [&](std::span<const Axis> i) {
      const std::vector<Expr> indices(i.begin(), i.end());
      return c.at(std::span<const Expr>(indices)) * number(3);
    });
  }
  return make_program(std::span(&out, 1));
}

inline Program random_program(uint64_t seed) {
  Rng rng(seed);
  const auto pick = [&](int64_t low, int64_t high) { return rng.uniform_int(low, high); };
  switch (seed % 8) {
    case 0: return matmul(pick(1, 9), rng.bernoulli(0.5) ? 16 : pick(1, 19), pick(1, 9)).program;
    case 1: return chain(pick(1, 9), pick(1, 19)).program;
    case 2:
    case 3: {
      ConvShape z;
      z.n = pick(1, 2), z.c = pick(1, 4), z.h = pick(3, 7), z.w = pick(3, 7), z.k = pick(1, 5);
      z.r = pick(1, 3), z.s = pick(1, 3);
      z.stride_h = pick(1, 2), z.stride_w = pick(1, 2);
      if (z.h > 4 && z.w > 4) z.dilation_h = pick(1, 2), z.dilation_w = pick(1, 2);
      z.top = pick(0, 2), z.left = pick(0, 2), z.bottom = pick(0, 2), z.right = pick(0, 2);
      return conv2d(z, seed % 8 == 3).program;
    }
    case 4: return unusual_program(rng, kFloat64);
    case 5: return unusual_program(rng, kInt32);
    default: return unusual_program(rng, kFloat32);
  }
}

}  // namespace tensmith::testing
