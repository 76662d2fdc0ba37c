#include "tensmith/explore/measure/workload_data.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cmath>

#include "tensmith/ops/workload.h"

namespace tensmith {
namespace {

TEST(WorkloadData, HoldsRandomInputsAndWhatFollowsFromThem) {
  const Workload workload = parse_workload("matmul:m=3,n=5,k=7");
  const std::optional<WorkloadData> made = WorkloadData::make(definition(workload), reduction_length(workload), 11);
  ASSERT_TRUE(made.has_value());
  const WorkloadData& data = *made;
  ASSERT_EQ(data.inputs().size(), 2u);
  ASSERT_EQ(data.outputs().size(), 1u);
  const uint64_t a_bytes = WorkloadData::padded(3 * 7 * 4), b_bytes = WorkloadData::padded(7 * 5 * 4);
  const uint64_t size = a_bytes + b_bytes + WorkloadData::padded(3 * 5 * 8);
  auto* bytes = static_cast<std::byte*>(mmap(nullptr, size, PROT_READ, MAP_SHARED, data.fd(), 0));
  ASSERT_NE(bytes, MAP_FAILED);
  const auto* a = reinterpret_cast<const float*>(bytes);
  const auto* b = reinterpret_cast<const float*>(bytes + a_bytes);
  const auto* out = reinterpret_cast<const double*>(bytes + a_bytes + b_bytes);
  double largest = 0;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 5; ++j) {
      double sum = 0;
      for (int k = 0; k < 7; ++k) {
        sum += static_cast<double>(a[i * 7 + k]) * b[k * 5 + j];
      }
      EXPECT_NEAR(out[i * 5 + j], sum, 1e-6);
      largest = std::max(largest, std::fabs(out[i * 5 + j]));
    }
  }
  EXPECT_GT(largest, 0.0) << "inputs are never zero";
  EXPECT_DOUBLE_EQ(data.outputs()[0].tolerance, 4 * std::ldexp(1.0, -23) * std::sqrt(7.0) * largest + 1e-6);
  munmap(bytes, size);
}

TEST(WorkloadData, TellsHowFarItIsAndStops) {
  const Workload workload = parse_workload("matmul:m=128,n=128,k=128");
  int asked = 0;
  const auto go_on = [&](double done, double seconds) {
    EXPECT_GT(done, 0.0);
    EXPECT_LE(done, 1.0);
    EXPECT_GE(seconds, 0.0);
    ++asked;
    return false;
  };
  EXPECT_FALSE(WorkloadData::make(definition(workload), reduction_length(workload), 11, go_on).has_value());
  EXPECT_EQ(asked, 1);
}

}  // namespace
}  // namespace tensmith
