// Built with -O3 -march=native whatever the rest is built with: a peer runs at its best.
#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>

#include "peer.h"
#include "tensmith/runtime/buffer.h"
#include "tensmith/support/error.h"

namespace tensmith::peers {
namespace {

using Matrix = Eigen::Map<Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>, Eigen::Aligned64>;

class EigenMatmul : public PreparedPeer {
 public:
  EigenMatmul(const Problem& problem, const MatmulShape& shape)
      : problem_(problem), shape_(shape), a_({shape.m * shape.k}), b_({shape.k * shape.n}), out_({shape.m, shape.n}) {
    std::copy(problem.first.begin(), problem.first.end(), a_.begin());
    std::copy(problem.second.begin(), problem.second.end(), b_.begin());
    version = fmt::format("{}.{}.{}", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION);
    kernel = fmt::format("gemm {}", Eigen::SimdInstructionSetsInUse());
#ifdef EIGEN_VECTORIZE_FMA
    kernel += ", FMA";
#endif
    if (problem.bias || problem.relu) kernel += " + separate epilogue";
    threads = Eigen::nbThreads();
  }

  void run() override {
    const Eigen::Index m = shape_.m, n = shape_.n, k = shape_.k;
    const Matrix a(a_.data(), shape_.ta ? k : m, shape_.ta ? m : k);
    const Matrix b(b_.data(), shape_.tb ? n : k, shape_.tb ? k : n);
    Matrix out(out_.data(), m, n);
    if (shape_.ta && shape_.tb) {
      out.noalias() = a.transpose() * b.transpose();
    } else if (shape_.ta) {
      out.noalias() = a.transpose() * b;
    } else if (shape_.tb) {
      out.noalias() = a * b.transpose();
    } else {
      out.noalias() = a * b;
    }
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

std::unique_ptr<PreparedPeer> prepare_eigen(const Settings& settings, const Problem& problem) {
  const auto* shape = std::get_if<MatmulShape>(&problem.shape);
  if (shape == nullptr) throw UserError("eigen has no conv2d");
  Eigen::setNbThreads(settings.threads);
  return std::make_unique<EigenMatmul>(problem, *shape);
}

}  // namespace tensmith::peers
