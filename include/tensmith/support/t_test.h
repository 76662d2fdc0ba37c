#pragma once

namespace tensmith::stats {

/// What is known of a sample of a normal distribution.
struct SampleSummary {
  double mean = 0.0;
  double stddev = 0.0;  ///< with the n - 1 denominator
  double count = 0.0;   ///< at least 2
};

struct TTestResult {
  double t = 0.0;  ///< positive when the first sample's mean is larger; may be infinite
  double degrees_of_freedom = 0.0;
  double p = 1.0;  ///< two-sided
};

/// Whether two independent samples have the same mean. Samples without any spread differ for certain (p = 0), or not at
/// all (p = 1). Throws InternalError for a sample of less than two.
///
/// Student's test: both samples have the same variance.
TTestResult pooled_t_test(const SampleSummary& a, const SampleSummary& b);
/// Welch's test: variances may differ.
TTestResult welch_t_test(const SampleSummary& a, const SampleSummary& b);

/// Whether the mean of one sample is 0. Of the differences of pairs it is the paired test. Otherwise as above.
TTestResult one_sample_t_test(const SampleSummary& sample);

/// What a variable of Student's t distribution is below with probability `p` (0 < p < 1).
double student_quantile(double p, double degrees_of_freedom);
/// The same of the chi-squared distribution.
double chi_squared_quantile(double p, double degrees_of_freedom);

}  // namespace tensmith::stats
