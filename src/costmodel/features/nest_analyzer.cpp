#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "costmodel/features/footprint.h"
#include "costmodel/features/index_reader.h"
#include "costmodel/features/linear_index.h"
#include "tensmith/costmodel/loop_context.h"
#include "tensmith/ir/visit.h"

namespace tensmith {

namespace {

/// Dimensions that are told apart; further ones share the last place.
constexpr int kMaxDims = 8;
/// Terms of one access; further ones are left out.
constexpr int kMaxTerms = 128;

/// Facts about a buffer, computed once a nest.
struct BufferFacts {
  Buffer buffer = nullptr;
  double strides[kMaxDims] = {};
  double size = 0;  ///< elements
  uint16_t alloc_depth = 0;
  double seen = 0;  ///< scratch of `working_sets`
};

/// What one dimension of an access contributes at one loop level.
struct AccessTerm {
  int16_t dim;
  int16_t next;  ///< the next term of the same level, -1 for none
  LinearTerm term;
};

}  // namespace

OpCounts& OpCounts::operator+=(const OpCounts& other) {
  add += other.add;
  mul += other.mul;
  div += other.div;
  compare += other.compare;
  fma += other.fma;
  call += other.call;
  select += other.select;
  cast += other.cast;
  return *this;
}

struct NestAnalyzer::Impl {
  NestContext nest;

  // ---- state of the walk ----
  std::vector<uint32_t> path;  ///< indices of the loops around the current statement
  std::vector<BufferFacts> buffers;
  IndexReader reader{nest.loops, path};
  uint16_t guards = 0;
  uint16_t guard_depth = 0;
  double useful = 1;
  OpCounts* ops = nullptr;  ///< of the statement whose value is being walked
  uint16_t* statement_guards = nullptr;
  const Store* stored = nullptr;  ///< that statement
  size_t stored_touch = 0;
  bool* updates = nullptr;

  void run(const Function& function) {
    nest.loops.clear();
    nest.statements.clear();
    nest.touches.clear();
    nest.contexts.clear();
    nest.paths.clear();
    nest.allocations.clear();
    nest.branches = 0;
    path.clear();
    buffers.clear();
    reader.clear();
    guards = 0;
    guard_depth = 0;
    useful = 1;
    if (function.body) visit(function.body);
    for (LoopContext& loop : nest.loops) loop.bytes = working_set(loop.first_touch, loop.end_touch, loop.level);
    nest.touched_bytes = whole_program_bytes();
  }

  // ---- statements ----

  /// The commonest kinds are told apart before `match`: its twelve callables cost more than the work for most nodes.
  void visit(Stmt s) {
    if (const For* n = s.as<For>()) return visit_for(*n);
    if (const Store* n = s.as<Store>()) return visit_store(*n);
    match(
        s, [](const For&) {}, [](const Store&) {},
        [&](const Seq& n) {
          for (Stmt c : n.stmts) visit(c);
        },
        [&](const If& n) { visit_if(n); }, [&](const Let& n) { visit_let(n); },
        [&](const Allocate& n) {
          BufferFacts& f = buffers[buffer_position(n.buffer)];
          f.alloc_depth = static_cast<uint16_t>(path.size());
          nest.allocations.push_back({n.buffer, f.size * n.buffer->type.bytes()});
          visit(n.body);
        },
        [&](const Prefetch& n) {
          open_statement();
          nest.statements.back().is_prefetch = true;
          touch(n.buffer, n.indices, TouchKind::kPrefetch);
          close_statement();
        });
  }

  void visit_for(const For& n) {
    const size_t index = nest.loops.size();
    LoopContext loop;
    loop.var = n.var;
    loop.kind = n.loop_kind;
    loop.parent = path.empty() ? -1 : static_cast<int32_t>(path.back());
    loop.level = static_cast<uint16_t>(path.size());
    loop.length = std::max(0.0, reader.extent(n.extent));
    loop.outer = path.empty() ? 1.0 : nest.loops[path.back()].topdown;
    loop.topdown = loop.outer * loop.length;
    loop.first_touch = static_cast<uint32_t>(nest.touches.size());
    loop.first_statement = static_cast<uint32_t>(nest.statements.size());
    nest.loops.push_back(loop);
    path.push_back(static_cast<uint32_t>(index));
    visit(n.body);
    path.pop_back();
    LoopContext& done = nest.loops[index];
    done.end_touch = static_cast<uint32_t>(nest.touches.size());
    done.end_statement = static_cast<uint32_t>(nest.statements.size());
    done.flops *= done.length;
    for (uint32_t t = done.first_touch; t < done.end_touch; ++t) {
      const TouchContext& context = nest.context(nest.touches[t], done.level);
      done.bottomup = std::max(done.bottomup, context.count * context.reuse);
    }
    if (done.parent >= 0) {
      LoopContext& parent = nest.loops[static_cast<size_t>(done.parent)];
      parent.ops += done.ops;
      parent.flops += done.flops;
    }
  }

  void visit_if(const If& n) {
    ++nest.branches;
    const auto saved = std::tuple(guards, guard_depth, useful);
    ++guards;
    guard_depth = static_cast<uint16_t>(path.size());
    const double share = reader.true_share(n.condition);
    useful *= share;
    visit(n.then_case);
    if (n.else_case) {
      useful = std::get<2>(saved) * (1 - share);
      visit(n.else_case);
    }
    std::tie(guards, guard_depth, useful) = saved;
  }

  void visit_let(const Let& n) {
    reader.push_let(n.var, n.value);
    visit(n.body);
    reader.pop_let();
  }

  void visit_store(const Store& n) {
    open_statement();
    OpCounts counts;
    uint16_t value_guards = 0;
    bool accumulates = false;
    ops = &counts;
    statement_guards = &value_guards;
    stored = &n;
    updates = &accumulates;
    const size_t index = nest.statements.size() - 1;
    touch(n.buffer, n.indices, TouchKind::kStore);
    stored_touch = nest.touches.size() - 1;
    value(n.value);
    if (n.predicate) value(n.predicate);
    ops = nullptr;
    statement_guards = nullptr;
    StatementContext& done = nest.statements[index];
    done.ops = counts;
    done.guards = static_cast<uint16_t>(done.guards + value_guards);
    done.updates = accumulates;
    if (!path.empty()) {
      LoopContext& loop = nest.loops[path.back()];
      loop.ops += counts;
      loop.flops += counts.total();
    }
    close_statement();
  }

  void open_statement() {
    StatementContext statement;
    statement.first_touch = static_cast<uint32_t>(nest.touches.size());
    statement.first_path = static_cast<uint32_t>(nest.paths.size());
    statement.depth = static_cast<uint16_t>(path.size());
    statement.iterations = path.empty() ? 1.0 : nest.loops[path.back()].topdown;
    statement.guards = guards;
    statement.guard_depth = guard_depth;
    statement.useful = useful;
    nest.paths.insert(nest.paths.end(), path.begin(), path.end());
    nest.statements.push_back(statement);
  }

  void close_statement() { nest.statements.back().end_touch = static_cast<uint32_t>(nest.touches.size()); }

  // ---- values ----

  static bool is_product(Expr e) {
    const Binary* binary = e.as<Binary>();
    return binary != nullptr && binary->op == BinaryOp::kMul;
  }

  void value(Expr e) {
    if (const Binary* n = e.as<Binary>()) {
      count_binary(*n);
      value(n->a);
      value(n->b);
      return;
    }
    if (const Load* n = e.as<Load>()) return value_load(*n);
    match(
        e, [](const IntImm&) {}, [](const FloatImm&) {}, [](const Var&) {},
        [&](const Cast& n) {
          ops->cast += 1;
          value(n.value);
        },
        [](const Binary&) {},
        [&](const Not& n) {
          ops->compare += 1;
          value(n.value);
        },
        [&](const Select& n) {
          ops->select += 1;
          *statement_guards = static_cast<uint16_t>(*statement_guards + 1);
          value(n.condition);
          value(n.if_true);
          value(n.if_false);
        },
        [](const Load&) {}, [&](const Ramp& n) { value(n.base); }, [&](const Broadcast& n) { value(n.value); },
        [&](const Call& n) {
          if (n.intrinsic == Intrinsic::kFma) {
            ops->add += 1;
            ops->mul += 1;
            ops->fma += 1;
          } else {
            ops->call += 1;
          }
          for (Expr a : n.args) value(a);
        },
        [&](const Reduce& n) { value(n.value); });
  }

  void value_load(const Load& n) {
    if (n.buffer == stored->buffer) *updates = true;
    if (n.buffer == stored->buffer && same_indices(n.indices, stored->indices)) {
      touch_again(stored_touch);
    } else {
      touch(n.buffer, n.indices, TouchKind::kLoad);
    }
    if (n.predicate) value(n.predicate);
  }

  static bool same_indices(const Array<Expr>& a, const Array<Expr>& b) {
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), same_index);
  }

  static bool same_index(Expr a, Expr b) {
    if (a.same_as(b)) return true;
    const Binary* x = a.as<Binary>();
    const Binary* y = b.as<Binary>();
    if (x != nullptr && y != nullptr) return x->op == y->op && same_index(x->a, y->a) && same_index(x->b, y->b);
    const IntImm* i = a.as<IntImm>();
    const IntImm* j = b.as<IntImm>();
    return i != nullptr && j != nullptr && i->value == j->value;
  }

  void count_binary(const Binary& n) {
    switch (n.op) {
      case BinaryOp::kAdd:
      case BinaryOp::kSub:
        ops->add += 1;
        if (is_product(n.a) || is_product(n.b)) ops->fma += 1;
        break;
      case BinaryOp::kMul: ops->mul += 1; break;
      case BinaryOp::kDiv:
      case BinaryOp::kMod: ops->div += 1; break;
      default: ops->compare += 1; break;
    }
  }

  // ---- touches ----

  /// Position in `buffers`. Few buffers: a search is faster than a table.
  uint16_t buffer_position(Buffer buffer) {
    for (size_t i = 0; i < buffers.size(); ++i) {
      if (buffers[i].buffer == buffer) return static_cast<uint16_t>(i);
    }
    BufferFacts f;
    f.buffer = buffer;
    double size = 1;
    double stride = 1;
    for (size_t d = buffer->shape.size(); d-- > 0;) {
      const double own = buffer->strides.empty() ? stride : static_cast<double>(buffer->strides[d]);
      if (d < kMaxDims) f.strides[d] = own;
      stride *= static_cast<double>(buffer->shape[d]);
      size *= static_cast<double>(buffer->shape[d]);
    }
    f.size = size;
    buffers.push_back(f);
    return static_cast<uint16_t>(buffers.size() - 1);
  }

  /// A load of the element that touch `first` of the same statement touches.
  void touch_again(size_t first) {
    Touch t = nest.touches[first];
    t.kind = TouchKind::kLoad;
    const uint32_t from = t.first_context;
    t.first_context = static_cast<uint32_t>(nest.contexts.size());
    nest.contexts.resize(nest.contexts.size() + path.size());
    std::copy_n(nest.contexts.begin() + from, path.size(), nest.contexts.begin() + t.first_context);
    nest.touches.push_back(t);
  }

  void touch(Buffer buffer, const Array<Expr>& indices, TouchKind kind) {
    const size_t depth = path.size();
    AccessTerm terms[kMaxTerms];
    int term_count = 0;
    int16_t head[LinearIndex::kMaxLevels];  // first term of a level, where its bit of `levels` is set
    uint64_t levels = 0;
    bool gather = false;
    reader.loads.clear();
    for (size_t d = 0; d < indices.size(); ++d) {
      LinearIndex form;
      reader.read(indices[d], 1, form);
      gather = gather || form.gather;
      const int16_t dim = static_cast<int16_t>(std::min<size_t>(d, kMaxDims - 1));
      form.for_each_level([&](int level) {
        if (term_count == kMaxTerms) return;
        const bool first = (levels >> level & 1) == 0;
        terms[term_count] = {dim, first ? int16_t{-1} : head[level], form.terms[level]};
        head[level] = static_cast<int16_t>(term_count++);
        levels |= uint64_t{1} << level;
      });
    }
    if (!reader.loads.empty() && ops != nullptr) {
      // The touches of loads in the indices come before this one's. Those loads' own indices are read anew.
      const std::vector<const Load*> loads = std::move(reader.loads);
      for (const Load* load : loads) touch(load->buffer, load->indices, TouchKind::kLoad);
    }
    Touch t;
    t.buffer = buffer;
    t.kind = kind;
    t.gather = gather;
    t.buffer_index = buffer_position(buffer);
    t.alloc_depth = buffers[t.buffer_index].alloc_depth;
    t.statement = static_cast<uint32_t>(nest.statements.size() - 1);
    t.first_context = static_cast<uint32_t>(nest.contexts.size());
    nest.touches.push_back(t);
    nest.contexts.resize(nest.contexts.size() + depth);

    const int dims = static_cast<int>(std::clamp<size_t>(indices.size(), 1, kMaxDims));
    double strides[kMaxDims];
    if (indices.size() == 1 && buffer->shape.size() != 1) {
      strides[0] = 1;  // flattened: one index whatever the rank, elements one apart
    } else {
      std::copy_n(buffers[t.buffer_index].strides, kMaxDims, strides);
    }
    Extent extents[kMaxDims];
    Footprint footprint{buffer->type.bytes() / kLineBytes, gather};
    double executions = 1;
    bool empty = false;
    Footprint chunk = footprint;
    double chunk_executions = 0;
    for (size_t level = depth; level-- > 0;) {
      const LoopContext& loop = nest.loops[path[level]];
      TouchContext& out = nest.contexts[t.first_context + level];
      if (loop.kind == LoopKind::kParallel && chunk_executions == 0) {
        chunk = footprint;
        chunk_executions = executions;
      }
      executions *= loop.length;
      empty = empty || loop.length == 0;
      if (level < LinearIndex::kMaxLevels && (levels >> level & 1) != 0) {
        for (int i = head[level]; i >= 0; i = terms[i].next) {
          const LinearTerm& term = terms[i].term;
          const size_t dim = static_cast<size_t>(terms[i].dim);
          extents[dim].steps *= term.steps;
          extents[dim].range += term.range;
          const double flat_stride = term.stride * strides[dim];
          if (term.mod != 0 && (out.mod == 0 || term.mod < out.mod)) {
            // Where a remainder takes part, most steps move as it does.
            out.mod = term.mod;
            out.stride = flat_stride;
          } else if (out.mod == 0) {
            out.stride += flat_stride;
          }
        }
        footprint.used_length *= loop.length;
        footprint.update(extents, strides, dims);
      }
      out.count = empty ? 0 : footprint.count;
      out.lines = empty ? 0 : footprint.lines;
      out.reuse = empty ? 0 : executions / footprint.count;
      if (chunk_executions > 0) {
        out.thread_count = out.count / chunk.count;
        out.thread_reuse = out.reuse * chunk.count / chunk_executions;
      }
    }
  }

  // ---- working sets ----

  /// Cache lines of all buffers outside of registers that the touches use in one run of their loop at `level`; the
  /// touches of one buffer are taken to overlap.
  double working_set(uint32_t first, uint32_t end, size_t level) {
    for (BufferFacts& f : buffers) f.seen = 0;
    for (uint32_t i = first; i < end; ++i) {
      const Touch& t = nest.touches[i];
      if (t.buffer->scope == MemoryScope::kLocal) continue;
      double& seen = buffers[t.buffer_index].seen;
      seen = std::max(seen, nest.context(t, level).lines);
    }
    double lines = 0;
    for (const BufferFacts& f : buffers) lines += f.seen;
    return lines * kLineBytes;
  }

  double whole_program_bytes() {
    for (BufferFacts& f : buffers) f.seen = 0;
    for (const Touch& t : nest.touches) {
      if (t.buffer->scope == MemoryScope::kLocal) continue;
      double& seen = buffers[t.buffer_index].seen;
      seen = std::max(seen, nest.statements[t.statement].depth == 0 ? 1.0 : nest.context(t, 0).lines);
    }
    double lines = 0;
    for (const BufferFacts& f : buffers) lines += f.seen;
    return lines * kLineBytes;
  }
};

NestAnalyzer::NestAnalyzer() : impl_(std::make_unique<Impl>()) {}
NestAnalyzer::~NestAnalyzer() = default;
NestAnalyzer::NestAnalyzer(NestAnalyzer&&) noexcept = default;
NestAnalyzer& NestAnalyzer::operator=(NestAnalyzer&&) noexcept = default;

const NestContext& NestAnalyzer::analyze(const Function& nest) {
  impl_->run(nest);
  return impl_->nest;
}

}  // namespace tensmith
