#include "tensmith/costmodel/gaussian_process.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tensmith/support/error.h"
#include "tensmith/support/rng.h"
#include "tensmith/support/stats.h"

namespace tensmith {
namespace {

constexpr size_t kColumns = 3;

/// Rows of random numbers in [0, 1] and a smooth function of the first two columns.
struct Sample {
  std::vector<float> rows;
  std::vector<double> targets;
  size_t count;

  explicit Sample(size_t n, uint64_t seed = 1) : count(n) {
    Rng rng(seed);
    for (size_t i = 0; i < n * kColumns; ++i) rows.push_back(static_cast<float>(rng.uniform_real()));
    for (size_t i = 0; i < n; ++i) targets.push_back(truth(rows.data() + i * kColumns));
  }
  static double truth(const float* row) { return 5.0 + 3.0 * std::sin(4.0 * row[0]) + row[1] * row[1]; }
  FeatureMatrix matrix() const { return {rows.data(), count, kColumns}; }
  std::span<const float> row(size_t i) const { return {rows.data() + i * kColumns, kColumns}; }
};

/// The posterior by Gauss-Jordan elimination in doubles: another way than the one under test.
struct Dense {
  std::vector<double> lengths;
  double signal2, noise2, constant2, weight2 = 0.0;
  size_t linear = 0;

  double kernel(std::span<const float> a, std::span<const float> b) const {
    double r2 = 0.0;
    for (size_t j = 0; j < lengths.size(); ++j) {
      const double d = (static_cast<double>(a[j]) - b[j]) / lengths[j];
      r2 += d * d;
    }
    double products = 0.0;
    for (size_t j = 0; j < linear; ++j) products += static_cast<double>(a[lengths.size() + j]) * b[lengths.size() + j];
    const double r = std::sqrt(3.0 * r2);
    return signal2 * (1.0 + r) * std::exp(-r) + constant2 + weight2 * products;
  }

  /// Mean and variance at `point`, and the logarithm of the determinant of K.
  std::pair<double, double> posterior(const Sample& sample, std::span<const double> targets,
                                      std::span<const float> point, double* log_determinant = nullptr,
                                      double* fit = nullptr) const {
    const size_t n = sample.count;
    // Columns: K | k* | y.
    std::vector<std::vector<double>> m(n, std::vector<double>(n + 2));
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < n; ++j) m[i][j] = kernel(sample.row(i), sample.row(j)) + (i == j ? noise2 : 0.0);
      m[i][n] = kernel(sample.row(i), point);
      m[i][n + 1] = targets[i];
    }
    double log_det = 0.0;
    for (size_t p = 0; p < n; ++p) {
      log_det += std::log(m[p][p]);
      for (size_t i = 0; i < n; ++i) {
        if (i == p) continue;
        const double factor = m[i][p] / m[p][p];
        for (size_t j = p; j < n + 2; ++j) m[i][j] -= factor * m[p][j];
      }
    }
    double mean = 0.0, explained = 0.0, squares = 0.0;
    for (size_t i = 0; i < n; ++i) {
      const double k = kernel(sample.row(i), point);
      mean += k * m[i][n + 1] / m[i][i];
      explained += k * m[i][n] / m[i][i];
      squares += targets[i] * m[i][n + 1] / m[i][i];
    }
    if (log_determinant) *log_determinant = log_det;
    if (fit) *fit = squares;
    return {mean, kernel(point, point) - explained};
  }
};

std::vector<double> scaled(const std::vector<double>& targets, double& centre, double& scale) {
  centre = stats::mean(targets);
  scale = 0.0;
  for (double t : targets) scale += (t - centre) * (t - centre) / static_cast<double>(targets.size());
  scale = std::sqrt(scale);
  std::vector<double> out;
  for (double t : targets) out.push_back((t - centre) / scale);
  return out;
}

Dense dense_of(const GaussianProcess& gp, size_t linear = 0) {
  const auto p = gp.parameters();
  const size_t smooth = gp.columns() - linear;
  Dense dense{{}, std::exp(2.0 * p[smooth]), std::exp(2.0 * p[smooth + 1]), 1.0, 0.0, linear};
  for (size_t j = 0; j < smooth; ++j) dense.lengths.push_back(std::exp(p[j]));
  if (linear > 0) dense.weight2 = std::exp(2.0 * p[smooth + 2]);
  return dense;
}

void expect_posterior(const GaussianProcess& gp, const Sample& sample, const Sample& points, size_t linear = 0) {
  double centre, scale;
  const std::vector<double> targets = scaled(sample.targets, centre, scale);
  const Dense dense = dense_of(gp, linear);
  ASSERT_EQ(gp.means().size(), points.count);
  for (size_t i = 0; i < points.count; ++i) {
    const auto [mean, variance] = dense.posterior(sample, targets, points.row(i));
    EXPECT_NEAR(gp.means()[i], centre + scale * mean, 2e-4 * scale) << i;
    EXPECT_NEAR(gp.variances()[i], scale * scale * variance, 2e-4 * scale * scale) << i;
  }
}

TEST(GaussianProcess, PosteriorEqualsADirectComputation) {
  const Sample sample(25);
  const Sample points(40, 2);
  GaussianProcess gp(kColumns);
  gp.set_rows(sample.matrix(), sample.targets);
  gp.set_parameters(std::vector<double>{-0.5, 0.2, 1.0, 0.3, -2.0});
  gp.track(points.matrix());
  expect_posterior(gp, sample, points);
}

TEST(GaussianProcess, LinearColumnsAddTheirProducts) {
  const Sample sample(20);
  const Sample points(10, 2);
  GaussianProcessOptions options;
  options.linear_columns = 1;
  GaussianProcess gp(kColumns, options);
  gp.set_rows(sample.matrix(), sample.targets);
  gp.set_parameters(std::vector<double>{-0.5, 0.2, 0.3, -2.0, 0.4});
  gp.track(points.matrix());
  expect_posterior(gp, sample, points, 1);
}

TEST(GaussianProcess, RowsAddedOneByOneGiveTheSameAsAllAtOnce) {
  const Sample all(150);
  const Sample points(30, 2);
  GaussianProcess gp(kColumns);
  gp.set_rows({all.rows.data(), 10, kColumns}, std::span(all.targets).first(10));
  gp.track(points.matrix());
  for (size_t i = 10; i < all.count; ++i) gp.add(all.row(i), all.targets[i]);
  EXPECT_EQ(gp.rows(), all.count);
  // With the scale of the first ten.
  GaussianProcess whole(kColumns);
  whole.set_rows(all.matrix(), all.targets);
  whole.track(points.matrix());
  std::vector<double> means(points.count), variances(points.count);
  gp.predict(points.matrix(), means, variances);
  for (size_t i = 0; i < points.count; ++i) {
    EXPECT_NEAR(gp.means()[i], means[i], 1e-3);
    EXPECT_NEAR(gp.variances()[i], variances[i], 1e-3);
    EXPECT_NEAR(gp.means()[i], Sample::truth(points.row(i).data()), 0.3);
    EXPECT_NEAR(gp.means()[i], whole.means()[i], 0.05);
  }
}

TEST(GaussianProcess, RemovingTheLastRowsUndoesAddingThem) {
  const Sample sample(20);
  const Sample points(30, 2);
  GaussianProcess gp(kColumns);
  gp.set_rows(sample.matrix(), sample.targets);
  gp.track(points.matrix());
  const std::vector<double> means(gp.means().begin(), gp.means().end());
  const std::vector<double> variances(gp.variances().begin(), gp.variances().end());
  const Sample more(60, 3);
  for (size_t i = 0; i < more.count; ++i) gp.add(more.row(i), more.targets[i]);
  EXPECT_NE(gp.means()[0], means[0]);
  gp.remove_last(more.count);
  EXPECT_EQ(gp.rows(), sample.count);
  for (size_t i = 0; i < points.count; ++i) {
    EXPECT_NEAR(gp.means()[i], means[i], 1e-4);
    EXPECT_NEAR(gp.variances()[i], variances[i], 1e-4);
  }
}

TEST(GaussianProcess, NewTargetsMoveTheMeans) {
  Sample sample(20);
  const Sample points(10, 2);
  GaussianProcess gp(kColumns);
  gp.set_rows(sample.matrix(), sample.targets);
  gp.track(points.matrix());
  std::vector<double> shifted = sample.targets;
  shifted[3] += 1.0;
  gp.set_targets(shifted);
  std::vector<double> means(points.count);
  gp.predict(points.matrix(), means, {});
  for (size_t i = 0; i < points.count; ++i) EXPECT_NEAR(gp.means()[i], means[i], 1e-4);
}

TEST(GaussianProcess, VarianceByFewerRowsIsAnUpperBound) {
  const Sample sample(40);
  const Sample points(20, 2);
  GaussianProcess gp(kColumns);
  gp.set_rows(sample.matrix(), sample.targets);
  std::vector<double> means(points.count), all(points.count), some(points.count);
  gp.predict(points.matrix(), means, all);
  gp.predict(points.matrix(), means, some, 10);
  for (size_t i = 0; i < points.count; ++i) EXPECT_GE(some[i], all[i]);
}

TEST(GaussianProcess, ObjectiveIsLikelihoodTimesPrior) {
  const Sample sample(15);
  GaussianProcessOptions options;
  GaussianProcess gp(kColumns, options);
  gp.set_rows(sample.matrix(), sample.targets);
  const std::vector<double> t = {-0.5, 0.2, 1.0, 0.3, -2.0};
  gp.set_parameters(t);
  double centre, scale, log_determinant, fit;
  const std::vector<double> targets = scaled(sample.targets, centre, scale);
  dense_of(gp).posterior(sample, targets, sample.row(0), &log_determinant, &fit);
  const auto penalty = [](double value, LogNormalPrior prior) {
    return 0.5 * std::pow((value - std::log(prior.median)) / prior.deviation, 2);
  };
  double expected = 0.5 * (fit + log_determinant) + penalty(t[3], options.signal) + penalty(t[4], options.noise);
  for (int j = 0; j < 3; ++j) expected += penalty(t[j], options.length);
  EXPECT_NEAR(gp.objective(t, {}), expected, 1e-6);
}

TEST(GaussianProcess, LikelihoodIsOfTheTargetsAsTheyAre) {
  Sample sample(15);
  GaussianProcess gp(kColumns);
  gp.set_parameters(std::vector<double>{-0.5, 0.2, 1.0, 0.3, -2.0});
  gp.set_rows(sample.matrix(), sample.targets);
  double centre, scale, log_determinant, fit;
  const std::vector<double> targets = scaled(sample.targets, centre, scale);
  dense_of(gp).posterior(sample, targets, sample.row(0), &log_determinant, &fit);
  const double expected =
      -0.5 * (fit + log_determinant) - 15.0 * (std::log(scale) + 0.5 * std::log(2.0 * 3.14159265358979));
  EXPECT_NEAR(gp.log_likelihood(), expected, 1e-6);
  // In units ten times smaller a density is ten times smaller, for each of the rows.
  for (double& target : sample.targets) target *= 10.0;
  gp.set_rows(sample.matrix(), sample.targets);
  EXPECT_NEAR(gp.log_likelihood(), expected - 15.0 * std::log(10.0), 1e-6);
}

TEST(GaussianProcess, GradientEqualsDifferences) {
  const Sample sample(15);
  GaussianProcessOptions options;
  options.linear_columns = 1;
  GaussianProcess gp(kColumns, options);
  gp.set_rows(sample.matrix(), sample.targets);
  std::vector<double> t = {-0.5, 0.2, 0.3, -2.0, 0.4};
  std::vector<double> gradient(t.size());
  gp.objective(t, gradient);
  for (size_t j = 0; j < t.size(); ++j) {
    constexpr double kStep = 1e-5;
    std::vector<double> up = t, down = t;
    up[j] += kStep;
    down[j] -= kStep;
    EXPECT_NEAR(gradient[j], (gp.objective(up, {}) - gp.objective(down, {})) / (2 * kStep), 1e-5) << j;
  }
}

TEST(GaussianProcess, OptimizingFindsTheColumnThatDoesNotMatter) {
  const Sample sample(60);
  GaussianProcess gp(kColumns);
  gp.set_rows(sample.matrix(), sample.targets);
  const std::vector<double> before(gp.parameters().begin(), gp.parameters().end());
  gp.optimize(50);
  const auto after = gp.parameters();
  EXPECT_LT(gp.objective(after, {}), gp.objective(before, {}));
  EXPECT_GT(after[2], after[0] + 1.0);
  EXPECT_GT(after[2], after[1]);
}

TEST(GaussianProcess, TheSameRowTwiceIsNoProblem) {
  Sample sample(3);
  GaussianProcess gp(kColumns);
  gp.set_rows(sample.matrix(), sample.targets);
  gp.track(sample.matrix());
  for (int i = 0; i < 20; ++i) gp.add(sample.row(0), sample.targets[0]);
  EXPECT_NEAR(gp.means()[0], sample.targets[0], 0.1);
  EXPECT_GT(gp.variances()[0], 0.0);
}

TEST(GaussianProcess, WithoutRowsThePriorRemains) {
  GaussianProcess gp(1);
  const std::vector<float> point = {0.5F};
  gp.track({point.data(), 1, 1});
  EXPECT_DOUBLE_EQ(gp.means()[0], 0.0);
  EXPECT_NEAR(gp.variances()[0], 2.0, 1e-6);  // signal and constant
  gp.add(point, 3.0);
  EXPECT_NEAR(gp.means()[0], 3.0, 0.01);
}

TEST(GaussianProcess, Errors) {
  GaussianProcess gp(2);
  const std::vector<float> rows = {0, 1, 2};
  const auto text = [](auto&& what) {
    try {
      what();
    } catch (const UserError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_NE(text([&] {
              gp.set_rows({rows.data(), 1, 3}, std::vector<double>{1});
            }).find("3 columns, not 2"),
            std::string::npos);
  EXPECT_NE(text([&] { gp.set_rows({rows.data(), 1, 2}, {}); }).find("1 rows but 0 targets"), std::string::npos);
  EXPECT_NE(text([&] { gp.add(std::vector<float>{0, 1}, NAN); }).find("a target is nan"), std::string::npos);
}

TEST(GpModel, LearnsAnOrder) {
  const Sample train(200);
  const Sample test(100, 7);
  const auto model = make_gp();
  model->fit(train.matrix(), train.targets);
  std::vector<double> scores;
  for (float s : model->predict(test.matrix())) scores.push_back(s);
  EXPECT_GT(stats::pairwise_accuracy(scores, test.targets), 0.95);
}

TEST(GpModel, ManyRowsAndColumnsAreCutDown) {
  Rng rng(5);
  constexpr size_t kRows = 900, kWide = 60;
  std::vector<float> values;
  std::vector<double> labels;
  for (size_t i = 0; i < kRows; ++i) {
    for (size_t j = 0; j < kWide; ++j) values.push_back(static_cast<float>(rng.uniform_real()));
    values[i * kWide + 1] = 7.0F;                    // constant
    values[i * kWide + 2] = values[i * kWide + 50];  // repeated
    labels.push_back(values[i * kWide + 50]);
  }
  GpModelParams params;
  params.max_rows = 60;
  params.max_columns = 5;
  const auto model = make_gp(params);
  const FeatureMatrix rows(values.data(), kRows, kWide);
  model->fit(rows, labels);
  std::vector<double> scores;
  for (float s : model->predict(rows)) scores.push_back(s);
  EXPECT_GT(stats::pairwise_accuracy(scores, labels), 0.9);
}

TEST(GpModel, DegenerateDataGiveAConstant) {
  const auto model = make_gp();
  const std::vector<float> rows = {1, 2, 1, 2};
  model->fit({rows.data(), 0, 2}, {});
  EXPECT_EQ(model->predict(FeatureMatrix(rows.data(), 2, 2)), (std::vector<float>{0, 0}));
  model->fit({rows.data(), 2, 2}, std::vector<double>{0.5, 0.5});
  EXPECT_EQ(model->predict(FeatureMatrix(rows.data(), 2, 2)), (std::vector<float>{0.5, 0.5}));
  model->fit({rows.data(), 2, 2}, std::vector<double>{0.0, 1.0});  // the rows are the same
  EXPECT_EQ(model->predict(FeatureMatrix(rows.data(), 2, 2)), (std::vector<float>{0.5, 0.5}));
}

TEST(GpModel, NumbersAtTheEndOfTheRangeOfFloat) {
  // Neither a range that overflows nor one whose inverse does can be scaled.
  for (float step : {3.2e37F, 1e-43F}) {
    std::vector<float> values;
    for (size_t i = 0; i < 20; ++i) {
      values.push_back(static_cast<float>(i));
      values.push_back((static_cast<float>(i % 10) - 5.0F) * 2.0F * step);
    }
    std::vector<double> labels(20);
    for (size_t i = 0; i < 20; ++i) labels[i] = static_cast<double>(i);
    const auto model = make_gp();
    model->fit({values.data(), 20, 2}, labels);
    const std::vector<float> scores = model->predict(FeatureMatrix(values.data(), 20, 2));
    for (size_t i = 0; i < 20; ++i) EXPECT_NEAR(scores[i], labels[i], 2.0) << step;
  }
}

TEST(GpModel, PointsFarAwayHaveAScore) {
  const Sample train(50);
  const auto model = make_gp();
  model->fit(train.matrix(), train.targets);
  std::vector<float> far(train.matrix().columns, 3e38F);
  EXPECT_TRUE(std::isfinite(model->predict(FeatureMatrix(far.data(), 1, far.size()))[0]));
}

TEST(GpModel, SavedAndLoadedItScoresTheSame) {
  const Sample train(50);
  const auto model = make_gp();
  model->fit(train.matrix(), train.targets);
  const auto other = make_gp();
  other->load(model->save());
  EXPECT_EQ(other->predict(train.matrix()), model->predict(train.matrix()));
  EXPECT_EQ(other->name(), "gp");
}

TEST(GpModel, ParametersOutOfRangeAreRefused) {
  GpModelParams params;
  params.max_rows = 1;
  EXPECT_THROW(make_gp(params), UserError);
}

}  // namespace
}  // namespace tensmith
