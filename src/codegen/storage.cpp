#include "tensmith/codegen/storage.h"

#include <algorithm>

#include "tensmith/ir/visit.h"

namespace tensmith {

namespace {

constexpr int64_t kStackBufferBytes = 64 << 10;
constexpr int64_t kStackFrameBytes = 256 << 10;

bool is_parallel(Stmt s) {
  const auto* loop = s.as<For>();
  return loop != nullptr && loop->loop_kind == LoopKind::kParallel;
}

void collect_allocations(Stmt s, bool inside_parallel, std::vector<Buffer>& out) {
  if (is_parallel(s) && !inside_parallel) return;
  if (const auto* allocate = s.as<Allocate>();
      allocate != nullptr && std::find(out.begin(), out.end(), allocate->buffer) == out.end()) {
    out.push_back(allocate->buffer);
  }
  for_each_child(
      s, [](Expr) {}, [&](Stmt child) { collect_allocations(child, inside_parallel, out); });
}

}  // namespace

int64_t buffer_bytes(Buffer buffer) { return buffer_size(buffer) * buffer->type.element_bytes(); }

bool accesses_are_flat(Stmt body) {
  if (!body) return false;
  bool flat = false;
  const auto look = [&](Buffer buffer, size_t indices) { flat = flat || indices != buffer->shape.size(); };
  walk(
      body,
      [&](Expr e) {
        if (const auto* load = e.as<Load>()) look(load->buffer, load->indices.size());
      },
      [&](Stmt s) {
        if (const auto* store = s.as<Store>()) look(store->buffer, store->indices.size());
        if (const auto* prefetch = s.as<Prefetch>()) look(prefetch->buffer, prefetch->indices.size());
      });
  return flat;
}

StoragePlan plan_storage(Stmt body, bool inside_parallel) {
  std::vector<Buffer> all;
  if (body) collect_allocations(body, inside_parallel, all);
  StoragePlan plan;
  int64_t frame = 0;
  for (Buffer buffer : all) {
    const int64_t bytes = buffer_bytes(buffer);
    if (buffer->scope != MemoryScope::kGlobal && bytes <= kStackBufferBytes && frame + bytes <= kStackFrameBytes) {
      frame += bytes;
      plan.stack.push_back(buffer);
    } else {
      plan.heap.push_back(buffer);
    }
  }
  return plan;
}

Mentioned mentioned_in(Stmt body) {
  Mentioned out;
  const auto add = [](auto& list, auto item) {
    if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
  };
  walk(
      body,
      [&](Expr e) {
        if (const auto* var = e.as<Var>()) add(out.vars, var);
        if (const auto* load = e.as<Load>()) add(out.buffers, load->buffer);
      },
      [&](Stmt s) {
        if (const auto* store = s.as<Store>()) add(out.buffers, store->buffer);
        if (const auto* prefetch = s.as<Prefetch>()) add(out.buffers, prefetch->buffer);
      });
  return out;
}

bool uses_runtime(const Function& function) {
  if (!function.body) return false;
  bool parallel = false;
  walk(
      function.body, [](Expr) {},
      [&](Stmt s) {
        const auto* loop = s.as<For>();
        parallel = parallel || (is_parallel(s) && as_const_int(loop->extent).value_or(1) > 0);
      });
  return parallel || !plan_storage(function.body, true).heap.empty();
}

}  // namespace tensmith
