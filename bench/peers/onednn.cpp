#include <fmt/format.h>

#include <algorithm>
#include <dnnl.hpp>
#include <unordered_map>
#include <utility>

#include "peer.h"
#include "tensmith/runtime/buffer.h"
#include "tensmith/support/error.h"

namespace tensmith::peers {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;

constexpr auto kType = memory::data_type::f32;

// Memory of ours for a description of the library's, so that it is aligned and can be flushed.
struct Operand {
  Operand() = default;
  Operand(const memory::desc& description, const dnnl::engine& engine)
      : storage({static_cast<std::int64_t>((description.get_size() + sizeof(float) - 1) / sizeof(float))}),
        view(description, engine, storage.data()) {}

  runtime::Buffer<float> storage;
  memory view;
};

// Order of the dimensions and their inner blocks, in the notation of oneDNN's own verbose output, for instance aBcd8b.
std::string layout_name(const memory::desc& description) {
  const dnnl_memory_desc_t& d = description.data;
  if (d.format_kind != dnnl_blocked) return "opaque";
  const auto& blocking = d.format_desc.blocking;
  std::vector<int> order(static_cast<std::size_t>(d.ndims));
  for (int i = 0; i < d.ndims; ++i) order[static_cast<std::size_t>(i)] = i;
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return blocking.strides[a] > blocking.strides[b]; });
  std::string name;
  for (const int dim : order) {
    bool blocked = false;
    for (int i = 0; i < blocking.inner_nblks; ++i) blocked |= blocking.inner_idxs[i] == dim;
    name += static_cast<char>((blocked ? 'A' : 'a') + dim);
  }
  for (int i = 0; i < blocking.inner_nblks; ++i) {
    name += fmt::format("{}{}", blocking.inner_blks[i], static_cast<char>('a' + blocking.inner_idxs[i]));
  }
  return name;
}

class OnednnPeer : public PreparedPeer {
 public:
  OnednnPeer() : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {}

  void run() override {
    primitive_.execute(stream_, arguments_);
    stream_.wait();
  }

  std::vector<float> output() override {
    Operand plain(plain_out_, engine_);
    reorder(out_, plain);
    return {plain.storage.begin(), plain.storage.begin() + count(plain_out_)};
  }

  std::vector<std::span<const std::byte>> operands() const override {
    std::vector<std::span<const std::byte>> spans;
    for (const Operand* operand : {&first_, &second_, &bias_, &out_}) {
      spans.push_back(std::as_bytes(std::span(operand->storage.begin(), operand->storage.end())));
    }
    return spans;
  }

 protected:
  static dnnl::primitive_attr attributes(const Problem& problem) {
    dnnl::primitive_attr attributes;
    if (problem.relu) {
      dnnl::post_ops operations;
      operations.append_eltwise(1.0f, dnnl::algorithm::eltwise_relu, 0.0f, 0.0f);
      attributes.set_post_ops(operations);
    }
    return attributes;
  }

  // Brings the inputs into the layouts that the library chose, outside the timed region.
  void bind(const Problem& problem, const memory::desc& plain_first, const memory::desc& plain_second,
            const memory::desc& plain_bias, const memory::desc& first, const memory::desc& second,
            const memory::desc& out, const memory::desc& plain_out) {
    first_ = load(problem.first, plain_first, first);
    second_ = load(problem.second, plain_second, second);
    if (problem.bias) bias_ = load(problem.bias_values, plain_bias, plain_bias);
    out_ = Operand(out, engine_);
    plain_out_ = plain_out;
    arguments_ = {{DNNL_ARG_SRC, first_.view}, {DNNL_ARG_WEIGHTS, second_.view}, {DNNL_ARG_DST, out_.view}};
    if (problem.bias) arguments_.insert({DNNL_ARG_BIAS, bias_.view});
    const dnnl_version_t& v = *dnnl::version();
    version = fmt::format("{}.{}.{}", v.major, v.minor, v.patch);
    layouts = fmt::format("src {} weights {} dst {}", layout_name(first), layout_name(second), layout_name(out));
  }

  dnnl::engine engine_;
  dnnl::stream stream_;
  dnnl::primitive primitive_;

 private:
  static std::int64_t count(const memory::desc& description) {
    return static_cast<std::int64_t>(description.get_size() / sizeof(float));
  }

  void reorder(const Operand& from, Operand& to) {
    memory source = from.view;
    dnnl::reorder(source, to.view).execute(stream_, source, to.view);
    stream_.wait();
  }

  Operand load(const std::vector<float>& values, const memory::desc& plain, const memory::desc& wanted) {
    Operand source(plain, engine_);
    std::copy(values.begin(), values.end(), source.storage.begin());
    if (plain == wanted) return source;
    Operand result(wanted, engine_);
    reorder(source, result);
    return result;
  }

  Operand first_, second_, bias_, out_;
  memory::desc plain_out_;
  std::unordered_map<int, memory> arguments_;
};

class OnednnConv : public OnednnPeer {
 public:
  OnednnConv(const Problem& problem, const ConvShape& shape) {
    const memory::dims source_dims = {shape.n, shape.c, shape.h, shape.w};
    const memory::dims weight_dims = {shape.k, shape.c, shape.r, shape.s};
    const memory::dims out_dims = {shape.n, shape.k, shape.out_h(), shape.out_w()};
    const memory::desc plain_source(source_dims, kType, Tag::nchw);
    const memory::desc plain_weights(weight_dims, kType, Tag::oihw);
    const memory::desc plain_out(out_dims, kType, Tag::nchw);
    const memory::desc bias = problem.bias ? memory::desc({shape.k}, kType, Tag::a) : memory::desc();
    const memory::desc source = shape.blocked ? memory::desc(source_dims, kType, Tag::any) : plain_source;
    const memory::desc out = shape.blocked ? memory::desc(out_dims, kType, Tag::any) : plain_out;
    const memory::desc weights(weight_dims, kType, Tag::any);
    const memory::dims strides = {shape.stride_h, shape.stride_w};
    const memory::dims gaps = {shape.dil_h - 1, shape.dil_w - 1};  // the library counts the gap, we the distance
    const memory::dims before = {shape.pad_t, shape.pad_l};
    const memory::dims after = {shape.pad_b, shape.pad_r};
    const dnnl::convolution_forward::desc description(dnnl::prop_kind::forward_inference,
                                                      dnnl::algorithm::convolution_direct, source, weights, bias, out,
                                                      strides, gaps, before, after);
    const dnnl::convolution_forward::primitive_desc chosen(description, attributes(problem), engine_);
    primitive_ = dnnl::convolution_forward(chosen);
    kernel = chosen.impl_info_str();
    bind(problem, plain_source, plain_weights, bias, chosen.src_desc(), chosen.weights_desc(), chosen.dst_desc(),
         plain_out);
  }
};

class OnednnMatmul : public OnednnPeer {
 public:
  OnednnMatmul(const Problem& problem, const MatmulShape& shape) {
    const memory::desc a({shape.m, shape.k}, kType, shape.ta ? Tag::ba : Tag::ab);
    const memory::desc b({shape.k, shape.n}, kType, shape.tb ? Tag::ba : Tag::ab);
    const memory::desc out({shape.m, shape.n}, kType, Tag::ab);
    const memory::desc bias = problem.bias ? memory::desc({1, shape.n}, kType, Tag::ab) : memory::desc();
    const memory::desc wanted_b = shape.packed ? memory::desc({shape.k, shape.n}, kType, Tag::any) : b;
    const auto description =
        problem.bias ? dnnl::matmul::desc(a, wanted_b, bias, out) : dnnl::matmul::desc(a, wanted_b, out);
    const dnnl::matmul::primitive_desc chosen(description, attributes(problem), engine_);
    primitive_ = dnnl::matmul(chosen);
    kernel = chosen.impl_info_str();
    bind(problem, a, b, bias, chosen.src_desc(), chosen.weights_desc(), chosen.dst_desc(), out);
  }
};

}  // namespace

std::unique_ptr<PreparedPeer> prepare_onednn(const Settings& settings, const Problem& problem) {
  try {
    std::unique_ptr<PreparedPeer> peer;
    if (const auto* conv = std::get_if<ConvShape>(&problem.shape)) {
      peer = std::make_unique<OnednnConv>(problem, *conv);
    } else {
      peer = std::make_unique<OnednnMatmul>(problem, std::get<MatmulShape>(problem.shape));
    }
    peer->threads = settings.threads;
    return peer;
  } catch (const dnnl::error& error) {
    throw WorkError(fmt::format("onednn: {} (status {})", error.what(), static_cast<int>(error.status)));
  }
}

}  // namespace tensmith::peers
