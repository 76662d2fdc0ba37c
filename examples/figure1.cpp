// The example of the first figure of "Learning to Optimize Tensor Programs": an index expression, a schedule for it,
// and the loops that come out.

#include <iostream>

#include "tensmith/ir/print.h"
#include "tensmith/schedule/loop_nest.h"
#include "tensmith/schedule/schedule.h"
#include "tensmith/schedule/trace.h"

int main() {
  using namespace tensmith;  // NOLINT: an example's own file

  Tensor A = placeholder("A", {1024, 1024});
  Tensor B = placeholder("B", {1024, 1024});
  Axis k = reduce_axis("k", 1024);
  Tensor C = compute("C", {1024, 1024}, [&](Axis y, Axis x) { return sum(A(k, y) * B(k, x), k); });
  const Program program = make_program({C});

  Schedule s(program);
  auto [yo, xo, yi, xi] = s[C].tile(s[C].axis(0), s[C].axis(1), 8, 8);
  s[C].reorder({yo, xo, k, yi, xi});
  s[C].vectorize(xi);

  std::cout << print_trace(s) << "\n" << to_string(build_loop_nest(s, "matmul")) << "\n";
}
