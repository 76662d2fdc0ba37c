#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tensmith/explore/kernel/kernel_space.h"
#include "tensmith/explore/measure/kernel_measurer.h"
#include "tensmith/support/error.h"
#include "tensmith/support/file.h"

namespace tensmith {

/// What a config of the faulty kernels does, as the value of their only parameter.
enum Fault {
  kNone,
  kWrong,
  kUnwritten,
  kJustOutside,
  kGuardPage,
  kStoreToInput,
  kNowhere,
  kForever,
  kAsleep,
  kNoCode,
  kAbort,
  kExit,
  kKill,
  kScribble,
  kReadFar,
  kReadNear,
  kFork,
  kForkAndWait,
  kForkAndFault,
  kForge
};

inline constexpr const char* kFaultyC = R"(
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#if fault == 9
#error no such code
#endif
static int one(void) { return 1; }
void work(float *out, const float *in, int n, double add) {
  volatile float *far = 0;
  printf("this would break results\n");
  for (int i = 0; i < (fault == 2 ? n - 1 : n); i++) out[i] = in[i] + (float)add + (fault == 1);
  if (fault == 3) out[-3] = 0;
  if (fault == 4) out[n + 2000] = 0;
  if (fault == 5) ((float *)in)[0] = 7;
  if (fault == 6) *far = 1;
  if (fault == 7) for (volatile int go = one(); go;) out[0] = in[0] + (float)add;
  if (fault == 8) sleep(60);
  if (fault == 10) abort();
  if (fault == 11) exit(0);
  if (fault == 12) kill(getpid(), SIGKILL);
  if (fault == 13) for (int fd = 3; fd < 64; fd++) write(fd, "\0\0\0\0\0\0\0\0", 8);
  if (fault == 14) out[0] = in[n];
  if (fault == 15) out[0] = out[n];
  if (fault == 16) fork();
  if (fault == 17 && fork() != 0) wait(0);
  if (fault == 18 && fork() == 0) *far = 1;
  if (fault == 19) for (int fd = 3; fd < 64; fd++) write(fd, "\xd1\xa7\x54\x9e\0\0\0\0", 8);
}
)";

inline constexpr const char* kFaultyOpenCl = R"(
#if fault == 9
#error no such code
#endif
__kernel void work(__global float *out, __global const float *in, int n, float add) {
  int i = get_global_id(0);
  if (i < n) out[i] = in[i] + add + (fault == 1);
  if (fault == 4 && i == 0) out[n + 2000] = 0;
}
)";

/// Measures configs of kernels that lie in a directory of their own: work.c and work.cl.
class KernelMeasurerTest : public ::testing::Test {
 protected:
  KernelMeasurerTest() {
    write_file(dir_.path() / "work.c", kFaultyC);
    write_file(dir_.path() / "work.cl", kFaultyOpenCl);
    request_.source = dir_.path() / "work.c";
    request_.parameters = {"fault=0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19"};
    request_.size = "64";
    request_.arguments = {"out:float32[64]:output,in:float32[64],n:int32=64,add:float64=0.5"};
    options_.min_seconds = 1e-4;
    options_.run_timeout = 2;
  }

  void make(std::optional<KernelReference> reference = {}) {
    measurer_.reset();
    spec_ = describe_kernel(request_);
    space_ = kernel_space(spec_);
    measurer_ = std::make_unique<KernelMeasurer>(spec_, space_, reference.value_or(Config{{0}}), options_);
  }

  std::map<uint16_t, TrialResult> measure(const std::vector<uint16_t>& choices) {
    std::vector<Config> configs;
    for (uint16_t choice : choices) configs.push_back({{choice}});
    std::map<uint16_t, TrialResult> results;
    measurer_->measure(
        configs, [&](size_t, TrialResult r) { results[r.config.choices[0]] = r; }, [] { return false; });
    return results;
  }

  /// What the first measurement throws.
  std::string error() {
    try {
      measure({0});
    } catch (const std::exception& e) {
      return e.what();
    }
    return "no error";
  }

  void use_opencl() {
    request_.source = dir_.path() / "work.cl";
    request_.arguments = {"out:float32[64]:output,in:float32[64],n:int32=64,add:float32=0.5"};
    request_.parameters = {"fault=0,1,9,4", "block_size_x=16"};
  }

  static std::string missing_opencl(const KernelSpec& spec) {
    try {
      find_kernel_place(spec, {});
    } catch (const DeviceError& e) {
      return e.what();
    }
    return {};
  }

  TempDir dir_;
  KernelRequest request_;
  KernelMeasurerOptions options_;
  KernelSpec spec_;
  ConfigSpace space_;
  std::unique_ptr<KernelMeasurer> measurer_;
};

}  // namespace tensmith
