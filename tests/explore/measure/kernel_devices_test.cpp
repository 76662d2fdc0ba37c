#include "explore/measure/kernel_measurer_fixture.h"

/// Kernels in OpenCL and CUDA.

namespace tensmith {
namespace {

using KernelDevicesTest = KernelMeasurerTest;

TEST_F(KernelDevicesTest, FaultsOfOpenCl) {
  use_opencl();
  make(Config{{0, 0}});
  if (const std::string missing = missing_opencl(spec_); !missing.empty()) GTEST_SKIP() << missing;
  options_.run_timeout = 20;
  make(Config{{0, 0}});
  std::map<uint16_t, TrialResult> results;
  const std::vector<Config> configs{{{0, 0}}, {{1, 0}}, {{2, 0}}, {{3, 0}}};
  measurer_->measure(
      configs, [&](size_t, TrialResult r) { results[r.config.choices[0]] = r; }, [] { return false; });
  ASSERT_EQ(results.size(), 4u);
  EXPECT_EQ(results[0].status, TrialStatus::kOk) << results[0].error;
  EXPECT_EQ(results[1].status, TrialStatus::kWrongOutput) << results[1].error;
  EXPECT_EQ(results[2].status, TrialStatus::kBuildError);
  EXPECT_NE(results[2].error.find("no such code"), std::string::npos) << results[2].error;
  EXPECT_NE(results[2].error.find((dir_.path() / "work.cl").string() + ":3:"), std::string::npos) << results[2].error;
  EXPECT_EQ(results[3].status, TrialStatus::kWildStore);
  EXPECT_EQ(results[3].error, "wrote behind the end of 'out'");
  const auto compared = measurer_->compare({configs.data(), 2}, {2, 2, 0.1}, [] { return false; });
  EXPECT_EQ(compared[0].seconds.size(), 2u) << compared[0].error;
  EXPECT_EQ(compared[1].status, TrialStatus::kWrongOutput);
}

TEST_F(KernelDevicesTest, ASourceInOpenClMayBeginWithAByteOrderMark) {
  use_opencl();
  write_file(request_.source, std::string("\xEF\xBB\xBF") + kFaultyOpenCl);
  make(Config{{0, 0}});
  if (const std::string missing = missing_opencl(spec_); !missing.empty()) GTEST_SKIP() << missing;
  const Config config{{0, 0}};
  TrialResult result;
  measurer_->measure(
      {&config, 1}, [&](size_t, TrialResult r) { result = std::move(r); }, [] { return false; });
  EXPECT_EQ(result.status, TrialStatus::kOk) << result.error;
}

TEST_F(KernelDevicesTest, WhatOpenClRefusesHasItsReason) {
  use_opencl();
  request_.parameters = {"fault=0", "block_size_x=16,1048576"};
  make(Config{{0, 0}});
  if (const std::string missing = missing_opencl(spec_); !missing.empty()) GTEST_SKIP() << missing;
  std::vector<TrialResult> results;
  const Config config{{0, 1}};
  measurer_->measure(
      {&config, 1}, [&](size_t, TrialResult r) { results.push_back(std::move(r)); }, [] { return false; });
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].status, TrialStatus::kInvalidConfig) << results[0].error;
  EXPECT_NE(results[0].error.find("a block of 1048576 work-items"), std::string::npos) << results[0].error;
  request_.arguments = {"out:float32[64]:output,in:float32[64],n:int32=64"};
  make(Config{{0, 0}});
  EXPECT_NE(error().find("the kernel 'work' has 4 parameters, --args has 3"), std::string::npos) << error();
  request_.arguments = {"out:float32[64]:output,in:float64[64],n:int32=64,add:float32=0.5"};
  make(Config{{0, 0}});
  EXPECT_NE(
      error().find("the argument 'in' (a buffer of float64) does not fit parameter 2 of 'work', which is 'float*'"),
      std::string::npos)
      << error();
  request_.arguments = {"out:float32[64]:output,in:float32[64],n:float32=64,add:float32=0.5"};
  make(Config{{0, 0}});
  EXPECT_NE(error().find("the argument 'n' (float32) does not fit parameter 3 of 'work', which is 'int'"),
            std::string::npos)
      << error();
  request_.arguments = {"out:float32[64]:output,in:float32[64],n:int32=64,add:float32=0.5"};
  request_.grid_div = "1";
  const std::pair<const char*, const char*> kSizes[] = {
      {"1099511627776", "a grid of 1099511627776 blocks of 16 work-items in dimension x: the device has at most "},
      {"9223372036854775807", "a grid of 9223372036854775807 blocks of 16 work-items in dimension x"},
      {"1,65536,65536", "a grid of 65536 blocks of 1 work-items in dimension z"}};
  for (const auto& [size, expected] : kSizes) {
    request_.size = size;
    make(Config{{0, 0}});
    EXPECT_NE(error().find(std::string("the reference cannot be made with config 0: invalid config: ") + expected),
              std::string::npos)
        << error();
    EXPECT_NE(error().find("(hint: make the problem or its blocks smaller)"), std::string::npos) << error();
    EXPECT_THROW(measure({0}), UserError);
  }
  options_.device = "no such device";
  EXPECT_NE(missing_opencl(spec_), "no error");
  try {
    find_kernel_place(spec_, options_);
    FAIL() << "it was found";
  } catch (const DeviceError& e) {
    EXPECT_NE(std::string(e.what()).find("there is no device 'no such device': this machine has 0 = "),
              std::string::npos)
        << e.what();
  }
}

TEST_F(KernelDevicesTest, CudaWithoutAGpuTellsWhatIsMissing) {
  write_file(dir_.path() / "work.cu",
             "extern \"C\" __global__ void work(float* out, int n) { if (threadIdx.x < n) out[threadIdx.x] = n; }\n");
  request_.source = dir_.path() / "work.cu";
  request_.parameters = {"block_size_x=32,64"};
  request_.arguments = {"out:float32[32]:output,n:int32=32"};
  make();
  std::string device;
  try {
    device = find_kernel_place(spec_, {}).device;
  } catch (const DeviceError& e) {
    GTEST_SKIP() << e.what();
  }
  if (device != "no GPU") {
    EXPECT_NE(device.find(" (NVRTC "), std::string::npos) << device;
    EXPECT_EQ(measure({0}).at(0).status, TrialStatus::kOk);
    return;
  }
  EXPECT_TRUE(
      error().find("it compiles, but running a kernel in CUDA needs libcuda.so.1, which is not on this machine") !=
          std::string::npos ||
      error().find("needs libnvrtc.so, which is not on this machine") != std::string::npos ||
      error().find("NVIDIA's driver") != std::string::npos)
      << error();
}

}  // namespace
}  // namespace tensmith
