#include "tensmith/ir/passes/unroll.h"

#include <fmt/format.h>

#include <algorithm>

#include "tensmith/ir/visit.h"

namespace tensmith {
namespace {

int64_t count_statements(Stmt s) {
  int64_t count = 0;
  walk(
      s, [](Expr) {}, [&](Stmt) { ++count; });
  return count;
}

class Unroller {
 public:
  explicit Unroller(const UnrollOptions& options) : options_(options) {}

  Stmt unroll(Stmt s) {
    const auto* loop = s.as<For>();
    if (loop == nullptr || loop->loop_kind != LoopKind::kUnrolled) {
      return map_children(
          s, [](Expr e) { return e; }, [&](Stmt c) { return unroll(c); });
    }
    const int64_t before = made_;
    const Stmt body = unroll(loop->body);
    if (!body) {
      return {};
    }
    const std::optional<int64_t> extent = as_const_int(loop->extent);
    if (!extent) {
      return make_for(loop->var, loop->extent, LoopKind::kSerial, body);
    }
    const int64_t size = count_statements(body);
    const int64_t left = options_.max_statements - before;
    if (*extent > 0 && size > left / *extent) {
      throw UserError(
          fmt::format("unrolling loop '{}' ({} iterations of {} statements) passes the limit of {} statements",
                      loop->var->name, *extent, size, options_.max_statements),
          "unroll fewer loops or split them first");
    }
    made_ = before + size * std::max<int64_t>(*extent, 0);  // the body's own copies are part of `size`
    std::vector<Stmt> copies;
    for (int64_t i = 0; i < *extent; ++i) {
      const Binding binding{loop->var, make_int(loop->var->type, i)};
      const Stmt copy = substitute(body, {&binding, 1});
      copies.push_back(i == 0 ? copy : with_fresh_bindings(copy));
    }
    return make_seq(copies);
  }

 private:
  const UnrollOptions& options_;
  int64_t made_ = 0;  ///< statements of the unrolled loops so far
};

}  // namespace

Stmt unroll_loops(Stmt body, const UnrollOptions& options) { return body ? Unroller(options).unroll(body) : body; }

}  // namespace tensmith
