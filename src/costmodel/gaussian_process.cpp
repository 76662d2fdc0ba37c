#include "tensmith/costmodel/gaussian_process.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <deque>
#include <numbers>

#include "tensmith/support/error.h"

namespace tensmith {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::MatrixXf;
using Eigen::VectorXd;
using Eigen::VectorXf;
using RowMajorF = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr double kSqrt3 = 1.7320508075688772;
constexpr size_t kBlock = 2048;  ///< points that are handled at a time: a block of kernel values stays in the cache

Eigen::Map<const RowMajorF> view(const FeatureMatrix& m) {
  return {m.values, static_cast<Index>(m.rows), static_cast<Index>(m.columns)};
}

/// Steps of L-BFGS with backtracking. `evaluate(x, gradient)` gives the value; not finite where x cannot be used.
template <typename Evaluate>
void minimize(VectorXd& x, int steps, const Evaluate& evaluate) {
  constexpr size_t kMemory = 8;
  constexpr double kLongest = 1.5;  // of a step, in any component: these are logarithms
  VectorXd gradient(x.size());
  double value = evaluate(x, gradient);
  std::deque<std::pair<VectorXd, VectorXd>> pairs;  // changes of x and of the gradient, newest last
  for (int step = 0; step < steps && std::isfinite(value) && gradient.norm() > 1e-3; ++step) {
    VectorXd direction = -gradient;
    std::vector<double> alphas(pairs.size());
    for (size_t i = pairs.size(); i-- > 0;) {
      const auto& [s, y] = pairs[i];
      alphas[i] = s.dot(direction) / s.dot(y);
      direction -= alphas[i] * y;
    }
    if (!pairs.empty()) direction *= pairs.back().first.dot(pairs.back().second) / pairs.back().second.squaredNorm();
    for (size_t i = 0; i < pairs.size(); ++i) {
      const auto& [s, y] = pairs[i];
      direction += (alphas[i] - y.dot(direction) / s.dot(y)) * s;
    }
    const double slope = gradient.dot(direction);
    if (!(slope < 0.0)) break;
    double length = std::min(1.0, kLongest / direction.cwiseAbs().maxCoeff());
    VectorXd next(x.size());
    VectorXd next_gradient(x.size());
    double next_value = 0.0;
    bool found = false;
    for (int attempt = 0; attempt < 8 && !found; ++attempt, length *= 0.4) {
      next = x + length * direction;
      next_value = evaluate(next, next_gradient);
      found = std::isfinite(next_value) && next_value <= value + 1e-4 * length * slope;
    }
    if (!found) break;
    VectorXd change = next - x;
    VectorXd bend = next_gradient - gradient;
    if (change.dot(bend) > 1e-10) {
      pairs.emplace_back(std::move(change), std::move(bend));
      if (pairs.size() > kMemory) pairs.pop_front();
    }
    const double gain = value - next_value;
    x = std::move(next);
    gradient = std::move(next_gradient);
    value = next_value;
    if (gain < 1e-4) break;
  }
}

}  // namespace

struct GaussianProcess::State {
  Index smooth;  ///< columns of Matern's kernel
  Index linear;
  GaussianProcessOptions options;
  VectorXd theta;

  Index count = 0;
  MatrixXd x;  ///< rows x all columns; the first `count` rows are used
  VectorXd y;
  double centre = 0.0;
  double scale = 1.0;
  MatrixXd factor;  ///< lower triangle of Cholesky's decomposition
  VectorXd z;       ///< factor^-1 times the scaled targets

  Index points = 0;
  MatrixXf scaled_points;  ///< points x smooth columns, divided by the lengths
  MatrixXf linear_points;
  VectorXf norms;
  MatrixXf v;  ///< points x rows: (factor^-1 K(rows, points)) transposed
  VectorXf mean;
  VectorXd variance;
  std::vector<double> mean_out;
  std::vector<double> variance_out;

  State(size_t columns, const GaussianProcessOptions& o)
      : smooth(static_cast<Index>(columns - o.linear_columns)),
        linear(static_cast<Index>(o.linear_columns)),
        options(o) {
    theta.resize(smooth + 2 + (linear > 0));
    for (Index j = 0; j < theta.size(); ++j) theta[j] = std::log(prior(j).median);
    reserve(64);
  }

  Index columns() const { return smooth + linear; }
  const LogNormalPrior& prior(Index j) const {
    if (j < smooth) return options.length;
    return j == smooth ? options.signal : j == smooth + 1 ? options.noise : options.weight;
  }
  double signal2() const { return std::exp(2.0 * theta[smooth]); }
  double noise2() const { return std::exp(2.0 * theta[smooth + 1]); }
  double weight2() const { return linear > 0 ? std::exp(2.0 * theta[smooth + 2]) : 0.0; }
  double constant2() const { return options.constant * options.constant; }
  Eigen::ArrayXd inverse_lengths() const { return (-theta.head(smooth).array()).exp(); }

  void reserve(Index rows) {
    if (x.rows() >= rows) return;
    const Index capacity = std::max<Index>(rows, 2 * x.rows());
    x.conservativeResize(capacity, columns());
    y.conservativeResize(capacity);
    z.conservativeResize(capacity);
    factor.conservativeResize(capacity, capacity);
    if (points > 0) v.conservativeResize(points, capacity);
  }

  /// K(rows, rows) without noise at the parameters `t`; `slope`, when asked for, is -2 times the derivative of Matern's
  /// part by r^2.
  MatrixXd kernel(const VectorXd& t, MatrixXd* slope, MatrixXd* scaled) const {
    const double s2 = std::exp(2.0 * t[smooth]);
    MatrixXd u = x.topLeftCorner(count, smooth) * (-t.head(smooth).array()).exp().matrix().asDiagonal();
    const VectorXd squares = u.rowwise().squaredNorm();
    MatrixXd r = -2.0 * (u * u.transpose());
    r.colwise() += squares;
    r.rowwise() += squares.transpose();
    r = (3.0 * r.array().max(0.0)).sqrt();
    const MatrixXd decay = s2 * (-r.array()).exp();
    MatrixXd k = decay.array() * (1.0 + r.array());
    if (slope) *slope = 3.0 * decay;
    if (scaled) *scaled = std::move(u);
    return k;
  }

  double objective(const VectorXd& t, VectorXd* gradient) const {
    double value = 0.0;
    for (Index j = 0; j < t.size(); ++j) {
      const double d = (t[j] - std::log(prior(j).median)) / prior(j).deviation;
      value += 0.5 * d * d;
      if (gradient) (*gradient)[j] = d / prior(j).deviation;
    }
    if (count == 0) return value;
    MatrixXd slope;
    MatrixXd u;
    const MatrixXd matern = kernel(t, gradient ? &slope : nullptr, gradient ? &u : nullptr);
    MatrixXd k = matern;
    const auto h = x.block(0, smooth, count, linear);
    MatrixXd products;
    double w2 = 0.0;
    if (linear > 0) {
      w2 = std::exp(2.0 * t[smooth + 2]);
      products = h * h.transpose();
      k += w2 * products;
    }
    const double n2 = std::exp(2.0 * t[smooth + 1]);
    k.array() += constant2();
    k.diagonal().array() += n2;
    const Eigen::LLT<MatrixXd> llt(k);
    if (llt.info() != Eigen::Success) return std::numeric_limits<double>::infinity();
    const VectorXd target = (y.head(count).array() - centre) / scale;
    const VectorXd alpha = llt.solve(target);
    value += 0.5 * target.dot(alpha);
    for (Index i = 0; i < count; ++i) value += std::log(llt.matrixLLT()(i, i));
    if (!gradient) return value;
    // d value / d t = tr(a dK / dt) / 2.
    MatrixXd a = llt.solve(MatrixXd::Identity(count, count));
    a.noalias() -= alpha * alpha.transpose();
    (*gradient)[smooth] += a.cwiseProduct(matern).sum();
    (*gradient)[smooth + 1] += n2 * a.trace();
    if (linear > 0) (*gradient)[smooth + 2] += w2 * a.cwiseProduct(products).sum();
    const MatrixXd weights = a.cwiseProduct(slope);
    const VectorXd sums = weights.rowwise().sum();
    const MatrixXd weighted = weights * u;
    for (Index j = 0; j < smooth; ++j) {
      (*gradient)[j] += u.col(j).cwiseAbs2().dot(sums) - u.col(j).dot(weighted.col(j));
    }
    return value;
  }

  /// Decomposes K for the rows there are, with as much noise as it takes.
  void decompose() {
    points = 0;
    if (count == 0) return;
    MatrixXd k = kernel(theta, nullptr, nullptr);
    if (linear > 0) {
      const auto h = x.block(0, smooth, count, linear);
      k += weight2() * (h * h.transpose());
    }
    k.array() += constant2();
    double jitter = noise2();
    k.diagonal().array() += jitter;
    Eigen::LLT<MatrixXd> llt(k);
    while (llt.info() != Eigen::Success && jitter < 1e6) {
      k.diagonal().array() += 9.0 * jitter + 1e-10;
      jitter = 10.0 * jitter + 1e-10;
      llt.compute(k);
    }
    factor.topLeftCorner(count, count) = llt.matrixL();
    solve_targets();
  }

  void solve_targets() {
    z.head(count) = (y.head(count).array() - centre) / scale;
    if (count > 0) factor.topLeftCorner(count, count).triangularView<Eigen::Lower>().solveInPlace(z.head(count));
  }

  /// Matern's kernel of scaled points and scaled rows, plus the rest of the covariance.
  template <typename Points, typename Linear, typename Norms>
  MatrixXf cross(const Points& p, const Linear& q, const Norms& squares, const MatrixXf& u, const MatrixXf& h) const {
    MatrixXf r = (-2.0F * p) * u.transpose();
    r.colwise() += squares;
    r.rowwise() += u.rowwise().squaredNorm().transpose();
    r = (3.0F * r.array().max(0.0F)).sqrt();
    const float s2 = static_cast<float>(signal2());
    r = s2 * (-r.array()).exp() * (1.0F + r.array()) + static_cast<float>(constant2());
    if (linear > 0) r.noalias() += (static_cast<float>(weight2()) * q) * h.transpose();
    return r;
  }

  MatrixXf scaled_rows(Index first, Index number) const {
    return (x.block(first, 0, number, smooth) * inverse_lengths().matrix().asDiagonal()).cast<float>();
  }
  MatrixXf linear_rows(Index first, Index number) const { return x.block(first, smooth, number, linear).cast<float>(); }
};

GaussianProcess::GaussianProcess(size_t columns, const GaussianProcessOptions& options) {
  TENSMITH_ICHECK(options.linear_columns <= columns, "linear columns are some of the columns");
  state_ = std::make_unique<State>(columns, options);
}
GaussianProcess::~GaussianProcess() = default;
GaussianProcess::GaussianProcess(GaussianProcess&&) noexcept = default;
GaussianProcess& GaussianProcess::operator=(GaussianProcess&&) noexcept = default;

namespace {

void check_columns(size_t given, size_t expected) {
  if (given != expected) {
    throw UserError(fmt::format("Gaussian process: rows have {} columns, not {}", given, expected));
  }
}

void check_finite(double target) {
  if (!std::isfinite(target)) throw UserError(fmt::format("Gaussian process: a target is {}", target));
}

}  // namespace

void GaussianProcess::set_rows(const FeatureMatrix& rows, std::span<const double> targets) {
  State& s = *state_;
  if (rows.rows > 0) check_columns(rows.columns, columns());
  if (targets.size() != rows.rows) {
    throw UserError(fmt::format("Gaussian process: {} rows but {} targets", rows.rows, targets.size()));
  }
  for (double target : targets) check_finite(target);
  s.points = 0;
  s.reserve(static_cast<Index>(rows.rows));
  s.count = static_cast<Index>(rows.rows);
  if (s.count > 0) s.x.topRows(s.count) = view(rows).cast<double>();
  s.y.head(s.count) = Eigen::Map<const VectorXd>(targets.data(), s.count);
  s.centre = s.count > 0 ? s.y.head(s.count).mean() : 0.0;
  const double deviation =
      s.count > 1 ? std::sqrt((s.y.head(s.count).array() - s.centre).square().sum() / static_cast<double>(s.count))
                  : 0.0;
  s.scale = deviation > 1e-12 * (1.0 + std::abs(s.centre)) ? deviation : 1.0;
  if (s.options.scale > 0.0) {
    s.centre = 0.0;
    s.scale = s.options.scale;
  }
  s.decompose();
}

void GaussianProcess::optimize(int steps) {
  State& s = *state_;
  minimize(s.theta, steps, [&](const VectorXd& t, VectorXd& gradient) { return s.objective(t, &gradient); });
  s.decompose();
}

void GaussianProcess::add(std::span<const float> row, double target) {
  State& s = *state_;
  check_columns(row.size(), columns());
  check_finite(target);
  const Index n = s.count;
  s.reserve(n + 1);
  s.x.row(n) = Eigen::Map<const VectorXf>(row.data(), static_cast<Index>(row.size())).cast<double>().transpose();
  s.y[n] = target;
  // Covariances with the rows before, by the differences: exact where two rows are nearly the same.
  VectorXd k(n);
  const Eigen::ArrayXd inverse = s.inverse_lengths();
  for (Index i = 0; i < n; ++i) {
    const double r2 =
        ((s.x.row(i).head(s.smooth) - s.x.row(n).head(s.smooth)).transpose().array() * inverse).square().sum();
    const double r = std::sqrt(3.0 * r2);
    k[i] = s.signal2() * (1.0 + r) * std::exp(-r) + s.constant2();
    if (s.linear > 0) k[i] += s.weight2() * s.x.row(i).tail(s.linear).dot(s.x.row(n).tail(s.linear));
  }
  double own = s.signal2() + s.constant2() + s.noise2();
  if (s.linear > 0) own += s.weight2() * s.x.row(n).tail(s.linear).squaredNorm();
  if (n > 0) s.factor.topLeftCorner(n, n).triangularView<Eigen::Lower>().solveInPlace(k);
  const double rest = std::sqrt(std::max(own - k.squaredNorm(), 0.1 * s.noise2() + 1e-10));
  s.factor.row(n).head(n) = k.transpose();
  s.factor(n, n) = rest;
  s.z[n] = ((target - s.centre) / s.scale - k.dot(s.z.head(n))) / rest;
  ++s.count;
  if (s.points == 0) return;
  VectorXf fresh = s.cross(s.scaled_points, s.linear_points, s.norms, s.scaled_rows(n, 1), s.linear_rows(n, 1));
  fresh.noalias() -= s.v.leftCols(n) * k.cast<float>();
  fresh /= static_cast<float>(rest);
  s.v.col(n) = fresh;
  s.mean += static_cast<float>(s.z[n]) * fresh;
  s.variance.array() -= fresh.cast<double>().array().square();
}

void GaussianProcess::remove_last(size_t count) {
  State& s = *state_;
  TENSMITH_ICHECK(static_cast<Index>(count) <= s.count, "there are so many rows");
  for (; count > 0; --count) {
    --s.count;
    if (s.points == 0) continue;
    s.mean -= static_cast<float>(s.z[s.count]) * s.v.col(s.count);
    s.variance.array() += s.v.col(s.count).cast<double>().array().square();
  }
}

void GaussianProcess::set_targets(std::span<const double> targets) {
  State& s = *state_;
  TENSMITH_ICHECK(targets.size() == rows(), "one target a row");
  for (double target : targets) check_finite(target);
  s.y.head(s.count) = Eigen::Map<const VectorXd>(targets.data(), s.count);
  s.solve_targets();
  if (s.points > 0 && s.count > 0) s.mean.noalias() = s.v.leftCols(s.count) * s.z.head(s.count).cast<float>();
}

size_t GaussianProcess::rows() const { return static_cast<size_t>(state_->count); }
size_t GaussianProcess::columns() const { return static_cast<size_t>(state_->columns()); }

void GaussianProcess::track(const FeatureMatrix& points) {
  State& s = *state_;
  if (points.rows > 0) check_columns(points.columns, columns());
  s.points = static_cast<Index>(points.rows);
  if (s.points == 0) return;
  const auto all = view(points);
  s.scaled_points = all.leftCols(s.smooth) * s.inverse_lengths().cast<float>().matrix().asDiagonal();
  s.linear_points = all.rightCols(s.linear);
  s.norms = s.scaled_points.rowwise().squaredNorm();
  s.mean = VectorXf::Zero(s.points);
  s.variance = VectorXd::Constant(s.points, s.signal2() + s.constant2());
  if (s.linear > 0) {
    s.variance += s.weight2() * s.linear_points.rowwise().squaredNorm().cast<double>();
  }
  if (s.v.rows() != s.points || s.v.cols() < s.x.rows()) s.v.resize(s.points, s.x.rows());
  if (s.count == 0) return;
  const MatrixXf u = s.scaled_rows(0, s.count);
  const MatrixXf h = s.linear_rows(0, s.count);
  const MatrixXf lower =
      s.factor.topLeftCorner(s.count, s.count).triangularView<Eigen::Lower>().toDenseMatrix().cast<float>();
  const VectorXf z = s.z.head(s.count).cast<float>();
  for (Index first = 0; first < s.points; first += kBlock) {
    const Index number = std::min<Index>(kBlock, s.points - first);
    MatrixXf k = s.cross(s.scaled_points.middleRows(first, number), s.linear_points.middleRows(first, number),
                         s.norms.segment(first, number), u, h);
    lower.transpose().triangularView<Eigen::Upper>().solveInPlace<Eigen::OnTheRight>(k);
    s.mean.segment(first, number).noalias() = k * z;
    s.variance.segment(first, number) -= k.rowwise().squaredNorm().cast<double>();
    s.v.block(first, 0, number, s.count) = k;
  }
}

std::span<const double> GaussianProcess::means() const {
  State& s = *state_;
  s.mean_out.resize(static_cast<size_t>(s.points));
  for (Index i = 0; i < s.points; ++i) s.mean_out[i] = s.centre + s.scale * s.mean[i];
  return s.mean_out;
}

std::span<const double> GaussianProcess::variances() const {
  State& s = *state_;
  s.variance_out.resize(static_cast<size_t>(s.points));
  for (Index i = 0; i < s.points; ++i) s.variance_out[i] = s.scale * s.scale * std::max(s.variance[i], 1e-8);
  return s.variance_out;
}

void GaussianProcess::predict(const FeatureMatrix& points, std::span<double> means, std::span<double> variances,
                              size_t variance_rows) const {
  const State& s = *state_;
  if (points.rows == 0) return;
  check_columns(points.columns, columns());
  TENSMITH_ICHECK(means.size() == points.rows && (variances.empty() || variances.size() == points.rows),
                  "one mean and variance a point");
  const Index n = s.count;
  // Rows that variances are told by.
  const Index m =
      variances.empty() ? 0 : std::min<Index>(n, static_cast<Index>(std::min<size_t>(variance_rows, INT32_MAX)));
  const MatrixXf u = s.scaled_rows(0, n);
  const MatrixXf h = s.linear_rows(0, n);
  VectorXd weights = s.z.head(n);
  if (n > 0) s.factor.topLeftCorner(n, n).transpose().triangularView<Eigen::Upper>().solveInPlace(weights);
  const VectorXf alpha = weights.cast<float>();
  const MatrixXf lower = s.factor.topLeftCorner(m, m).triangularView<Eigen::Lower>().toDenseMatrix().cast<float>();
  const Eigen::RowVectorXf inverse = s.inverse_lengths().cast<float>().matrix().transpose();
  const auto all = view(points);
  const auto block_size = static_cast<Index>(kBlock);
  for (Index first = 0; first < all.rows(); first += block_size) {
    const Index number = std::min<Index>(block_size, all.rows() - first);
    const MatrixXf p = all.block(first, 0, number, s.smooth) * inverse.asDiagonal();
    const MatrixXf q = all.block(first, s.smooth, number, s.linear);
    const VectorXf squares = p.rowwise().squaredNorm();
    VectorXd own = VectorXd::Constant(number, s.signal2() + s.constant2());
    if (s.linear > 0) own += s.weight2() * q.rowwise().squaredNorm().cast<double>();
    VectorXf mean = VectorXf::Zero(number);
    if (n > 0) {
      MatrixXf k = s.cross(p, q, squares, u, h);
      mean.noalias() = k * alpha;
      if (m > 0) {
        MatrixXf v = k.leftCols(m);
        lower.transpose().triangularView<Eigen::Upper>().solveInPlace<Eigen::OnTheRight>(v);
        own -= v.rowwise().squaredNorm().cast<double>();
      }
    }
    for (Index i = 0; i < number; ++i) {
      means[first + i] = s.centre + s.scale * mean[i];
      if (!variances.empty()) variances[first + i] = s.scale * s.scale * std::max(own[i], 1e-8);
    }
  }
}

double GaussianProcess::log_likelihood() const {
  const State& s = *state_;
  const double n = static_cast<double>(s.count);
  return -0.5 * s.z.head(s.count).squaredNorm() - s.factor.diagonal().head(s.count).array().log().sum() -
         n * std::log(s.scale * std::sqrt(2.0 * std::numbers::pi));
}

std::span<const double> GaussianProcess::parameters() const {
  return {state_->theta.data(), static_cast<size_t>(state_->theta.size())};
}

void GaussianProcess::set_parameters(std::span<const double> logarithms) {
  TENSMITH_ICHECK(logarithms.size() == parameters().size(), "one number a parameter");
  state_->theta = Eigen::Map<const VectorXd>(logarithms.data(), static_cast<Index>(logarithms.size()));
  state_->decompose();
}

double GaussianProcess::objective(std::span<const double> logarithms, std::span<double> gradient) const {
  TENSMITH_ICHECK(logarithms.size() == parameters().size(), "one number a parameter");
  const VectorXd t = Eigen::Map<const VectorXd>(logarithms.data(), static_cast<Index>(logarithms.size()));
  VectorXd g(t.size());
  const double value = state_->objective(t, gradient.empty() ? nullptr : &g);
  std::copy_n(g.data(), gradient.size(), gradient.data());
  return value;
}

}  // namespace tensmith
