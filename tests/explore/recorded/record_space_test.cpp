#include "tensmith/explore/recorded/record_space.h"

#include <gtest/gtest.h>

#include "tensmith/support/error.h"

namespace tensmith {
namespace {

Record trial(int64_t tile, const char* order, int64_t order_value, std::vector<int64_t> split,
             std::vector<double> seconds) {
  Record record;
  record.key.workload = "matmul:m=8";
  record.key.target_kind = "llvm";
  record.key.cpu = "znver3";
  record.space_fingerprint = 7;
  record.knobs = {{"tile", {{tile}, ""}}, {"order", {{order_value}, order}}, {"split", {std::move(split), ""}}};
  record.seconds = std::move(seconds);
  return record;
}

Record failure(Record record, TrialStatus status) {
  record.status = status;
  record.seconds.clear();
  return record;
}

TEST(RecordSpace, TrialsAreItsPoints) {
  std::vector<Record> records = {
      trial(16, "wh", 1, {2, 4}, {2e-3, 90e-3, 3e-3}),
      trial(4, "hw", 0, {4, 2}, {9e-3}),
      failure(trial(8, "hw", 0, {2, 4}, {}), TrialStatus::kBuildError),
      failure(trial(8, "wh", 1, {2, 4}, {}), TrialStatus::kWorkerLost),  // tells nothing
      trial(4, "hw", 0, {4, 2}, {1e-3}),                                 // tried again: the last counts
  };
  records.push_back(trial(32, "wh", 1, {2, 4}, {1e-9}));  // of an older version of the space
  records.back().space_fingerprint = 6;
  std::swap(records.front(), records.back());
  records.push_back(trial(4, "hw", 0, {4, 2}, {5e-9}));
  records.back().kind = RecordKind::kConfirmation;

  const RecordedSpace space = space_of_records(records);
  EXPECT_EQ(space.info().kernel, "matmul:m=8");
  EXPECT_EQ(space.info().device, "znver3");
  ASSERT_EQ(space.space().knobs().size(), 3u);
  const auto& knobs = space.space().knobs();
  ASSERT_EQ(knobs[0].choices.size(), 3u);
  EXPECT_EQ(knobs[0].choices[1].value(), 8);
  EXPECT_TRUE(knobs[0].ordinal);
  EXPECT_EQ(knobs[1].choices[0].label, "hw");
  EXPECT_FALSE(knobs[1].ordinal);
  EXPECT_EQ(knobs[2].choices[0].label, "2x4");
  EXPECT_EQ(space.size(), 12u);
  EXPECT_EQ(space.valid_count(), 2u);
  EXPECT_EQ(space.recorded_count(), 3u);
  EXPECT_EQ(space.kind(4), PointKind::kFailed);  // tile=8 order=hw split=2x4
  EXPECT_EQ(space.failure(4), "CompilationFailedConfig");
  EXPECT_EQ(space.kind(1), PointKind::kValid);  // tile=4 order=hw split=4x2
  EXPECT_DOUBLE_EQ(space.value(1), 1.0);
  EXPECT_DOUBLE_EQ(space.value(10), 3.0);  // tile=16 order=wh split=2x4
  EXPECT_EQ(space.runs(10).size(), 3u);
}

TEST(RecordSpace, FilesOfOtherToolsGiveTheSamePoints) {
  const std::vector<Record> records = {trial(4, "hw", 0, {4, 2}, {1e-3, 90e-3, 3e-3}),
                                       trial(8, "wh", 1, {2, 4}, {2e-3}),
                                       failure(trial(4, "wh", 1, {2, 4}, {}), TrialStatus::kHang)};
  for (const SpaceFormat format : {SpaceFormat::kKernelTuner, SpaceFormat::kT4}) {
    const RecordedSpace space = space_of_records(records, format);
    EXPECT_EQ(space.failure(2), format == SpaceFormat::kT4 ? "timeout" : "RuntimeFailedConfig");
    const RecordedSpace back = parse_space(print_space(space, format), "back");
    ASSERT_EQ(back.size(), space.size());
    EXPECT_EQ(back.valid_count(), 2u);
    EXPECT_EQ(back.recorded_count(), 3u);
    for (uint64_t i = 0; i < space.size(); ++i) {
      // T4 sorts the knobs by name.
      Config config = space.space().at(i), other;
      for (const Knob& knob : back.space().knobs()) {
        other.choices.push_back(config.choices[static_cast<size_t>(*space.space().find(knob.name))]);
      }
      const uint64_t j = back.space().index_of(other);
      ASSERT_EQ(back.kind(j), space.kind(i));
      if (space.kind(i) != PointKind::kValid) continue;
      EXPECT_DOUBLE_EQ(back.value(j), space.value(i));
    }
    EXPECT_EQ(back.info().kernel, "matmul:m=8");
  }
}

TEST(RecordSpace, KernelsAreCalledByTheirEntryAndSize) {
  Record record = trial(4, "hw", 0, {4, 2}, {1e-3});
  record.key.workload = "kernel:name=my gemm,entry=gemm,code=0123456789abcdef,size=64:32:1,block=8:8:1,n:int32=3";
  record.key.target_kind = "c";
  record.cpu_model = "CPU of 2 GHz";
  const RecordedSpace space = space_of_records({&record, 1});
  EXPECT_EQ(space.info().kernel, "gemm");
  EXPECT_EQ(space.info().problem_size, "[64, 32, 1]");
  EXPECT_EQ(space.info().device, "CPU of 2 GHz");
  const auto kernel = parse_kernel_workload(record.key.workload);
  ASSERT_TRUE(kernel);
  EXPECT_EQ(kernel->name, "my gemm");
  // On other devices the key has the name for people.
  record.key.target_kind = "opencl";
  EXPECT_EQ(recorded_info(record.key, record.cpu_model).device, "znver3");
  record.key.workload = "kernel:name=a,entry=b,code=0123456789abcdef,flag=x,size=7";
  EXPECT_EQ(recorded_info(record.key, record.cpu_model).problem_size, "") << "no field of its own";
  record.key.workload = "kernel:name=a,entry=b,code=0123456789abcdef,size=7:1:1";
  EXPECT_EQ(recorded_info(record.key, record.cpu_model).problem_size, "[7, 1, 1]");
  EXPECT_FALSE(parse_kernel_workload("matmul:m=8"));
}

TEST(RecordSpace, ValuesThatWereNotTriedAreThereWhenTheyAreGiven) {
  ConfigSpace values;
  values.add(int_knob("tile", std::vector<int64_t>{2, 4, 8}));
  Record record = trial(4, "hw", 0, {4, 2}, {1e-3});
  record.knobs.resize(1);
  const RecordedInfo info = recorded_info(record.key, record.cpu_model);
  const auto with = [&](const Record& r) { return space_of_records({&r, 1}, SpaceFormat::kKernelTuner, info, values); };
  const RecordedSpace space = with(record);
  EXPECT_EQ(space.info().kernel, "matmul:m=8");
  EXPECT_EQ(space.size(), 3u);
  EXPECT_EQ(space.recorded_count(), 1u);
  EXPECT_EQ(space.kind(1), PointKind::kValid);
  EXPECT_EQ(with(failure(record, TrialStatus::kWorkerLost)).recorded_count(), 0u);
  EXPECT_EQ(space_of_records({}, SpaceFormat::kKernelTuner, info, values).size(), 3u) << "there need not be a trial";
  record.knobs.front().second = {{3}, ""};
  try {
    with(record);
    FAIL() << "no error";
  } catch (const UserError& e) {
    EXPECT_NE(std::string(e.what()).find("tile"), std::string::npos) << e.what();
  }
}

TEST(RecordSpace, NothingToMakeItOf) {
  const std::vector<Record> records = {failure(trial(8, "wh", 1, {2, 4}, {}), TrialStatus::kWorkerLost)};
  try {
    space_of_records(records);
    FAIL() << "no error";
  } catch (const UserError& e) {
    EXPECT_EQ(std::string(e.what()), "no trial is recorded, so there is no space (hint: tune the workload first)");
  }
}

}  // namespace
}  // namespace tensmith
