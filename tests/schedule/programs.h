#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "tensmith/schedule/tensor.h"

/// Small programs for schedules to be tried on, with their tensors at hand.

namespace tensmith::testing {

struct MatmulProgram {
  Tensor a, b, c;
  Axis k;
  Program program;
};

/// C[y, x] = sum(k: A[k, y] * B[k, x]), the paper's Figure 1.
inline MatmulProgram matmul(int64_t m, int64_t n, int64_t depth) {
  MatmulProgram p;
  p.a = placeholder("A", {depth, m});
  p.b = placeholder("B", {depth, n});
  p.k = reduce_axis("k", depth);
  const std::string_view names[] = {"y", "x"};
  const int64_t shape[] = {m, n};
  p.c = compute(
      "C", shape, [&](std::span<const Axis> i) { return sum(p.a(p.k, i[0]) * p.b(p.k, i[1]), p.k); }, names);
  p.program = make_program(std::span(&p.c, 1));
  return p;
}

struct ConvShape {
  int64_t n = 1, c = 3, h = 7, w = 9, k = 4, r = 3, s = 3;
  int64_t stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;
  int64_t top = 1, left = 1, bottom = 1, right = 1;
  int64_t oh() const { return (h + top + bottom - dilation_h * (r - 1) - 1) / stride_h + 1; }
  int64_t ow() const { return (w + left + right - dilation_w * (s - 1) - 1) / stride_w + 1; }
};

struct ConvProgram {
  Tensor data, weights, bias, pad, conv, biased, out;
  Axis c, r, s;
  Program program;
};

/// O = relu(conv2d(pad(X), W) + bias), or the convolution alone.
inline ConvProgram conv2d(const ConvShape& z, bool epilogue = false) {
  ConvProgram p;
  p.data = placeholder("X", {z.n, z.c, z.h, z.w});
  p.weights = placeholder("W", {z.k, z.c, z.r, z.s});
  const std::string_view pad_names[] = {"n", "c", "h", "w"};
  const int64_t padded[] = {z.n, z.c, z.h + z.top + z.bottom, z.w + z.left + z.right};
  p.pad = compute(
      "P", padded,
      [&](std::span<const Axis> i) {
        const Expr y = Expr(i[2]) - z.top;
        const Expr x = Expr(i[3]) - z.left;
        const Expr inside = logical_and(logical_and(y >= 0, y < z.h), logical_and(x >= 0, x < z.w));
        return select(inside, p.data(i[0], i[1], y, x), make_float(kFloat32, 0));
      },
      pad_names);
  p.c = reduce_axis("c", z.c);
  p.r = reduce_axis("r", z.r);
  p.s = reduce_axis("s", z.s);
  const std::string_view names[] = {"n", "k", "oh", "ow"};
  const int64_t shape[] = {z.n, z.k, z.oh(), z.ow()};
  p.conv = compute(
      "O", shape,
      [&](std::span<const Axis> i) {
        return sum(p.pad(i[0], p.c, Expr(i[2]) * z.stride_h + Expr(p.r) * z.dilation_h,
                         Expr(i[3]) * z.stride_w + Expr(p.s) * z.dilation_w) *
                       p.weights(i[1], p.c, p.r, p.s),
                   p.c, p.r, p.s);
      },
      names);
  p.out = p.conv;
  if (epilogue) {
    p.bias = placeholder("bias", {z.k});
    p.biased = compute(
        "biased", shape, [&](std::span<const Axis> i) { return p.conv(i[0], i[1], i[2], i[3]) + p.bias(i[1]); }, names);
    p.out = compute(
        "out", shape,
        [&](std::span<const Axis> i) { return max(p.biased(i[0], i[1], i[2], i[3]), make_float(kFloat32, 0)); }, names);
  }
  p.program = make_program(std::span(&p.out, 1));
  return p;
}

struct ChainProgram {
  Tensor a, b, c, d;
  Program program;
};

/// B = A + 1, C[y, x] = B[y, x] + B[y, x + 1] + B[y + 1, x], D = C * 2.
inline ChainProgram chain(int64_t m, int64_t n) {
  ChainProgram p;
  p.a = placeholder("A", {m + 1, n + 1});
  const std::string_view names[] = {"y", "x"};
  const int64_t larger[] = {m + 1, n + 1};
  const int64_t shape[] = {m, n};
  p.b = compute(
      "B", larger, [&](std::span<const Axis> i) { return p.a(i[0], i[1]) + make_float(kFloat32, 1); }, names);
  p.c = compute(
      "C", shape,
      [&](std::span<const Axis> i) { return p.b(i[0], i[1]) + p.b(i[0], Expr(i[1]) + 1) + p.b(Expr(i[0]) + 1, i[1]); },
      names);
  p.d = compute(
      "D", shape, [&](std::span<const Axis> i) { return p.c(i[0], i[1]) * make_float(kFloat32, 2); }, names);
  p.program = make_program(std::span(&p.d, 1));
  return p;
}

}  // namespace tensmith::testing
