#include "ops/stages.h"

#include <algorithm>
#include <functional>

namespace tensmith {
namespace {

bool has_bias(Epilogue epilogue) { return epilogue == Epilogue::kBias || epilogue == Epilogue::kBiasRelu; }
bool has_relu(Epilogue epilogue) { return epilogue == Epilogue::kRelu || epilogue == Epilogue::kBiasRelu; }

Expr apply_epilogue(Expr value, Epilogue epilogue, const Tensor& bias, Expr channel) {
  if (has_bias(epilogue)) {
    value = value + bias(channel);
  }
  if (has_relu(epilogue)) {
    value = max(value, make_const(value.type(), 0));
  }
  return value;
}

constexpr int64_t kBlock = 16;

}  // namespace

Conv2dStages make_conv2d(const Conv2d& c) {
  Conv2dStages s;
  const bool blocked = c.data_blocked();
  const int64_t out_h = std::max<int64_t>(c.out_h(), 0);
  const int64_t out_w = std::max<int64_t>(c.out_w(), 0);
  s.data = blocked ? placeholder("data", {c.n, c.c / kBlock, c.h, c.w, kBlock}, c.type)
                   : placeholder("data", {c.n, c.c, c.h, c.w}, c.type);
  s.weights = placeholder("weights", {c.k, c.c, c.r, c.s}, c.type);
  if (has_bias(c.epilogue)) {
    s.bias = placeholder("bias", {c.k}, c.type);
  }

  Tensor source = s.data;
  if (c.pad_top + c.pad_left + c.pad_bottom + c.pad_right > 0) {
    std::vector<int64_t> shape(s.data->buffer->shape.begin(), s.data->buffer->shape.end());
    shape[2] += c.pad_top + c.pad_bottom;
    shape[3] += c.pad_left + c.pad_right;
    static constexpr std::string_view kBlockedNames[] = {"n", "cb", "y", "x", "ci"};
    static constexpr std::string_view kPlainNames[] = {"n", "c", "y", "x"};
    s.pad = compute(
        "data_pad", shape,
        [&](std::span<const Axis> i) {
          const Expr y = Expr(i[2].var) - c.pad_top;
          const Expr x = Expr(i[3].var) - c.pad_left;
          Expr inside = logical_and(y >= 0, y < c.h);
          inside = logical_and(inside, logical_and(x >= 0, x < c.w));
          std::vector<Expr> point{Expr(i[0].var), Expr(i[1].var), y, x};
          if (blocked) {
            point.push_back(Expr(i[4].var));
          }
          return select(inside, s.data.at(point), make_const(c.type, 0));
        },
        blocked ? std::span<const std::string_view>(kBlockedNames) : std::span<const std::string_view>(kPlainNames));
    source = s.pad;
  }

  static constexpr std::string_view kConvNames[] = {"n", "oh", "ow", "k"};
  const int64_t conv_shape[] = {c.n, out_h, out_w, c.k};
  s.conv = compute(
      "conv", conv_shape,
      [&](std::span<const Axis> i) {
        const Axis r = reduce_axis("r", c.r);
        const Axis w = reduce_axis("s", c.s);
        const Expr y = Expr(i[1].var) * c.stride_h + Expr(r.var) * c.dilation_h;
        const Expr x = Expr(i[2].var) * c.stride_w + Expr(w.var) * c.dilation_w;
        if (blocked) {
          const Axis cb = reduce_axis("cb", c.c / kBlock);
          const Axis ci = reduce_axis("ci", kBlock);
          return sum(source(i[0], cb, y, x, ci) * s.weights(i[3], Expr(cb.var) * kBlock + Expr(ci.var), r, w),
                     {cb, r, w, ci});
        }
        const Axis channel = reduce_axis("c", c.c);
        return sum(source(i[0], channel, y, x) * s.weights(i[3], channel, r, w), {channel, r, w});
      },
      kConvNames);

  if (c.out_blocked()) {
    static constexpr std::string_view kNames[] = {"n", "kb", "oh", "ow", "ki"};
    const int64_t shape[] = {c.n, c.k / kBlock, out_h, out_w, kBlock};
    s.out = compute(
        "out", shape,
        [&](std::span<const Axis> i) {
          const Expr k = Expr(i[1].var) * kBlock + Expr(i[4].var);
          return apply_epilogue(s.conv(i[0], i[2], i[3], k), c.epilogue, s.bias, k);
        },
        kNames);
  } else {
    static constexpr std::string_view kNames[] = {"n", "k", "oh", "ow"};
    const int64_t shape[] = {c.n, c.k, out_h, out_w};
    s.out = compute(
        "out", shape,
        [&](std::span<const Axis> i) {
          return apply_epilogue(s.conv(i[0], i[2], i[3], i[1]), c.epilogue, s.bias, i[1]);
        },
        kNames);
  }
  std::vector<Tensor> inputs{s.data, s.weights};
  if (s.bias) {
    inputs.push_back(s.bias);
  }
  s.program = make_program({&s.out, 1}, inputs);
  return s;
}

MatmulStages make_matmul(const Matmul& m) {
  MatmulStages s;
  s.a = m.ta ? placeholder("A", {m.k, m.m}, m.type) : placeholder("A", {m.m, m.k}, m.type);
  s.b = m.tb ? placeholder("B", {m.n, m.k}, m.type) : placeholder("B", {m.k, m.n}, m.type);
  if (has_bias(m.epilogue)) {
    s.bias = placeholder("bias", {m.n}, m.type);
  }
  const Axis k = reduce_axis("k", m.k);
  static constexpr std::string_view kNames[] = {"y", "x"};
  const int64_t shape[] = {m.m, m.n};
  s.product = compute(
      m.epilogue == Epilogue::kNone ? "out" : "product", shape,
      [&](std::span<const Axis> i) {
        const Expr a = m.ta ? s.a(k, i[0]) : s.a(i[0], k);
        const Expr b = m.tb ? s.b(i[1], k) : s.b(k, i[1]);
        return sum(a * b, {k});
      },
      kNames);
  s.out = s.product;
  if (m.epilogue != Epilogue::kNone) {
    s.out = compute(
        "out", shape,
        [&](std::span<const Axis> i) { return apply_epilogue(s.product(i[0], i[1]), m.epilogue, s.bias, i[1]); },
        kNames);
  }
  std::vector<Tensor> inputs{s.a, s.b};
  if (s.bias) {
    inputs.push_back(s.bias);
  }
  s.program = make_program({&s.out, 1}, inputs);
  return s;
}

Program definition(const Workload& workload) {
  if (const auto* conv = std::get_if<Conv2d>(&workload.op)) {
    return make_conv2d(*conv).program;
  }
  if (const auto* matmul = std::get_if<Matmul>(&workload.op)) {
    return make_matmul(*matmul).program;
  }
  const auto& expression = std::get<FreeExpression>(workload.op);
  return parse_program(expression.text, expression.shapes, expression.extents);
}

}  // namespace tensmith
