#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tensmith/schedule/expr_parser.h"
#include "tensmith/schedule/tensor.h"

/// Workloads: an operator with its shapes, types and layouts, and their text form.

namespace tensmith {

/// How the channels of an activation lie in memory.
enum class ActivationLayout : uint8_t {
  kNchw,     ///< [n, c, h, w]
  kNchw16c,  ///< [n, c/16, h, w, 16]; an operand whose channels are not a multiple of 16 stays nchw
};

/// How an operand that does not change between calls is given.
enum class WeightsForm : uint8_t {
  kPacked,  ///< packed once, ahead of time, by a function that comes with the operator; not timed
  kPlain,   ///< in its plain layout; packing, if any, happens inside and is timed
};

/// What is applied to each output element in the same program.
enum class Epilogue : uint8_t { kNone, kBias, kRelu, kBiasRelu };

/// 2-D convolution (cross-correlation):
/// out[n,k,y,x] = sum(c,i,j: data[n, c, y*stride_h + i*dilation_h - pad_top, x*stride_w + j*dilation_w - pad_left] *
/// weights[k,c,i,j]), where data reads as 0 outside its bounds. Inputs in calling order: data, weights[k,c,r,s]
/// (bias[k]); output: out.
struct Conv2d {
  int64_t n = 1, c = 1, h = 1, w = 1, k = 1, r = 1, s = 1;
  int64_t stride_h = 1, stride_w = 1;
  int64_t pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;
  int64_t dilation_h = 1, dilation_w = 1;
  ActivationLayout layout = ActivationLayout::kNchw16c;
  WeightsForm weights = WeightsForm::kPacked;
  DataType type = kFloat32;
  Epilogue epilogue = Epilogue::kNone;

  int64_t out_h() const { return (h + pad_top + pad_bottom - dilation_h * (r - 1) - 1) / stride_h + 1; }
  int64_t out_w() const { return (w + pad_left + pad_right - dilation_w * (s - 1) - 1) / stride_w + 1; }
  bool data_blocked() const { return layout == ActivationLayout::kNchw16c && c % 16 == 0; }
  bool out_blocked() const { return layout == ActivationLayout::kNchw16c && k % 16 == 0; }
  bool operator==(const Conv2d&) const = default;
};

/// out[m,n] = sum(k: A*B), row-major. ta: A is stored [k,m] instead of [m,k]; tb: B is stored [n,k] instead of [k,n].
/// Inputs in calling order: A, B (bias[n]); output: out.
struct Matmul {
  int64_t m = 1, n = 1, k = 1;
  bool ta = false, tb = false;
  DataType type = kFloat32;
  Epilogue epilogue = Epilogue::kNone;
  bool operator==(const Matmul&) const = default;
};

/// A named operator, or a user's own index expression.
struct Workload {
  std::variant<Conv2d, Matmul, FreeExpression> op;
};

/// Canonical text: every field, in a fixed order; parse_workload reads it back. Part of a record's key.
std::string to_string(const Workload& workload);

/// Multiplications and additions: 2*N*K*OH*OW*C*R*S, 2*M*N*K, or what the expression evaluates, padding and skipped
/// taps included.
double flop_count(const Workload& workload);

/// The same without what an operand's padding takes part in: of conv2d, the taps that fall inside the image. What a
/// program has to do, whether or not it does more.
double useful_flop_count(const Workload& workload);

/// Terms summed into one output element (the reduction length of the longest reduction); decides the tolerance.
int64_t reduction_length(const Workload& workload);
int64_t reduction_length(const Program& program);

/// Why there is nothing to schedule, or none when there is: "the output is empty", "the reduction is empty" (its sum is
/// 0 everywhere), "an input is empty" (the output is padding alone).
std::optional<std::string> nothing_to_schedule(const Workload& workload);

/// One workload from text: `conv2d:c=64,h=56,w=56,k=64,r=3,s=3,pad=1`, `matmul:m=64,n=64,k=64,ta=1`, `resnet18.C6`,
/// `resnet18.C6:layout=nchw,epilogue=bias+relu`, `matmul-1024`, or `expr:` with definitions as parse_program reads
/// them, each ended by `;`, and then shapes and extents: `expr:C[y,x] = sum(k: A[k,y]*B[k,x]); A=4x4:float32
/// B=4x4:float32` (there a shape has its type or several dimensions; `y=3` is an extent). Throws UserError with the
/// text and position of what is wrong: unknown operator, alias or field; a field given twice; a conv2d without c, h, w,
/// k, r or s, or a matmul without m, n or k, unless an alias gives them; a value that is no number or not allowed; a
/// conv2d with zero or negative c, k, r, s, stride or dilation, or whose padded input is smaller than its kernel; sizes
/// beyond int64.
Workload parse_workload(std::string_view text);

/// The same, where a set (`resnet18`) stands for all its workloads.
std::vector<Workload> parse_workloads(std::string_view text);

/// Names that parse_workload knows, for help texts.
std::vector<std::string> workload_aliases();

/// A program that was written in C++ as a workload: what definition gives is equal to it. Throws as to_expression
/// does.
Workload workload_of(const Program& program);

/// The definition in the layouts that callers see: the reference for every schedule. Inputs in calling order.
Program definition(const Workload& workload);

}  // namespace tensmith
