#include <algorithm>
#include <array>
#include <limits>
#include <memory>

#include "ops/knobs.h"
#include "ops/stages.h"
#include "ops/tile_cost.h"
#include "tensmith/ops/templates.h"
#include "tensmith/support/error.h"

namespace tensmith {
namespace {

constexpr std::array<std::string_view, 2> kOrders = {"nkm", "mkn"};
constexpr std::array<std::string_view, 2> kInnerOrders = {"mn", "nm"};

struct Knobs {
  int tile_m, nv, mc, nc, kc, order, inner_order, pack_a, pack_b, unroll_k, prefetch_b, prefetch_c;
};

struct Choice {
  int64_t tile_m, nv, mc, nc, kc, order, inner_order;
  bool pack_a, pack_b;
  int64_t unroll_k, prefetch_b;
  bool prefetch_c;
};

class MatmulTemplate {
 public:
  MatmulTemplate(const Matmul& matmul, const Target& target, int threads)
      : matmul_(matmul), stages_(make_matmul(matmul)), target_(target), threads_(threads) {
    lanes_ = std::min<int64_t>(target.lanes(matmul.type.bits), floor_power_of_two(matmul.n));
  }

  void fill(Task& task) {
    ConfigSpace& space = task.space;
    knobs_.tile_m = space.add(clamped_knob("tile_m", {1, 2, 3, 4, 5, 6, 8, 10, 12, 14}, matmul_.m));
    knobs_.nv = space.add(clamped_knob("nv", {1, 2, 3, 4, 6}, ceil_div(matmul_.n, lanes_)));
    knobs_.mc = space.add(chunk_knob("mc", {32, 64, 128, 256, 512}, matmul_.m));
    knobs_.nc = space.add(chunk_knob("nc", {64, 128, 256, 512, 1024}, matmul_.n));
    knobs_.kc = space.add(chunk_knob("kc", {64, 128, 256, 512}, matmul_.k));
    knobs_.order = space.add(enum_knob("order", kOrders));
    knobs_.inner_order = space.add(enum_knob("inner_order", kInnerOrders));
    knobs_.pack_a = space.add(bool_knob("pack_a"));
    knobs_.pack_b = space.add(bool_knob("pack_b"));
    knobs_.unroll_k = space.add(clamped_knob("unroll_k", {1, 2, 4, 8, 16}, matmul_.k));
    const int64_t ahead[] = {0, 2, 4, 8};
    knobs_.prefetch_b = space.add(int_knob("prefetch_b", ahead));
    knobs_.prefetch_c = space.add(bool_knob("prefetch_c"));
    const Knobs knobs = knobs_;
    const int64_t registers = target_.vector_registers;
    space.add_constraint("the register tile needs more accumulators than there are vector registers",
                         [knobs, registers](const ConfigSpace& s, const Config& c) {
                           return s.get(c, knobs.nv) * s.get(c, knobs.tile_m) < registers;
                         });
    task.default_config = default_config(space);
  }

  Schedule instantiate(const ConfigSpace& s, const Config& c) const {
    const auto get = [&](int knob) { return s.get(c, knob); };
    return schedule({get(knobs_.tile_m), get(knobs_.nv), get(knobs_.mc), get(knobs_.nc), get(knobs_.kc),
                     get(knobs_.order), get(knobs_.inner_order), get(knobs_.pack_a) != 0, get(knobs_.pack_b) != 0,
                     get(knobs_.unroll_k), get(knobs_.prefetch_b), get(knobs_.prefetch_c) != 0});
  }

 private:
  Config default_config(const ConfigSpace& space) const {
    Config best = space.at(0);
    double best_cycles = std::numeric_limits<double>::infinity();
    Config candidate = best;
    for (size_t i = 0; i < space.knobs()[knobs_.tile_m].choices.size(); ++i) {
      for (size_t j = 0; j < space.knobs()[knobs_.nv].choices.size(); ++j) {
        candidate.choices[knobs_.tile_m] = static_cast<uint16_t>(i);
        candidate.choices[knobs_.nv] = static_cast<uint16_t>(j);
        const RegisterTile tile{space.get(candidate, knobs_.tile_m), space.get(candidate, knobs_.nv)};
        if (!space.valid(candidate) || registers_needed(tile, target_) > target_.vector_registers) {
          continue;
        }
        const int64_t rest = matmul_.m % tile.rows;
        const double rows = static_cast<double>(matmul_.m / tile.rows) * step_cycles(tile, target_) +
                            (rest > 0 ? step_cycles({rest, tile.vectors}, target_) : 0.0);
        const double cycles = rows * static_cast<double>(ceil_div(matmul_.n, tile.vectors * lanes_));
        if (cycles < best_cycles) {
          best_cycles = cycles;
          best = candidate;
        }
      }
    }
    choose(space, best, knobs_.pack_b, matmul_.m > 1 || matmul_.tb ? 1 : 0);
    choose(space, best, knobs_.pack_a, 0);
    choose(space, best, knobs_.unroll_k, 4);
    // A block of the packed operand takes half of L2.
    set_chunk(space, best, knobs_.kc, 512, matmul_.k);
    const int64_t depth = std::min<int64_t>(512, matmul_.k);
    const int64_t columns = target_.l2_bytes / 2 / std::max<int64_t>(1, depth * matmul_.type.element_bytes());
    set_chunk(space, best, knobs_.nc, std::max<int64_t>(columns, 64), matmul_.n);
    set_chunk(space, best, knobs_.mc, std::numeric_limits<int64_t>::max(), matmul_.m);
    if (threads_ > 1) choose_parallel(space, best);
    return best;
  }

  /// Enough iterations of the outermost loop for all threads: blocks of columns, or else of rows, the largest that will
  /// do.
  void choose_parallel(const ConfigSpace& space, Config& config) const {
    const Config first = config;
    double best = 0.0;
    const auto consider = [&](int64_t order, int knob, int64_t chunk, int64_t extent, int64_t tile) {
      const int64_t tiles = ceil_div(extent, tile);
      const int64_t together = chunk == 0 ? tiles : std::clamp<int64_t>(chunk / tile, 1, tiles);
      const double now = balance(ceil_div(tiles, together), threads_);
      if (best >= kGoodBalance || now <= best) return;
      best = now;
      config = first;
      choose(space, config, knobs_.order, order);
      choose(space, config, knob, chunk);
    };
    const auto consider_all = [&](int64_t order, int knob, int64_t extent, int64_t tile) {
      const int64_t now = space.get(first, knob);
      consider(order, knob, now, extent, tile);
      const auto& chunks = space.knobs()[knob].choices;
      for (size_t i = chunks.size(); i-- > 0;) {
        const int64_t chunk = chunks[i].value();
        if (chunk != 0 && (now == 0 || chunk < now)) consider(order, knob, chunk, extent, tile);
      }
    };
    consider_all(0, knobs_.nc, matmul_.n, space.get(first, knobs_.nv) * lanes_);
    consider_all(1, knobs_.mc, matmul_.m, space.get(first, knobs_.tile_m));
  }

  /// The largest listed chunk up to `value`, or "all" when the extent is that small.
  static void set_chunk(const ConfigSpace& space, Config& config, int knob, int64_t value, int64_t extent) {
    int64_t best = 0;
    for (const KnobValue& choice : space.knobs()[knob].choices) {
      if (choice.value() <= value && extent > value) {
        best = std::max(best, choice.value());
      }
    }
    choose(space, config, knob, best);
  }

  struct Operands {
    StageId a, b;
  };

  Schedule schedule(const Choice& choice) const {
    Schedule s(stages_.program);
    const int64_t tile_n = choice.nv * lanes_;
    const StageId out = s.stage_of(stages_.out);
    const StageId product = s.stage_of(stages_.product);
    const Operands operands = pack(s, choice, tile_n);

    // The stage that has the block loops, and the one whose accumulators stay in registers.
    const bool blocked_k = choice.kc != 0 && choice.kc < matmul_.k;
    const StageId host = blocked_k ? product : out;
    AxisId k_outer;
    StageId sums;
    if (blocked_k) {
      k_outer = s.split(s.reduce_axis(product, 0), choice.kc).first;
      sums = s.rfactor(k_outer);
      k_outer = s.reduce_axis(product, 0);
      s.set_scope(sums, MemoryScope::kLocal);
    } else if (host == product) {
      sums = s.cache_write(product, MemoryScope::kLocal);
    } else {
      sums = product;
      s.set_scope(sums, MemoryScope::kLocal);
    }

    const auto [m_tile, mi] = s.split(s.axis(host, 0), choice.tile_m);
    const auto [n_tile, ni] = s.split(s.axis(host, 1), std::min(tile_n, matmul_.n));
    const auto [m_outer, m] = split_chunk(s, m_tile, choice.mc, choice.tile_m);
    const auto [n_outer, n] = split_chunk(s, n_tile, choice.nc, tile_n);
    const auto [nv, lane] = split_lanes(s, ni);
    std::vector<AxisId> order;
    AxisId pack_a_at, pack_b_at;
    for (char axis : kOrders[static_cast<size_t>(choice.order)]) {
      if (axis == 'k' && !blocked_k) {
        continue;
      }
      order.push_back(axis == 'n' ? n_outer : axis == 'm' ? m_outer : k_outer);
      // A block is packed as soon as all the loops that choose it are open.
      if (axis != 'n') pack_a_at = order.back();
      if (axis != 'm') pack_b_at = order.back();
    }
    if (choice.inner_order == 0) {
      order.insert(order.end(), {m, n});
    } else {
      order.insert(order.end(), {n, m});
    }
    const AxisId tile_loop = order.back();
    order.push_back(mi);
    if (nv != lane) {
      order.push_back(nv);
    }
    order.push_back(lane);
    s.reorder(order);
    s.unroll(mi);
    if (nv != lane) {
      s.unroll(nv);
    }
    s.vectorize(lane);

    s.compute_at(sums, host, tile_loop);
    if (choice.pack_a) {
      s.compute_at(operands.a, host, pack_a_at);
    }
    if (choice.pack_b) {
      s.compute_at(operands.b, host, pack_b_at);
    }
    reduce_tile(s, sums, operands.b, choice, blocked_k);
    if (choice.prefetch_c) {
      s.prefetch(host, host, tile_loop, tile_loop, 0, 3);
    }
    if (threads_ > 1) {
      s.parallel(order.front());
    }
    if (host != out) {
      finish(s, out);
    }
    return s;
  }

  Operands pack(Schedule& s, const Choice& choice, int64_t tile_n) const {
    Operands operands{s.stage_of(stages_.a), s.stage_of(stages_.b)};
    if (choice.pack_a) {
      const int row = matmul_.ta ? 1 : 0;
      const LayoutDim layout[] = {{row, choice.tile_m, 0}, {1 - row, 1, 0}, {row, 1, choice.tile_m}};
      operands.a = s.layout_transform(stages_.a, layout, PackWhen::kInside);
      s.unroll(s.axis(operands.a, 2));
    }
    if (choice.pack_b) {
      const int column = matmul_.tb ? 0 : 1;
      const LayoutDim layout[] = {{column, tile_n, 0}, {1 - column, 1, 0}, {column, 1, tile_n}};
      operands.b = s.layout_transform(stages_.b, layout, PackWhen::kInside);
      const auto [vectors, lane] = split_lanes(s, s.axis(operands.b, 2));
      if (vectors != lane) {
        s.unroll(vectors);
      }
      s.vectorize(lane);
    }
    return operands;
  }

  void reduce_tile(Schedule& s, StageId sums, StageId b, const Choice& choice, bool blocked_k) const {
    const size_t first = blocked_k ? 1 : 0;  // rfactor put the block of k in front
    const AxisId rows = s.axis(sums, first);
    const auto [vectors, lane] = split_lanes(s, s.axis(sums, first + 1));
    const AxisId reduction = reduction_loop(s, sums);
    const auto [k_steps, k_unrolled] = s.split(reduction, std::min(choice.unroll_k, s.at(reduction).extent));
    std::vector<AxisId> order{k_steps, k_unrolled, rows};
    if (vectors != lane) {
      order.push_back(vectors);
    }
    order.push_back(lane);
    s.reorder(order);
    s.unroll(k_unrolled);
    s.unroll(rows);
    if (vectors != lane) {
      s.unroll(vectors);
    }
    s.vectorize(lane);
    if (choice.prefetch_b != 0) {
      s.prefetch(sums, b, k_steps, k_steps, choice.prefetch_b, 3);
    }
  }

  /// The one loop of a stage that reduces.
  static AxisId reduction_loop(const Schedule& s, StageId stage) {
    AxisId found;
    for (AxisId axis : s.loops(stage)) {
      if (s.at(axis).reduce) {
        found = axis;
      }
    }
    return found;
  }

  /// Block loop and tile loop of a dimension whose chunks are given in elements.
  static std::pair<AxisId, AxisId> split_chunk(Schedule& s, AxisId tiles, int64_t chunk, int64_t tile) {
    const int64_t extent = s.at(tiles).extent;
    return s.split(tiles, chunk == 0 ? extent : std::clamp<int64_t>(chunk / tile, 1, extent));
  }

  /// {vectors, lanes}; twice the same axis when it is one vector or less.
  std::pair<AxisId, AxisId> split_lanes(Schedule& s, AxisId axis) const {
    return s.at(axis).extent > lanes_ ? s.split(axis, lanes_) : std::pair(axis, axis);
  }

  /// The epilogue over a product that is complete in memory.
  void finish(Schedule& s, StageId out) const {
    const auto [vectors, lane] = split_lanes(s, s.axis(out, 1));
    s.vectorize(lane);
    if (threads_ > 1) {
      s.parallel(s.axis(out, 0));
    }
  }

  Matmul matmul_;
  MatmulStages stages_;
  Target target_;
  int threads_;
  int64_t lanes_;
  Knobs knobs_{};
};

}  // namespace

Task make_matmul_task(const Matmul& matmul, const Target& target, int threads) {
  Task task = begin_task({matmul}, target, threads);
  const auto shared = std::make_shared<MatmulTemplate>(matmul, target, threads);
  shared->fill(task);
  task.instantiate = [shared, space = task.space](const Config& config) { return shared->instantiate(space, config); };
  return task;
}

}  // namespace tensmith
