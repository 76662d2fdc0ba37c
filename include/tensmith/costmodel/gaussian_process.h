#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tensmith/costmodel/cost_model.h"

/// Gaussian-process regression on few points: a smooth function with an honest statement of what is not known.

namespace tensmith {

/// Normal prior of the logarithm of a hyper-parameter.
struct LogNormalPrior {
  double median = 1.0;
  double deviation = 1.0;  ///< of the logarithm
};

struct GaussianProcessOptions {
  /// How many of the last columns of a row enter by a linear kernel instead of Matern's: functions that the target may
  /// be a weighted sum of. They share one weight.
  size_t linear_columns = 0;
  /// Hyper-parameters are the maximum of likelihood times these. Lengths are in units of the columns, which should
  /// span about [0, 1]; the others in standard deviations of the targets.
  LogNormalPrior length{1.0, 1.0};
  LogNormalPrior signal{1.0, 0.7};
  LogNormalPrior noise{0.05, 0.7};
  LogNormalPrior weight{1.0, 1.0};
  double constant = 1.0;  ///< prior standard deviation of the mean
  /// What the targets are divided by, after which the mean is taken to be near 0. 0: centred and scaled by what they
  /// are.
  double scale = 0.0;
};

/// y(x) = constant + f(x) + sum of w_j h_j(x) + noise, where f has a Matern-3/2 kernel with one length for each column
/// (automatic relevance determination), s^2 (1 + sqrt(3) r) exp(-sqrt(3) r), r^2 = sum of ((x_j - x'_j) / l_j)^2, and
/// the w_j are normal. Targets are centred and scaled inside.
///
/// Means and variances of a fixed set of points (`track`) are kept up to date while rows are added one by one: a row
/// costs O(points * rows). Not thread-safe; no threads inside. Throws UserError for counts of columns that disagree,
/// or targets that are not finite.
class GaussianProcess {
 public:
  explicit GaussianProcess(size_t columns, const GaussianProcessOptions& options = {});
  ~GaussianProcess();
  GaussianProcess(GaussianProcess&&) noexcept;
  GaussianProcess& operator=(GaussianProcess&&) noexcept;

  /// Replaces the rows and forgets the tracked points. Hyper-parameters stay.
  void set_rows(const FeatureMatrix& rows, std::span<const double> targets);
  /// At most `steps` steps of L-BFGS towards the most probable hyper-parameters, from where they stand. Forgets the
  /// tracked points.
  void optimize(int steps);
  /// Adds a row; scale and centre of the targets stay as they are.
  void add(std::span<const float> row, double target);
  /// Takes the rows added last away again.
  void remove_last(size_t count = 1);
  /// Replaces the targets of all rows, in their order: costs O(rows^2 + points * rows).
  void set_targets(std::span<const double> targets);
  size_t rows() const;
  size_t columns() const;

  /// The points to follow.
  void track(const FeatureMatrix& points);
  /// Posterior mean and variance of y without noise at the tracked points. Means have the unit of the targets.
  std::span<const double> means() const;
  std::span<const double> variances() const;

  /// The same for any points, by no more than the first `variance_rows` rows for the variance (which it can only
  /// overestimate then: rows are what the time goes into). `variances` may be empty.
  void predict(const FeatureMatrix& points, std::span<double> means, std::span<double> variances,
               size_t variance_rows = SIZE_MAX) const;

  /// Logarithm of the likelihood of the targets there are, at the parameters there are; comparable between processes
  /// that have the same targets up to a function that one subtracts.
  double log_likelihood() const;

  /// Logarithms of: the lengths, signal, noise, and weight when there are linear columns.
  std::span<const double> parameters() const;
  void set_parameters(std::span<const double> logarithms);
  /// Minus log (likelihood * prior) up to a constant at given parameters, and its derivatives when `gradient` is not
  /// empty.
  double objective(std::span<const double> logarithms, std::span<double> gradient) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct GpModelParams {
  /// Rows that a fit uses: half of them the best, the rest drawn from the others with `seed`. The time of a fit grows
  /// with the cube of it.
  int max_rows = 400;
  /// Columns that a fit uses, of those that vary and differ from each other: the ones that correlate most with the
  /// labels.
  int max_columns = 48;
  int steps = 25;  ///< of L-BFGS a fit
  uint64_t seed = 0;
};

/// A Gaussian process as a cost model; a score estimates the label. Groups are not told apart. Good while there are few
/// measurements; the same data give the same model. Throws UserError when a parameter is out of range.
std::unique_ptr<CostModel> make_gp(const GpModelParams& params = {});

}  // namespace tensmith
