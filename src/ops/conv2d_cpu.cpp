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

constexpr int64_t kBlock = 16;
constexpr std::array<std::string_view, 2> kOuterOrders = {"kh", "hk"};
constexpr std::array<std::string_view, 4> kInnerOrders = {"khw", "hkw", "hwk", "kwh"};
constexpr std::array<std::string_view, 2> kReduceOrders = {"crs", "rsc"};
constexpr std::array<std::string_view, 2> kPadModes = {"skip", "copy"};

/// Positions of the knobs in the space; -1 where the workload has no use for one.
struct Knobs {
  int nv, tile_oh, tile_ow, oc_chunk, row_chunk, outer_order, inner_order, reduce_order, unroll_c;
  int unroll_s = -1, pad = -1, prefetch_l1 = -1, prefetch_l2 = -1, parallel = -1;
};

/// A config's choices, by meaning.
struct Choice {
  int64_t nv, tile_oh, tile_ow, oc_chunk, row_chunk, outer_order, inner_order, reduce_order, unroll_c;
  bool unroll_s, copy_pad, prefetch_l1, prefetch_l2;
  int64_t parallel;
};

/// What the schedules of all configs share.
class Conv2dTemplate {
 public:
  Conv2dTemplate(const Conv2d& conv, const Target& target, int threads)
      : conv_(conv), stages_(make_conv2d(conv)), target_(target), threads_(threads) {
    lanes_ = std::min<int64_t>(target.lanes(conv.type.bits), floor_power_of_two(conv.k));
    channel_extent_ = conv.data_blocked() ? kBlock : conv.c;
  }

  void fill(Task& task) {
    ConfigSpace& space = task.space;
    const int64_t registers = target_.vector_registers;
    knobs_.nv = space.add(vectors_knob());
    knobs_.tile_oh = space.add(clamped_knob("tile_oh", {1, 2, 3, 4, 7}, conv_.out_h()));
    knobs_.tile_ow = space.add(clamped_knob("tile_ow", {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 28}, conv_.out_w()));
    knobs_.oc_chunk = space.add(chunk_knob("oc_chunk", {1, 2, 4, 8}, ceil_div(conv_.k, lanes_)));
    knobs_.row_chunk = space.add(chunk_knob("row_chunk", {1, 2, 4, 7, 14}, conv_.out_h()));
    knobs_.outer_order = space.add(enum_knob("outer_order", kOuterOrders));
    knobs_.inner_order = space.add(enum_knob("inner_order", kInnerOrders));
    knobs_.reduce_order = space.add(enum_knob("reduce_order", kReduceOrders));
    knobs_.unroll_c = space.add(clamped_knob("unroll_c", {1, 2, 3, 4, 8, 16}, channel_extent_));
    if (conv_.s > 1) {
      knobs_.unroll_s = space.add(bool_knob("unroll_s"));
    }
    if (stages_.pad) {
      knobs_.pad = space.add(enum_knob("pad", kPadModes));
    }
    knobs_.prefetch_l1 = space.add(bool_knob("prefetch_l1"));
    knobs_.prefetch_l2 = space.add(bool_knob("prefetch_l2"));
    if (threads_ > 1) {
      const int64_t loops[] = {1, 2};
      knobs_.parallel = space.add(int_knob("parallel", loops));
    }
    const Knobs knobs = knobs_;
    space.add_constraint("the register tile needs more accumulators than there are vector registers",
                         [knobs, registers](const ConfigSpace& s, const Config& c) {
                           return s.get(c, knobs.nv) * s.get(c, knobs.tile_oh) * s.get(c, knobs.tile_ow) < registers;
                         });
    space.add_constraint("the unrolled body is too large",
                         [knobs, taps = conv_.s](const ConfigSpace& s, const Config& c) {
                           constexpr int64_t kMaxMultiplyAdds = 2048;
                           const int64_t columns = knobs.unroll_s >= 0 && s.get(c, knobs.unroll_s) != 0 ? taps : 1;
                           return s.get(c, knobs.nv) * s.get(c, knobs.tile_oh) * s.get(c, knobs.tile_ow) *
                                      s.get(c, knobs.unroll_c) * columns <=
                                  kMaxMultiplyAdds;
                         });
    task.default_config = default_config(space);
  }

  Schedule instantiate(const ConfigSpace& space, const Config& config) const { return schedule(read(space, config)); }

 private:
  Knob vectors_knob() const {
    std::vector<int64_t> choices;
    for (int64_t nv : {1, 2, 3, 4, 6}) {
      const int64_t tile = nv * lanes_;
      const bool fits_block = !conv_.out_blocked() || tile % kBlock == 0 || kBlock % tile == 0;
      if (tile <= round_up(conv_.k, lanes_) && fits_block && (nv == 1 || tile <= conv_.k)) {
        choices.push_back(nv);
      }
    }
    return int_knob("nv", choices);
  }

  Choice read(const ConfigSpace& s, const Config& c) const {
    const auto flag = [&](int knob) { return knob >= 0 && s.get(c, knob) != 0; };
    return {s.get(c, knobs_.nv),
            s.get(c, knobs_.tile_oh),
            s.get(c, knobs_.tile_ow),
            s.get(c, knobs_.oc_chunk),
            s.get(c, knobs_.row_chunk),
            s.get(c, knobs_.outer_order),
            s.get(c, knobs_.inner_order),
            s.get(c, knobs_.reduce_order),
            s.get(c, knobs_.unroll_c),
            flag(knobs_.unroll_s),
            flag(knobs_.pad),
            flag(knobs_.prefetch_l1),
            flag(knobs_.prefetch_l2),
            knobs_.parallel >= 0 ? s.get(c, knobs_.parallel) : 0};
  }

  /// The register tile with the least estimated time over the whole output, and neutral choices elsewhere.
  Config default_config(const ConfigSpace& space) const {
    Config best = space.at(0);
    double best_cycles = std::numeric_limits<double>::infinity();
    Config candidate = best;
    const auto each = [&](int knob, auto&& body) {
      for (size_t i = 0; i < space.knobs()[knob].choices.size(); ++i) {
        candidate.choices[knob] = static_cast<uint16_t>(i);
        body(space.get(candidate, knob));
      }
    };
    each(knobs_.nv, [&](int64_t nv) {
      each(knobs_.tile_oh, [&](int64_t oh) {
        each(knobs_.tile_ow, [&](int64_t ow) {
          const RegisterTile tile{oh * ow, nv};
          if (!space.valid(candidate) || registers_needed(tile, target_) > target_.vector_registers) {
            return;
          }
          const double cycles = static_cast<double>(ceil_div(conv_.k, nv * lanes_)) * plane_cycles(oh, ow, nv);
          if (cycles < best_cycles) {
            best_cycles = cycles;
            best = candidate;
          }
        });
      });
    });
    choose(space, best, knobs_.oc_chunk, 1);
    choose(space, best, knobs_.row_chunk, 0);
    choose(space, best, knobs_.unroll_c, conv_.data_blocked() ? 4 : std::min<int64_t>(channel_extent_, 4));
    choose(space, best, knobs_.reduce_order, channel_extent_ < 8 ? 1 : 0);
    if (threads_ > 1) choose_parallel(space, best);
    return best;
  }

  /// Enough iterations of the parallel loop for all threads: channel tiles alone, or with chunks of rows, the largest
  /// that will do.
  void choose_parallel(const ConfigSpace& space, Config& config) const {
    const int64_t channel_tiles = conv_.n * ceil_div(conv_.k, space.get(config, knobs_.nv) * lanes_);
    const int64_t rows = ceil_div(conv_.out_h(), space.get(config, knobs_.tile_oh));
    const Config fewest = config;
    double best = 0.0;
    const auto consider = [&](int64_t loops, int64_t chunk, int64_t iterations) {
      if (best >= kGoodBalance || balance(iterations, threads_) <= best) return;
      best = balance(iterations, threads_);
      config = fewest;
      choose(space, config, knobs_.parallel, loops);
      choose(space, config, knobs_.row_chunk, chunk);
    };
    consider(1, 0, channel_tiles);
    const auto& chunks = space.knobs()[knobs_.row_chunk].choices;
    for (size_t i = chunks.size(); i-- > 0;) {
      const int64_t chunk = chunks[i].value();
      if (chunk != 0) consider(2, chunk, channel_tiles * ceil_div(rows, chunk));
    }
  }

  /// Cycles of one output plane for one step of the reduction.
  double plane_cycles(int64_t oh, int64_t ow, int64_t nv) const {
    const auto row = [&](int64_t rows) {
      const int64_t rest = conv_.out_w() % ow;
      return static_cast<double>(conv_.out_w() / ow) * step_cycles({rows * ow, nv}, target_) +
             (rest > 0 ? step_cycles({rows * rest, nv}, target_) : 0.0);
    };
    const int64_t rest = conv_.out_h() % oh;
    return static_cast<double>(conv_.out_h() / oh) * row(oh) + (rest > 0 ? row(rest) : 0.0);
  }

  /// Loops of the output stage around and inside the register tile.
  struct OutLoops {
    AxisId n, k_tile, oh, ow;      ///< k_tile: one iteration a channel tile
    ArenaVector<AxisId> channels;  ///< inside the tile: all but the last unrolled, the last vectorized
  };

  Schedule schedule(const Choice& choice) const {
    Schedule s(stages_.program);
    const StageId out = s.stage_of(stages_.out);
    const StageId conv = s.stage_of(stages_.conv);
    const int64_t tile = choice.nv * lanes_;

    const StageId weights = pack_weights(s, tile);
    if (stages_.pad) {
      place_padding(s, choice.copy_pad);
    }
    // Without this cache stage a tile that is read back in another order would live in memory during the reduction.
    const StageId sums = conv_.out_blocked() ? conv : s.cache_write(conv, MemoryScope::kLocal);

    const OutLoops loops = split_output(s, out, tile);
    const auto [oh, ohi] = s.split(loops.oh, choice.tile_oh);
    const auto [ow, owi] = s.split(loops.ow, choice.tile_ow);
    const auto [k_outer, k] = split_chunk(s, loops.k_tile, choice.oc_chunk);
    const auto [h_outer, h] = split_chunk(s, oh, choice.row_chunk);

    ArenaVector<AxisId> order{loops.n};
    for (char axis : kOuterOrders[static_cast<size_t>(choice.outer_order)]) {
      order.push_back(axis == 'k' ? k_outer : h_outer);
    }
    for (char axis : kInnerOrders[static_cast<size_t>(choice.inner_order)]) {
      order.push_back(axis == 'k' ? k : axis == 'h' ? h : ow);
    }
    const AxisId tile_loop = order.back();
    // The pixels of the tile stand inside its channels, but outside the lanes of a blocked output.
    const auto lanes = loops.channels.end() - (conv_.out_blocked() ? 1 : 0);
    ArenaVector<AxisId> inside(loops.channels.begin(), lanes);
    inside.push_back(ohi);
    inside.push_back(owi);
    inside.insert(inside.end(), lanes, loops.channels.end());
    order.insert(order.end(), inside.begin(), inside.end());
    s.reorder(order);
    annotate_tile(s, inside);

    s.set_scope(conv, MemoryScope::kLocal);
    s.compute_at(conv, out, tile_loop);
    if (sums != conv) {
      copy_sums(s, conv);
      s.compute_at(sums, out, tile_loop);
    }
    reduce_tile(s, sums, weights, choice, k);
    if (threads_ > 1) {
      AxisId outermost = s.fuse(order[0], order[1]);
      if (choice.parallel > 1) {
        outermost = s.fuse(outermost, order[2]);
      }
      s.parallel(outermost);
    }
    return s;
  }

  StageId pack_weights(Schedule& s, int64_t tile) const {
    ArenaVector<LayoutDim> layout{{0, tile, 0}};
    if (conv_.data_blocked()) {
      layout.insert(layout.end(), {{1, kBlock, 0}, {2, 1, 0}, {3, 1, 0}, {1, 1, kBlock}});
    } else {
      layout.insert(layout.end(), {{2, 1, 0}, {3, 1, 0}, {1, 1, 0}});
    }
    layout.push_back({0, 1, tile});
    return s.layout_transform(stages_.weights, layout,
                              conv_.weights == WeightsForm::kPacked ? PackWhen::kAhead : PackWhen::kInside);
  }

  void place_padding(Schedule& s, bool copy) const {
    const StageId pad = s.stage_of(stages_.pad);
    if (!copy) {
      s.compute_inline(pad);
      return;
    }
    const std::vector<AxisId> loops = s.loops(pad);
    const AxisId last = loops.back();
    const int64_t extent = s.at(last).extent;
    s.vectorize(extent > lanes_ ? s.split(last, lanes_).second : last);
    if (threads_ > 1) s.parallel(s.fuse(loops[0], loops[1]));
  }

  OutLoops split_output(Schedule& s, StageId out, int64_t tile) const {
    OutLoops loops;
    loops.n = s.axis(out, 0);
    loops.oh = s.axis(out, 2);
    loops.ow = s.axis(out, 3);
    if (!conv_.out_blocked()) {
      const auto [k, kt] = s.split(s.axis(out, 1), std::min(tile, conv_.k));
      loops.k_tile = k;
      loops.channels = {kt};
      return loops;
    }
    const AxisId kb = s.axis(out, 1);
    AxisId lane = s.axis(out, 4);
    if (tile >= kBlock) {
      const auto [k, kbi] = s.split(kb, tile / kBlock);
      loops.k_tile = k;
      loops.channels.push_back(kbi);
    } else {
      const auto [kio, kii] = s.split(lane, tile);
      s.reorder({kb, kio, loops.oh, loops.ow, kii});
      loops.k_tile = s.fuse(kb, kio);
      lane = kii;
    }
    if (s.at(lane).extent > lanes_) {
      const auto [vectors, in_vector] = s.split(lane, lanes_);
      loops.channels.push_back(vectors);
      lane = in_vector;
    }
    loops.channels.push_back(lane);
    return loops;
  }

  /// `chunk` iterations of a loop together; 0 means all of them.
  static std::pair<AxisId, AxisId> split_chunk(Schedule& s, AxisId loop, int64_t chunk) {
    const int64_t extent = s.at(loop).extent;
    return s.split(loop, chunk == 0 ? extent : std::min(chunk, extent));
  }

  void annotate_tile(Schedule& s, std::span<const AxisId> inside) const {
    if (!conv_.out_blocked()) {
      // Pixels are neighbours in memory here, channels are not.
      s.vectorize(inside.back());
      return;
    }
    for (AxisId axis : inside.first(inside.size() - 1)) {
      s.unroll(axis);
    }
    s.vectorize(inside.back());
  }

  /// The copy of finished sums into the tile that the output reads.
  void copy_sums(Schedule& s, StageId conv) const {
    const AxisId k = s.axis(conv, 3);
    const auto [vectors, lane] = s.split(k, lanes_);
    s.unroll(s.axis(conv, 1));
    s.unroll(s.axis(conv, 2));
    s.unroll(vectors);
    s.vectorize(lane);
  }

  void reduce_tile(Schedule& s, StageId sums, StageId weights, const Choice& choice, AxisId k_loop) const {
    const AxisId n = s.axis(sums, 0), oh = s.axis(sums, 1), ow = s.axis(sums, 2);
    const auto [vectors, lane] = s.split(s.axis(sums, 3), lanes_);
    const bool blocked = conv_.data_blocked();
    const AxisId r = s.reduce_axis(sums, 1), col = s.reduce_axis(sums, 2);
    const auto [c_outer, c_inner] = s.split(s.reduce_axis(sums, blocked ? 3 : 0), choice.unroll_c);
    const bool taps_inside = choice.reduce_order == 0;
    ArenaVector<AxisId> order;
    if (blocked) {
      // A block of channels stays inside the taps, so that the weights are read in the order of memory.
      const AxisId block = s.reduce_axis(sums, 0);
      order = taps_inside ? ArenaVector<AxisId>{block, r, col, c_outer, c_inner}
                          : ArenaVector<AxisId>{r, col, block, c_outer, c_inner};
    } else {
      order =
          taps_inside ? ArenaVector<AxisId>{c_outer, r, col, c_inner} : ArenaVector<AxisId>{r, col, c_outer, c_inner};
    }
    order.insert(order.end(), {n, oh, ow, vectors, lane});
    s.reorder(order);
    s.unroll(c_inner);
    for (AxisId axis : {n, oh, ow, vectors}) {
      s.unroll(axis);
    }
    s.vectorize(lane);
    if (choice.unroll_s) {
      s.unroll(col);
    }
    if (choice.prefetch_l1) {
      s.prefetch(sums, weights, c_outer, c_outer, 2, 3);
    }
    if (choice.prefetch_l2) {
      s.prefetch(sums, weights, c_outer, k_loop, 1, 2);
    }
  }

  Conv2d conv_;
  Conv2dStages stages_;
  Target target_;
  int threads_;
  int64_t lanes_;
  int64_t channel_extent_;
  Knobs knobs_{};
};

}  // namespace

Task make_conv2d_task(const Conv2d& conv, const Target& target, int threads) {
  Task task = begin_task({conv}, target, threads);
  const auto shared = std::make_shared<Conv2dTemplate>(conv, target, threads);
  shared->fill(task);
  task.instantiate = [shared, space = task.space](const Config& config) { return shared->instantiate(space, config); };
  return task;
}

}  // namespace tensmith
