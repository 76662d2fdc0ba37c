#include "tensmith/schedule/tensor.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "schedule/read_check.h"
#include "tensmith/ir/print.h"
#include "tensmith/ir/visit.h"
#include "tensmith/support/error.h"

namespace tensmith {
namespace {

/// Refuses shapes whose bytes cannot be counted in int64.
void check_shape(std::string_view name, std::span<const int64_t> shape, DataType type) {
  for (int64_t extent : shape) {
    if (extent < 0) {
      throw UserError(fmt::format("tensor '{}' has a negative extent in its shape [{}]", name, fmt::join(shape, ", ")),
                      "extents are at least 0");
    }
  }
  int64_t bytes = type.element_bytes();
  for (int64_t extent : shape) {
    if (__builtin_mul_overflow(bytes, std::max<int64_t>(extent, 1), &bytes)) {
      throw UserError(fmt::format("tensor '{}' with shape [{}] is larger than a 64-bit index can address", name,
                                  fmt::join(shape, ", ")),
                      "make the shape smaller");
    }
  }
}

/// Refuses a computation whose steps cannot be counted in int64.
void check_domain(std::string_view name, std::span<const Axis> domain) {
  int64_t steps = 1;
  for (const Axis& axis : domain) {
    if (__builtin_mul_overflow(steps, std::max<int64_t>(axis.extent, 1), &steps)) {
      std::vector<int64_t> extents;
      for (const Axis& each : domain) extents.push_back(each.extent);
      throw UserError(fmt::format("tensor '{}' takes more steps than a 64-bit number can count: its axes have the "
                                  "extents [{}]",
                                  name, fmt::join(extents, ", ")),
                      "make the extents smaller");
    }
  }
}

/// Tensors are found through the buffers that a body loads from.
struct BufferOwner : BufferNode {
  const TensorNode* tensor = nullptr;
};

Buffer make_owned_buffer(std::string_view name, DataType type, std::span<const int64_t> shape, TensorNode*& node) {
  auto* memory = static_cast<TensorNode*>(Arena::current().allocate(sizeof(TensorNode), alignof(TensorNode)));
  node = new (memory) TensorNode;
  auto* owner = new (Arena::current().allocate(sizeof(BufferOwner), alignof(BufferOwner))) BufferOwner;
  static_cast<BufferNode&>(*owner) = *make_buffer(name, type, shape);
  owner->tensor = node;
  return owner;
}

void check_reduce_position(Expr e, bool at_root, std::string_view name) {
  if (e.kind() == ExprKind::kReduce && !at_root) {
    throw UserError(fmt::format("tensor '{}': a reduction stands inside a larger expression", name),
                    "make the reduction a tensor of its own and read that");
  }
  for_each_child(e, [&](Expr c) { check_reduce_position(c, false, name); });
}

void check_variables(Expr e, std::span<const VarRef> known, std::string_view name) {
  walk(e, [&](Expr x) {
    const auto* var = x.as<Var>();
    if (var != nullptr && std::find(known.begin(), known.end(), var) == known.end()) {
      throw UserError(fmt::format("tensor '{}' uses the variable '{}', which is none of its axes", name, var->name),
                      "reduce over it, or make it an axis");
    }
  });
}

Expr reduction(ReduceOp op, Expr value, std::initializer_list<Axis> axes) {
  std::vector<ReduceAxis> list;
  for (const Axis& axis : axes) {
    list.push_back({axis.var, axis.extent});
  }
  return make_reduce(op, list, value);
}

}  // namespace

Expr Tensor::at(std::span<const Expr> indices) const {
  if (node_ == nullptr) {
    throw UserError("an empty tensor is read", "assign a placeholder or a compute to it first");
  }
  if (indices.size() != node_->buffer->shape.size()) {
    throw UserError(fmt::format("tensor '{}' has {} dimensions and is read with {} indices", node_->buffer->name,
                                node_->buffer->shape.size(), indices.size()),
                    "give one index per dimension");
  }
  return make_load(node_->buffer, indices);
}

Tensor placeholder(std::string_view name, std::span<const int64_t> shape, DataType type) {
  check_shape(name, shape, type);
  TensorNode* node = nullptr;
  const Buffer buffer = make_owned_buffer(name, type, shape, node);
  node->buffer = buffer;
  return Tensor(node);
}

Tensor placeholder(std::string_view name, std::initializer_list<int64_t> shape, DataType type) {
  return placeholder(name, std::span<const int64_t>(shape.begin(), shape.size()), type);
}

Axis reduce_axis(std::string_view name, int64_t extent) {
  if (extent < 0) {
    throw UserError(fmt::format("reduction axis '{}' has extent {}", name, extent), "extents are at least 0");
  }
  return {make_var(name), extent};
}

Expr sum(Expr value, std::initializer_list<Axis> axes) { return reduction(ReduceOp::kSum, value, axes); }
Expr max(Expr value, std::initializer_list<Axis> axes) { return reduction(ReduceOp::kMax, value, axes); }
Expr min(Expr value, std::initializer_list<Axis> axes) { return reduction(ReduceOp::kMin, value, axes); }

Tensor compute(std::string_view name, std::span<const int64_t> shape,
               const std::function<Expr(std::span<const Axis>)>& body, std::span<const std::string_view> axis_names) {
  static constexpr std::string_view kDefaultNames[] = {"i", "j", "k", "l", "m", "n"};
  std::vector<Axis> axes;
  for (size_t i = 0; i < shape.size(); ++i) {
    const std::string_view axis_name = i < axis_names.size()          ? axis_names[i]
                                       : i < std::size(kDefaultNames) ? kDefaultNames[i]
                                                                      : std::string_view("axis");
    axes.push_back({make_var(axis_name), shape[i]});
  }
  const Expr value = body(axes);
  if (!value) {
    throw UserError(fmt::format("tensor '{}': its function returns an empty expression", name), "return a value");
  }
  return make_compute(name, axes, value);
}

Tensor make_compute(std::string_view name, std::span<const Axis> axes, Expr value) {
  std::vector<int64_t> shape;
  for (const Axis& axis : axes) {
    shape.push_back(axis.extent);
  }
  check_shape(name, shape, value.type());
  check_reduce_position(value, true, name);
  std::vector<VarRef> known;
  std::vector<Axis> domain;
  for (const Axis& axis : axes) {
    known.push_back(axis.var);
    domain.push_back(axis);
  }
  if (const auto* reduce = value.as<Reduce>()) {
    for (const ReduceAxis& axis : reduce->axes) {
      known.push_back(axis.var);
      domain.push_back({axis.var, axis.extent});
    }
  }
  check_domain(name, domain);
  check_variables(value, known, name);
  check_reads(name, value, domain);
  return make_compute_unchecked(name, axes, value);
}

Tensor make_compute_unchecked(std::string_view name, std::span<const Axis> axes, Expr value) {
  std::vector<int64_t> shape;
  for (const Axis& axis : axes) {
    shape.push_back(axis.extent);
  }
  TensorNode* node = nullptr;
  const Buffer buffer = make_owned_buffer(name, value.type(), shape, node);
  node->buffer = buffer;
  node->axes = make_array(axes);
  node->body = value;
  if (const auto* reduce = value.as<Reduce>()) {
    node->reduce = reduce->axes;
  }
  std::vector<Tensor> inputs;
  walk(value, [&](Expr e) {
    if (const auto* load = e.as<Load>()) {
      const Tensor read = tensor_of(load->buffer);
      if (std::find(inputs.begin(), inputs.end(), read) == inputs.end()) {
        inputs.push_back(read);
      }
    }
  });
  node->inputs = make_array(inputs);
  return Tensor(node);
}

Tensor tensor_of(Buffer buffer) { return Tensor(static_cast<const BufferOwner*>(buffer)->tensor); }

Tensor compute(std::string_view name, std::initializer_list<int64_t> shape,
               const std::function<Expr(std::span<const Axis>)>& body) {
  return compute(name, std::span<const int64_t>(shape.begin(), shape.size()), body);
}

namespace {

template <typename F, size_t... I>
Tensor compute_n(std::string_view name, std::initializer_list<int64_t> shape, const F& body,
                 std::index_sequence<I...>) {
  if (shape.size() != sizeof...(I)) {
    throw UserError(
        fmt::format("tensor '{}' has {} dimensions and a function of {} axes", name, shape.size(), sizeof...(I)),
        "use one axis per dimension");
  }
  return compute(name, std::span<const int64_t>(shape.begin(), shape.size()),
                 [&](std::span<const Axis> axes) { return body(axes[I]...); });
}

}  // namespace

Tensor compute(std::string_view name, std::initializer_list<int64_t> shape, const std::function<Expr(Axis)>& body) {
  return compute_n(name, shape, body, std::make_index_sequence<1>());
}
Tensor compute(std::string_view name, std::initializer_list<int64_t> shape,
               const std::function<Expr(Axis, Axis)>& body) {
  return compute_n(name, shape, body, std::make_index_sequence<2>());
}
Tensor compute(std::string_view name, std::initializer_list<int64_t> shape,
               const std::function<Expr(Axis, Axis, Axis)>& body) {
  return compute_n(name, shape, body, std::make_index_sequence<3>());
}
Tensor compute(std::string_view name, std::initializer_list<int64_t> shape,
               const std::function<Expr(Axis, Axis, Axis, Axis)>& body) {
  return compute_n(name, shape, body, std::make_index_sequence<4>());
}

namespace {

void collect_stages(const Tensor& tensor, std::vector<Tensor>& stages, std::vector<Tensor>& inputs) {
  std::vector<Tensor>& list = tensor->is_placeholder() ? inputs : stages;
  if (std::find(list.begin(), list.end(), tensor) != list.end()) {
    return;
  }
  for (const Tensor& input : tensor->inputs) {
    collect_stages(input, stages, inputs);
  }
  list.push_back(tensor);
}

}  // namespace

Program make_program(std::span<const Tensor> outputs, std::span<const Tensor> inputs) {
  Program program;
  program.inputs.assign(inputs.begin(), inputs.end());
  for (const Tensor& output : outputs) {
    if (!output || output->is_placeholder()) {
      throw UserError(output ? fmt::format("output '{}' is a placeholder", output->buffer->name) : "an output is empty",
                      "outputs are computed tensors");
    }
    collect_stages(output, program.stages, program.inputs);
    program.outputs.push_back(output);
  }
  if (outputs.empty()) {
    throw UserError("a program needs at least one output", "pass the tensors to compute");
  }
  std::vector<std::string_view> names;
  for (const std::vector<Tensor>* list : {&program.inputs, &program.stages}) {
    for (const Tensor& tensor : *list) {
      if (std::find(names.begin(), names.end(), tensor->buffer->name) != names.end()) {
        throw UserError(fmt::format("two tensors are named '{}'", tensor->buffer->name), "give each its own name");
      }
      names.push_back(tensor->buffer->name);
    }
  }
  return program;
}

Program make_program(std::initializer_list<Tensor> outputs, std::initializer_list<Tensor> inputs) {
  return make_program(std::span(outputs.begin(), outputs.size()), std::span(inputs.begin(), inputs.size()));
}

}  // namespace tensmith
