#include "tensmith/support/sysinfo.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

namespace tensmith {
namespace {

TEST(Sysinfo, CoresAreAmongTheAllowedCpus) {
  const std::vector<int> cpus = allowed_cpus();
  const std::vector<int> cores = allowed_physical_cores();
  ASSERT_FALSE(cpus.empty());
  ASSERT_FALSE(cores.empty());
  EXPECT_TRUE(std::is_sorted(cpus.begin(), cpus.end()));
  EXPECT_TRUE(std::includes(cpus.begin(), cpus.end(), cores.begin(), cores.end()));
  EXPECT_EQ(physical_core_count(), static_cast<int>(cores.size()));
}

TEST(Sysinfo, PinningIsSeenByTheSameThreadOnly) {
  const std::vector<int> before = allowed_cpus();
  std::thread([&] {
    if (!pin_thread_to_cpu(before.back())) return;  // a machine may forbid it
    EXPECT_EQ(allowed_cpus(), std::vector<int>{before.back()});
    EXPECT_EQ(physical_core_count(), 1);
    EXPECT_TRUE(pin_thread_to_cpus(before));
    EXPECT_EQ(allowed_cpus(), before);
  }).join();
  EXPECT_EQ(allowed_cpus(), before);
}

TEST(Sysinfo, PinningToNoCpuFailsQuietly) {
  const std::vector<int> before = allowed_cpus();
  EXPECT_FALSE(pin_thread_to_cpu(-1));
  EXPECT_FALSE(pin_thread_to_cpu(8191));
  EXPECT_FALSE(pin_thread_to_cpu(1 << 20));
  EXPECT_FALSE(pin_thread_to_cpus({}));
  EXPECT_EQ(allowed_cpus(), before);
}

TEST(Sysinfo, CachesGrowWithTheirLevel) {
  const CacheSizes sizes = cache_sizes();
  EXPECT_GE(sizes.l1d, 0);
  if (sizes.l1d > 0 && sizes.l2 > 0) {
    EXPECT_LT(sizes.l1d, sizes.l2);
  }
}

TEST(Sysinfo, CpuHasAName) { EXPECT_FALSE(cpu_model_name().empty()); }

TEST(Sysinfo, PeakMemoryFollowsUse) {
  const int64_t before = peak_rss_bytes();
  ASSERT_GT(before, 0);
  constexpr size_t kBytes = 64 << 20;
  {
    std::vector<char> block(kBytes, 1);
    EXPECT_GE(current_rss_bytes(), static_cast<int64_t>(kBytes));
  }
  EXPECT_GE(peak_rss_bytes(), static_cast<int64_t>(kBytes));
}

TEST(Sysinfo, TheMachineHasMoreMemoryThanThisProcessUses) { EXPECT_GT(physical_memory_bytes(), peak_rss_bytes()); }

TEST(Sysinfo, PageSizeIsAPowerOfTwo) {
  const int64_t size = page_size();
  EXPECT_GE(size, 4096);
  EXPECT_EQ(size & (size - 1), 0);
}

}  // namespace
}  // namespace tensmith
