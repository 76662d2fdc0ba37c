#include "tensmith/ir/passes/flatten_storage.h"

#include "tensmith/ir/ops.h"
#include "tensmith/ir/visit.h"

namespace tensmith {
namespace {

Expr flat_index(Buffer buffer, const Array<Expr>& indices) {
  if (indices.empty()) {
    return make_index(0);
  }
  Expr flat;
  for (size_t i = 0; i < indices.size(); ++i) {
    const int64_t stride = buffer_stride(buffer, i);
    const Expr term = stride == 1 ? indices[i] : indices[i] * stride;
    flat = flat ? flat + term : term;
  }
  return flat;
}

Expr flatten(Expr e) {
  if (const auto* load = e.as<Load>()) {
    std::vector<Expr> indices;
    for (Expr index : load->indices) {
      indices.push_back(flatten(index));
    }
    const Expr flat = flat_index(load->buffer, make_array(indices));
    return make_load(load->buffer, {&flat, 1}, load->predicate ? flatten(load->predicate) : Expr());
  }
  return map_children(e, flatten);
}

Stmt flatten(Stmt s) {
  if (const auto* store = s.as<Store>()) {
    std::vector<Expr> indices;
    for (Expr index : store->indices) {
      indices.push_back(flatten(index));
    }
    const Expr flat = flat_index(store->buffer, make_array(indices));
    return make_store(store->buffer, {&flat, 1}, flatten(store->value),
                      store->predicate ? flatten(store->predicate) : Expr());
  }
  if (const auto* prefetch = s.as<Prefetch>()) {
    const Expr flat = flat_index(prefetch->buffer, map_array(prefetch->indices, [](Expr e) { return flatten(e); }));
    return make_prefetch(prefetch->buffer, {&flat, 1}, prefetch->locality);
  }
  return map_children(
      s, [](Expr e) { return flatten(e); }, [](Stmt c) { return flatten(c); });
}

}  // namespace

Stmt flatten_storage(Stmt body) { return body ? flatten(body) : body; }

}  // namespace tensmith
