// An operator of one's own, from its expression to a tuned program that is called:
// result[n,o] = max(bias[o] + sum(i: (x[n,i] + y[n,i]) * w[o,i]), 0).
//
//     tune_from_cpp [TRIALS [DATABASE]]

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>

#include "tensmith/tensmith.h"

namespace {

tensmith::Program fused_layer(int64_t batch, int64_t in, int64_t out) {
  using namespace tensmith;  // NOLINT: an example's own file
  const Tensor x = placeholder("x", {batch, in}), y = placeholder("y", {batch, in});
  const Tensor w = placeholder("w", {out, in}), bias = placeholder("bias", {out});
  const Axis i = reduce_axis("i", in);
  const Tensor dot =
      compute("dot", {batch, out}, [&](Axis n, Axis o) { return sum((x(n, i) + y(n, i)) * w(o, i), i); });
  const Tensor result = compute("result", {batch, out},
                                [&](Axis n, Axis o) { return max(dot(n, o) + bias(o), make_float(kFloat32, 0)); });
  return make_program({result}, {x, y, w, bias});
}

int run(int trials, const char* file) {
  using namespace tensmith;  // NOLINT: an example's own file
  constexpr int64_t kBatch = 32, kIn = 96, kOut = 64;
  const Workload workload = workload_of(fused_layer(kBatch, kIn, kOut));
  const Target target = parse_target("llvm");

  std::unique_ptr<Database> database;
  if (file != nullptr) database = std::make_unique<Database>(file, Database::Missing::kIsEmpty);
  TuneSettings settings;
  settings.trials = trials;
  settings.threads = 1;
  const TuneResult tuned = tune_workload(workload, target, database.get(), settings);
  if (!tuned.best) {
    std::fprintf(stderr, "nothing was found: %s\n", tuned.commonest_failure.c_str());
    return 1;
  }
  std::printf("%d trials: %.2f us a call\n", tuned.trials, tuned.best->seconds * 1e6);

  Operator layer(workload, target, settings.threads, tuned.best->config);
  const auto filled = [](std::initializer_list<int64_t> shape, float scale) {
    runtime::Buffer<float> buffer(shape);
    for (int64_t i = 0; i < buffer.size(); ++i) buffer[i] = scale * static_cast<float>(i % 7) - scale;
    return buffer;
  };
  const auto x = filled({kBatch, kIn}, 0.5F), y = filled({kBatch, kIn}, 0.25F), w = filled({kOut, kIn}, 0.1F);
  const auto bias = filled({kOut}, 1);
  runtime::Buffer<float> out({kBatch, kOut});
  layer.run({x.data(), y.data(), w.data(), bias.data()}, {out.data()});

  for (int64_t n = 0; n < kBatch; ++n) {
    for (int64_t o = 0; o < kOut; ++o) {
      double wanted = bias(o);
      for (int64_t i = 0; i < kIn; ++i) wanted += static_cast<double>(x(n, i) + y(n, i)) * w(o, i);
      wanted = std::max(wanted, 0.0);
      if (std::abs(out(n, o) - wanted) > 1e-3) {
        std::fprintf(stderr, "result[%d,%d] is %g, not %g\n", static_cast<int>(n), static_cast<int>(o), out(n, o),
                     wanted);
        return 1;
      }
    }
  }
  std::printf("the result is right\n");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  // Programs are measured in worker processes, which are this program started again.
  if (const std::optional<int> code = tensmith::run_worker_if_asked(argc, argv)) return *code;
  try {
    return run(argc > 1 ? std::atoi(argv[1]) : 64, argc > 2 ? argv[2] : nullptr);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "error: %s\n", e.what());
    return 1;
  }
}
