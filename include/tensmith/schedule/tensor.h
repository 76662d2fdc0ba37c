#pragma once

#include <functional>
#include <initializer_list>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tensmith/ir/ir.h"
#include "tensmith/ir/ops.h"

/// The index-expression front end (paper, Figure 1):
///
///     Tensor A = placeholder("A", {1024, 1024});
///     Tensor B = placeholder("B", {1024, 1024});
///     Axis k = reduce_axis("k", 1024);
///     Tensor C = compute("C", {1024, 1024}, [&](Axis y, Axis x) { return sum(A(k, y) * B(k, x), k); });

namespace tensmith {

/// An axis of a stage's domain: loop variable and constant extent; it runs over [0, extent).
struct Axis {
  VarRef var = nullptr;
  int64_t extent = 0;
  operator Expr() const { return Expr(var); }  // NOLINT: reads as an index
};

struct TensorNode;

/// Handle of a placeholder or of the result of a compute. Immutable.
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(const TensorNode* node) : node_(node) {}
  const TensorNode* get() const { return node_; }
  const TensorNode* operator->() const { return node_; }
  explicit operator bool() const { return node_ != nullptr; }
  bool operator==(const Tensor&) const = default;

  /// Element at the given indices (int64 expressions, axes or numbers). Throws UserError when their number differs from
  /// the rank.
  template <typename... Indices>
  Expr operator()(Indices... indices) const {
    return at({index(indices)...});
  }
  Expr at(std::initializer_list<Expr> indices) const {
    return at(std::span<const Expr>(indices.begin(), indices.size()));
  }
  Expr at(std::span<const Expr> indices) const;

 private:
  template <typename Index>
  static Expr index(Index value) {
    if constexpr (std::is_integral_v<Index>) {
      return make_index(value);
    } else {
      return Expr(value);
    }
  }

  const TensorNode* node_ = nullptr;
};

/// What a tensor is made of. A placeholder has no body.
struct TensorNode {
  Buffer buffer;             ///< name, element type and shape
  Array<Axis> axes;          ///< one per dimension (compute only)
  Array<ReduceAxis> reduce;  ///< axes of the Reduce at the root of the body, if any
  Expr body;                 ///< value of an element, over the axes; a Reduce only at its root
  Array<Tensor> inputs;      ///< tensors read by the body, in order of first appearance
  bool is_placeholder() const { return !body; }
};

Tensor placeholder(std::string_view name, std::span<const int64_t> shape, DataType type = kFloat32);
Tensor placeholder(std::string_view name, std::initializer_list<int64_t> shape, DataType type = kFloat32);

/// An axis to reduce over. Extent 0 is allowed: the reduction is then the reducer's identity.
Axis reduce_axis(std::string_view name, int64_t extent);

Expr sum(Expr value, std::initializer_list<Axis> axes);
Expr max(Expr value, std::initializer_list<Axis> axes);
Expr min(Expr value, std::initializer_list<Axis> axes);
template <typename... Axes>
Expr sum(Expr value, Axis first, Axes... rest) {
  return sum(value, {first, rest...});
}

/// A tensor from the value of its element at given axes. Throws UserError: negative extent; a Reduce not at the root; a
/// read that can be out of bounds for some point of the domain (with the offending index and the range it takes; a
/// condition of an enclosing select counts); a variable that is no axis; sizes beyond int64; arithmetic on
/// axes that reaches 2^60.
Tensor compute(std::string_view name, std::span<const int64_t> shape,
               const std::function<Expr(std::span<const Axis>)>& body,
               std::span<const std::string_view> axis_names = {});
Tensor compute(std::string_view name, std::initializer_list<int64_t> shape,
               const std::function<Expr(std::span<const Axis>)>& body);
Tensor compute(std::string_view name, std::initializer_list<int64_t> shape, const std::function<Expr(Axis)>& body);
Tensor compute(std::string_view name, std::initializer_list<int64_t> shape,
               const std::function<Expr(Axis, Axis)>& body);
Tensor compute(std::string_view name, std::initializer_list<int64_t> shape,
               const std::function<Expr(Axis, Axis, Axis)>& body);
Tensor compute(std::string_view name, std::initializer_list<int64_t> shape,
               const std::function<Expr(Axis, Axis, Axis, Axis)>& body);

/// The same from axes that exist already. `make_compute` checks like `compute`; the unchecked form is for schedule
/// primitives, which rewrite definitions that were checked.
Tensor make_compute(std::string_view name, std::span<const Axis> axes, Expr value);
Tensor make_compute_unchecked(std::string_view name, std::span<const Axis> axes, Expr value);

/// The tensor whose elements a load from `buffer` reads. `buffer` must be a tensor's.
Tensor tensor_of(Buffer buffer);

/// A definition: outputs and everything they read. Inputs are listed in the order given, or of first use.
struct Program {
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
  std::vector<Tensor> stages;  ///< computes, producers first, outputs included
};

/// Collects the stages behind `outputs`. Throws UserError when an output is a placeholder or two tensors share a name.
Program make_program(std::span<const Tensor> outputs, std::span<const Tensor> inputs = {});
Program make_program(std::initializer_list<Tensor> outputs, std::initializer_list<Tensor> inputs = {});

}  // namespace tensmith
