#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tensmith/costmodel/loop_context.h"
#include "tensmith/schedule/target.h"

/// Programs as rows of numbers for boosted trees (paper, sections 3.1 and 4).

namespace tensmith {

/// Changes with every change of what a column means. Saved models carry it.
inline constexpr int kFeatureVersion = 1;

/// The thresholds of relation features: 2^1, 2^3, ... 2^23, so that the usual cache sizes lie on them.
inline constexpr int kRelationThresholds = 12;
constexpr double relation_threshold(int t) { return static_cast<double>(int64_t{2} << (2 * t)); }

/// The relation of features i and j of a bag of loops (paper, section 4): out[t] = the largest zi[k] among the loops k
/// with zj[k] < relation_threshold(t), and 0 where there is none. Values are not negative. `out` has
/// kRelationThresholds elements.
void relation_feature(std::span<const double> zi, std::span<const double> zj, std::span<double> out);

/// How every count and size enters a row: log2(1 + x) to within 1e-5, for x >= 0; 0 stays exactly 0.
float log_feature(double x);

/// What a program is described by.
enum class FeatureSet : uint8_t {
  kLoopContext,  ///< flattened loop contexts of up to kFlatLoops loops: within one workload (the paper's "flatten x")
  kRelation,     ///< relation features: the same columns for any operator (the paper's R)
  kDefault,      ///< relation features and a summary of the whole program: the same columns for any operator
};
inline constexpr int kFlatLoops = 24;  ///< loops of a kLoopContext row, those around and in the hottest statement first
inline constexpr int kFlatTouches = 4;  ///< accesses of each

/// Computes feature rows. The columns depend on the feature set alone: programs with other loops, buffers or
/// statements, without inputs, or with nothing to do have the same columns. All values are finite.
///
/// Keep one for each thread: its memory is reused, and a row takes a few microseconds and no allocation.
class FeatureExtractor {
 public:
  /// The target tells vector width, registers and cache sizes.
  explicit FeatureExtractor(const Target& target = {}, FeatureSet set = FeatureSet::kDefault);

  size_t size() const { return size_; }
  FeatureSet set() const { return set_; }

  /// Writes the row of `nest` (see NestAnalyzer for its form) to `out`, which has size() elements.
  void extract(const Function& nest, std::span<float> out);
  std::vector<float> extract(const Function& nest);

  /// The loop contexts of the last program.
  const NestContext& context() const { return *context_; }

 private:
  FeatureSet set_;
  Target target_;
  size_t size_;
  NestAnalyzer analyzer_;
  const NestContext* context_ = nullptr;
};

/// The columns' names, such as "main.vector_length" or "relation.read0.reuse<bytes.t3". Made at the first call.
std::span<const std::string> feature_names(FeatureSet set = FeatureSet::kDefault);

/// One line a column that is not 0: its name and value; `names` may come from feature_names or KnobFeatures::names.
/// UserError when the lengths differ.
std::string format_features(std::span<const float> row, std::span<const std::string> names);

}  // namespace tensmith
