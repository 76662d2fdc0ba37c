#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <variant>
#include <vector>

/// What a peer library is asked to compute, and its inputs.

namespace tensmith::peers {

/// float32; layouts of the operands as the caller of an operator sees them.
struct ConvShape {
  std::int64_t n = 1, c = 1, h = 1, w = 1, k = 1, r = 1, s = 1;
  std::int64_t stride_h = 1, stride_w = 1;
  std::int64_t pad_t = 0, pad_l = 0, pad_b = 0, pad_r = 0;
  std::int64_t dil_h = 1, dil_w = 1;  ///< 1 is a dense kernel
  bool blocked = true;                ///< nchw16c: the library may choose its own layouts; otherwise plain nchw

  std::int64_t out_h() const { return (h + pad_t + pad_b - dil_h * (r - 1) - 1) / stride_h + 1; }
  std::int64_t out_w() const { return (w + pad_l + pad_r - dil_w * (s - 1) - 1) / stride_w + 1; }
};

/// Row-major. A is [m, k] (ta: [k, m]), B is [k, n] (tb: [n, k]).
struct MatmulShape {
  std::int64_t m = 1, n = 1, k = 1;
  bool ta = false, tb = false;
  bool packed = false;  ///< B may be packed once, outside the timed region
};

using Shape = std::variant<ConvShape, MatmulShape>;

struct Problem {
  Shape shape;
  bool bias = false;  ///< one number an output channel (conv2d) or column (matmul)
  bool relu = false;
  // Plain row-major inputs, uniform in [-1, 1): data [n,c,h,w] and weights [k,c,r,s], or A and B.
  std::vector<float> first, second, bias_values;

  double flops() const;
  std::int64_t output_size() const;
  /// Terms summed into one output.
  std::int64_t reduction_length() const;
};

/// Reads the object of a `prepare` command (README.md lists its fields) and draws the inputs. Throws UserError for an
/// unknown operator or field, a value of the wrong type or out of range, a shape with nothing to compute.
Problem read_problem(const nlohmann::json& object);

/// The result in plain layout ([n,k,oh,ow] or [m,n]) from the definition, accumulated in double.
std::vector<float> naive_result(const Problem& problem);

}  // namespace tensmith::peers
