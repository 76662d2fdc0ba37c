#include "tensmith/support/t_test.h"

#include <cmath>
#include <limits>

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/students_t.hpp>

#include "tensmith/support/error.h"

namespace tensmith::stats {
namespace {

TTestResult judge(double difference, double squared_error, double degrees_of_freedom) {
  TTestResult out{0.0, degrees_of_freedom, 1.0};
  if (difference == 0.0) return out;
  out.t = squared_error > 0.0 ? difference / std::sqrt(squared_error)
                              : std::copysign(std::numeric_limits<double>::infinity(), difference);
  if (std::isinf(out.t)) {
    out.p = 0.0;
    return out;
  }
  const boost::math::students_t distribution(degrees_of_freedom);
  out.p = 2.0 * boost::math::cdf(boost::math::complement(distribution, std::abs(out.t)));
  return out;
}

void check(const SampleSummary& sample) {
  TENSMITH_ICHECK(sample.count >= 2.0 && sample.stddev >= 0.0, "a t-test needs samples of at least two");
}

}  // namespace

TTestResult pooled_t_test(const SampleSummary& a, const SampleSummary& b) {
  check(a);
  check(b);
  const double degrees = a.count + b.count - 2.0;
  const double variance = ((a.count - 1.0) * a.stddev * a.stddev + (b.count - 1.0) * b.stddev * b.stddev) / degrees;
  return judge(a.mean - b.mean, variance * (1.0 / a.count + 1.0 / b.count), degrees);
}

TTestResult welch_t_test(const SampleSummary& a, const SampleSummary& b) {
  check(a);
  check(b);
  const double error_a = a.stddev * a.stddev / a.count;
  const double error_b = b.stddev * b.stddev / b.count;
  const double sum = error_a + error_b;
  // Welch and Satterthwaite's approximation; without spread it does not matter.
  const double degrees = sum > 0.0
                             ? sum * sum / (error_a * error_a / (a.count - 1.0) + error_b * error_b / (b.count - 1.0))
                             : a.count + b.count - 2.0;
  return judge(a.mean - b.mean, sum, degrees);
}

TTestResult one_sample_t_test(const SampleSummary& sample) {
  check(sample);
  return judge(sample.mean, sample.stddev * sample.stddev / sample.count, sample.count - 1.0);
}

double student_quantile(double p, double degrees_of_freedom) {
  return boost::math::quantile(boost::math::students_t(degrees_of_freedom), p);
}

double chi_squared_quantile(double p, double degrees_of_freedom) {
  return boost::math::quantile(boost::math::chi_squared(degrees_of_freedom), p);
}

}  // namespace tensmith::stats
