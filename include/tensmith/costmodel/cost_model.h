#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// A model that learns which program is fast (paper, section 3.1).

namespace tensmith {

/// Row-major matrix of features: one row a program, `columns` numbers a row. Does not own the numbers.
struct FeatureMatrix {
  const float* values = nullptr;
  size_t rows = 0;
  size_t columns = 0;

  FeatureMatrix() = default;
  FeatureMatrix(const float* values, size_t rows, size_t columns) : values(values), rows(rows), columns(columns) {}
  /// The number of rows follows from the number of values. InternalError when `columns` does not divide it.
  FeatureMatrix(std::span<const float> values, size_t columns);

  std::span<const float> row(size_t i) const { return {values + i * columns, columns}; }
};

/// Learns from (features, label) and predicts scores; of labels and scores, bigger is better.
///
/// `fit` and `load` change the model and need it alone; `predict` may be called by several threads at once.
/// The same calls with the same data give the same scores on every run, whatever the number of threads.
class CostModel {
 public:
  virtual ~CostModel() = default;

  /// Short name of the kind of model, as it is written to files: "gbt".
  virtual std::string_view name() const = 0;

  /// Forgets what was learned and learns from `rows` and their `labels` (throughput relative to the best, 0 for a
  /// failed trial; see `throughput_labels`). `groups` holds one number a row (rows of different groups, such as
  /// different workloads, are never compared with each other) or nothing when all rows belong together.
  /// Any number of rows will do: with none, with one, or with labels that are all equal the model predicts a constant.
  /// The number of columns may differ from the fit before. Throws UserError when the counts disagree or when a label or
  /// a feature is not finite.
  void fit(const FeatureMatrix& rows, std::span<const double> labels, std::span<const uint32_t> groups = {});

  /// Scores of `rows`. Before the first fit every score is 0. Throws UserError when the number of columns is not
  /// that of the last fit, or when `scores` has not one element a row.
  void predict(const FeatureMatrix& rows, std::span<float> scores) const;
  std::vector<float> predict(const FeatureMatrix& rows) const;

  /// The number of columns of the last fit, 0 before it.
  size_t columns() const { return columns_; }

  /// Threads that `fit` may use. What is learned does not depend on it.
  virtual int threads() const { return 1; }

  /// What was learned, as bytes. They carry the model's name, the version of the features and a checksum.
  std::string save() const;
  /// The inverse of save. Throws WorkError when the bytes are damaged, are of another kind of model or version of
  /// features; the model keeps what it knew then.
  void load(std::string_view bytes);
  /// The same to and from a file, whose path the errors tell. A file that exists is replaced as a whole.
  void save_file(const std::filesystem::path& path) const;
  void load_file(const std::filesystem::path& path);

 protected:
  /// As above, with arguments that have been checked.
  virtual void do_fit(const FeatureMatrix& rows, std::span<const double> labels, std::span<const uint32_t> groups) = 0;
  virtual void do_predict(const FeatureMatrix& rows, std::span<float> scores) const = 0;
  virtual std::string do_save() const = 0;
  virtual void do_load(std::string_view payload, size_t columns) = 0;

 private:
  size_t columns_ = 0;
};

/// Labels from run times in seconds: best / time within the row's group, so the fastest program has 1; a time that
/// is not positive and finite (a failed trial) gives 0. `groups` as in CostModel::fit.
std::vector<double> throughput_labels(std::span<const double> seconds, std::span<const uint32_t> groups = {});

}  // namespace tensmith
