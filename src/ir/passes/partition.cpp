#include "tensmith/ir/passes/partition.h"

#include <algorithm>
#include <vector>

#include "ir/passes/guards.h"
#include "tensmith/ir/arith/bounds.h"
#include "tensmith/ir/arith/simplify.h"
#include "tensmith/ir/ops.h"

namespace tensmith {

namespace {

/// Nodes of a statement, unrolled bodies once an iteration.
int64_t code_size(Stmt s) {
  int64_t size = 1;
  for_each_child(
      s, [&](Expr e) { walk(e, [&](Expr) { ++size; }); }, [&](Stmt child) { size += code_size(child); });
  const auto* loop = s.as<For>();
  const std::optional<int64_t> trips =
      loop != nullptr && loop->loop_kind == LoopKind::kUnrolled ? as_const_int(loop->extent) : std::nullopt;
  return trips ? size * std::clamp<int64_t>(*trips, 1, 1024) : size;
}

/// A condition that may leave a part of the loop, and where.
struct Finding {
  int index;          ///< its place in program order
  SolvedRange range;  ///< of the loop's variable
  bool clippable;     ///< an inner serial loop can take it into its bounds
  bool clipped;       ///< and will, at no cost worth a copy of the body
};

/// A condition that is not linear in the loop's variable, and when it holds for all inner values.
struct Version {
  int index;
  Expr holds;
};

struct Findings {
  std::vector<Finding> solved;
  std::vector<Version> versions;
};

/// Lists the conditions below a loop that depend on its variable.
class Finder {
 public:
  Finder(VarRef var, Findings& out) : var_(var), out_(out) {}

  void enter(const For& loop) { loops_.push_back(&loop); }
  void leave(const For&) { loops_.pop_back(); }

  Expr condition(Expr c, const VarRanges& scope) {
    const int index = count_++;
    if (!uses_var(c, var_) || reads_data(c)) return c;
    InlineVector<VarExtent, 12> inner;
    const For* innermost = nullptr;  // of those that it depends on
    for (const For* loop : loops_) {
      const Range r = scope.range(loop->var);
      if (r.max == kPosInf) return c;
      inner.push_back({loop->var, r.max + 1});
      if (uses_var(c, loop->var)) innermost = loop;
    }
    if (const std::optional<SolvedRange> range = solve(c, var_, inner, scope)) {
      const bool clippable = innermost == nullptr || innermost->loop_kind == LoopKind::kSerial;
      const bool clipped = innermost != nullptr && clippable && clips(*innermost, c, scope);
      out_.solved.push_back({index, *range, clippable, clipped});
      return c;
    }
    // An inner loop in whose variable it is not linear either is the better place.
    for (size_t i = 0; i < loops_.size(); ++i) {
      const std::span<const VarExtent> deeper = std::span<const VarExtent>(inner).subspan(i + 1);
      if (uses_var(c, loops_[i]->var) && !solve(c, loops_[i]->var, deeper, scope)) return c;
    }
    const Expr holds = condition_for_all(c, inner, scope);
    if (holds && !as_const_int(holds)) out_.versions.push_back({index, holds});
    return c;
  }

 private:
  /// Whether the loop will take the condition into its bounds, and is long enough for what computing them costs.
  static bool clips(const For& loop, Expr c, const VarRanges& scope) {
    constexpr int64_t kLongBody = 200;
    const auto* guard = loop.body.as<If>();
    if (guard == nullptr || guard->else_case) return false;
    Conjuncts all;
    append_conjuncts(guard->condition, all);
    return std::any_of(all.begin(), all.end(), [&](Expr e) { return e.same_as(c); }) &&
           solve(c, loop.var, {}, scope).has_value() && code_size(guard->then_case) >= kLongBody;
  }

  VarRef var_;
  Findings& out_;
  InlineVector<const For*, 12> loops_;
  int count_ = 0;
};

/// Replaces conditions, by their place in program order, by true.
class Remover {
 public:
  explicit Remover(const std::vector<int>& indices) : indices_(indices) {}
  void enter(const For&) {}
  void leave(const For&) {}
  Expr condition(Expr c, const VarRanges&) {
    return std::find(indices_.begin(), indices_.end(), count_++) != indices_.end() ? make_true() : c;
  }

 private:
  const std::vector<int>& indices_;
  int count_ = 0;
};

struct Window {
  int64_t low, high;
  int64_t length() const { return high - low; }
};

/// Constant bounds within [0, trips), or nothing.
std::optional<Window> window(Expr min, Expr end, int64_t trips) {
  const std::optional<int64_t> low = min ? as_const_int(min) : 0;
  const std::optional<int64_t> high = end ? as_const_int(end) : trips;
  if (!low || !high) return std::nullopt;
  return Window{std::clamp<int64_t>(*low, 0, trips), std::clamp<int64_t>(*high, 0, trips)};
}

/// Where to cut [0, extent) of a loop: [low, high) is free of the removed conditions.
struct Cut {
  Expr low, high;
  std::vector<int> removed;
};

class Partitioner {
 public:
  explicit Partitioner(const PartitionOptions& options) : options_(options) {}

  Stmt operator()(Stmt s) { return visit(s); }

  Stmt visit(Stmt s) {
    return match(
        s, [&](const For& n) { return visit_loop(n, true); }, [&](const Store&) { return s; },
        [&](const Seq&) { return map_children(s, keep, *this); }, [&](const If& n) { return visit_if(n); },
        [&](const Let& n) {
          RangeScope scope(ranges_);
          ranges_.push_let(n.var, n.value);
          return map_children(s, keep, *this);
        },
        [&](const Allocate&) { return map_children(s, keep, *this); }, [&](const Prefetch&) { return s; });
  }

 private:
  static Expr keep(Expr e) { return e; }
  Expr simple(Expr e) { return simplify(e, ranges_); }

  Stmt visit_if(const If& n) {
    Stmt then_case, else_case;
    {
      RangeScope scope(ranges_);
      ranges_.push_branch(n.condition, true);
      then_case = visit(n.then_case);
    }
    if (n.else_case) {
      RangeScope scope(ranges_);
      ranges_.push_branch(n.condition, false);
      else_case = visit(n.else_case);
    }
    if (!then_case) return else_case ? make_if(logical_not(n.condition), else_case) : Stmt();
    return then_case.same_as(n.then_case) && else_case.same_as(n.else_case)
               ? Stmt(&n)
               : make_if(n.condition, then_case, else_case);
  }

  /// Simplifies a new piece of the program in the current scope and goes on inside it.
  Stmt again(Stmt s, bool symbolic_cuts = true) {
    s = hoist_guards(simplify(s, ranges_, {.inline_index_lets = true}));
    if (!s) return s;
    if (const auto* loop = s.as<For>()) return visit_loop(*loop, symbolic_cuts);
    return visit(s);
  }

  Stmt visit_loop(const For& n, bool symbolic_cuts) {
    if (depth_ == 0) {
      copies_left_ = options_.max_copies - 1;
      nodes_left_ = options_.max_nodes;
    }
    ++depth_;
    Stmt out = clip(n);
    if (out.same_as(&n)) out = partition(n, symbolic_cuts);
    --depth_;
    return out;
  }

  Stmt visit_body(const For& n) {
    RangeScope scope(ranges_);
    ranges_.push_loop(n.var, n.extent);
    const Stmt body = visit(n.body);
    if (!body || body.same_as(n.body)) return body ? Stmt(&n) : body;
    return make_for(n.var, n.extent, n.loop_kind, body);
  }

  // ---- clip --------------------------------------------------------------------------------------------------

  /// Turns guards around the whole body into bounds; the loop itself when there are none.
  Stmt clip(const For& n) {
    const auto* guard = n.body.as<If>();
    if (guard == nullptr || guard->else_case || n.loop_kind == LoopKind::kVectorized) return &n;
    Conjuncts all, rest;
    append_conjuncts(guard->condition, all);
    Expr low = make_int(n.var->type, 0), high = n.extent;
    const auto takes = [&](Expr side) { return !side || n.loop_kind == LoopKind::kSerial || as_const_int(side); };
    for (Expr c : all) {
      const bool linear = uses_var(c, n.var) && !reads_data(c);
      const std::optional<SolvedRange> range = linear ? solve(c, n.var, {}, ranges_) : std::nullopt;
      if (!range || !takes(range->all_min) || !takes(range->all_end)) {
        rest.push_back(c);
        continue;
      }
      if (range->all_min) low = simple(max(low, range->all_min));
      if (range->all_end) high = simple(min(high, range->all_end));
    }
    if (rest.size() == all.size()) return &n;
    return again(piece(n, guarded(rest, guard->then_case), low, high));
  }

  /// The loop over [low, high) of the old variable.
  Stmt piece(const For& n, Stmt body, Expr low, Expr high) {
    low = simple(low);
    const Expr extent = simple(make_binary(BinaryOp::kSub, high, low));
    if (is_const_int(low, 0)) return make_for(n.var, extent, n.loop_kind, body);
    const VarRef var = make_var(n.var->name, n.var->type);
    const Binding shift{n.var, make_binary(BinaryOp::kAdd, var, low)};
    return make_for(var, extent, n.loop_kind, substitute(body, std::span<const Binding>(&shift, 1)));
  }

  // ---- partition ---------------------------------------------------------------------------------------------

  Findings find(const For& n) {
    Findings findings;
    RangeScope scope(ranges_);
    ranges_.push_loop(n.var, n.extent);
    Finder finder(n.var, findings);
    ConditionRewriter<Finder>(ranges_, finder)(n.body);
    return findings;
  }

  Stmt without(const For& n, const std::vector<int>& conditions) {
    if (conditions.empty()) return n.body;
    RangeScope scope(ranges_);
    Remover remover(conditions);
    return ConditionRewriter<Remover>(ranges_, remover)(n.body);
  }

  Stmt partition(const For& n, bool symbolic_cuts) {
    if (n.loop_kind == LoopKind::kVectorized) return visit_body(n);
    const Findings findings = find(n);
    const std::optional<int64_t> trips = as_const_int(n.extent);
    Cut cut;
    if (trips && choose_constant_cut(findings.solved, *trips, n, cut)) {
      if (is_const_int(cut.low, 0) && is_const_int(cut.high, *trips)) {
        return again(make_for(n.var, n.extent, n.loop_kind, without(n, cut.removed)));
      }
      return n.loop_kind == LoopKind::kParallel ? branch(n, cut) : split(n, cut, symbolic_cuts);
    }
    if (symbolic_cuts && n.loop_kind == LoopKind::kSerial && choose_symbolic_cut(findings.solved, n, cut) &&
        take_budget(n, 3)) {
      return split(n, cut, false);
    }
    if (!findings.versions.empty() && n.loop_kind != LoopKind::kUnrolled && take_budget(n, 2)) {
      return with_versions(n, findings.versions);
    }
    return visit_body(n);
  }

  bool take_budget(const For& n, int parts) {
    // Cutting an unrolled loop makes no more code than unrolling it whole.
    if (n.loop_kind == LoopKind::kUnrolled) return true;
    const int64_t growth = code_size(n.body) * (parts - 1);
    if (copies_left_ < parts - 1 || nodes_left_ < growth) return false;
    copies_left_ -= parts - 1;
    nodes_left_ -= growth;
    return true;
  }

  /// The middle where most conditions hold: the longest first, each that still leaves a middle.
  bool choose_constant_cut(const std::vector<Finding>& findings, int64_t trips, const For& n, Cut& cut) {
    struct Candidate {
      Window window;
      int index;
    };
    std::vector<Candidate> candidates;
    for (const Finding& f : findings) {
      if (f.clipped) continue;
      const std::optional<Window> w = window(f.range.all_min, f.range.all_end, trips);
      if (w && w->length() > 0) candidates.push_back({*w, f.index});
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) { return a.window.length() > b.window.length(); });
    Window middle{0, trips};
    for (const Candidate& c : candidates) {
      const Window both{std::max(middle.low, c.window.low), std::min(middle.high, c.window.high)};
      if (both.length() <= 0) continue;
      middle = both;
      cut.removed.push_back(c.index);
    }
    if (cut.removed.empty() && !cut_elsewhere(findings, trips, middle)) return false;
    const int parts = 1 + (middle.low > 0) + (middle.high < trips);
    if (parts > 1 && !take_budget(n, parts)) {
      // What holds everywhere goes all the same.
      cut.removed.clear();
      for (const Candidate& c : candidates) {
        if (c.window.length() == trips) cut.removed.push_back(c.index);
      }
      middle = {0, trips};
      if (cut.removed.empty()) return false;
    }
    cut.low = make_int(n.var->type, middle.low);
    cut.high = make_int(n.var->type, middle.high);
    return true;
  }

  /// No condition holds for all inner values anywhere: cuts off where one never holds, or singles out an iteration
  /// when no inner loop could take a condition with a symbolic bound.
  static bool cut_elsewhere(const std::vector<Finding>& findings, int64_t trips, Window& middle) {
    constexpr int64_t kMaxSingles = 4;
    for (const Finding& f : findings) {
      if (f.clipped) continue;
      const std::optional<Window> w = window(f.range.any_min, f.range.any_end, trips);
      if (!w || w->length() <= 0 || w->length() == trips) continue;
      middle = *w;
      return true;
    }
    const bool stuck = std::any_of(findings.begin(), findings.end(), [](const Finding& f) { return !f.clippable; });
    if (!stuck || trips < 2 || trips > kMaxSingles) return false;
    middle = {0, 1};
    return true;
  }

  /// Bounds in outer variables, for conditions that no inner loop can take.
  bool choose_symbolic_cut(const std::vector<Finding>& findings, const For& n, Cut& cut) {
    Expr low = make_int(n.var->type, 0), high = n.extent;
    for (const Finding& f : findings) {
      if (f.clippable) continue;
      const Expr next_low = f.range.all_min ? simple(max(low, f.range.all_min)) : low;
      const Expr next_high = f.range.all_end ? simple(min(high, f.range.all_end)) : high;
      if (prove(next_low < next_high, ranges_) == Tri::kFalse) continue;
      low = next_low, high = next_high;
      cut.removed.push_back(f.index);
    }
    if (cut.removed.empty()) return false;
    cut.low = simple(min(low, n.extent));
    cut.high = simple(max(high, cut.low));
    return true;
  }

  /// [0, low) [low, high) [high, extent) one after the other. The middle goes first through the budget.
  Stmt split(const For& n, const Cut& cut, bool symbolic_cuts) {
    const Stmt middle = again(piece(n, without(n, cut.removed), cut.low, cut.high), symbolic_cuts);
    const auto edge = [&](Expr low, Expr high) {
      if (can_prove(low >= high, ranges_)) return Stmt();
      return again(with_fresh_bindings(piece(n, n.body, low, high)), symbolic_cuts);
    };
    const Stmt before = edge(make_int(n.var->type, 0), cut.low);
    const Stmt after = edge(cut.high, n.extent);
    return make_seq({{before, middle, after}});
  }

  /// The same parts as branches inside one loop.
  Stmt branch(const For& n, const Cut& cut) {
    const int64_t low = *as_const_int(cut.low), high = *as_const_int(cut.high), trips = *as_const_int(n.extent);
    const auto part = [&](Window range, Stmt body) {
      RangeScope scope(ranges_);
      ranges_.push(n.var, {range.low, range.high - 1});
      return again(body);
    };
    const auto either = [&](int64_t bound, Stmt below, Stmt rest) {
      const Expr is_below = Expr(n.var) < bound;
      if (below) return make_if(is_below, below, rest);
      return rest ? make_if(logical_not(is_below), rest) : rest;
    };
    Stmt body = part({low, high}, without(n, cut.removed));
    const Stmt before = low > 0 ? part({0, low}, with_fresh_bindings(n.body)) : Stmt();
    const Stmt after = high < trips ? part({high, trips}, with_fresh_bindings(n.body)) : Stmt();
    if (high < trips) body = either(high, body, after);
    if (low > 0) body = either(low, before, body);
    return body ? make_for(n.var, n.extent, n.loop_kind, body) : body;
  }

  /// The body twice: without the conditions where they hold for all inner values, and as it is.
  Stmt with_versions(const For& n, const std::vector<Version>& versions) {
    Conjuncts holds;
    std::vector<int> removed;
    for (const Version& v : versions) {
      holds.push_back(v.holds);
      removed.push_back(v.index);
    }
    const Stmt fast_body = without(n, removed);
    RangeScope scope(ranges_);
    ranges_.push_loop(n.var, n.extent);
    const Expr condition = simple(conjunction(holds));
    const auto part = [&](Stmt body, bool hold) {
      RangeScope inner(ranges_);
      ranges_.push_fact(condition, hold);
      return again(body);
    };
    const Stmt fast = part(fast_body, true);
    const Stmt slow = part(with_fresh_bindings(n.body), false);
    if (!fast && !slow) return {};
    const Stmt body = fast ? make_if(condition, fast, slow) : make_if(logical_not(condition), slow);
    return make_for(n.var, n.extent, n.loop_kind, body);
  }

  PartitionOptions options_;
  VarRanges ranges_;
  int depth_ = 0;
  int copies_left_ = 0;
  int64_t nodes_left_ = 0;
};

}  // namespace

Stmt partition_loops(Stmt s, const PartitionOptions& options) {
  if (!s) return s;
  s = hoist_guards(simplify(s, {.inline_index_lets = true}));
  if (s) s = Partitioner(options).visit(s);
  return simplify(s);
}

}  // namespace tensmith
