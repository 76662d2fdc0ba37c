#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "tensmith/costmodel/cost_model.h"
#include "tensmith/support/error.h"

namespace tensmith::test {

/// Scores with fixed weights, whatever it is fitted on, and counts its fits: a stand-in where no real model may run.
class FakeModel final : public CostModel {
 public:
  explicit FakeModel(std::vector<float> weights) : weights_(std::move(weights)) {}
  std::string_view name() const override { return "fake"; }
  int fits = 0;

 protected:
  void do_fit(const FeatureMatrix&, std::span<const double>, std::span<const uint32_t>) override { ++fits; }
  void do_predict(const FeatureMatrix& rows, std::span<float> scores) const override {
    for (size_t i = 0; i < rows.rows; ++i) {
      scores[i] = 0;
      for (size_t j = 0; j < std::min(rows.columns, weights_.size()); ++j) scores[i] += weights_[j] * rows.row(i)[j];
    }
  }
  std::string do_save() const override {
    return {reinterpret_cast<const char*>(weights_.data()), weights_.size() * sizeof(float)};
  }
  void do_load(std::string_view payload, size_t) override {
    weights_.resize(payload.size() / sizeof(float));
    std::memcpy(weights_.data(), payload.data(), payload.size());
  }

 private:
  std::vector<float> weights_;
};

/// Whether calling `f` throws an E whose text contains `part`.
template <typename E, typename F>
bool throws_with(F&& f, std::string_view part) {
  try {
    f();
  } catch (const E& e) {
    return std::string_view(e.what()).find(part) != std::string_view::npos;
  }
  return false;
}

}  // namespace tensmith::test
