#include <cblas.h>
#include <fmt/format.h>

#include <algorithm>

#include "peer.h"
#include "tensmith/runtime/buffer.h"
#include "tensmith/support/error.h"

namespace tensmith::peers {
namespace {

class OpenblasMatmul : public PreparedPeer {
 public:
  OpenblasMatmul(const Problem& problem, const MatmulShape& shape)
      : problem_(problem), shape_(shape), a_({shape.m * shape.k}), b_({shape.k * shape.n}), out_({shape.m, shape.n}) {
    std::copy(problem.first.begin(), problem.first.end(), a_.begin());
    std::copy(problem.second.begin(), problem.second.end(), b_.begin());
    // "OpenBLAS 0.3.21 NO_LAPACK DYNAMIC_ARCH Zen MAX_THREADS=64": the second word is the version.
    const std::string config = openblas_get_config();
    const std::size_t start = config.find(' ') + 1;
    version = config.substr(start, config.find(' ', start) - start);
    kernel = fmt::format("sgemm {}", openblas_get_corename());
    if (problem.bias || problem.relu) kernel += " + separate epilogue";
    threads = openblas_get_num_threads();
  }

  void run() override {
    cblas_sgemm(CblasRowMajor, shape_.ta ? CblasTrans : CblasNoTrans, shape_.tb ? CblasTrans : CblasNoTrans,
                static_cast<blasint>(shape_.m), static_cast<blasint>(shape_.n), static_cast<blasint>(shape_.k), 1.0f,
                a_.data(), static_cast<blasint>(shape_.ta ? shape_.m : shape_.k), b_.data(),
                static_cast<blasint>(shape_.tb ? shape_.k : shape_.n), 0.0f, out_.data(),
                static_cast<blasint>(shape_.n));
    apply_epilogue(problem_, out_.data(), shape_.m, shape_.n);
  }

  std::vector<float> output() override { return {out_.begin(), out_.end()}; }

  std::vector<std::span<const std::byte>> operands() const override {
    return {std::as_bytes(std::span(a_.begin(), a_.end())), std::as_bytes(std::span(b_.begin(), b_.end())),
            std::as_bytes(std::span(out_.begin(), out_.end()))};
  }

 private:
  Problem problem_;
  MatmulShape shape_;
  runtime::Buffer<float> a_, b_, out_;
};

}  // namespace

std::unique_ptr<PreparedPeer> prepare_openblas(const Settings& settings, const Problem& problem) {
  const auto* shape = std::get_if<MatmulShape>(&problem.shape);
  if (shape == nullptr) throw UserError("openblas has no conv2d");
  openblas_set_num_threads(settings.threads);
  return std::make_unique<OpenblasMatmul>(problem, *shape);
}

}  // namespace tensmith::peers
