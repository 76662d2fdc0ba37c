#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "schedule/nest_builder.h"
#include "tensmith/ir/visit.h"

/// Statements of prefetches and of tensorized nests.

namespace tensmith {

using Where = ScheduleStage::Where;

// ---- prefetch
// -----------------------------------------------------------------------------------------------------------

Stmt NestBuilder::emit_prefetch(StageId id, const SchedulePrefetch& prefetch, int position) {
  const ScheduleStage& s = schedule_->stage(id);
  const StagePlan& p = plans_[index_of(id)];
  const int depth = p.depth + position + 1;
  const StagePlan& target = plans_[index_of(prefetch.tensor)];
  const Buffer whole = schedule_->tensor(prefetch.tensor)->buffer;
  const size_t rank = whole->shape.size();

  // What one iteration touches: one region for all accesses that differ by constants.
  using Region = InlineVector<Dim, 8>;
  std::vector<Region> regions;
  auto merged = [&](Region& region, const Region& other) {
    for (size_t d = 0; d < rank; ++d) {
      if (pool_.add(other[d].min, region[d].min, -1).count != 0) return false;
    }
    for (size_t d = 0; d < rank; ++d) {
      const int64_t apart = pool_.add(other[d].min, region[d].min, -1).constant;
      const int64_t end = std::max(region[d].extent, apart + other[d].extent);
      if (apart < 0) region[d].min = other[d].min;
      region[d].extent = end - std::min<int64_t>(apart, 0);
    }
    return true;
  };
  auto touch = [&](auto&& index) {
    Region region;
    for (size_t d = 0; d < rank; ++d) {
      const LinearRegion r = pool_.region(index(d), depth);
      region.push_back({r.min, std::min(r.range, whole->shape[d]) + 1});
    }
    if (std::none_of(regions.begin(), regions.end(), [&](Region& other) { return merged(other, region); })) {
      regions.push_back(region);
    }
  };
  if (prefetch.tensor == id) {
    touch([&](size_t d) { return pool_.atom(p.dims[d]); });
  } else {
    walk(s.tensor->body, [&](Expr e) {
      const auto* load = e.as<Load>();
      if (load != nullptr && load->buffer == whole) touch([&](size_t d) { return linear(load->indices[d]); });
    });
  }
  const bool folded = schedule_->stage(prefetch.tensor).where == Where::kAt;
  const StagePlan& around = plans_[index_of(prefetch.shift.stage)];
  const int shift_position = schedule_->loop_position(prefetch.shift);
  const int32_t loop = around.loop_atoms[shift_position];
  std::vector<Stmt> parts;
  int64_t lines_left = Schedule::kMaxPrefetchLines;
  for (Region& region : regions) {
    for (size_t d = 0; d < rank; ++d) {
      Dim& dim = region[d];
      if (dim.extent >= whole->shape[d]) dim = {{}, whole->shape[d]};
      if (loop >= 0) dim.min = pool_.shift(dim.min, loop, prefetch.distance);
      if (folded) dim.min = pool_.add(dim.min, target.region[d].min, -1);
      dim.extent = std::min(dim.extent, target.buffer->shape[d]);
    }
    if (lines_left > 0) parts.push_back(prefetch_region(prefetch.tensor, region, prefetch.locality, lines_left));
  }
  return make_seq(parts);
}

/// Takes at most `lines_left` lines, and takes them off it.
Stmt NestBuilder::prefetch_region(StageId tensor, std::span<const Dim> region, int locality, int64_t& lines_left) {
  const Buffer buffer = plans_[index_of(tensor)].buffer;
  const int rank = static_cast<int>(region.size());
  const int64_t line = 64 / buffer->type.element_bytes();
  for (const Dim& dim : region) {
    if (dim.extent <= 0) return {};
  }
  // Dimension `run_dim` and those after it, which are whole, are one contiguous piece.
  int run_dim = rank - 1;
  int64_t inner = 1;
  while (run_dim > 0 && region[run_dim].extent == buffer->shape[run_dim] && region[run_dim].min.count == 0) {
    inner *= buffer->shape[run_dim--];
  }
  const int64_t run = rank == 0 ? 1 : region[run_dim].extent * inner;
  bool aligned = true;
  for (int d = 0; d < rank; ++d) {
    const int64_t stride = buffer_stride(buffer, d);
    aligned &= region[d].min.constant * stride % line == 0;
    for (const LinearPart& part : pool_.parts(pool_.expand(region[d].min))) aligned &= part.coef * stride % line == 0;
    aligned &= d >= run_dim || region[d].extent == 1 || stride % line == 0;
  }
  int64_t left = lines_left;
  const int64_t lines = std::min(left, aligned ? (run + line - 1) / line : (run + line - 2) / line + 1);
  left /= lines;

  struct Loop {
    VarRef var;
    int64_t extent;
  };
  InlineVector<Loop, 8> loops;
  auto loop_form = [&](int64_t extent) {
    if (extent == 1) return Linear{};
    loops.push_back({make_var("p"), extent});
    return pool_.atom(pool_.add_loop(loops.back().var, extent, INT32_MAX));
  };
  Indices indices;
  for (int d = 0; d < rank; ++d) indices.push_back({});
  int64_t total = lines;
  for (int d = run_dim; d-- > 0;) {
    const int64_t extent = std::min(region[d].extent, left);
    left /= extent;
    total *= extent;
    indices[d] = pool_.to_expr(pool_.add(region[d].min, loop_form(extent)));
  }
  lines_left -= total;
  std::reverse(loops.begin(), loops.end());
  Linear at = pool_.scale(loop_form(lines), line);
  for (int d = run_dim; d >= 0 && d < rank; ++d) {
    const Linear digit = pool_.div(at, inner);
    indices[d] = pool_.to_expr(pool_.add(region[d].min, digit));
    at = pool_.add(at, digit, -inner);
    if (d + 1 < rank) inner /= buffer->shape[d + 1];
  }
  Stmt body = make_prefetch(buffer, indices, locality);
  const LoopKind kind = total <= 8 ? LoopKind::kUnrolled : LoopKind::kSerial;
  for (size_t i = loops.size(); i-- > 0;) {
    body = make_for(loops[i].var, make_index(loops[i].extent), kind, body);
  }
  return body;
}

// ---- tensorize
// ----------------------------------------------------------------------------------------------------------

std::string NestBuilder::tensorize_problem(StageId id) {
  const StagePlan& p = plans_[index_of(id)];
  const ScheduleStage& s = schedule_->stage(id);
  if (!p.live) return "nothing reads the stage";
  int first_reduce = static_cast<int>(s.leaves.size());
  for (int i = first_reduce; i-- > 0;) {
    if (s.axes[s.leaves[i]].reduce) first_reduce = i;
  }
  Conditions conditions;
  for (const Guard& guard : p.guards) {
    conditions.push_back(guard_condition(guard, p));
  }
  current_ = id;
  std::string problem;
  update_of(id, first_reduce, conditions, &problem);
  return problem;
}

Stmt NestBuilder::emit_tensorized(StageId id, int position, ReduceOp op, Expr term, std::string& problem) {
  constexpr int kLanes = 16;
  const ScheduleStage& s = schedule_->stage(id);
  const StagePlan& p = plans_[index_of(id)];
  const int loops = static_cast<int>(s.leaves.size());
  auto loop_name = [&](int i) { return schedule_->axis_name({id, s.leaves[i]}); };
  if (op != ReduceOp::kSum || p.buffer->type != kFloat32) {
    problem = fmt::format("it is a {} of {}, not a sum of float32", to_string(op), to_string(p.buffer->type));
    return {};
  }
  if (loops - position > 2) {
    problem = fmt::format("{} loops from there inwards, not one or two", loops - position);
    return {};
  }
  for (int i = position; i < loops; ++i) {
    if (s.axes[s.leaves[i]].reduce) {
      problem =
          fmt::format("loop {} is a reduction loop: the reduction stands outside the outer product", loop_name(i));
      return {};
    }
  }
  const int64_t lanes = p.extents[s.leaves[loops - 1]];
  if (lanes != kLanes) {
    problem =
        fmt::format("loop {} has {} iterations where it is computed, not {}", loop_name(loops - 1), lanes, kLanes);
    return {};
  }
  const auto* product = term.as<Binary>();
  const Load* factors[2] = {};
  if (product != nullptr && product->op == BinaryOp::kMul) {
    factors[0] = product->a.as<Load>();
    factors[1] = product->b.as<Load>();
  }
  if (factors[0] == nullptr || factors[1] == nullptr) {
    problem = "the term is not the product of two elements";
    return {};
  }
  const int32_t n = p.loop_atoms[loops - 1];
  const int32_t m = position + 1 < loops ? p.loop_atoms[position] : -1;

  struct Access {
    Buffer buffer;
    std::vector<Linear> indices;
    int64_t last_stride = 0;  ///< of the last index along n
    bool elsewhere = false;   ///< another index, or part of one, depends on n
    bool on_m = false;
  };
  auto analyse = [&](Buffer buffer, std::vector<Linear> indices) {
    Access out = {buffer, std::move(indices)};
    for (size_t d = 0; d < out.indices.size(); ++d) {
      out.indices[d] = pool_.expand(out.indices[d]);
      for (const LinearPart& part : pool_.parts(out.indices[d])) {
        const bool last = d + 1 == out.indices.size();
        if (part.atom == n && last) {
          out.last_stride = part.coef;
        } else if (part.atom == m) {
          out.on_m = true;
        } else if (part.atom == n) {
          out.elsewhere = true;
        } else if (pool_.atom_depth(part.atom) > p.depth + position) {
          out.elsewhere = out.on_m = true;
        }
      }
    }
    return out;
  };
  auto load_access = [&](const Load& load) {
    const StageId tensor = stage_of(load.buffer);
    const StagePlan& t = plans_[index_of(tensor)];
    std::vector<Linear> indices;
    for (size_t d = 0; d < load.indices.size(); ++d) {
      Linear form = linear(load.indices[d]);
      if (schedule_->stage(tensor).where == Where::kAt) form = pool_.add(form, t.region[d].min, -1);
      indices.push_back(form);
    }
    return analyse(t.buffer, std::move(indices));
  };
  const Access acc = analyse(p.buffer, p.offsets);
  Access a = load_access(*factors[0]);
  Access b = load_access(*factors[1]);
  const bool swapped = a.last_stride == 1 && b.last_stride == 0;
  if (swapped) std::swap(a, b);
  if (acc.elsewhere || acc.last_stride != 1) {
    problem = fmt::format("the accumulators of '{}' are not contiguous along {} (stride {})", p.buffer->name,
                          loop_name(loops - 1), acc.last_stride);
    return {};
  }
  if (b.elsewhere || b.last_stride != 1 || b.on_m) {
    problem = fmt::format("no factor is contiguous along {} and the same for each {} ('{}' has stride {})",
                          loop_name(loops - 1), m >= 0 ? loop_name(position) : std::string("row"), b.buffer->name,
                          b.last_stride);
    return {};
  }
  if (a.elsewhere || a.last_stride != 0) {
    problem =
        fmt::format("factor '{}' depends on {} too (stride {})", a.buffer->name, loop_name(loops - 1), a.last_stride);
    return {};
  }

  auto vector_indices = [&](const Access& access) {
    std::vector<Expr> out;
    for (size_t d = 0; d < access.indices.size(); ++d) {
      const bool last = d + 1 == access.indices.size();
      const Linear start = last ? pool_.add(access.indices[d], pool_.atom(n), -1) : access.indices[d];
      const Expr index = pool_.to_expr(start);
      out.push_back(last ? make_ramp(index, make_index(1), kLanes) : index);
    }
    return out;
  };
  std::vector<Expr> scalar;
  for (const Linear& index : a.indices) scalar.push_back(pool_.to_expr(index));
  const Expr row = make_broadcast(make_load(a.buffer, scalar), kLanes);
  const Expr column = make_load(b.buffer, vector_indices(b));
  const auto target = vector_indices(acc);
  const Expr sum = make_binary(BinaryOp::kAdd, make_load(p.buffer, target), make_binary(BinaryOp::kMul, row, column));
  Stmt body = make_store(p.buffer, target, sum);
  if (position + 1 < loops && p.loop_atoms[position] >= 0) {
    body = make_for(p.vars[position], make_index(p.extents[s.leaves[position]]), LoopKind::kUnrolled, body);
  }
  return body;
}

}  // namespace tensmith
