#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tensmith::columns {

/// log2(1 + x) by splitting off the exponent; the polynomial is exact at both ends of an octave, so the result never
/// falls where x rises.
inline float log2_of_1_plus(double x) {
  const uint32_t bits = std::bit_cast<uint32_t>(static_cast<float>(1.0 + x));
  const float exponent = static_cast<float>(static_cast<int32_t>(bits >> 23) - 127);
  const float f = std::bit_cast<float>((bits & 0x7fffffU) | 0x3f800000U) - 1.0F;
  const float q = 0.4426540725F + f * (-0.2765695030F + f * (0.1841008289F + f * (-0.0972018337F + f * 0.0256912627F)));
  return exponent + (f + f * (1.0F - f) * q);
}

/// The functions that write a row are templates over one of these two, so names and values cannot get out of step.
class ValueSink {
 public:
  explicit ValueSink(float* out) : out_(out) {}
  /// A count or size, not negative.
  void log(std::string_view, double x) { *out_++ = log2_of_1_plus(x); }
  /// A flag, a share or a small number that enters as it is.
  void raw(std::string_view, double x) { *out_++ = static_cast<float>(x); }
  static constexpr bool wants_names() { return false; }
  void prefix(std::string_view, std::string_view = {}, std::string_view = {}) {}
  template <typename NameOf>
  void logs(const double* values, int count, NameOf&&) {
    for (int i = 0; i < count; ++i) out_[i] = log2_of_1_plus(values[i]);
    out_ += count;
  }
  float* end() const { return out_; }

 private:
  float* out_;
};

class NameSink {
 public:
  void log(std::string_view name, double) { add(name); }
  void raw(std::string_view name, double) { add(name); }
  static constexpr bool wants_names() { return true; }
  /// Stands before the names that follow.
  void prefix(std::string_view a, std::string_view b = {}, std::string_view c = {}) {
    prefix_ = std::string(a) + std::string(b) + std::string(c);
  }
  template <typename NameOf>
  void logs(const double*, int count, NameOf&& name_of) {
    for (int i = 0; i < count; ++i) add(name_of(i));
  }
  std::vector<std::string> take() { return std::move(names_); }

 private:
  void add(std::string_view name) { names_.push_back(prefix_ + std::string(name)); }
  std::string prefix_;
  std::vector<std::string> names_;
};

}  // namespace tensmith::columns
