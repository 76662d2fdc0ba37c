#pragma once

#include <utility>

#include "tensmith/ir/visit.h"

namespace tensmith {

/// Maps every load of `buffer` below `e`, its indices already mapped, by `f(Load)`.
template <typename F>
Expr rewrite_loads(Expr e, Buffer buffer, F&& f) {
  Expr mapped = map_children(e, [&](Expr c) { return rewrite_loads(c, buffer, f); });
  const auto* load = mapped.as<Load>();
  return load != nullptr && load->buffer == buffer ? f(*load) : mapped;
}

}  // namespace tensmith
