#include "tensmith/operator/tune_kernel.h"

#include <gtest/gtest.h>

#include "tensmith/explore/kernel/kernel_space.h"
#include "tensmith/support/file.h"

namespace tensmith {
namespace {

class TuneKernelTest : public ::testing::Test {
 protected:
  TuneKernelTest() : database_(dir_.path() / "records.db", Database::Missing::kIsEmpty) {
    write_file(dir_.path() / "add.c",
               "void add(float *out, int n) { for (int i = 0; i < n; i++) out[i] = i + 0.001f * step; }\n");
    KernelRequest request;
    request.source = dir_.path() / "add.c";
    request.parameters = {"step=1,2,3"};
    request.arguments = {"out:float32[8]:output,n:int32=8"};
    spec_ = describe_kernel(request);
    space_ = kernel_space(spec_);
    settings_.trials = 3;
    settings_.measuring.min_seconds = 1e-4;
  }

  TunedKernel tune(const KernelReference& reference) {
    return tune_kernel(spec_, space_, {{0}}, reference, &database_, settings_);
  }

  TempDir dir_;
  Database database_;
  KernelSpec spec_;
  ConfigSpace space_;
  TuneKernelSettings settings_;
};

TEST_F(TuneKernelTest, WhatWasCheckedAgainstAnotherReferenceDoesNotCount) {
  const TunedKernel first = tune(Config{{0}});
  EXPECT_EQ(first.result.valid(), 1);
  ASSERT_TRUE(first.result.best);
  EXPECT_EQ(first.result.best->config, (Config{{0}}));
  const TunedKernel second = tune(Config{{2}});
  EXPECT_FALSE(second.key == first.key);
  ASSERT_TRUE(second.result.best);
  EXPECT_EQ(second.result.best->config, (Config{{2}}));
  settings_.measuring.tolerance = 0.01;
  const TunedKernel loose = tune(Config{{0}});
  EXPECT_FALSE(loose.key == first.key);
  EXPECT_EQ(loose.result.valid(), 3);
  Database again(dir_.path() / "records.db", Database::Missing::kIsEmpty);
  EXPECT_FALSE(again.records(first.key).empty()) << "the key survives the file";
}

TEST_F(TuneKernelTest, ALostProcessSaysNothingOfAConfig) {
  TunedKernel tuned;
  Record record;
  record.knobs = {{"step", KnobValue{{1}, {}}}};
  record.status = TrialStatus::kWorkerLost;
  tuned.records = {record};
  record.knobs = {{"step", KnobValue{{2}, {}}}};
  record.status = TrialStatus::kCrash;
  tuned.records.push_back(record);
  const RecordedSpace recorded = recorded_kernel(space_, tuned);
  EXPECT_EQ(recorded.kind(0), PointKind::kMissing);
  EXPECT_EQ(recorded.kind(1), PointKind::kFailed);
}

TEST_F(TuneKernelTest, ASearchWithoutATrialIsASpaceToo) {
  TunedKernel tuned;
  tuned.key.workload = spec_.identity();
  tuned.key.target_kind = "c";
  tuned.key.cpu = "znver3";
  tuned.device = "CPU of 2 GHz";
  const RecordedSpace recorded = recorded_kernel(space_, tuned);
  EXPECT_EQ(recorded.size(), 3u);
  EXPECT_EQ(recorded.recorded_count(), 0u);
  EXPECT_EQ(recorded.info().kernel, "add");
  EXPECT_EQ(recorded.info().device, "CPU of 2 GHz");
}

}  // namespace
}  // namespace tensmith
